import assert from 'node:assert/strict';
import { realClock } from '../runtime/clock.ts';
import { SimulatedClock } from '../runtime/testing/simulatedClock.ts';
import type { CallObserver, Service } from './calls.ts';
import { AwsRateLimiter } from './rateLimiter.ts';

const { signal } = new AbortController();

/** A call that ends only when its signal aborts. */
function hang(bounded: AbortSignal): Promise<never> {
  return new Promise((_, reject) => bounded.addEventListener('abort', () => reject(bounded.reason), { once: true }));
}

/** Runs all queued work. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A call that AWS throttles at every attempt of the SDK. */
async function throttled(): Promise<never> {
  throw Object.assign(new Error('no'), {
    name: 'ThrottlingException',
    $metadata: { httpStatusCode: 429, attempts: 3 },
  });
}

function simulated(): { readonly clock: SimulatedClock; readonly limiter: AwsRateLimiter } {
  const clock = new SimulatedClock();
  return { clock, limiter: new AwsRateLimiter(() => undefined, clock) };
}

/** Calls that return at once, and their start times. */
function callsAt(clock: SimulatedClock) {
  const times: number[] = [];
  const call = async () => times.push(clock.monotonic());
  const make = (limiter: AwsRateLimiter, service: Service, count: number, own = signal) =>
    Promise.all(Array.from({ length: count }, () => limiter.run(service, 'Describe', call, own)));
  return { times, make };
}

describe('the AWS rate limiter', () => {
  it('returns the answer, and reports the call', async () => {
    const reports: unknown[] = [];
    const observe: CallObserver = ({ service, operation, result, code, attempts, tookSeconds, waitedSeconds }) =>
      reports.push([service, operation, result, code, attempts, tookSeconds + waitedSeconds < 5]);
    const limiter = new AwsRateLimiter(observe, realClock);
    const value = { $metadata: {}, cluster: { name: 'prod' } };
    assert.deepEqual(await limiter.run('eks', 'DescribeCluster', async () => value, signal), { ok: true, value });
    const answer = await limiter.run('ec2', 'DescribeInstances', throttled, signal);
    assert.equal(!answer.ok && answer.error.kind, 'throttled');
    assert.deepEqual(reports, [
      ['eks', 'DescribeCluster', 'ok', 'OK', 1, true],
      ['ec2', 'DescribeInstances', 'throttled', 'ThrottlingException', 3, true],
    ]);
  });

  it('runs at most 10 calls of a service concurrently, and the others as these finish', async () => {
    const limiter = new AwsRateLimiter(() => undefined, realClock);
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
    const answers = Promise.all(
      Array.from({ length: 15 }, () => limiter.run('eks', 'DescribeNodegroup', call, signal)),
    );
    await settled();
    assert.deepEqual([running, most], [10, 10]);
    for (let ended = 0; ended < 15; ended++) {
      ends.shift()?.();
      await settled();
    }
    assert.deepEqual([(await answers).length, most], [15, 10]);
  });

  it('sends a burst of calls at once, and the others at the rate', async () => {
    const { clock, limiter } = simulated();
    const starts = callsAt(clock);
    const answers = starts.make(limiter, 'eks', 104);
    await clock.advance(0);
    assert.equal(starts.times.length, 100);
    await clock.advance(1_000);
    await answers;
    assert.deepEqual(starts.times.slice(100), [50, 100, 150, 200]);
  });

  it('slows down only the service that throttles, and lets it recover', async () => {
    const { clock, limiter } = simulated();
    await limiter.run('eks', 'DescribeNodegroup', throttled, signal);
    const [slow, fast] = [callsAt(clock), callsAt(clock)];
    const answers = [slow.make(limiter, 'eks', 3), fast.make(limiter, 'ec2', 100)];
    await clock.advance(0);
    assert.deepEqual([slow.times.length, fast.times.length], [0, 100]);
    await clock.advance(1_000);
    await Promise.all(answers);
    assert.deepEqual(slow.times, [100, 200, 300]);
    await clock.advance(60_000);
    const later = callsAt(clock);
    const recovered = later.make(limiter, 'eks', 100);
    await clock.advance(0);
    await recovered;
    assert.deepEqual(new Set(later.times), new Set([61_000]));
  });

  it('counts the retries of the SDK as calls', async () => {
    const { clock, limiter } = simulated();
    const retried = async () => ({ $metadata: { attempts: 3 } });
    for (let i = 0; i < 33; i++) await limiter.run('eks', 'DescribeNodegroup', retried, signal);
    const starts = callsAt(clock);
    const answers = starts.make(limiter, 'eks', 2);
    await clock.advance(1_000);
    await answers;
    assert.deepEqual(starts.times, [0, 50]);
  });

  it('sends no call for a caller that aborted while it waited for a token, and reuses the token', async () => {
    const { clock, limiter } = simulated();
    await callsAt(clock).make(limiter, 'eks', 100);
    const stop = new AbortController();
    const [first, second] = [callsAt(clock), callsAt(clock)];
    const given = first.make(limiter, 'eks', 1, stop.signal);
    await settled();
    stop.abort(new Error('stopping'));
    await assert.rejects(given, /stopping/);
    const kept = second.make(limiter, 'eks', 1);
    await clock.advance(1_000);
    await kept;
    assert.deepEqual([first.times, second.times], [[], [50]]);
  });

  it('aborts a call that takes too long', async () => {
    const limiter = new AwsRateLimiter(() => undefined, realClock, { timeoutMs: 5 });
    const answer = await limiter.run('eks', 'DescribeNodegroup', hang, signal);
    assert.deepEqual(
      [answer.ok, !answer.ok && answer.error.kind, !answer.ok && answer.error.code],
      [false, 'unavailable', 'TimeoutError'],
    );
  });

  it('throws the reason of a caller that aborts during the call', async () => {
    const limiter = new AwsRateLimiter(() => undefined, realClock);
    const stop = new AbortController();
    const answer = limiter.run('eks', 'DescribeNodegroup', hang, stop.signal);
    await settled();
    stop.abort(new Error('stopping'));
    await assert.rejects(answer, /stopping/);
  });

  it('does not start a call whose caller aborted while it waited', async () => {
    const limiter = new AwsRateLimiter(() => undefined, realClock);
    const stop = new AbortController();
    const busy = Array.from({ length: 10 }, () => limiter.run('eks', 'DescribeNodegroup', hang, stop.signal));
    let started = false;
    const waiting = limiter.run('eks', 'CreateNodegroup', async () => (started = true), stop.signal);
    const answers = Promise.allSettled([...busy, waiting]);
    await settled();
    stop.abort(new Error('stopping'));
    const outcomes = await answers;
    assert.deepEqual([outcomes.every(({ status }) => status === 'rejected'), started], [true, false]);
  });
});
