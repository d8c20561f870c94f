import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SimulatedClock } from './testing/simulatedClock.ts';
import { Workqueue } from './workqueue.ts';

/** A model of the queue: plain lists that are searched. */
class Model {
  time = 0;
  waiting: string[] = [];
  running: string[] = [];
  dirty: string[] = [];
  delayed: { key: string; at: number; order: number }[] = [];
  failures = new Map<string, number>();
  /** How often a key started to wait. */
  begun = 0;
  #order = 0;

  add(key: string): void {
    if (this.waiting.includes(key) || this.dirty.includes(key)) return;
    if (this.running.includes(key)) this.dirty.push(key);
    else this.#enqueue(key);
  }

  addAfter(key: string, ms: number): void {
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const at = this.time + ms;
    if (this.delayed.some((other) => other.key === key && other.at <= at)) return;
    this.delayed = this.delayed.filter((other) => other.key !== key);
    this.delayed.push({ key, at, order: this.#order++ });
  }

  retry(key: string): void {
    const failures = this.failures.get(key) ?? 0;
    this.failures.set(key, failures + 1);
    this.addAfter(key, Math.min(100, 5 * 2 ** failures));
  }

  take(): string | undefined {
    const key = this.waiting.shift();
    if (key !== undefined) this.running.push(key);
    return key;
  }

  done(key: string): void {
    this.running = this.running.filter((other) => other !== key);
    if (!this.dirty.includes(key)) return;
    this.dirty = this.dirty.filter((other) => other !== key);
    this.#enqueue(key);
  }

  #enqueue(key: string): void {
    this.waiting.push(key);
    this.begun += 1;
  }

  advance(ms: number): void {
    const end = this.time + ms;
    const due = this.delayed.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at || a.order - b.order);
    for (const { key, at } of due) {
      this.time = at;
      this.delayed = this.delayed.filter((other) => other.key !== key);
      this.add(key);
    }
    this.time = end;
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'd');
const ms = fc.constantFrom(0, 1, 5, 10, 50, 200);
const command = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key }),
  fc.record({ do: fc.constant('addAfter' as const), key, ms }),
  fc.record({ do: fc.constant('retry' as const), key }),
  fc.record({ do: fc.constant('forget' as const), key }),
  fc.record({ do: fc.constant('take' as const) }),
  fc.record({ do: fc.constant('done' as const), which: fc.nat({ max: 3 }) }),
  fc.record({ do: fc.constant('advance' as const), ms }),
);

type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

async function apply(step: Command, queue: Workqueue, model: Model, clock: SimulatedClock): Promise<void> {
  switch (step.do) {
    case 'add':
      model.add(step.key);
      return queue.add(step.key);
    case 'addAfter':
      model.addAfter(step.key, step.ms);
      return queue.addAfter(step.key, step.ms);
    case 'retry':
      model.retry(step.key);
      return queue.retry(step.key);
    case 'forget':
      model.failures.delete(step.key);
      return queue.forget(step.key);
    case 'take':
      return assert.equal(queue.take(), model.take());
    case 'advance':
      model.advance(step.ms);
      return clock.advance(step.ms);
    case 'done': {
      const running = model.running[step.which];
      if (running === undefined) return;
      model.done(running);
      return queue.done(running);
    }
  }
}

describe('the work queue', () => {
  it('behaves like its model for any operations', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 60, size: 'max' }), async (commands) => {
        const clock = new SimulatedClock();
        const model = new Model();
        let ready = 0;
        const queue = new Workqueue({
          clock,
          onReady: () => ready++,
          maxDelayMs: 100,
          retriesPerSecond: 1e9,
          burst: 1e9,
        });
        for (const step of commands) {
          await apply(step, queue, model, clock);
          assert.equal(queue.depth, model.waiting.length);
          assert.equal(queue.running, model.running.length);
          assert.equal(ready, model.begun, 'each key that begins to wait is announced once');
        }
        for (let next = model.take(); next !== undefined; next = model.take()) assert.equal(queue.take(), next);
        assert.equal(queue.take(), undefined);
      }),
      { numRuns: 500 },
    );
  }).timeout(20_000);

  it('reports once each key that starts to wait', () => {
    let ready = 0;
    const queue = new Workqueue({ clock: new SimulatedClock(), onReady: () => ready++ });
    queue.add('a');
    queue.add('a');
    queue.add('b');
    assert.equal(ready, 2);
    queue.take();
    queue.add('a');
    assert.equal(ready, 2, 'a running key waits only when it is done');
    queue.done('a');
    assert.equal(ready, 3);
  });

  it('runs a key once if an earlier addition replaces a delayed one', async () => {
    const clock = new SimulatedClock();
    const queue = new Workqueue({ clock, onReady: () => undefined });
    queue.addAfter('a', 50);
    queue.addAfter('a', 5);
    await clock.advance(5);
    assert.equal(queue.take(), 'a');
    queue.done('a');
    await clock.advance(100);
    assert.equal(queue.take(), undefined);
  });

  it('counts a key once that is added again while it waits', () => {
    let added = 0;
    const hooks = { added: () => added++ };
    const queue = new Workqueue({ clock: new SimulatedClock(), onReady: () => undefined, hooks });
    for (const _ of [1, 2]) queue.add('a');
    queue.take();
    for (const _ of [1, 2]) queue.add('a');
    assert.equal(added, 2);
  });

  it('retries a key after 5 ms, doubling to 1000 s, until it is forgotten', async () => {
    const clock = new SimulatedClock();
    const queue = new Workqueue({ clock, onReady: () => undefined });
    const delays: number[] = [];
    for (let round = 0; round < 20; round++) {
      if (round === 19) queue.forget('a');
      const since = clock.monotonic();
      queue.retry('a');
      await clock.until(() => queue.depth === 1, 'the key waits');
      delays.push(clock.monotonic() - since);
      queue.take();
      queue.done('a');
    }
    assert.deepEqual(delays.slice(0, 4), [5, 10, 20, 40]);
    assert.deepEqual(delays.slice(17), [655_360, 1_000_000, 5]);
  });

  it('allows 100 retries at once, then 10 per second', async () => {
    const clock = new SimulatedClock();
    const queue = new Workqueue({ clock, onReady: () => undefined });
    for (let index = 0; index < 150; index++) queue.retry(`key ${index}`);
    await clock.advance(50);
    assert.equal(queue.depth, 100);
    await clock.advance(1_000);
    assert.equal(queue.depth, 110);
    await clock.advance(4_000);
    assert.equal(queue.depth, 150);
  });

  it('delays no key by more than 5 s for the retries of others', async () => {
    const clock = new SimulatedClock();
    const queue = new Workqueue({ clock, onReady: () => undefined });
    for (let index = 0; index < 5_000; index++) queue.retry(`key ${index}`);
    await clock.advance(5_000);
    assert.equal(queue.depth, 5_000);
  });

  it('runs a key that is added all the time 50 times, and then 20 times a second, while another one runs at once', async () => {
    const clock = new SimulatedClock();
    const queue = new Workqueue({ clock, onReady: () => undefined });
    const runs = { often: 0, seldom: 0 };
    const work = () => {
      for (let key = queue.take(); key !== undefined; key = queue.take()) {
        runs[key as keyof typeof runs] += 1;
        queue.done(key);
      }
    };
    for (let turn = 0; turn < 1_000; turn++) {
      queue.add('often');
      if (turn % 100 === 0) {
        queue.add('seldom');
        work();
        assert.equal(runs.seldom, turn / 100 + 1);
      }
      work();
      await clock.advance(10);
    }
    assert.ok(runs.often >= 245 && runs.often <= 251, `${runs.often}`);
  });

  it('stops when the last key is done, and accepts no keys meanwhile', async () => {
    const clock = new SimulatedClock();
    const hookCalls: string[] = [];
    const hooks = {
      depth: (waiting: number) => hookCalls.push(`depth ${waiting}`),
      retried: () => hookCalls.push('retried'),
    };
    const queue = new Workqueue({ clock, onReady: () => undefined, hooks });
    queue.add('a');
    queue.take();
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    let stopped = false;
    const stopping = queue.stop().then(() => {
      stopped = true;
    });
    for (const key of ['a', 'd']) {
      queue.add(key);
      queue.addAfter(key, 10);
      queue.retry(key);
    }
    assert.equal(clock.pending, 0);
    await clock.advance(100);
    assert.deepEqual([stopped, queue.take()], [false, undefined]);
    queue.done('a');
    await stopping;
    assert.deepEqual(
      hookCalls,
      ['depth 1', 'depth 0', 'depth 1', 'depth 0'],
      'nothing waits, and nothing is counted as a retry',
    );
    assert.equal(queue.depth, 0);
  });

  it('measures how long keys wait and run', async () => {
    const clock = new SimulatedClock();
    const seen: string[] = [];
    const hooks = {
      taken: (waited: number) => seen.push(`waited ${waited}`),
      finished: (worked: number) => seen.push(`worked ${worked}`),
      retried: () => seen.push('retried'),
    };
    const queue = new Workqueue({ clock, onReady: () => undefined, hooks });
    await clock.advance(7);
    queue.add('a');
    await clock.advance(30);
    queue.take();
    await clock.advance(15);
    queue.add('a');
    await clock.advance(5);
    assert.deepEqual(queue.unfinished(), [20]);
    queue.retry('b');
    queue.done('a');
    queue.take();
    assert.deepEqual(seen, ['waited 30', 'retried', 'worked 20', 'waited 5'], 'it waits since it was added again');
    queue.done('a');
    assert.throws(() => queue.done('a'), /was not taken/);
  });
});
