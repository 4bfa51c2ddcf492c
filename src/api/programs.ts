// What the operator and the programs in its pods agree on: arguments, exit codes, progress lines, the last word. Written
// on one side and read on the other by the functions below; user input is data here, never part of a command line.

import { accessArguments, type SourceAccess } from './access.ts';

/** What `download` is told. Everything that a user wrote comes as the value of one variable or after `--`. */
export interface DownloadOrder {
  url: string;
  /** Where the volume is mounted. */
  target: string;
  framework: string;
  /** What it must hash to. An image carries its digest in the URL instead: `oci://host/repository@sha256:...`. */
  digest?: string;
  access?: SourceAccess;
}

/** How long one attempt of `download` may take, in seconds, unless it is told otherwise. */
export const downloadSeconds = 86_400;

/** The arguments of `download`. */
export const downloadArguments = ({ url, target, framework, digest, access = {} }: DownloadOrder): string[] => [
  'download',
  `--target=${target}`,
  `--framework=${framework}`,
  ...(digest === undefined ? [] : [`--digest=${digest}`]),
  ...accessArguments(access),
  '--',
  url,
];

/** Frameworks for which files are chosen, or put elsewhere than where they came. */
const arrangements: Readonly<Partial<Record<string, string>>> = {
  onnx: 'one model',
  tensorflow: 'a folder for each version',
  pytorch: 'a repository of models',
  sklearn: 'a file that joblib reads',
  xgboost: 'a file of a booster',
  huggingface: 'one format of weights',
  vllm: 'one format of weights',
};

/** What a download makes of a source for a framework: only frameworks with the same arrangement can share a volume. */
export const arrangementOf = (framework: string): string => arrangements[framework] ?? 'as it came';

/** Why a download ended for good: trying again would end the same way. */
export const verdicts = [
  'SourceUnauthorized',
  'SourceNotFound',
  'SourceTLSError',
  'ChecksumMismatch',
  'EmptySource',
  'UnsafeArchive',
  'StorageFull',
  'VolumeOccupied',
  'SourceTooSlow',
  'EgressDenied',
] as const;
export type Verdict = (typeof verdicts)[number];

/** What the reasons of the registry client mean to whoever asked for an image; a reason that is not here may pass. */
export const registryVerdicts: Readonly<Partial<Record<string, Verdict>>> = {
  Unauthorized: 'SourceUnauthorized',
  NotFound: 'SourceNotFound',
  TLS: 'SourceTLSError',
  Digest: 'ChecksumMismatch',
  Protocol: 'EmptySource',
  TooLarge: 'EmptySource',
};

/** How `download` ends: `done`, a `verdict` that nobody should repeat, or a fault of the network that may pass. */
export const exitCode = { done: 0, fault: 1, verdict: 42 } as const;

/** The last word of `download` or `inspect`: its termination message. Only `inspect` says whether a node can mount it, if asked. */
export type LastWord =
  | { result: 'done'; digest: string; bytes: number; mountable?: boolean }
  | { result: 'verdict'; verdict: Verdict; message: string }
  | { result: 'fault'; message: string };

/** What a kubelet keeps of a termination message. */
const mostBytes = 4_096;

/** One line of JSON, with as much of the message as a kubelet keeps of it. */
export function sayLastWord(word: LastWord): string {
  const said = JSON.stringify(word);
  const size = new TextEncoder().encode(said).length;
  if (!('message' in word) || size <= mostBytes) return said;
  const shorter = Math.floor((word.message.length * mostBytes) / size) - 1;
  return sayLastWord({ ...word, message: word.message.slice(0, Math.max(0, shorter)).toWellFormed() });
}

/** The last word in a termination message, wherever it stands between log lines. */
export function heardLastWord(message: string | undefined): LastWord | undefined {
  const lines = (message ?? '').trim().split('\n');
  for (const line of lines.toReversed()) {
    const word = parsed(line);
    if (word) return word;
  }
  return undefined;
}

function parsed(line: string): LastWord | undefined {
  const value = json(line);
  const { result, digest, bytes, verdict, message, mountable } = value;
  if (result === 'done' && typeof digest === 'string' && typeof bytes === 'number')
    return { result, digest, bytes, ...(typeof mountable === 'boolean' && { mountable }) };
  if (typeof message !== 'string') return undefined;
  if (result === 'fault') return { result, message };
  const known = verdicts.find((one) => one === verdict);
  return result === 'verdict' && known ? { result, verdict: known, message } : undefined;
}

/** How far a download is. */
export interface Progress {
  bytes: number;
  total?: number;
}

/** One line of the log. */
export const sayProgress = ({ bytes, total }: Progress): string =>
  JSON.stringify({ progress: { bytes, ...(total !== undefined && { total }) } });

/** The newest progress line of a log. */
export function heardProgress(log: string): Progress | undefined {
  for (const line of log.trim().split('\n').toReversed()) {
    const { progress } = json(line) as { progress?: Partial<Progress> };
    const { bytes, total } = progress ?? {};
    if (isCount(bytes)) return { bytes, ...(isCount(total) && total >= bytes && { total }) };
  }
  return undefined;
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

function json(line: string): Record<string, unknown> {
  const at = line.indexOf('{');
  if (at < 0) return {};
  try {
    return JSON.parse(line.slice(at)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
