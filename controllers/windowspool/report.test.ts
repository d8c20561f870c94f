import assert from 'node:assert/strict';
import type { WindowsPool } from './api/api.gen.ts';
import type { RunResult } from './model/outcome.ts';
import type { Step } from './model/steps.ts';
import type { NodeRecord } from './ports/nodes.ts';
import type { EksDerived } from './providers/nodeGroup/model/groupDue.ts';
import { report } from './report.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import {
  knownStatus,
  NOW,
  type ObservedStateChange,
  outcomeOf,
  sampleError,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from './testing/fixtures.ts';
import { assertBriefs } from './testing/goldenTexts.ts';
import { gaugesOf } from './testing/shownMetrics.ts';

const { signal } = new AbortController();

class Reporter {
  readonly world = new FakeWorld();
  readonly reporter = this.world.start();
  #pool: WindowsPool = samplePool({}, { status: knownStatus() });

  /** Reports an observed state of the pool after the last report. Returns the events and whether the status was written. */
  async publish(change: ObservedStateChange, outcome: Partial<RunResult<EksDerived>> = {}, urgent = true) {
    const pool = { ...(change.pool ?? this.#pool), ...(this.#pool.status && { status: this.#pool.status }) };
    this.world.pools.set('web', { ...pool, metadata: { ...pool.metadata } });
    const after = sampleState({ ...change, pool });
    const reported = await report({ ...outcomeOf(after), ...outcome }, [], urgent, this.reporter, signal);
    if (reported.kind === 'reported') this.#pool = reported.pool;
    const events = this.world.events.splice(0).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
    return { reported, events, wrote: this.world.calls.splice(0).includes('write status') };
  }
}

const bad = [...sampleNodes(3), sampleNode({ name: 'ip-9', taints: [] })];

describe('a report', () => {
  it('writes the first status, and publishes no events for a healthy pool', async () => {
    const { events, wrote } = await new Reporter().publish({});
    assert.deepEqual({ events, wrote }, { events: [], wrote: true });
  });

  it('writes the same status once, and publishes events once', async () => {
    const reporter = new Reporter();
    await reporter.publish({ nodes: bad });
    const { events, wrote } = await reporter.publish({ nodes: bad });
    assert.deepEqual({ events, wrote }, { events: [], wrote: false });
  });

  it('publishes each change of a condition once', async () => {
    const reporter = new Reporter();
    await reporter.publish({});
    const turned = await reporter.publish({ nodes: bad });
    const back = await reporter.publish({});
    assertBriefs(turned.events, [
      ['Warning RegistrationTaintMissing', '1 of 4', 'ip-9', 'kubectl annotate node ip-9 winpool.dev/replace=true'],
    ]);
    assertBriefs(back.events, [['Normal AllVerified', '3 nodes']]);
  });

  it('publishes nothing when only a message changes', async () => {
    const reporter = new Reporter();
    await reporter.publish({ nodes: bad });
    const { events, wrote } = await reporter.publish({ nodes: [...bad, sampleNode({ name: 'ip-10' })] });
    assert.deepEqual({ events, wrote }, { events: [], wrote: true });
  });

  it('publishes one cause once, not again as Ready and Stalled', async () => {
    const reporter = new Reporter();
    await reporter.publish({});
    const group = { kind: 'seen', group: sampleGroup(undefined, { status: 'DELETE_FAILED' }) } as const;
    const { events } = await reporter.publish({ group });
    assertBriefs(events, [['Warning DeleteFailed', 'web']]);
  });

  it('publishes progress as Normal', async () => {
    const reporter = new Reporter();
    await reporter.publish({});
    const { events } = await reporter.publish({ runtimeClass: undefined });
    assertBriefs(events, [['Normal Pending', 'windows-2022']]);
  });

  it('publishes a pause', async () => {
    const reporter = new Reporter();
    const { events } = await reporter.publish({ pool: samplePool({ paused: true }) });
    assertBriefs(events, [['Normal Paused', 'spec.paused', 'status.pendingSteps']]);
  });

  it('writes changes of nodes at most once a second, and the first change at once', async () => {
    const reporter = new Reporter();
    const at = (ms: number, nodes: readonly NodeRecord[]) => reporter.publish({ nodes, now: NOW + ms }, {}, false);
    assert.equal((await at(0, sampleNodes(3))).wrote, true);
    assert.deepEqual(await at(300, bad), { reported: { kind: 'deferred', ms: 700 }, events: [], wrote: false });
    assert.equal((await at(1_000, bad)).wrote, true);
    assert.equal((await at(5_000, sampleNodes(3))).wrote, true, 'a single change is written at once');
  });

  it('writes at once what was read from AWS or done', async () => {
    const reporter = new Reporter();
    await reporter.publish({});
    assert.equal((await reporter.publish({ nodes: bad })).wrote, true);
    const done: readonly Step[] = [{ kind: 'addFinalizer' }];
    assert.equal((await reporter.publish({}, { done }, false)).wrote, true);
  });

  it('publishes nothing about a status that could not be written, and returns the error', async () => {
    const reporter = new Reporter();
    reporter.world.fails = () => sampleError('conflict');
    const { reported, events } = await reporter.publish({ nodes: bad });
    assert.deepEqual(
      { reported, events },
      { reported: { kind: 'failed', error: sampleError('conflict', { operation: 'write status' }) }, events: [] },
    );
  });

  it('publishes every step that was done, except changes of the own status', async () => {
    const seen = sampleRuntimeClass();
    const done: readonly Step[] = [
      { kind: 'addFinalizer' },
      { kind: 'updateConfig', group: 'web', change: { scaling: { maxSize: 9 } }, token: 't', target: 'x' },
      { kind: 'deleteRuntimeClass', seen },
      { kind: 'labelNode', node: sampleNode({ name: 'ip-1' }), build: '10.0.20348' },
    ];
    const { events } = await new Reporter().publish({}, { done });
    assertBriefs(events, [
      ['Normal NodeGroupUpdated', 'web', 'maxSize 9'],
      ['Normal RuntimeClassDeleted', 'windows-2022'],
      ['Normal NodeLabelled', 'ip-1', '10.0.20348'],
    ]);
  });
});

describe('the metrics', () => {
  it('show when the status was confirmed, also without a write, and when it was written', async () => {
    const reporter = new Reporter();
    const { stamps } = reporter.world;
    const times = () =>
      ['confirmed', 'written'].map((what) => stamps.get(`web windowspool_status_${what}_timestamp_seconds`));
    await reporter.publish({ nodes: bad });
    assert.deepEqual(times(), [NOW / 1_000, NOW / 1_000]);
    const later = { nodes: bad, now: NOW + 60_000 };
    assert.equal((await reporter.publish(later)).wrote, false);
    assert.deepEqual(times(), [NOW / 1_000 + 60, NOW / 1_000]);
  });

  it('do not confirm a status that is deferred', async () => {
    const reporter = new Reporter();
    const confirmed = () => reporter.world.stamps.get('web windowspool_status_confirmed_timestamp_seconds');
    await reporter.publish({ nodes: bad });
    const { reported } = await reporter.publish({ now: NOW + 500 }, {}, false);
    assert.deepEqual([reported.kind, confirmed()], ['deferred', NOW / 1_000]);
  });

  it('keep the state of a group that cannot be read, and show none of a group that the pool does not manage', async () => {
    const reporter = new Reporter();
    const shown = () => gaugesOf(reporter.world.metrics.get('web'), 'windowspool_node_group_status');
    const error = sampleError('throttled');
    await reporter.publish({ group: { kind: 'unreachable', error, since: 0, last: sampleGroup() } });
    assert.deepEqual(shown(), { 'status="ACTIVE"': 1 });
    await reporter.publish({ group: { kind: 'seen', group: sampleGroup(undefined, { tags: {} }) } });
    assert.deepEqual(shown(), {});
  });

  it('are removed with the pool, whose status is no longer written', async () => {
    const reporter = new Reporter();
    await reporter.publish({});
    const { wrote } = await reporter.publish({ nodes: bad }, { released: true });
    assert.deepEqual([wrote, reporter.world.metrics.size], [false, 0]);
  });
});
