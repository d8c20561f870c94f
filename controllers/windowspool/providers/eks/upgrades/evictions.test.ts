import assert from 'node:assert/strict';
import type { CallResult } from '../../../ports/callResult.ts';
import type { NodeGroupUpdate } from '../../../ports/eks.ts';
import type { StuckPod } from '../../../ports/pods.ts';
import { MINUTE, NOW, sampleError, sampleNode, sampleState } from '../../../testing/fixtures.ts';
import { describeStuckPods, withStuckPods } from './evictions.ts';

const MOVE = 'Let the PodDisruptionBudget of the pods give way, or end them, or set nodeGroup.update.force: true.';
const pod = (name: string, ...budgets: readonly string[]): StuckPod => ({ namespace: 'shop', name, budgets });
const found = (...value: readonly StuckPod[]) => ({ ok: true, value }) as const;

describe('the pods that an update failed on', () => {
  const table: readonly (readonly [string, CallResult<readonly StuckPod[]> | undefined, string])[] = [
    ['are not told when nobody looked', undefined, MOVE],
    ['are not told when none are left', found(), MOVE],
    [
      'are named with the budget that keeps them',
      found(pod('cart-0', 'cart'), pod('cart-1', 'cart'), pod('web-0', 'web')),
      `Pods that stayed: shop/cart-0 and shop/cart-1 (PodDisruptionBudget cart allows no disruption); shop/web-0 (PodDisruptionBudget web allows no disruption). ${MOVE}`,
    ],
    [
      'are named with all their budgets: with two they are never evicted',
      found(pod('cart-0', 'cart', 'shop')),
      `Pods that stayed: shop/cart-0 (PodDisruptionBudgets cart and shop both match it, and such pods are never evicted). ${MOVE}`,
    ],
    [
      'are named where they come back',
      found(pod('agent-x')),
      `Pods that stayed: shop/agent-x (tolerates every taint, so it comes back to a cordoned node). ${MOVE}`,
    ],
    [
      'are counted after the fifth',
      found(...[1, 2, 3, 4, 5, 6, 7].map((i) => pod(`cart-${i}`, 'cart'))),
      `Pods that stayed: shop/cart-1, shop/cart-2, shop/cart-3, shop/cart-4 and shop/cart-5 (PodDisruptionBudget cart allows no disruption); and 2 more. ${MOVE}`,
    ],
    [
      'are unknown without the right to list them',
      { ok: false, error: sampleError('denied', { operation: 'list pods', message: 'pods is forbidden' }) },
      `Which pods stayed is not known: list pods failed: pods is forbidden. ${MOVE}`,
    ],
  ];
  for (const [name, stuck, want] of table) it(name, () => assert.equal(describeStuckPods(stuck), want));

  const began = NOW - 30 * MINUTE;
  const failed = (change: Partial<NodeGroupUpdate> = {}): NodeGroupUpdate => ({
    id: 'u-1',
    type: 'VersionUpdate',
    status: 'Failed',
    createdAt: began,
    errors: [{ code: 'PodEvictionFailure', message: 'Reached max retries', resourceIds: ['old-7'] }],
    ...change,
  });
  const older = Array.from({ length: 12 }, (_, i) => sampleNode({ name: `old-${i}` }));
  const nodes = [...older, sampleNode({ name: 'new', createdAt: began + MINUTE })];

  async function asked(update: NodeGroupUpdate | undefined, its = nodes): Promise<readonly string[] | undefined> {
    let asked: readonly string[] | undefined;
    const evictions = {
      stuckOn: async (names: readonly string[]) => {
        asked = names;
        return found();
      },
    };
    await withStuckPods(sampleState({ update, nodes: its }), { evictions }, new AbortController().signal);
    return asked;
  }

  it('are looked for on ten nodes that were not replaced, those first that EKS names', async () => {
    const names = await asked(failed());
    assert.deepEqual([names?.[0], names?.length, names?.includes('new')], ['old-7', 10, false]);
  });

  const quiet: readonly (readonly [string, NodeGroupUpdate | undefined])[] = [
    ['no update ended', undefined],
    ['it went well', failed({ status: 'Successful', errors: [] })],
    [
      'it failed for another cause',
      failed({ errors: [{ code: 'NodeCreationFailure', message: '', resourceIds: [] }] }),
    ],
  ];
  for (const [why, update] of quiet) {
    it(`are not looked for when ${why}`, async () => assert.equal(await asked(update), undefined));
  }

  it('are not looked for when every node was replaced', async () => {
    assert.equal(await asked(failed(), [sampleNode({ createdAt: NOW })]), undefined);
  });
});
