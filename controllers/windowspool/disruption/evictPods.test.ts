import assert from 'node:assert/strict';
import type { CallResult } from '../ports/callResult.ts';
import type { DrainPod, Eviction } from '../ports/pods.ts';
import { sampleError, sampleNode } from '../testing/fixtures.ts';
import { podOn } from '../testing/nodeScenes.ts';
import { evictPods } from './evictPods.ts';

const { signal } = new AbortController();
const node = sampleNode({ name: 'a' });
const accepted: CallResult<Eviction> = { ok: true, value: { kind: 'accepted' } };
const blocked = (budget: string | undefined): CallResult<Eviction> => ({
  ok: true,
  value: { kind: 'blocked', budget, message: 'not now' },
});
const failed: CallResult<Eviction> = { ok: false, error: sampleError('denied') };

/** Evicts one pod for each result, in their order. */
async function pass(answers: readonly CallResult<Eviction>[], within: AbortSignal = signal, passMs?: number) {
  const asked: string[] = [];
  let open = 0;
  let most = 0;
  const evict = async ({ name }: DrainPod, gracePeriodSeconds: number) => {
    most = Math.max(most, ++open);
    asked.push(`${name} ${gracePeriodSeconds}`);
    await new Promise(setImmediate);
    open -= 1;
    return answers[Number(name)] ?? accepted;
  };
  const evictions = answers.map((_, i) => ({ pod: podOn({ name: String(i) }), gracePeriodSeconds: 40 + i }));
  const answer = await evictPods({ kind: 'evictPods', node, evictions }, { evict }, within, passMs);
  const result = answer.ok && { asked: answer.value.took.evictions.length, blocked: answer.value.blocked };
  return { reported: result, asked, most };
}

describe('a pass of a drain', () => {
  it('evicts each pod once, with its grace period, and several concurrently', async () => {
    const { reported, asked, most } = await pass(Array.from({ length: 10 }, () => accepted));
    assert.deepEqual(reported, { asked: 10, blocked: [] });
    assert.deepEqual([asked.length, asked[9], most], [10, '9 49', 4]);
  });

  it('returns the blocked pods and what blocks them', async () => {
    const { reported } = await pass([
      accepted,
      blocked('cart'),
      { ok: true, value: { kind: 'gone' } },
      blocked(undefined),
      { ok: true, value: { kind: 'denied', by: 'admission webhook guard' } },
    ]);
    const kept = { node: 'a', namespace: 'shop' };
    assert.deepEqual(reported, {
      asked: 5,
      blocked: [
        { ...kept, name: '1', budget: 'cart' },
        { ...kept, name: '3', budget: undefined },
        { ...kept, name: '4', budget: undefined, admission: 'admission webhook guard' },
      ],
    });
  });

  it('evicts the other pods when one call fails, and returns the error', async () => {
    const { reported, asked } = await pass([failed, ...Array.from({ length: 6 }, () => accepted)]);
    assert.deepEqual([reported, asked.length], [false, 7]);
  });

  it('leaves the rest to the next pass at its time limit, and returns the evicted ones', async () => {
    const { reported, asked } = await pass([blocked('cart'), ...Array.from({ length: 9 }, () => accepted)], signal, 0);
    const kept = { node: 'a', namespace: 'shop', name: '0', budget: 'cart' };
    assert.deepEqual([reported, asked.length], [{ asked: 4, blocked: [kept] }, 4]);
  });

  it('is aborted by its signal', async () => {
    await assert.rejects(pass([accepted], AbortSignal.abort()), /abort/i);
  });
});
