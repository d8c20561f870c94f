import assert from 'node:assert/strict';
import type { WindowsPoolSpec } from '../api.gen.ts';
import type { DrainState } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import { nodeGroupConditions } from '../providers/eks/conditions.ts';
import { LEAVING as DELETED, MINUTE, NOW, sampleError } from '../testing/fixtures.ts';
import { cordoned, node, podOn, REMOVE, REPLACE, scene, terminating } from '../testing/nodeScenes.ts';

type Blocked = DrainState['blocked'];

/** A pool whose node a is being drained, with these pods on it. */
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

/** A pool of three nodes of which a and b, or as many as `failing`, have failed verification for 15 minutes. */
function due(remediation: NonNullable<WindowsPoolSpec['remediation']>, failing = 2): ObservedState {
  const broken = { ready: 'False', verifiedSince: NOW - 15 * MINUTE } as const;
  const verified = { status: 'False', reason: 'NotReady', message: '' } as const;
  const nodes = ['a', 'b', 'c'].map((name, i) => node(name, i < failing ? { ...broken, verified } : {}));
  return scene({ nodes, spec: { remediation } });
}

const kept = (name: string, budget: string | undefined): Blocked[number] => ({
  node: 'a',
  namespace: 'shop',
  name,
  budget,
});
const CANCEL = 'or cancel by removing winpool.dev/replace. Times out at 12:13Z.';
const ONE_AT_A_TIME = 'at most 1 node may be unavailable at a time.';
const REPLACE_A = 'kubectl annotate node a winpool.dev/replace=true';

describe('NodesLeaving', () => {
  const table: readonly (readonly [string, ObservedState, string])[] = [
    ['is absent when no node is replaced or removed', scene(), ''],
    [
      'is absent while the pool is being deleted',
      {
        ...draining([podOn()]),
        pool: { ...draining([]).pool, metadata: { ...draining([]).pool.metadata, ...DELETED } },
      },
      '',
    ],
    [
      'reports a node that was not read yet',
      scene({ entries: [terminating('a')] }),
      'Draining: Node a is about to be replaced.',
    ],
    [
      'reports the number of pods left',
      draining([podOn(), podOn({ name: 'cart-1', deletingAt: NOW })]),
      'Draining: Draining a: 2 pods left.',
    ],
    [
      'reports the pod that a PodDisruptionBudget blocks, and when the drain times out',
      draining([podOn()], [kept('cart-0', 'cart')]),
      `DrainBlocked: Draining a: eviction of shop/cart-0 is blocked by PodDisruptionBudget cart (0 disruptions allowed). Scale the workload up, ${CANCEL}`,
    ],
    [
      'does not report a blocked pod that was deleted since',
      draining([podOn({ deletingAt: NOW })], [kept('cart-0', 'cart')]),
      'Draining: Draining a: 1 pod left.',
    ],
    [
      'reports a pod that several PodDisruptionBudgets match',
      draining([podOn()], [kept('cart-0', undefined)]),
      `DrainBlocked: Draining a: eviction of shop/cart-0 is blocked by several PodDisruptionBudgets that match it. Keep only one PodDisruptionBudget for the pod, ${CANCEL}`,
    ],
    [
      'reports the admission webhook that blocks a pod',
      draining([podOn()], [{ ...kept('cart-0', undefined), admission: 'admission webhook guard' }]),
      `DrainBlocked: Draining a: eviction of shop/cart-0 is blocked by admission webhook guard. Check the admission webhook or policy, ${CANCEL}`,
    ],
    [
      'reports a pod that no controller recreates',
      draining([podOn({ controller: undefined })]),
      `DrainBlocked: Draining a: pod shop/cart-0 has no controller that recreates it. Delete the pod, or set disruption.drain.podsWithoutController: Evict, ${CANCEL}`,
    ],
    [
      'reports the pods on a dead node, and when they should have terminated',
      draining(
        [podOn({ deletingAt: NOW - 12 * MINUTE }), podOn({ name: 'cart-1', deletingAt: NOW - 6 * MINUTE })],
        [],
        {
          ready: 'Unknown',
        },
      ),
      'Draining: Draining a: no pods left. The node is not Ready, so the termination of 2 pods is not confirmed, such as shop/cart-0 (due at 2026-03-01T11:48:00Z).',
    ],
    [
      'reports an instance that is terminating',
      scene({ entries: [terminating('a', { ended: '2026-03-01T11:59:00Z' })] }),
      'Draining: Instance i-a of node a is terminating.',
    ],
    [
      'reports an instance that did not join',
      scene({ entries: [terminating('ip-late', { uid: 'i-late', instance: 'i-late', operation: 'Remediate' })] }),
      'Draining: Instance i-late did not join and is about to be replaced.',
    ],
    [
      'reports nodes that wait for another one',
      scene({
        nodes: ['a', 'b', 'c'].map((name) => node(name, { annotations: REPLACE })),
        entries: [terminating('a')],
      }),
      `Draining: Node a is about to be replaced. Nodes b and c wait: ${ONE_AT_A_TIME}`,
    ],
    [
      'reports nodes that wait for an update of the group',
      scene({ nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')], group: { status: 'UPDATING' } }),
      'DisruptionPending: Node a waits: the node group must be ACTIVE or DEGRADED, without an update in progress.',
    ],
    [
      'reports the node that is next',
      scene({ nodes: [node('a', { annotations: REPLACE }), node('b', { annotations: REPLACE }), node('c')] }),
      `DisruptionPending: Node a is next. Node b waits: ${ONE_AT_A_TIME}`,
    ],
    [
      'reports nodes that wait until the pool is resumed',
      scene({ nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')], spec: { paused: true } }),
      'DisruptionPending: Node a waits until the pool is resumed.',
    ],
    [
      'reports nodes that wait because the group cannot be read',
      scene({
        nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')],
        rest: { group: { kind: 'unreachable', error: sampleError('unavailable'), since: NOW, last: undefined } },
      }),
      'DisruptionPending: Node a waits: the node group cannot be read.',
    ],
    [
      'reports nodes that wait for another pool',
      scene({
        nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')],
        rest: { fleet: { disrupted: ['web'], failures: [] } },
      }),
      'DisruptionPending: Node a waits: WindowsPool web is replacing nodes (--max-pools-updating=1).',
    ],
    [
      'reports a removal that desiredSize prevents',
      scene({
        nodes: [node('a', { annotations: REMOVE }), node('b'), node('c')],
        spec: { nodeGroup: { scaling: { desiredSize: 3 } } },
      }),
      `RemovalRejected: Node a is not removed: nodeGroup.scaling.desiredSize is 3, so the pool would add a node again. Lower it, or replace the node: ${REPLACE_A}`,
    ],
    [
      'reports a removal that minSize prevents',
      scene({
        nodes: [node('a', { annotations: REMOVE }), node('b')],
        group: { scaling: { minSize: 2, maxSize: 5, desiredSize: 2 } },
      }),
      `RemovalRejected: Node a is not removed: the pool would have fewer nodes than nodeGroup.scaling.minSize (2). Lower it, or replace the node: ${REPLACE_A}`,
    ],
    [
      'reports failing nodes that are due, with the command that replaces the first of them',
      due({ policy: 'Report', unhealthyAfter: '15m', maxUnhealthy: '100%' }),
      `ReplacementDue: Node b has failed verification for longer than remediation.unhealthyAfter (15m). Node a has failed verification for longer than remediation.unhealthyAfter (15m). Replace it: ${REPLACE_A}`,
    ],
    [
      'reports instances that did not join and are due, with the command that terminates the first of them',
      {
        ...due({ policy: 'Report', unhealthyAfter: '15m', maxUnhealthy: '100%' }, 0),
        instances: [{ id: 'i-late', privateDnsName: 'ip-late', launchedAt: NOW - 15 * MINUTE }],
      },
      'ReplacementDue: Instance i-late has run for longer than remediation.unhealthyAfter (15m) without joining. Terminate it: aws autoscaling terminate-instance-in-auto-scaling-group --instance-id i-late --no-should-decrement-desired-capacity',
    ],
    [
      'reports no failing node before it is due',
      due({ policy: 'Report', unhealthyAfter: '16m', maxUnhealthy: '100%' }),
      '',
    ],
    [
      'reports that more nodes fail than maxUnhealthy allows',
      due({ policy: 'Report', unhealthyAfter: '15m', maxUnhealthy: '40%' }),
      'TooManyUnhealthy: 2 nodes failed verification or did not join, more than remediation.maxUnhealthy (40%). Check NodesVerified for the cause before you replace nodes.',
    ],
  ];
  for (const [name, observed, want] of table) {
    it(name, () => {
      const found = nodeGroupConditions(observed).NodesLeaving;
      assert.equal(found ? `${found.reason}: ${found.message}` : '', want);
    });
  }

  it('is progress of the operator, and the pool stays Ready', () => {
    const { Ready, Reconciling } = nodeGroupConditions(draining([podOn()]));
    assert.deepEqual([Ready.status, Reconciling?.reason], ['True', 'Draining']);
  });
});
