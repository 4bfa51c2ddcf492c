// Refuses a plan with a rule that could never act as it is meant, before a test trusts it. Plans are plain data and may
// come from anywhere, so each word and number is compared with what the language knows; the types keep the tables whole.

import {
  type Action,
  actsOn,
  type CallFilter,
  type Counting,
  type EventFilter,
  fits,
  type Plan,
  type Rule,
  subjects,
  type Trigger,
} from './plan.ts';
import { codes, type Refused } from './statuses.ts';

/** What is wrong with a value, in a sentence; `what` names the value. */
type Check = (what: string, value: unknown) => string | undefined;
type Shape<T> = { readonly [K in keyof T]-?: Check };

/** Throws for the first rule that could never act as it is meant. */
export function checkPlan(plan: Plan): void {
  for (const [index, rule] of plan.entries()) {
    const problem = ruleProblem('a rule', rule) ?? unfit(rule);
    if (problem !== undefined) throw new TypeError(`rule ${index}: ${problem}`);
  }
}

function unfit({ when, do: action }: Rule): string | undefined {
  if ([...subjects(when)].some((subject) => fits(action, subject))) return undefined;
  return `${action.kind} acts on one ${actsOn[action.kind]}, and its trigger never has one; name it with { all: [...] }`;
}

const must =
  (hold: (value: unknown) => boolean, be: string): Check =>
  (what, value) =>
    hold(value) ? undefined : `${what} must be ${be}, and is ${JSON.stringify(value)}`;

const text = must((value) => typeof value === 'string', 'a text');
const words = must((value) => [value].flat().every((word) => typeof word === 'string'), 'a text or a list of texts');
const amount = must((value) => Number.isFinite(value) && Number(value) >= 0, 'a number from 0 on');
const count = must((value) => Number.isInteger(value) && Number(value) > 0, 'a whole number above 0');
const anything: Check = () => undefined;

const oneOf = (known: readonly string[]): Check =>
  must((value) => typeof value === 'string' && known.includes(value), `one of ${known.join(', ')}`);

const optional =
  (check: Check): Check =>
  (what, value) =>
    value === undefined ? undefined : check(what, value);

const either =
  (one: unknown, check: Check): Check =>
  (what, value) =>
    value === one ? undefined : check(what, value);

/** An object with these fields and no other. */
const shape =
  <T>(fields: Shape<T>): Check =>
  (what, value) => {
    if (typeof value !== 'object' || value === null)
      return `${what} must be an object, and is ${JSON.stringify(value)}`;
    const known: Record<string, Check> = fields;
    const odd = Object.keys(value).find((key) => !Object.hasOwn(known, key));
    const names = Object.keys(known).join(', ') || 'none';
    if (odd !== undefined) return `${what} has no field ${JSON.stringify(odd)}; the known ones are ${names}`;
    return firstOf(Object.entries(known), ([key, check]) =>
      check(`${key} of ${what}`, (value as Record<string, unknown>)[key]),
    );
  };

function firstOf<T>(all: readonly T[], problem: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const found = problem(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

const callFilter = shape<CallFilter>({
  verb: optional(words),
  group: optional(words),
  version: optional(words),
  resource: optional(words),
  subresource: optional(words),
  namespace: optional(words),
  name: optional(words),
  fieldManager: optional(words),
  userAgent: optional(words),
});

const eventFilter = shape<EventFilter>({
  on: optional(oneOf(['create', 'update', 'delete', 'bookmark'])),
  group: optional(words),
  resource: optional(words),
  kind: optional(words),
  namespace: optional(words),
  name: optional(words),
  field: optional(shape<NonNullable<EventFilter['field']>>({ path: words, before: anything, after: anything })),
});

const counting: Shape<Counting> = { nth: optional(count), every: optional(count) };
const parts: Check = (what, value) =>
  Array.isArray(value) ? firstOf(value, (part) => triggerProblem(what, part)) : `${what} must be a list of triggers`;

type FieldOf<T> = T extends T ? keyof T : never;

/** A trigger by the field that says what it is about. */
const triggers: Record<Exclude<FieldOf<Trigger>, keyof Counting>, Check> = {
  request: shape({ request: callFilter, ...counting }),
  write: shape({ write: callFilter, ...counting }),
  event: shape({ event: eventFilter, ...counting }),
  after: shape({ after: amount }),
  all: shape({ all: parts }),
  any: shape({ any: parts }),
};

function triggerProblem(what: string, value: unknown): string | undefined {
  const keys = Object.keys(Object(value));
  const found = Object.entries(triggers).find(([name]) => keys.includes(name));
  const known = Object.keys(triggers).join(', ');
  return found
    ? found[1](`the ${found[0]} trigger`, value)
    : `${what} must have one of ${known}, and has ${keys.join(', ') || 'none'}`;
}

type ActionOf<K, A = Action> = A extends { kind: infer Kinds } ? (K extends Kinds ? A : never) : never;

const at = optional(oneOf(['request', 'answer']));
const moment = { at: optional(oneOf(['received', 'applied', 'delivered'])) };
const watches = { watches: optional(callFilter) };
const refused: Shape<Refused> = {
  reason: oneOf(Object.keys(codes)),
  message: optional(text),
  retryAfter: optional(amount),
};

/** What each action has besides its kind. */
const actions: { [K in Action['kind']]: Shape<Omit<ActionOf<K>, 'kind'>> } = {
  delay: { ms: amount, at },
  hold: { name: text, at },
  dropBefore: {},
  dropAfter: {},
  hang: {},
  status: refused,
  truncate: { bytes: amount, end: optional(oneOf(['cut', 'clean'])) },
  drip: { bytes: count, ms: amount },
  serveOld: { resourceVersion: text },
  silentWatchList: { send: oneOf(['nothing', 'objects']) },
  skip: {},
  duplicate: {},
  garbleLine: {},
  splitUtf8: {},
  unknownType: {},
  replayOlder: {},
  oversize: { bytes: amount },
  freeze: { ...watches, from: optional(oneOf(['this', 'next'])) },
  unfreeze: { ...watches, held: optional(oneOf(['deliver', 'forget'])) },
  bookmarkOnly: watches,
  reset: watches,
  closeClean: watches,
  errorEvent: { ...watches, ...refused },
  kill: moment,
  pause: moment,
  resume: moment,
  release: { name: text },
  connections: { manner: oneOf(['accept', 'refuse', 'stall']) },
};

function actionProblem(what: string, value: unknown): string | undefined {
  const { kind } = Object(value) as { kind?: unknown };
  const known = Object.keys(actions);
  const isKnown = (word: unknown): word is Action['kind'] => typeof word === 'string' && known.includes(word);
  if (!isKnown(kind)) return oneOf(known)(`kind of ${what}`, kind);
  return shape({ kind: anything, ...actions[kind] })(kind, value);
}

const ruleProblem = shape<Rule>({
  when: triggerProblem,
  do: actionProblem,
  times: optional(either('always', count)),
});
