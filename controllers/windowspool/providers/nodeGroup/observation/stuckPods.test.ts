import assert from 'node:assert/strict';
import type { CallResult } from '../../../ports/callResult.ts';
import type { NodeGroupUpdate } from '../../../ports/eks.ts';
import type { StuckPod } from '../../../ports/pods.ts';
import { MINUTE, NOW, sampleError, sampleNode, sampleState } from '../../../testing/fixtures.ts';
import { textTable } from '../../../testing/goldenTexts.ts';
import { describeStuckPods, withStuckPods } from './stuckPods.ts';

const check = textTable('evictions');

const pod = (name: string, ...budgets: readonly string[]): StuckPod => ({ namespace: 'shop', name, budgets });
const found = (...value: readonly StuckPod[]) => ({ ok: true, value }) as const;

const textOf = (stuck: CallResult<readonly StuckPod[]> | undefined) => {
  const { pods, remedy } = describeStuckPods(stuck);
  return `pods:${pods} Remedy: ${remedy}`;
};

describe('the pods that made an update fail', () => {
  const table: readonly (readonly [string, CallResult<readonly StuckPod[]> | undefined, readonly string[]])[] = [
    ['are not named when they were not read', undefined, ['ALLOWED DISRUPTIONS', 'kubectl get pdb -A']],
    ['are not named when none are left', found(), ['ALLOWED DISRUPTIONS', 'kubectl get pdb -A']],
    [
      'are named with the PodDisruptionBudget that blocks them',
      found(pod('cart-0', 'cart'), pod('cart-1', 'cart'), pod('web-0', 'web')),
      ['shop/cart-0 and shop/cart-1', 'PodDisruptionBudget cart', 'shop/web-0', 'PodDisruptionBudget web'],
    ],
    [
      'are named with all PodDisruptionBudgets if several match them',
      found(pod('cart-0', 'cart', 'shop')),
      ['shop/cart-0', 'PodDisruptionBudgets cart and shop', 'Scale the workload up'],
    ],
    ['are named when they tolerate the cordon', found(pod('agent-x')), ['shop/agent-x', 'Scale the workload up']],
    [
      'are counted after the fifth',
      found(...[1, 2, 3, 4, 5, 6, 7].map((i) => pod(`cart-${i}`, 'cart'))),
      ['shop/cart-1', 'shop/cart-2', 'shop/cart-3', 'shop/cart-4', 'shop/cart-5', '2 more', 'PodDisruptionBudget cart'],
    ],
    [
      'are unknown without the permission to list them',
      { ok: false, error: sampleError('denied', { operation: 'list pods', message: 'pods is forbidden' }) },
      ['list pods failed: pods is forbidden', 'ALLOWED DISRUPTIONS', 'kubectl get pdb -A'],
    ],
  ];
  for (const [name, stuck, args] of table) check(name, () => [textOf(stuck)], [['pods', ...args]]);

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

  it('are read on ten nodes that were not replaced, first on those that EKS names', async () => {
    const names = await asked(failed());
    assert.deepEqual([names?.[0], names?.length, names?.includes('new')], ['old-7', 10, false]);
  });

  const quiet: readonly (readonly [string, NodeGroupUpdate | undefined])[] = [
    ['no update has ended', undefined],
    ['the update succeeded', failed({ status: 'Successful', errors: [] })],
    [
      'it failed for another reason',
      failed({ errors: [{ code: 'NodeCreationFailure', message: '', resourceIds: [] }] }),
    ],
  ];
  for (const [why, update] of quiet) {
    it(`are not read when ${why}`, async () => assert.equal(await asked(update), undefined));
  }

  it('are not read when every node was replaced', async () => {
    assert.equal(await asked(failed(), [sampleNode({ createdAt: NOW })]), undefined);
  });
});
