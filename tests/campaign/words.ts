// Values by meaning: what people write into fields of this meaning, and what they write by mistake. What a schema refuses of
// them is refused; everything else is applied, and the world may or may not be able to follow.

import type { Json } from './property.ts';

/** Objects that every namespace of a campaign has, for fields that name one. */
export const furniture = {
  secret: 'keys',
  claim: 'shelf',
  account: 'runner',
  priorityClass: 'campaign-high',
  runtimeClass: 'campaign-runtime',
  storageClass: 'campaign-disk',
  growing: 'campaign-growing',
} as const;

const long = (length: number) => 'n'.repeat(length);

/** A name that exists, one that does not, and long ones. */
const nameOr = (...existing: string[]): Json[] => [...existing, 'nobody', 'a.b-c.d', long(63), long(253)];

export const meanings = {
  quantity: [
    '1',
    '100m',
    '0.5',
    '1e3',
    '1Ki',
    '1.5Gi',
    2,
    '0',
    0,
    '0.1m',
    '1E3',
    '1024Mi',
    '1Ei',
    '9223372036854775808',
  ],
  size: ['1Gi', '2Gi', '1.5Gi', '1024Mi', '1e9', 1073741824, '1', '0.1m', '1Pi', '500M', '3Gi'],
  url: [
    'https://models.example/other.onnx',
    'http://models.example:8080/a/b.tar.gz?version=2&x=%20#part',
    'https://models.example/$(id)`id`;\'"&&{model}',
    's3://bucket/folder/model.onnx',
    'hf://org/model@main',
    `pvc://${furniture.claim}/folder`,
    `pvc://${furniture.claim}`,
    'pvc://nowhere/folder',
    'oci://registry.invalid/models/one:1',
    `oci://registry.invalid/models/one@sha256:${'a'.repeat(64)}`,
  ],
  digest: [`sha256:${'0'.repeat(64)}`, `sha256:${'f'.repeat(64)}`],
  image: [
    'server:2',
    'registry.example:5000/team/server:1.2.3',
    `registry.example/server@sha256:${'b'.repeat(64)}`,
    'Not An Image',
    ' ',
  ],
  secret: nameOr(furniture.secret),
  storageClass: nameOr(furniture.storageClass, furniture.growing),
  account: nameOr('default', furniture.account),
  priorityClass: nameOr(furniture.priorityClass, 'system-node-critical'),
  runtimeClass: nameOr(furniture.runtimeClass),
  replicas: [1, 2, 0, 3, 1, 1000],
  port: [9000, 1, 65535, 8080],
  path: ['/', '/healthz', '/v1/models/a?b=c', `/${'p'.repeat(511)}`],
  argument: ['', '--flag', 'a b', '$(HOME) `id` "x"', '{model}', 'ünïcode', 'e\u0301', '\u202Ertl', 'line\nbreak'],
  text: ['', '0', 'true', 'x y', '$(THREADS)', 'ümlaut', 'e\u0301', '\u202Ertl', 'line\nbreak', '\t', '"quoted"'],
  label: ['', 'a', 'a.b_c-D', 'no blanks', '-a', 'ü', 'v'.repeat(63)],
  labelKey: ['team', 'example.com/zone', 'no blanks', 'a/b/c', 'kubernetes.io/hostname', 'k'.repeat(64)],
  variable: ['THREADS', '_x', 'with.dot-and-dash', 'V'.repeat(253)],
  secretKey: ['token', 'absent', 'no/slash', '..'],
  plain: [],
} satisfies Record<string, Json[]>;

/** What a value is, as far as it matters for choosing another one. */
export type Meaning = keyof typeof meanings;
