// Names of children: `<parent>-<part>`, at most 63 characters and beginning with a letter, so that they can be label
// values, host names and Services. What is no such name is made one and gets a hash of the whole, so two never meet.

import { hashOf } from '../base/index.ts';

/** A short name for a value: the same content, the same name. */
export const shortHash = (value: unknown, digits: number): string => hashOf(value).slice(0, digits);

/** The name of a child; somebody else's kind may leave less room than most, and none at all: then the name is longer than that. */
export function childName(parent: string, part: string, longest = 63): string {
  const stem = parent.replaceAll('.', '-').replace(/^(?=[0-9])/, 'm');
  const whole = `${stem}-${part}`;
  if (stem === parent && whole.length <= longest) return whole;
  const tail = `-${part}-${hashOf([parent, part]).slice(0, 8)}`;
  return `${stem.slice(0, Math.max(longest - tail.length, 1)).replace(/-+$/, '')}${tail}`;
}

/** A name as the value of a label: the name itself, or what fits of it with a hash of the whole. */
export function labelValue(name: string): string {
  const longest = 63;
  if (name.length <= longest) return name;
  const tail = `-${hashOf(name).slice(0, 8)}`;
  return `${name.slice(0, longest - tail.length).replace(/[-.]+$/, '')}${tail}`;
}

/** The parts of children's names, by kind: no two kinds share one, so their children never meet. A revision's is its hash. */
export const parts = {
  MLModel: ['service', 'expose', 'server', 'weights', 'download', 'inspect', 'pdb'],
  ModelDeployment: ['model', 'resolve'],
  DeviceTemplate: ['module', 'consumer'],
} as const;
