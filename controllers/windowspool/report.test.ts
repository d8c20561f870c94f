import assert from 'node:assert/strict';
import type { WindowsPool } from './api.gen.ts';
import type { Outcome } from './model/outcome.ts';
import type { Step } from './model/steps.ts';
import type { NodeRecord } from './ports/nodes.ts';
import { report } from './report.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import {
  knownStatus,
  NOW,
  type ObservedStateChange,
  sampleError,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from './testing/fixtures.ts';
import { gaugesOf } from './testing/shownMetrics.ts';

const { signal } = new AbortController();

class Reporter {
  readonly world = new FakeWorld();
  readonly reporter = this.world.start();
  #pool: WindowsPool = samplePool({}, { status: knownStatus() });

  /** Reports a situation of the pool as the last report left it. Returns the events and whether the status was written. */
  async tell(change: ObservedStateChange, outcome: Partial<Outcome> = {}, urgent = true) {
    const pool = { ...(change.pool ?? this.#pool), ...(this.#pool.status && { status: this.#pool.status }) };
    this.world.pools.set('web', { ...pool, metadata: { ...pool.metadata } });
    const after = sampleState({ ...change, pool });
    const reported = await report(
      { after, done: [], accepted: undefined, left: [], released: false, ...outcome },
      [],
      urgent,
      this.reporter,
      signal,
    );
    if (reported.kind === 'reported') this.#pool = reported.pool;
    const events = this.world.events.splice(0).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
    return { reported, events, wrote: this.world.calls.splice(0).includes('write status') };
  }
}

const bad = [...sampleNodes(3), sampleNode({ name: 'ip-9', taints: [] })];
const BAD = 'ip-9 lacks the taint os=windows:NoSchedule: Linux pods may land on it.';

describe('a report', () => {
  it('writes the first status, and nothing is news in a healthy pool', async () => {
    const { events, wrote } = await new Reporter().tell({});
    assert.deepEqual({ events, wrote }, { events: [], wrote: true });
  });

  it('writes the same status once, and tells nothing twice', async () => {
    const reporter = new Reporter();
    await reporter.tell({ nodes: bad });
    const { events, wrote } = await reporter.tell({ nodes: bad });
    assert.deepEqual({ events, wrote }, { events: [], wrote: false });
  });

  it('tells of a condition that turns, once for each turn', async () => {
    const reporter = new Reporter();
    await reporter.tell({});
    const turned = await reporter.tell({ nodes: bad });
    const back = await reporter.tell({});
    assert.deepEqual(turned.events, [
      `Warning RegistrationTaintMissing: 1 of 4 nodes fails verification: ${BAD} Drain and end the node.`,
    ]);
    assert.deepEqual(back.events, ['Normal AllVerified: 3 nodes verified.']);
  });

  it('tells nothing when only a message changes', async () => {
    const reporter = new Reporter();
    await reporter.tell({ nodes: bad });
    const { events, wrote } = await reporter.tell({ nodes: [...bad, sampleNode({ name: 'ip-10' })] });
    assert.deepEqual({ events, wrote }, { events: [], wrote: true });
  });

  it('tells of one cause once, not again as Ready and as Stalled', async () => {
    const reporter = new Reporter();
    await reporter.tell({});
    const group = { kind: 'seen', group: sampleGroup(undefined, { status: 'DELETE_FAILED' }) } as const;
    const { events } = await reporter.tell({ group });
    assert.deepEqual(events, [
      'Warning DeleteFailed: EKS could not delete node group web: EKS gives no reason. It is tried again.',
    ]);
  });

  it('tells of work in progress without alarm', async () => {
    const reporter = new Reporter();
    await reporter.tell({});
    const { events } = await reporter.tell({ runtimeClass: undefined });
    assert.deepEqual(events, ['Normal Pending: RuntimeClass windows-2022 is about to be made.']);
  });

  it('tells of a pause', async () => {
    const reporter = new Reporter();
    const { events } = await reporter.tell({ pool: samplePool({ paused: true }) });
    assert.deepEqual(events, [
      'Normal Paused: Nothing is changed because spec.paused is true. status.pendingSteps says what would be done.',
    ]);
  });

  it('tells what only nodes changed at most once a second, and the first change at once', async () => {
    const reporter = new Reporter();
    const at = (ms: number, nodes: readonly NodeRecord[]) => reporter.tell({ nodes, now: NOW + ms }, {}, false);
    assert.equal((await at(0, sampleNodes(3))).wrote, true);
    assert.deepEqual(await at(300, bad), { reported: { kind: 'deferred', ms: 700 }, events: [], wrote: false });
    assert.equal((await at(1_000, bad)).wrote, true);
    assert.equal((await at(5_000, sampleNodes(3))).wrote, true, 'a single change is written at once');
  });

  it('writes at once what was learned of AWS or done, however soon', async () => {
    const reporter = new Reporter();
    await reporter.tell({});
    assert.equal((await reporter.tell({ nodes: bad })).wrote, true);
    const done: readonly Step[] = [{ kind: 'addFinalizer' }];
    assert.equal((await reporter.tell({}, { done }, false)).wrote, true);
  });

  it('tells nothing of a status that could not be written, and answers with the trouble', async () => {
    const reporter = new Reporter();
    reporter.world.fails = () => sampleError('conflict');
    const { reported, events } = await reporter.tell({ nodes: bad });
    assert.deepEqual(
      { reported, events },
      { reported: { kind: 'failed', error: sampleError('conflict', { operation: 'write status' }) }, events: [] },
    );
  });

  it('tells of every step that was done, except those of the operator’s own books', async () => {
    const seen = sampleRuntimeClass();
    const done: readonly Step[] = [
      { kind: 'addFinalizer' },
      { kind: 'updateConfig', group: 'web', change: { scaling: { max: 9 } }, token: 't', target: 'x' },
      { kind: 'deleteRuntimeClass', seen },
      { kind: 'labelNode', node: sampleNode({ name: 'ip-1' }), build: '10.0.20348' },
    ];
    const { events } = await new Reporter().tell({}, { done });
    assert.deepEqual(events, [
      'Normal NodeGroupUpdated: update node group web: scaling max 9',
      'Normal RuntimeClassDeleted: delete RuntimeClass windows-2022',
      'Normal NodeLabelled: label node ip-1 with node.kubernetes.io/windows-build=10.0.20348',
    ]);
  });
});

describe('the metrics', () => {
  it('say when the status was confirmed, also where it needs no write, and when it was written', async () => {
    const reporter = new Reporter();
    const { stamps } = reporter.world;
    const times = () =>
      ['confirmed', 'written'].map((what) => stamps.get(`web windowspool_status_${what}_timestamp_seconds`));
    await reporter.tell({ nodes: bad });
    assert.deepEqual(times(), [NOW / 1_000, NOW / 1_000]);
    const later = { nodes: bad, now: NOW + 60_000 };
    assert.equal((await reporter.tell(later)).wrote, false);
    assert.deepEqual(times(), [NOW / 1_000 + 60, NOW / 1_000]);
  });

  it('do not say so while a status waits for its turn', async () => {
    const reporter = new Reporter();
    const confirmed = () => reporter.world.stamps.get('web windowspool_status_confirmed_timestamp_seconds');
    await reporter.tell({ nodes: bad });
    const { reported } = await reporter.tell({ now: NOW + 500 }, {}, false);
    assert.deepEqual([reported.kind, confirmed()], ['deferred', NOW / 1_000]);
  });

  it('keep the state of a group that cannot be looked at, and show none of a foreign one', async () => {
    const reporter = new Reporter();
    const shown = () => gaugesOf(reporter.world.metrics.get('web'), 'windowspool_node_group_status');
    const error = sampleError('throttled');
    await reporter.tell({ group: { kind: 'unreachable', error, since: 0, last: sampleGroup() } });
    assert.deepEqual(shown(), { 'status="ACTIVE"': 1 });
    await reporter.tell({ group: { kind: 'seen', group: sampleGroup(undefined, { tags: {} }) } });
    assert.deepEqual(shown(), {});
  });

  it('go with the pool, whose status is not written any more', async () => {
    const reporter = new Reporter();
    await reporter.tell({});
    const { wrote } = await reporter.tell({ nodes: bad }, { released: true });
    assert.deepEqual([wrote, reporter.world.metrics.size], [false, 0]);
  });
});
