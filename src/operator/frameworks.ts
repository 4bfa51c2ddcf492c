// What an installation changes in the table of frameworks: whole rows or single fields of them. A field that does not
// exist is refused, because a typing error here would show only when a model is next rolled out.

import * as z from 'zod';
import { type Framework, frameworks } from '../controllers/mlmodel/index.ts';
import type { Read } from './forms.ts';
import { suggestion } from './nearest.ts';

/** As nodes say it in `kubernetes.io/arch`. */
const architectures = ['amd64', 'arm64', 'arm', '386', 'ppc64le', 's390x', 'riscv64', 'loong64', 'mips64le'];

const row = z
  .strictObject({
    image: z.string().regex(/^\S+$/, 'must be the name of an image, without blanks'),
    command: z.array(z.string()),
    args: z.array(z.string()),
    port: z.int().min(1).max(65_535),
    healthPath: z.string().startsWith('/'),
    writable: z.array(z.string().startsWith('/')),
    env: z.record(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/, 'a variable begins with a letter and has no blanks, as in LOG_LEVEL'),
      z.string(),
    ),
    arch: z.enum(architectures, `must be as nodes say it in kubernetes.io/arch: ${architectures.join(', ')}`),
  })
  .partial();

/** Fields of rows that differ from what comes with the operator. */
export type FrameworkChanges = Readonly<Record<string, Partial<Framework>>>;

const known = Object.keys(frameworks(''));

/** Reads the changes of a table. */
export function readFrameworks(given: object): Read<FrameworkChanges> {
  const stranger = Object.keys(given).find((name) => !known.includes(name));
  if (stranger !== undefined)
    return { wrong: `there is no framework "${stranger}"${suggestion(stranger, known) || `: ${known.join(', ')}`}` };
  const result = z.record(z.string(), row).safeParse(given);
  if (result.success) return { value: result.data as FrameworkChanges };
  const [issue] = result.error.issues;
  // Of a key that is wrong it says only that; why stands within.
  const why = issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
  return { wrong: `${issue?.path.join('.') ?? ''}: ${why ?? 'cannot be read'}` };
}

/** The whole table of an installation. */
export function tableOf(image: string, changes: FrameworkChanges): Record<string, Framework> {
  const rows = Object.entries(frameworks(image)).map(([name, own]) => [name, changed(own, changes[name])] as const);
  return Object.fromEntries(rows);
}

/** Another image may be built for other architectures: of one for which nobody says so nothing is known. */
function changed({ arch, ...own }: Framework, change: Partial<Framework> = {}): Framework {
  const same = change.image === undefined && arch !== undefined;
  return { ...own, ...(same && { arch }), ...change };
}
