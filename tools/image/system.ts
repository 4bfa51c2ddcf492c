// What our programs need of a system: git with the libraries that it and Node link to, certificates of authorities, a
// user who is not root, and a folder to write in. No shell, no package manager. It is taken from this machine, but never
// from its own settings: an authority that only this machine trusts stays here.

import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Entry } from '../../src/oci/index.ts';
import { neededBy } from './libraries.ts';

/** A numeric user that owns nothing. */
export const nobody = 65532;

/** Where the package of certificates keeps them, one file each, before a machine adds its own. */
const authorities = '/usr/share/ca-certificates/mozilla/*.crt';

const textFile = (path: string, text: string): Entry => ({
  path,
  type: 'file',
  mode: 0o644,
  content: Buffer.from(text),
});

/** A file of this machine at a place in the image. */
export function copied(from: string, path: string): Entry {
  const { mode, size } = statSync(from);
  return {
    path,
    type: 'file',
    mode: (mode & 0o100) === 0 ? 0o644 : 0o755,
    content: { file: realpathSync(from), size },
  };
}

/** The system, for programs that need the libraries of this machine. */
export function systemEntries(programs: readonly string[]): Entry[] {
  const git = gitPrograms();
  const { interpreters, libraries } = neededBy([...programs, git.main, git.https]);
  const home = dirname(libraries.get('libc.so.6') ?? '/usr/lib/libc.so.6');
  return [
    ...settings,
    ...gitEntries(git),
    certificates(),
    ...[...libraries].map(([name, file]) => copied(file, join(home, name))),
    ...[...interpreters].flatMap((path) => loader(path)),
    ...licences([git.main, ...libraries.values()]),
  ];
}

const settings: Entry[] = [
  textFile('etc/passwd', `root:x:0:0:root:/:/sbin/nologin\nnonroot:x:${nobody}:${nobody}:nonroot:/:/sbin/nologin\n`),
  textFile('etc/group', `root:x:0:\nnonroot:x:${nobody}:\n`),
  textFile('etc/nsswitch.conf', 'hosts: files dns\n'),
  { path: 'tmp', type: 'folder', mode: 0o1777 },
];

/** Systems keep `/lib64` as a link today; the loader has its place under both names. */
function loader(path: string): Entry[] {
  const [, top = ''] = path.split('/');
  const target = realpathSync(`/${top}`).slice(1);
  const link: Entry[] = target === top ? [] : [{ path: top, type: 'link', target }];
  return [copied(path, join(target, path.slice(top.length + 2))), ...link];
}

interface Git {
  main: string;
  https: string;
}

/** Git and its one helper that is not part of the main program: the one that speaks https. */
function gitPrograms(): Git {
  const core = execPath() ?? missing('git');
  const [main, https] = [join(core, 'git'), join(core, 'git-remote-https')];
  return existsSync(main) && existsSync(https) ? { main, https } : missing('git');
}

const gitEntries = ({ main, https }: Git): Entry[] => [
  copied(main, 'usr/bin/git'),
  { path: join(dirname(main), 'git'), type: 'link', target: '/usr/bin/git' },
  copied(https, join(dirname(main), 'git-remote-https')),
  { path: join(dirname(main), 'git-remote-http'), type: 'link', target: 'git-remote-https' },
  { path: 'usr/share/git-core/templates', type: 'folder', mode: 0o755 },
];

function certificates(): Entry {
  const files = globSync(authorities).toSorted();
  if (files.length === 0) missing('ca-certificates');
  return textFile(
    'etc/ssl/certs/ca-certificates.crt',
    files.map((file) => `${readFileSync(file, 'utf8').trim()}\n`).join(''),
  );
}

/** The terms under which the parts may be passed on, from the packages that they are of. */
function licences(files: readonly string[]): Entry[] {
  const names = new Set([...packagesOf(files), 'ca-certificates']);
  return [...names].toSorted().flatMap((name) => {
    const file = `/usr/share/doc/${name}/copyright`;
    return existsSync(file) ? [copied(file, file)] : [];
  });
}

/** The packages of files; dpkg may know one by its path from before systems moved everything below /usr. */
function packagesOf(files: readonly string[]): string[] {
  const paths = files.flatMap((file) => [file, file.replace(/^\/usr\//, '/')]);
  const { stdout } = spawnSync('dpkg-query', ['-S', ...paths], { encoding: 'utf8', timeout: 60_000 });
  return (stdout ?? '').split('\n').flatMap((line) => /^([^:,\s]+)[:,]/.exec(line)?.[1] ?? []);
}

function execPath(): string | undefined {
  const { status, stdout } = spawnSync('git', ['--exec-path'], { encoding: 'utf8', timeout: 60_000 });
  return status === 0 ? stdout.trim() : undefined;
}

function missing(name: string): never {
  throw new Error(
    `${name} is missing, of which the image is made: install the package \`${name}\` (apt-get install ${name}), ` +
      'or build the image with `make docker-build`',
  );
}
