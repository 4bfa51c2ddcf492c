// Every way in which a watch can go wrong. A Trio is at rest; the watch breaks; meanwhile something changes: a person edits
// the Trio, or somebody changes its ConfigMap. The operator must see it within a second after the fault is over, and do
// exactly what it would have done without the fault: nothing less, and nothing twice.

import { deepEqual, ok } from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Action, AnytimeAction } from '../../controlplane/faults/index.ts';
import type { Limits } from '../../src/kube/index.ts';
import { ConfigMap, type Kind, type KubeObject } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { atRest, becomesReady, type Lane, onLane } from '../kit/lane.ts';
import { plain } from '../kit/trio/life.ts';
import { Trio } from '../kit/trio/schema.ts';

let rig: Rig;
before(async () => void (rig = await startRig()));
after(() => rig.stop());

/** What changes while the watch of its kind is broken, and what an operator does about it. */
const changes = {
  'an edit of the Trio': {
    kind: Trio as Kind,
    name: 'seen',
    make: (text: string) => ({ spec: { text } }),
    reaction: ['apply configmaps', 'apply trios/status'],
    says: (text: string) => text,
  },
  'a change of the ConfigMap by somebody': {
    kind: ConfigMap as Kind,
    name: 'seen-config',
    make: (text: string) => ({ data: { text } }),
    reaction: ['create events', 'apply configmaps'],
    says: () => 'warm',
  },
};
type Change = (typeof changes)[keyof typeof changes];

/** Characters of more than one byte. */
const odd = 'größer ✓';

/** A broken watch, and the change that happens meanwhile. */
interface Story {
  lane: Lane;
  watches: { verb: 'watch'; resource: string };
  change: (text?: string) => Promise<void>;
  /** A change of the same object that concerns nobody. */
  touch: () => Promise<void>;
}

interface Fault {
  /** Whether the operator has to open a new watch, or may go on with the one that it has. */
  view: 'new' | 'same';
  /** Breaks the watch and lets the change happen; gives the time at which the fault was over. */
  happen: (story: Story) => Promise<number>;
  limits?: Partial<Limits>;
}

const instantly = (action: AnytimeAction): Fault => ({
  view: 'new',
  async happen({ lane, watches, change }) {
    await lane.proxy.now({ ...action, watches } as AnytimeAction);
    const over = performance.now();
    await change();
    return over;
  },
});

/** For two seconds every new watch is refused, too. */
const refusing = (refusal: Action): Fault => ({
  view: 'new',
  async happen({ lane, watches, change }) {
    lane.proxy.setPlan([{ when: { request: watches }, do: refusal, times: 'always' }]);
    await lane.proxy.now({ kind: 'reset', watches });
    await change();
    await pause(2_000);
    lane.proxy.setPlan([]);
    return performance.now();
  },
});

/** ConfigMaps are watched twice: our own whole, those of others as metadata. */
const watchesOf = (resource: string): number => (resource === 'configmaps' ? 2 : 1);

/** The fault befalls the very event that tells of the change, in every watch that brings it. */
const onTheEvent = (action: Action, view: Fault['view']): Fault => ({
  view,
  async happen({ lane, watches: { resource }, change }) {
    const times = watchesOf(resource);
    lane.proxy.setPlan([{ when: { event: { resource, on: 'update' } }, do: action, times }]);
    await change();
    await eventually(() => lane.proxy.firings()[0] === times, { every: 1, what: 'the event comes' });
    return performance.now();
  },
});

/** Nothing comes through for two seconds. */
const withheld = (begin: AnytimeAction, end: AnytimeAction, view: Fault['view']): Fault => ({
  view,
  async happen({ lane, watches, change }) {
    await lane.proxy.now({ ...begin, watches } as AnytimeAction);
    await change();
    await pause(2_000);
    if (begin.kind === 'bookmarkOnly') lane.proxy.clearPlan();
    await lane.proxy.now({ ...end, watches } as AnytimeAction);
    return performance.now();
  },
});

const faults: Record<string, Fault> = {
  'pitfall 3: a reset': instantly({ kind: 'reset' }),
  'a clean close': instantly({ kind: 'closeClean' }),
  'an ERROR event that says 410': instantly({ kind: 'errorEvent', reason: 'Expired' }),
  'an ERROR event that says 500': instantly({ kind: 'errorEvent', reason: 'InternalError' }),
  'pitfall 3: 500 on every watch': refusing({ kind: 'status', reason: 'InternalError' }),
  '410 on every watch': refusing({ kind: 'status', reason: 'Expired' }),
  '429 on every watch': refusing({ kind: 'status', reason: 'TooManyRequests' }),
  'every watch is dropped before it is answered': refusing({ kind: 'dropBefore' }),
  'a broken line': onTheEvent({ kind: 'garbleLine' }, 'new'),
  'an unknown type of event': onTheEvent({ kind: 'unknownType' }, 'new'),
  'an event twice': onTheEvent({ kind: 'duplicate' }, 'same'),
  'pitfall 8: an older object after the newer one': {
    view: 'same',
    async happen({ lane, watches: { resource }, touch, change }) {
      const times = watchesOf(resource);
      const mark = lane.proxy.trace.mark();
      const update = { event: { resource, on: 'update' as const }, nth: times + 1 };
      lane.proxy.setPlan([{ when: update, do: { kind: 'replayOlder' }, times }]);
      await touch();
      await eventually(() => lane.proxy.trace.since(mark).events.length >= times, { every: 1 });
      await change();
      await eventually(() => lane.proxy.firings()[0] === times, { every: 1, what: 'the event comes' });
      return performance.now();
    },
  },
  'characters that arrive in two pieces': onTheEvent({ kind: 'splitUtf8' }, 'same'),
  'no event gets through for 2 s': withheld({ kind: 'freeze' }, { kind: 'unfreeze' }, 'same'),
  'only bookmarks for 2 s, then a reset': withheld({ kind: 'bookmarkOnly' }, { kind: 'reset' }, 'new'),
  'events are lost, and a later one comes': {
    view: 'same',
    async happen(story) {
      await onTheEvent({ kind: 'skip' }, 'same').happen(story);
      const over = performance.now();
      await story.change('later');
      return over;
    },
  },
  'an event is lost without a trace, until the next fresh view': {
    view: 'new',
    limits: { fresh: 1 },
    async happen(story) {
      await onTheEvent({ kind: 'skip' }, 'new').happen(story);
      await story.lane.proxy.now({ kind: 'closeClean', watches: story.watches });
      return performance.now();
    },
  },
};

describe('a fault of a watch, and meanwhile', { concurrency: 3 }, () => {
  for (const [what, change] of Object.entries(changes))
    for (const [name, fault] of Object.entries(faults))
      test(`${what}: ${name}`, (t) => onLane(rig, lanes(fault), (lane) => survives(fault, change, lane, t)));
});

// Alone: so many bytes take their time, and others would wait for them.
test('an edit of the Trio, and a line of 17 MB', (t) => {
  const fault = onTheEvent({ kind: 'oversize', bytes: 17_000_000 }, 'new');
  return onLane(rig, lanes(fault), (lane) => survives(fault, changes['an edit of the Trio'], lane, t));
});

const lanes = ({ limits = {} }: Fault) => ({ ...plain, limits }) as const;

/** The change is seen in time, and answered as if there had been no fault. */
async function survives({ view, happen }: Fault, change: Change, lane: Lane, t: TestContext): Promise<void> {
  await warm(lane);
  const mark = lane.proxy.trace.mark();
  const told: KubeObject[] = [];
  const over = await happen({
    lane,
    watches: { verb: 'watch', resource: change.kind.plural },
    change: async (text = odd) => void told.push(await alter(lane, change, change.make(text))),
    touch: async () => void (await alter(lane, change, { metadata: { annotations: { touched: 'yes' } } })),
  });
  const seen = await eventually(() => firstSight(lane, change, told, view === 'new' ? mark : 0), { every: 5 });
  t.diagnostic(`blind for ${Math.max(0, Math.round(seen - over))} ms beyond the fault`);
  ok(seen - over < 1_000, `blind for ${seen - over} ms beyond the fault`);
  const text = change.says(told.length > 1 ? 'later' : odd);
  const says = () => lane.truth.get(ConfigMap, 'seen-config')?.data?.['text'];
  await eventually(() => says() === text, { what: `the ConfigMap says ${text}` });
  await atRest(lane);
  deepEqual(deeds(lane, mark), change.reaction);
}

/** A Trio whose ConfigMap was applied before, so that an edit is one write to it. */
async function warm(lane: Lane): Promise<void> {
  const { namespace } = lane;
  const metadata = { namespace, name: 'seen' };
  await rig.apply(Trio, { metadata, spec: { text: 'cold', withJob: false } });
  await becomesReady(lane, 'seen');
  await rig.apply(Trio, { metadata, spec: { text: 'warm', withJob: false } });
  await becomesReady(lane, 'seen');
  await atRest(lane);
}

const alter = ({ namespace }: Lane, { kind, name }: Change, patch: object) =>
  rig.admin.patch(kind, { namespace, name }, patch, { type: 'merge', manager: 'somebody' });

/** When the operator was first given the change, by a watch that was opened after the mark. */
function firstSight({ proxy }: Lane, { kind, name }: Change, told: KubeObject[], mark: number): number | undefined {
  const version = Number(told.at(-1)?.metadata.resourceVersion);
  const isNews = (event: { resource: string; name: string; watch: number; resourceVersion: string }) =>
    event.resource === kind.plural &&
    event.name === name &&
    event.watch > mark &&
    Number(event.resourceVersion) >= version;
  return proxy.trace.events.find((event) => isNews(event) && event.deliveredAt !== undefined)?.deliveredAt;
}

/** What the operator wrote since the mark, also where that changed nothing. */
const deeds = ({ proxy }: Lane, mark: number): string[] =>
  proxy.trace
    .writes()
    .filter(({ seq }) => seq > mark)
    .map(({ verb, resource, subresource }) => `${verb} ${subresource ? `${resource}/${subresource}` : resource}`);
