import assert from 'node:assert/strict';
import type { CallResult } from '../../../ports/callResult.ts';
import { sampleError } from '../../../testing/fixtures.ts';
import { SharedAnswers } from './sharedAnswers.ts';

const { signal } = new AbortController();

/** A question whose answer comes when the test says so. */
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
  it('ask once what many ask at the same time', async () => {
    const shared = new SharedAnswers();
    const { calls, ask } = question();
    const all = [1, 2, 3].map(() => shared.get('q', 0, 0, ask, signal));
    assert.equal(calls.length, 1);
    calls[0]?.come(one);
    assert.deepEqual(await Promise.all(all), [one, one, one]);
  });

  it('keep what is known until it is as old as the asker bears', async () => {
    const shared = new SharedAnswers();
    let asked = 0;
    const ask = async () => ({ ok: true as const, value: ++asked });
    const at = async (now: number, maxAge = 100) => {
      const answer = await shared.get('q', maxAge, now, ask, signal);
      return answer.ok && answer.value;
    };
    assert.deepEqual([await at(0), await at(99), await at(100), await at(150, 10), await at(151, 0)], [1, 1, 2, 3, 4]);
  });

  it('are asked for anew after they are forgotten, and one under way is not kept', async () => {
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

  it('keep that something does not exist as any other answer', async () => {
    const shared = new SharedAnswers();
    const none: CallResult<number | undefined> = { ok: true, value: undefined };
    assert.deepEqual(await shared.get('q', 100, 0, async () => none, signal), none);
    assert.deepEqual(await shared.get('q', 100, 99, async () => one, signal), none);
  });

  it('keep trouble for a second, for those who bear that age', async () => {
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

  it('keep nothing for another question', async () => {
    const shared = new SharedAnswers();
    await shared.get('q', 100, 0, async () => one, signal);
    const two: CallResult<number> = { ok: true, value: 2 };
    assert.deepEqual(await shared.get('other', 100, 0, async () => two, signal), two);
  });

  it('take a change that the asker made, and keep no answer that was under way', async () => {
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

  it('let one asker go and the others wait on; the call ends with the last', async () => {
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

  it('tell every asker of a bug, and ask again after it', async () => {
    const shared = new SharedAnswers();
    const { calls, ask } = question();
    const both = [shared.get('q', 0, 0, ask, signal), shared.get('q', 0, 0, ask, signal)];
    calls[0]?.fail(new TypeError('a bug'));
    for (const asked of both) await assert.rejects(asked, /a bug/);
    assert.deepEqual(await shared.get('q', 0, 0, async () => one, signal), one);
  });

  it('do not ask for one who has left before', async () => {
    const { calls, ask } = question();
    await assert.rejects(new SharedAnswers().get('q', 0, 0, ask, AbortSignal.abort(new Error('left'))), /left/);
    assert.equal(calls.length, 0);
  });

  it('do not grow for ever', async () => {
    const shared = new SharedAnswers();
    let asked = 0;
    const ask = async () => ({ ok: true as const, value: ++asked });
    for (let i = 0; i < 1_001; i++) await shared.get(`q${i}`, 100, 0, ask, signal);
    await shared.get('q1', 100, 0, ask, signal);
    assert.equal(asked, 1_001, 'a young one is kept');
    await shared.get('q0', 100, 0, ask, signal);
    assert.equal(asked, 1_002, 'the oldest is forgotten');
  });
});
