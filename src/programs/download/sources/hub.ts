// Model repositories of the hub, `hf://owner/name@revision`. The revision is resolved once to a commit, so that all files
// are of one state, and large files are checked against the digests in its listing.

import * as z from 'zod';
import { authorizeBy } from '../credentials.ts';
import { refusal } from '../fetch/answers.ts';
import type { Item } from '../fetch/item.ts';
import type { Answer } from '../http/client.ts';
import { Fault, Refused } from '../outcome.ts';
import { endpointIn } from './endpoint.ts';
import { needed } from './needed.ts';
import { encodedPart, encodedPath, type Look, type Means, mostFiles, Pages, patiently, placeOf } from './source.ts';

const home = 'https://huggingface.co';
const form = /^hf:\/\/((?:[\w.-]{1,96}\/)?[\w.-]{1,96})(?:@([\w./-]{1,255}))?\/?$/;

const revisionForm = z.object({ sha: z.string().regex(/^[0-9a-f]{40,64}$/) });
const treeForm = z.array(
  z.object({
    type: z.string(),
    path: z.string(),
    size: z.int().min(0),
    lfs: z.object({ oid: z.string().regex(/^[0-9a-f]{64}$/), size: z.int().min(0) }).optional(),
  }),
);
type Listed = z.infer<typeof treeForm>[number];

/** The needed files of one commit. */
export const lookAtHub: Look = async ({ url, framework }, means) => {
  const [, repository, revision = 'main'] = form.exec(url) ?? [];
  if (repository === undefined || revision.includes('..'))
    throw new Refused(
      'SourceNotFound',
      'modelURL names no repository: write hf://owner/name or hf://owner/name@revision',
    );
  const base = endpointIn(means.secrets.endpoint ?? home);
  const api = `${base}/api/models/${repository}`;
  const { sha } = await read(means, new URL(`${api}/revision/${encodedPart(revision)}`), revisionForm);
  const files = await listed(means, new URL(`${api}/tree/${sha}?recursive=true`));
  const choice = needed(
    framework,
    files.map(({ path }) => path),
  );
  if ('wrong' in choice) throw new Refused('EmptySource', `${repository} at ${revision}: ${choice.wrong}`);
  const chosen = new Set(choice.files);
  const authorize = authorizeBy(means.secrets);
  const item = ({ path, size, lfs }: Listed): Item => ({
    path: placeOf(path),
    url: new URL(`${base}/${repository}/resolve/${sha}/${encodedPath(path)}`),
    authorize,
    size: lfs?.size ?? size,
    ...(lfs && { sha256: lfs.oid }),
    becomes: { as: 'file' },
  });
  return { items: files.filter(({ path }) => chosen.has(path)).map(item) };
};

/** All files of a commit, page by page. */
async function listed(means: Means, first: URL): Promise<Listed[]> {
  const files: Listed[] = [];
  const pages = new Pages();
  for (let page: URL | undefined = first; page; ) {
    pages.turn(page.href);
    const answer: Answer = await asked(means, page);
    files.push(...parsed(treeForm, await answer.text(mostAnswer), page).filter(({ type }) => type === 'file'));
    if (files.length > mostFiles)
      throw new Refused('UnsafeArchive', `the repository holds more than ${mostFiles} files`);
    const next = /<([^>]+)>;\s*rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
    page = next === undefined ? undefined : new URL(next, page);
    if (page && page.origin !== first.origin)
      throw new Fault('the listing of the hub goes on at another host', { again: 'never' });
  }
  return files;
}

const mostAnswer = 16 * 1024 * 1024;

const read = async <T>(means: Means, url: URL, shape: z.ZodType<T>): Promise<T> =>
  parsed(shape, await (await asked(means, url)).text(mostAnswer), url);

async function asked(means: Means, url: URL): Promise<Answer> {
  const answer = await patiently(means, { url, authorize: authorizeBy(means.secrets) });
  if (answer.status === 200) return answer;
  answer.drop();
  throw refusal(answer);
}

function parsed<T>(shape: z.ZodType<T>, text: string, { host }: URL): T {
  try {
    return shape.parse(JSON.parse(text));
  } catch (cause) {
    throw new Fault(`${host} answered with something that is no listing of a repository`, { again: 'never', cause });
  }
}
