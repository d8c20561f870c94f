import assert from 'node:assert/strict';
import type { DrainState } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import { nodeGroupConditions } from '../providers/eks/conditions.ts';
import { LEAVING as DELETED, MINUTE, NOW, sampleError } from '../testing/fixtures.ts';
import { cordoned, node, podOn, REMOVE, REPLACE, scene, terminating } from '../testing/nodeScenes.ts';

type Blocked = DrainState['blocked'];

/** The node a goes, and has these pods. */
function draining(pods: readonly DrainPod[], blocked: Blocked = [], change: Partial<NodeRecord> = {}): ObservedState {
  const entry = terminating('a');
  const a = node('a', { ...cordoned, ...change });
  const nodes = [{ entry, node: { ok: true, value: a }, pods: { ok: true, value: pods } } as const];
  return scene({
    nodes: [a, node('b'), node('c')],
    entries: [entry],
    rest: { operations: { fresh: true, nextAt: NOW, nodes, blocked } },
  });
}

const kept = (name: string, budget: string | undefined): Blocked[number] => ({
  node: 'a',
  namespace: 'shop',
  name,
  budget,
});
const MOVE = 'Let them go, or take winpool.dev/replace from the node; at 2026-03-01T12:13:00Z it is given up.';

describe('nodes that go are told of', () => {
  const table: readonly (readonly [string, ObservedState, string])[] = [
    ['not where there are none', scene(), ''],
    [
      'not by a pool that goes, for all its nodes go',
      {
        ...draining([podOn()]),
        pool: { ...draining([]).pool, metadata: { ...draining([]).pool.metadata, ...DELETED } },
      },
      '',
    ],
    ['before they are looked at', scene({ entries: [terminating('a')] }), 'Draining: node a is about to be replaced.'],
    [
      'with the number of pods that are left',
      draining([podOn(), podOn({ name: 'cart-1', deletingAt: NOW })]),
      'Draining: node a is to be replaced, and 2 pods must leave it first.',
    ],
    [
      'with the pod that a budget keeps, and the time at which that ends',
      draining([podOn()], [kept('cart-0', 'cart')]),
      `DrainBlocked: node a is to be replaced, and 1 pod must leave it first: pod shop/cart-0 is kept by PodDisruptionBudget cart. ${MOVE}`,
    ],
    [
      'without a pod that a budget kept and that somebody deleted since',
      draining([podOn({ deletingAt: NOW })], [kept('cart-0', 'cart')]),
      'Draining: node a is to be replaced, and 1 pod must leave it first.',
    ],
    [
      'with a pod that two budgets match',
      draining([podOn()], [kept('cart-0', undefined)]),
      `DrainBlocked: node a is to be replaced, and 1 pod must leave it first: pod shop/cart-0 is kept by several PodDisruptionBudgets. ${MOVE}`,
    ],
    [
      'with a pod that admission keeps',
      draining([podOn()], [{ ...kept('cart-0', undefined), admission: 'admission webhook guard' }]),
      `DrainBlocked: node a is to be replaced, and 1 pod must leave it first: pod shop/cart-0 is kept by admission webhook guard. ${MOVE}`,
    ],
    [
      'with the pod that nobody makes anew',
      draining([podOn({ controller: undefined })]),
      `DrainBlocked: node a is to be replaced, and 1 pod must leave it first: pod shop/cart-0 has no controller that makes it anew. ${MOVE}`,
    ],
    [
      'with the pods of a dead node, and since when these should have ended',
      draining(
        [podOn({ deletingAt: NOW - 12 * MINUTE }), podOn({ name: 'cart-1', deletingAt: NOW - 6 * MINUTE })],
        [],
        {
          ready: 'Unknown',
        },
      ),
      'Draining: node a is to be replaced, and no pod has to leave it any more (2 pods of the node, which is not Ready, were to end, such as shop/cart-0 more than 10 minutes ago).',
    ],
    [
      'while their instances end',
      scene({ entries: [terminating('a', { ended: '2026-03-01T11:59:00Z' })] }),
      'Draining: instance i-a of node a ends.',
    ],
    [
      'which never joined',
      scene({ entries: [terminating('ip-late', { uid: 'i-late', instance: 'i-late', operation: 'Remediate' })] }),
      'Draining: instance i-late never became a node, and is about to be replaced.',
    ],
    [
      'while others wait',
      scene({
        nodes: ['a', 'b', 'c'].map((name) => node(name, { annotations: REPLACE })),
        entries: [terminating('a')],
      }),
      'Draining: node a is about to be replaced. b and c wait for a turn: no more than 1 node may be out at a time.',
    ],
    [
      'while all wait',
      scene({ nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')], group: { status: 'UPDATING' } }),
      'WaitingForTurn: a waits for a turn: nodes go only while the group is ACTIVE or DEGRADED and EKS does not work on it.',
    ],
    [
      'while one has not got its turn yet that nothing is in the way of',
      scene({ nodes: [node('a', { annotations: REPLACE }), node('b', { annotations: REPLACE }), node('c')] }),
      'WaitingForTurn: a is next. b waits for a turn: no more than 1 node may be out at a time.',
    ],
    [
      'while the pool is paused',
      scene({ nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')], spec: { paused: true } }),
      'WaitingForTurn: a waits until the pool is resumed.',
    ],
    [
      'while EKS cannot be asked',
      scene({
        nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')],
        rest: { group: { kind: 'unreachable', error: sampleError('unavailable'), since: NOW, last: undefined } },
      }),
      'WaitingForTurn: a waits for a turn: EKS does not say how the group is.',
    ],
    [
      'while another pool loses nodes',
      scene({
        nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')],
        rest: { fleet: { disrupted: ['web'], failures: [] } },
      }),
      'WaitingForTurn: a waits for a turn: web loses nodes now, and --max-pools-updating is 1.',
    ],
    [
      'where the size of the spec refuses it',
      scene({ nodes: [node('a', { annotations: REMOVE }), node('b'), node('c')], spec: { scaling: { desired: 3 } } }),
      'RemovalRefused: a is not removed: spec.scaling.desired is 3, and the pool would grow back to it. Lower it, or set winpool.dev/replace=true.',
    ],
    [
      'where there are no more than the fewest',
      scene({
        nodes: [node('a', { annotations: REMOVE }), node('b')],
        group: { scaling: { min: 2, max: 5, desired: 2 } },
      }),
      'RemovalRefused: a is not removed: the pool has no more than scaling.min (2) nodes. Lower it, or set winpool.dev/replace=true.',
    ],
  ];
  for (const [name, observed, want] of table) {
    it(name, () => {
      const found = nodeGroupConditions(observed).NodesLeaving;
      assert.equal(found ? `${found.reason}: ${found.message}` : '', want);
    });
  }

  it('as work of the operator, and the pool stays Ready', () => {
    const { Ready, Reconciling } = nodeGroupConditions(draining([podOn()]));
    assert.deepEqual([Ready.status, Reconciling?.reason], ['True', 'Draining']);
  });
});
