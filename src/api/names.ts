// Names of children: `<parent>-<part>`, at most 63 characters, so that they can be label values and host names. A longer
// one is cut and gets a hash of the whole, so two long names never meet.

import { hashOf } from '../base/index.ts';

const longest = 63;

/** A short name for a value: the same content, the same name. */
export const shortHash = (value: unknown, digits: number): string => hashOf(value).slice(0, digits);

/** The name of a child. */
export function childName(parent: string, part: string): string {
  const whole = `${parent.replaceAll('.', '-')}-${part}`;
  const clean = whole === `${parent}-${part}` && whole.length <= longest;
  if (clean) return whole;
  const tail = `-${hashOf([parent, part]).slice(0, 8)}`;
  const room = longest - tail.length - part.length - 1;
  const stem =
    room > 0
      ? `${parent.replaceAll('.', '-').slice(0, room).replace(/-+$/, '')}-${part}`
      : part.slice(0, longest - tail.length);
  return `${stem}${tail}`;
}

/** The parts of children's names, by kind: no two kinds share one, so their children never meet either. */
export const parts = {
  MLModel: ['service', 'expose', 'server', 'weights', 'download', 'pdb', 'rev'],
} as const;
