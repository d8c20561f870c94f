import assert from 'node:assert/strict';
import { Lane } from './calls.ts';

const { signal } = new AbortController();

/** A call that ends only by its signal. */
function hang(bounded: AbortSignal): Promise<never> {
  return new Promise((_, reject) => bounded.addEventListener('abort', () => reject(bounded.reason), { once: true }));
}

/** Lets all work run that waits for nothing but its turn. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('the lane to AWS', () => {
  it('gives the value and tells of the call', async () => {
    const told: unknown[] = [];
    const lane = new Lane(({ service, operation, result, code, attempts, tookSeconds, waitedSeconds }) =>
      told.push([service, operation, result, code, attempts, tookSeconds + waitedSeconds < 5]),
    );
    assert.deepEqual(await lane.run('eks', 'DescribeCluster', async () => 7, signal), { ok: true, value: 7 });
    const failing = async () =>
      Promise.reject(
        Object.assign(new Error('no'), {
          name: 'ThrottlingException',
          $metadata: { httpStatusCode: 429, attempts: 3 },
        }),
      );
    const answer = await lane.run('ec2', 'DescribeInstances', failing, signal);
    assert.equal(!answer.ok && answer.trouble.kind, 'throttled');
    assert.deepEqual(told, [
      ['eks', 'DescribeCluster', 'ok', 'OK', 1, true],
      ['ec2', 'DescribeInstances', 'throttled', 'ThrottlingException', 3, true],
    ]);
  });

  it('runs at most 10 calls at a time, and the others in their turn', async () => {
    const lane = new Lane(() => undefined);
    let running = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    const call = () => {
      running += 1;
      most = Math.max(most, running);
      return new Promise<void>((resolve) => ends.push(resolve)).finally(() => {
        running -= 1;
      });
    };
    const answers = Promise.all(Array.from({ length: 15 }, () => lane.run('eks', 'DescribeNodegroup', call, signal)));
    await settled();
    assert.deepEqual([running, most], [10, 10]);
    for (let ended = 0; ended < 15; ended++) {
      ends.shift()?.();
      await settled();
    }
    assert.deepEqual([(await answers).length, most], [15, 10]);
  });

  it('starts at most 20 calls a second', async () => {
    const lane = new Lane(() => undefined);
    const starts: number[] = [];
    const call = async () => starts.push(performance.now());
    await Promise.all(Array.from({ length: 21 }, () => lane.run('eks', 'DescribeNodegroup', call, signal)));
    const [first = 0] = starts;
    assert.ok((starts[20] ?? 0) - first >= 900, `the 21st call started after ${(starts[20] ?? 0) - first} ms`);
  });

  it('ends a call that takes too long', async () => {
    const lane = new Lane(() => undefined, { timeoutMs: 5 });
    const answer = await lane.run('eks', 'DescribeNodegroup', hang, signal);
    assert.deepEqual(
      [answer.ok, !answer.ok && answer.trouble.kind, !answer.ok && answer.trouble.code],
      [false, 'unavailable', 'TimeoutError'],
    );
  });

  it('throws the reason of the caller who gave up, while the call runs', async () => {
    const lane = new Lane(() => undefined);
    const stop = new AbortController();
    const answer = lane.run('eks', 'DescribeNodegroup', hang, stop.signal);
    await settled();
    stop.abort(new Error('stopping'));
    await assert.rejects(answer, /stopping/);
  });

  it('does not start a call whose caller gave up while it waited', async () => {
    const lane = new Lane(() => undefined);
    const stop = new AbortController();
    const busy = Array.from({ length: 10 }, () => lane.run('eks', 'DescribeNodegroup', hang, stop.signal));
    let started = false;
    const waiting = lane.run('eks', 'CreateNodegroup', async () => (started = true), stop.signal);
    const answers = Promise.allSettled([...busy, waiting]);
    await settled();
    stop.abort(new Error('stopping'));
    const outcomes = await answers;
    assert.deepEqual([outcomes.every(({ status }) => status === 'rejected'), started], [true, false]);
  });
});
