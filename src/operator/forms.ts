// The forms that the value of a setting may have. A flag and a variable are always text; a file may also hold lists,
// numbers and objects, so every form takes both.

import { parse } from 'yaml';
import { egressRules, wordsOf } from '../base/index.ts';

/** A value, or what is wrong with what was given. */
export type Read<T> = { value: T } | { wrong: string };

/** How a value is written and read. */
export interface Form<T> {
  /** How it is written, for people: `PATH`, `on|off`. */
  readonly written: string;
  read(given: unknown): Read<T>;
}

const good = <T>(value: T): Read<T> => ({ value });
const wrong = (why: string): Read<never> => ({ wrong: why });

/** One text without blanks around it. */
export const text = (written: string): Form<string> => ({
  written,
  read: (given) =>
    typeof given === 'string' && given.trim() === given && given !== '' ? good(given) : wrong('must be a text'),
});

/** Names that a pattern allows, as a list or separated by commas. */
export const names = (written: string, each: RegExp): Form<readonly string[]> => ({
  written,
  read(given) {
    const list: unknown[] = Array.isArray(given) ? given : String(given).split(',');
    const found = list.map((one) => String(one).trim()).filter((one) => one !== '');
    const bad = found.find((one) => !each.test(one));
    return bad === undefined ? good([...new Set(found)]) : wrong(`"${bad}" is not a name that can be meant here`);
  },
});

/** Ranges of addresses, as a list or separated by commas. */
export const ranges: Form<readonly string[]> = {
  written: 'CIDR,CIDR',
  read(given) {
    const found = names('', /./).read(given);
    if ('wrong' in found) return found;
    try {
      egressRules({ deny: found.value });
      return found;
    } catch (error) {
      return wrong(wordsOf(error));
    }
  },
};

/** A whole number between two others. */
export const count = (least: number, most: number): Form<number> => ({
  written: 'NUMBER',
  read(given) {
    const number = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
    const fits = typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most;
    return fits ? good(number) : wrong(`must be a whole number from ${least} to ${most}`);
  },
});

/** One of a few words. */
export const choice = <T extends string>(...words: readonly T[]): Form<T> => ({
  written: words.join('|'),
  read(given) {
    const found = words.find((word) => word === given);
    return found === undefined ? wrong(`must be ${words.join(' or ')}`) : good(found);
  },
});

/** A switch. */
export const onOff: Form<boolean> = {
  written: 'on|off',
  read(given) {
    if (['on', 'true', true].includes(given as string | boolean)) return good(true);
    return ['off', 'false', false].includes(given as string | boolean) ? good(false) : wrong('must be on or off');
  },
};

/** Where to listen; without a host on every address of the machine. */
export interface Address {
  host: string;
  port: number;
}

/** `host:port`, `:port`, or `off`. */
export const address: Form<Address | 'off'> = {
  written: 'HOST:PORT|off',
  read(given) {
    if (given === 'off' || given === false) return good('off');
    const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(String(given)) ?? [];
    if (port === '' || Number(port) > 65_535) return wrong('must be host:port, :port or off');
    return good({ host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) });
  },
};

/** An object, or YAML or JSON text of one; `check` looks at what is in it. */
export const object = <T>(written: string, check: (given: object) => Read<T>): Form<T> => ({
  written,
  read(given) {
    const found = typeof given === 'string' ? parsed(given) : given;
    const isObject = typeof found === 'object' && found !== null && !Array.isArray(found);
    return isObject ? check(found) : wrong('must be an object, or YAML or JSON of one');
  },
});

/** What a YAML or JSON text holds; undefined if it is neither. */
export function parsed(yaml: string): unknown {
  try {
    return parse(yaml);
  } catch {
    return undefined;
  }
}
