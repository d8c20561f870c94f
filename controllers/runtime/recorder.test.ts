import assert from 'node:assert/strict';
import { StreamFailure } from './failure.ts';
import type { EventMessage, EventRecord, EventSeries, EventSink } from './ports.ts';
import { Recorder } from './recorder.ts';
import { silentLog } from './testing/silentLog.ts';
import { SimulatedClock } from './testing/simulatedClock.ts';

const pool = { apiVersion: 'winpool.dev/v1alpha1', kind: 'WindowsPool', name: 'web', uid: 'uid-1' };
const ready: EventMessage = { type: 'Normal', reason: 'Ready', action: 'Report', note: 'All nodes are verified.' };

class SimulatedSink implements EventSink {
  readonly created: EventRecord[] = [];
  readonly series: EventSeries[] = [];
  failures: Error[] = [];
  hangs = false;

  async create(event: EventRecord, signal: AbortSignal): Promise<void> {
    await this.#reach(signal);
    this.created.push(event);
  }

  async updateSeries(_event: EventRecord, series: EventSeries, signal: AbortSignal): Promise<void> {
    await this.#reach(signal);
    this.series.push(series);
  }

  async #reach(signal: AbortSignal): Promise<void> {
    const failure = this.failures.shift();
    if (failure) throw failure;
    if (!this.hangs) return;
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }
}

function setUp() {
  const clock = new SimulatedClock();
  const sink = new SimulatedSink();
  const recorder = new Recorder({ sink, clock, log: silentLog, controller: 'winpool.dev/operator', instance: 'pod-1' });
  return { clock, sink, recorder };
}

describe('the recorder', () => {
  it('writes an event about a cluster-scoped object into the namespace default', async () => {
    const { clock, sink, recorder } = setUp();
    recorder.publish(pool, ready);
    await clock.advance(0);
    const { name, ...rest } = sink.created[0] as EventRecord;
    assert.match(name, /^web\.[0-9a-f]+$/);
    assert.deepEqual(rest, {
      ...ready,
      namespace: 'default',
      eventTime: clock.now(),
      regarding: pool,
      reportingController: 'winpool.dev/operator',
      reportingInstance: 'pod-1',
    });
  });

  it('combines repeated events within minutes into a series, written at once and then each minute', async () => {
    const { clock, sink, recorder } = setUp();
    for (let index = 0; index < 20; index++) {
      recorder.publish(pool, ready);
      await clock.advance(5_000);
    }
    await clock.advance(60_000);
    assert.equal(sink.created.length, 1);
    assert.deepEqual(
      sink.series.map(({ count }) => count),
      [2, 13, 20],
    );
    await clock.advance(6 * 60_000);
    recorder.publish(pool, ready);
    await clock.advance(0);
    assert.equal(sink.created.length, 2, 'after a quiet time it is a new event');
  });

  it('writes an event that is repeated after a quiet time, also just after another event', async () => {
    const { clock, sink, recorder } = setUp();
    recorder.publish(pool, ready);
    await clock.advance(6 * 60_000 - 1);
    recorder.publish(pool, { ...ready, reason: 'Other' });
    await clock.advance(1);
    recorder.publish(pool, ready);
    await clock.advance(0);
    assert.deepEqual([sink.created.length, sink.series], [3, []]);
  });

  it('does not combine events with different notes', async () => {
    const { clock, sink, recorder } = setUp();
    recorder.publish(pool, ready);
    recorder.publish(pool, { ...ready, note: 'other' });
    recorder.publish({ ...pool, name: 'batch' }, ready);
    await clock.advance(0);
    assert.equal(sink.created.length, 3);
    assert.equal(new Set(sink.created.map(({ name }) => name)).size, 3);
  });

  it('writes 25 events with a reason about an object, then one every five minutes', async () => {
    const { clock, sink, recorder } = setUp();
    for (let index = 0; index < 40; index++) recorder.publish(pool, { ...ready, note: `note ${index}` });
    recorder.publish({ ...pool, name: 'batch' }, ready);
    recorder.publish(pool, { ...ready, reason: 'Other' });
    await clock.advance(1_000);
    assert.equal(sink.created.length, 27);
    await clock.advance(300_000);
    recorder.publish(pool, { ...ready, note: 'later' });
    recorder.publish(pool, { ...ready, note: 'too many' });
    await clock.advance(1_000);
    assert.equal(sink.created.length, 28);
  });

  const failures: { failure: Error; attempts: string; created: number }[] = [
    { failure: new StreamFailure('connect ECONNREFUSED'), attempts: 'another attempt', created: 1 },
    {
      failure: new StreamFailure('slow down', { status: 429, retryAfterMs: 4_000 }),
      attempts: 'another attempt',
      created: 1,
    },
    { failure: new StreamFailure('internal error', { status: 500 }), attempts: 'another attempt', created: 1 },
    { failure: new StreamFailure('forbidden', { status: 403 }), attempts: 'no attempts', created: 0 },
    { failure: new StreamFailure('namespace is terminating', { status: 409 }), attempts: 'no attempts', created: 0 },
  ];
  for (const { failure, attempts, created } of failures) {
    it(`makes ${attempts} after "${failure.message}"`, async () => {
      const { clock, sink, recorder } = setUp();
      sink.failures = [failure];
      recorder.publish(pool, ready);
      await clock.advance(10_000);
      assert.deepEqual([sink.created.length, clock.pending], [created, 0]);
    });
  }

  it('drops an event after three attempts, and continues with the next', async () => {
    const { clock, sink, recorder } = setUp();
    sink.failures = [1, 2, 3].map(() => new StreamFailure('internal error', { status: 500 }));
    recorder.publish(pool, ready);
    recorder.publish(pool, { ...ready, note: 'next' });
    await clock.advance(60_000);
    assert.deepEqual(
      sink.created.map(({ note }) => note),
      ['next'],
    );
  });

  it('recreates the event if the API server has deleted the first of its series', async () => {
    const { clock, sink, recorder } = setUp();
    recorder.publish(pool, ready);
    await clock.advance(0);
    sink.failures = [new StreamFailure('not found', { status: 404 })];
    recorder.publish(pool, ready);
    await clock.advance(0);
    assert.equal(sink.created[1]?.series?.count, 2);
  });

  it('writes pending events and series at the stop, and accepts no more', async () => {
    const { clock, sink, recorder } = setUp();
    recorder.publish(pool, ready);
    await clock.advance(0);
    recorder.publish(pool, ready);
    await clock.advance(0);
    recorder.publish(pool, ready);
    recorder.publish(pool, { ...ready, note: 'last words' });
    await recorder.stop(5_000);
    recorder.publish(pool, { ...ready, note: 'too late' });
    await clock.advance(0);
    assert.deepEqual([sink.created.length, sink.series.at(-1)?.count, clock.pending], [2, 3, 0]);
  });

  it('stops in time if the API server does not respond', async () => {
    const { clock, sink, recorder } = setUp();
    sink.hangs = true;
    recorder.publish(pool, ready);
    await clock.advance(0);
    let stopped = false;
    const stopping = recorder.stop(2_000).then(() => {
      stopped = true;
    });
    await clock.advance(1_999);
    assert.equal(stopped, false);
    await clock.advance(1);
    await stopping;
    assert.equal(clock.pending, 0);
  });

  it('truncates texts to the limits of the API, in bytes', async () => {
    const { clock, sink, recorder } = setUp();
    recorder.publish({ ...pool, name: 'x'.repeat(253) }, { ...ready, note: 'ü'.repeat(1_000) });
    await clock.advance(0);
    const [event] = sink.created;
    assert.ok(event && Buffer.byteLength(event.note) <= 1024 && event.note.endsWith('ü...'));
    assert.ok(event.name.length <= 253);
  });
});
