import assert from 'node:assert/strict';
import type { CallResult } from '../ports/callResult.ts';
import { sampleError } from '../testing/fixtures.ts';
import { SharedAnswers } from './sharedAnswers.ts';

const { signal } = new AbortController();

/** A question that the test answers. */
function question() {
  const calls: {
    readonly signal: AbortSignal;
    readonly come: (answer: CallResult<number>) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const ask = (own: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<CallResult<number>>();
    calls.push({ signal: own, come: resolve, fail: reject });
    return promise;
  };
  return { calls, ask };
}

const one: CallResult<number> = { ok: true, value: 1 };

describe('shared answers', () => {
  it('are read once for concurrent callers', async () => {
    const shared = new SharedAnswers();
    const { calls, ask } = question();
    const all = [1, 2, 3].map(() => shared.get('q', 0, 0, ask, signal));
    assert.equal(calls.length, 1);
    calls[0]?.come(one);
    assert.deepEqual(await Promise.all(all), [one, one, one]);
  });

  it('are cached up to the age that the caller accepts', async () => {
    const shared = new SharedAnswers();
    let asked = 0;
    const ask = async () => ({ ok: true as const, value: ++asked });
    const at = async (now: number, maxAge = 100) => {
      const answer = await shared.get('q', maxAge, now, ask, signal);
      return answer.ok && answer.value;
    };
    assert.deepEqual([await at(0), await at(99), await at(100), await at(150, 10), await at(151, 0)], [1, 1, 2, 3, 4]);
  });

  it('are read again after they are forgotten, and an answer in flight is not cached', async () => {
    const shared = new SharedAnswers();
    const { calls, ask } = question();
    const first = shared.get('q', 100, 0, ask, signal);
    shared.forget('q');
    calls[0]?.come(one);
    assert.deepEqual(await first, one);
    const second = shared.get('q', 100, 1, ask, signal);
    assert.equal(calls.length, 2);
    calls[1]?.come(one);
    await second;
    shared.forget('q');
    void shared.get('q', 100, 2, ask, signal);
    assert.equal(calls.length, 3);
  });

  it('are cached if the object does not exist', async () => {
    const shared = new SharedAnswers();
    const none: CallResult<number | undefined> = { ok: true, value: undefined };
    assert.deepEqual(await shared.get('q', 100, 0, async () => none, signal), none);
    assert.deepEqual(await shared.get('q', 100, 99, async () => one, signal), none);
  });

  it('are cached for a second if they are errors', async () => {
    const shared = new SharedAnswers();
    const error: CallResult<number> = { ok: false, error: sampleError('denied') };
    const at = (now: number, maxAge: number, answer: CallResult<number>) =>
      shared.get('q', maxAge, now, async () => answer, signal);
    assert.deepEqual(await at(0, 60_000, error), error);
    assert.deepEqual(await at(999, 60_000, one), error);
    assert.deepEqual(await at(1_000, 60_000, one), one);
    assert.deepEqual(await at(70_000, 60_000, error), error);
    assert.deepEqual(await at(70_100, 100, one), one);
  });

  it('are cached for their own question only', async () => {
    const shared = new SharedAnswers();
    await shared.get('q', 100, 0, async () => one, signal);
    const two: CallResult<number> = { ok: true, value: 2 };
    assert.deepEqual(await shared.get('other', 100, 0, async () => two, signal), two);
  });

  it('can be amended by the caller, and an answer in flight is then not cached', async () => {
    const shared = new SharedAnswers();
    const { calls, ask } = question();
    shared.amend<number>('q', () => 9);
    await shared.get('q', 100, 0, async () => one, signal);
    const underWay = shared.get('q', 0, 1, ask, signal);
    shared.amend<number>('q', (value) => value + 4);
    calls[0]?.come({ ok: true, value: 1 });
    assert.deepEqual(await underWay, one);
    assert.deepEqual(await shared.get('q', 100, 2, ask, signal), { ok: true, value: 5 });
    assert.equal(calls.length, 1);
  });

  it('are still awaited after one caller aborts; the call is aborted with the last caller', async () => {
    const shared = new SharedAnswers();
    const { calls, ask } = question();
    const [first, second] = [new AbortController(), new AbortController()];
    const a = shared.get('q', 0, 0, ask, first.signal);
    const b = shared.get('q', 0, 0, ask, second.signal);
    first.abort(new Error('first left'));
    await assert.rejects(a, /first left/);
    assert.equal(calls[0]?.signal.aborted, false);
    second.abort(new Error('second left'));
    await assert.rejects(b, /second left/);
    assert.equal(calls[0]?.signal.aborted, true);
    const c = shared.get('q', 0, 0, ask, signal);
    assert.equal(calls.length, 2);
    calls[0]?.come({ ok: true, value: 7 });
    calls[1]?.come(one);
    assert.deepEqual(await c, one);
  });

  it('reject for every caller after a bug, and are then read again', async () => {
    const shared = new SharedAnswers();
    const { calls, ask } = question();
    const both = [shared.get('q', 0, 0, ask, signal), shared.get('q', 0, 0, ask, signal)];
    calls[0]?.fail(new TypeError('a bug'));
    for (const asked of both) await assert.rejects(asked, /a bug/);
    assert.deepEqual(await shared.get('q', 0, 0, async () => one, signal), one);
  });

  it('are not read for a caller that aborted before', async () => {
    const { calls, ask } = question();
    await assert.rejects(new SharedAnswers().get('q', 0, 0, ask, AbortSignal.abort(new Error('left'))), /left/);
    assert.equal(calls.length, 0);
  });

  it('are bounded in number', async () => {
    const shared = new SharedAnswers();
    let asked = 0;
    const ask = async () => ({ ok: true as const, value: ++asked });
    for (let i = 0; i < 1_001; i++) await shared.get(`q${i}`, 100, 0, ask, signal);
    await shared.get('q1', 100, 0, ask, signal);
    assert.equal(asked, 1_001, 'a recent one is kept');
    await shared.get('q0', 100, 0, ask, signal);
    assert.equal(asked, 1_002, 'the oldest is dropped');
  });
});
