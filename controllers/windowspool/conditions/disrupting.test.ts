import assert from 'node:assert/strict';
import type { DrainState } from '../model/observedState.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import { nodeGroupConditions } from '../providers/nodeGroup/conditions/nodeGroupConditions.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import { derive } from '../testing/derived.ts';
import { LEAVING as DELETED, MINUTE, NOW, outcomeOf, sampleError } from '../testing/fixtures.ts';
import { type Brief, textTable } from '../testing/goldenTexts.ts';
import {
  cordoned,
  drainingScene,
  failingScene,
  node,
  podOn,
  REMOVE,
  REPLACE,
  scene,
  terminating,
} from '../testing/nodeScenes.ts';

const check = textTable('conditions/Disrupting');

type Blocked = DrainState['blocked'];

/** A pool whose node a is being drained, with these pods on it. */
function draining(pods: readonly DrainPod[], blocked: Blocked = [], change: Partial<NodeRecord> = {}): EksDerived {
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

describe('Disrupting', () => {
  const table: readonly (readonly [string, EksDerived, Brief | undefined])[] = [
    ['is absent when no node is replaced or removed', scene(), undefined],
    [
      'is absent while the pool is being deleted',
      derive({
        ...draining([podOn()]),
        pool: { ...draining([]).pool, metadata: { ...draining([]).pool.metadata, ...DELETED } },
      }),
      undefined,
    ],
    ['reports a node that was not read yet', scene({ entries: [terminating('a')] }), ['Draining', 'Node a']],
    [
      'reports the number of pods left',
      draining([podOn(), podOn({ name: 'cart-1', deletingAt: NOW })]),
      ['Draining', 'Draining a', '2 pods'],
    ],
    [
      'reports the pod that a PodDisruptionBudget blocks, and when the drain times out',
      draining([podOn()], [kept('cart-0', 'cart')]),
      ['DrainBlocked', 'Draining a', 'shop/cart-0', 'PodDisruptionBudget cart', 'winpool.dev/replace', '12:13Z'],
    ],
    [
      'does not report a blocked pod that was deleted since',
      draining([podOn({ deletingAt: NOW })], [kept('cart-0', 'cart')]),
      ['Draining', 'Draining a', '1 pod'],
    ],
    [
      'reports a pod that several PodDisruptionBudgets match',
      draining([podOn()], [kept('cart-0', undefined)]),
      ['DrainBlocked', 'Draining a', 'shop/cart-0', 'winpool.dev/replace', '12:13Z'],
    ],
    [
      'reports the admission webhook that blocks a pod',
      draining([podOn()], [{ ...kept('cart-0', undefined), admission: 'admission webhook guard' }]),
      ['DrainBlocked', 'Draining a', 'shop/cart-0', 'guard', 'winpool.dev/replace', '12:13Z'],
    ],
    [
      'reports a pod that no controller recreates',
      draining([podOn({ controller: undefined })]),
      [
        'DrainBlocked',
        'Draining a',
        'shop/cart-0',
        'disruption.drain.podsWithoutController: Evict',
        'winpool.dev/replace',
        '12:13Z',
      ],
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
      ['Draining', 'Draining a', '2 pods', 'shop/cart-0', '2026-03-01T11:48:00Z'],
    ],
    [
      'reports an instance that is terminating',
      scene({ entries: [terminating('a', { terminationAcceptedTime: '2026-03-01T11:59:00Z' })] }),
      ['Draining', 'i-a', 'node a'],
    ],
    [
      'reports an instance that did not join',
      scene({
        entries: [
          terminating('ip-late', { uid: 'i-late', instanceID: 'i-late', operation: 'Replace', reason: 'Unhealthy' }),
        ],
      }),
      ['Draining', 'i-late'],
    ],
    [
      'reports nodes that wait for another one',
      scene({
        nodes: ['a', 'b', 'c'].map((name) => node(name, { annotations: REPLACE })),
        entries: [terminating('a')],
      }),
      ['Draining', 'Node a', 'Nodes b and c', '1 node'],
    ],
    [
      'reports nodes that wait for an update of the group',
      scene({ nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')], group: { status: 'UPDATING' } }),
      ['DisruptionPending', 'Node a', 'ACTIVE', 'DEGRADED'],
    ],
    [
      'reports the node that is next',
      scene({ nodes: [node('a', { annotations: REPLACE }), node('b', { annotations: REPLACE }), node('c')] }),
      ['DisruptionPending', 'Node a', 'Node b', '1 node'],
    ],
    [
      'reports nodes that wait until the pool is resumed',
      scene({ nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')], spec: { paused: true } }),
      ['DisruptionPending', 'Node a', 'resumed'],
    ],
    [
      'reports nodes that wait because the group cannot be read',
      scene({
        nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')],
        rest: { group: { kind: 'unreachable', error: sampleError('unavailable'), since: NOW, last: undefined } },
      }),
      ['DisruptionPending', 'Node a'],
    ],
    [
      'reports nodes that wait for another pool',
      scene({
        nodes: [node('a', { annotations: REPLACE }), node('b'), node('c')],
        rest: { otherPools: { disrupted: ['web'], failures: [] } },
      }),
      ['DisruptionPending', 'Node a', 'web', '--max-pools-updating=1'],
    ],
    [
      'reports a removal that desiredSize prevents',
      scene({
        nodes: [node('a', { annotations: REMOVE }), node('b'), node('c')],
        spec: { nodeGroup: { scaling: { desiredSize: 3 } } },
      }),
      [
        'RemovalRejected',
        'Node a',
        'nodeGroup.scaling.desiredSize',
        'kubectl annotate node a winpool.dev/replace=true',
      ],
    ],
    [
      'reports a removal that minSize prevents',
      scene({
        nodes: [node('a', { annotations: REMOVE }), node('b')],
        group: { scaling: { minSize: 2, maxSize: 5, desiredSize: 2 } },
      }),
      ['RemovalRejected', 'Node a', 'nodeGroup.scaling.minSize', 'kubectl annotate node a winpool.dev/replace=true'],
    ],
    [
      'reports failing nodes that are due, with the command that replaces the first of them',
      failingScene({ policy: 'Report', unhealthyAfter: '15m', maxUnhealthy: '100%' }),
      [
        'ReplacementDue',
        'Node b',
        'remediation.unhealthyAfter',
        '15m',
        'Node a',
        'kubectl annotate node a winpool.dev/replace=true',
      ],
    ],
    [
      'reports instances that did not join and are due, with the command that terminates the first of them',
      derive({
        ...failingScene({ policy: 'Report', unhealthyAfter: '15m', maxUnhealthy: '100%' }, 0),
        instances: [{ id: 'i-late', privateDnsName: 'ip-late', launchedAt: NOW - 15 * MINUTE }],
      }),
      [
        'ReplacementDue',
        'i-late',
        'remediation.unhealthyAfter',
        '15m',
        'aws autoscaling terminate-instance-in-auto-scaling-group --no-should-decrement-desired-capacity --instance-id i-late',
      ],
    ],
    [
      'reports no failing node before it is due',
      failingScene({ policy: 'Report', unhealthyAfter: '16m', maxUnhealthy: '100%' }),
      undefined,
    ],
    [
      'reports no node that is due while more nodes fail than maxUnhealthy allows',
      failingScene({ policy: 'Report', unhealthyAfter: '15m', maxUnhealthy: '40%' }),
      undefined,
    ],
  ];
  for (const [name, observed, want] of table) {
    const texts = () => {
      const { Disrupting: found } = nodeGroupConditions(outcomeOf(observed));
      return found ? [`${found.reason}: ${found.message}`] : [];
    };
    check(name, texts, want ? [want] : []);
  }

  it('says what the next step of a node waits for', () => {
    const messageOf = (s: EksDerived) => nodeGroupConditions(outcomeOf(s)).Disrupting?.message;
    const busy = { group: { status: 'UPDATING' } } as const;
    assert.deepEqual(
      [messageOf(drainingScene([], busy)), messageOf(drainingScene([]))],
      ['Draining a: no pods left. EKS is changing the node group.', 'Draining a: no pods left.'],
    );
  });

  it('is progress of the operator, and the pool stays Ready', () => {
    const { Ready, Reconciling } = nodeGroupConditions(outcomeOf(draining([podOn()])));
    assert.deepEqual([Ready.status, Reconciling?.reason], ['True', 'Draining']);
  });
});
