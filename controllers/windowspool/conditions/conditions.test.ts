import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NodeGroupConditions } from '../model/conditions.ts';
import { GATE_TAINT } from '../nodes/nodeTaints.ts';
import { nodeGroupConditions } from '../providers/eks/conditions.ts';
import { reasons } from '../reasons.ts';
import {
  knownStatus,
  LEAVING,
  MINUTE,
  NOW,
  sampleError,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleState,
} from '../testing/fixtures.ts';
import { randomObservedState } from '../testing/randomObservedState.ts';
import {
  absent,
  check,
  group,
  NO_NODES_YET,
  NOT_CREATED,
  OTHER_BUILD,
  working,
  wrongNode,
} from '../testing/truthTable.ts';

const AT_THE_GATE = `1 of 3 nodes fails verification: ip-9 ${OTHER_BUILD}. Drain and end the node, and check the AMI. 1 node is gated: no new pod lands there.`;
const GATED =
  ' 1 node waits at the gate, and ip-9 fails verification. EKS does not wait for the gate: it drains old nodes as soon as new ones are Ready. PodDisruptionBudgets keep pods on the old nodes. See docs/verification.md#the-gate-and-updates.';

/** A pool whose group gets another release, and whether it was Ready when that began. */
function rolling(wasReady: boolean) {
  const update = {
    id: 'u-1',
    type: 'VersionUpdate',
    target: 'x',
    change: 'release 1.36-2026.03.17',
    status: 'InProgress',
  };
  const lastTransitionTime = '2026-03-01T11:59:00Z';
  const conditions = [
    {
      type: 'Ready',
      status: wasReady ? ('True' as const) : ('False' as const),
      reason: '',
      message: '',
      lastTransitionTime,
    },
    { type: 'NodesVerified', status: 'Unknown' as const, reason: 'Joining', message: '', lastTransitionTime },
  ];
  return samplePool({}, { status: { ...knownStatus({ update }), conditions } });
}

describe('creating, updating, deleting: Ready is False with what is waited for, and Reconciling', () => {
  check([
    [
      'about to be created',
      sampleState({ ...absent }),
      { ...working('NodeGroupReady', NOT_CREATED), NodesVerified: NO_NODES_YET },
    ],
    [
      'being created',
      sampleState({ ...group({ status: 'CREATING' }), nodes: [] }),
      {
        ...working('NodeGroupReady', 'False Creating: EKS is creating node group web.'),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'created, and no node has joined',
      sampleState({ nodes: [] }),
      {
        Ready:
          'False Joining: 0 nodes of the 3 that the pool must have are verified. 0 of 3 nodes joined; waiting for 3.',
        NodesVerified: 'Unknown Joining: 0 of 3 nodes joined; waiting for 3.',
        Reconciling:
          'True Joining: 0 nodes of the 3 that the pool must have are verified. 0 of 3 nodes joined; waiting for 3.',
      },
    ],
    [
      'a rolling update has taken one node of a Ready pool away, and another is on its way',
      sampleState({
        pool: rolling(true),
        ...group({ status: 'UPDATING' }),
        nodes: sampleNodes(2),
      }),
      {
        Ready: 'True Verified: 2 of 2 nodes verified.',
        NodeGroupReady: 'True Updating: EKS is updating node group web: release 1.36-2026.03.17.',
        NodesVerified: 'Unknown Joining: 2 of 3 nodes joined; waiting for 1.',
        Reconciling: 'True Updating: EKS is updating node group web: release 1.36-2026.03.17.',
      },
    ],
    ...(['Gate', 'Quarantine'] as const).map(
      (policy) =>
        [
          `a rolling update goes on while a new node fails verification under ${policy}`,
          sampleState({
            pool: { ...rolling(true), spec: { ...rolling(true).spec, verification: { policy } } },
            ...group({ status: 'UPDATING' }),
            nodes: [...sampleNodes(2), { ...wrongNode('ip-9'), taints: [...sampleNode().taints, GATE_TAINT] }],
          }),
          {
            Ready: `False WrongBuild: 2 nodes of the 3 that the pool must have are verified. ${AT_THE_GATE}`,
            NodeGroupReady: `True Updating: EKS is updating node group web: release 1.36-2026.03.17.${policy === 'Gate' ? GATED : ''}`,
            NodesVerified: `False WrongBuild: ${AT_THE_GATE}`,
            Reconciling: `True Updating: EKS is updating node group web: release 1.36-2026.03.17.${policy === 'Gate' ? GATED : ''}`,
          },
        ] as const,
    ),
    [
      'a rolling update has taken every node of a Ready pool away',
      sampleState({ pool: rolling(true), ...group({ status: 'UPDATING' }), nodes: [] }),
      {
        Ready:
          'False Joining: 0 nodes of the 3 that the pool must have are verified. 0 of 3 nodes joined; waiting for 3.',
        NodeGroupReady: 'True Updating: EKS is updating node group web: release 1.36-2026.03.17.',
        NodesVerified: 'Unknown Joining: 0 of 3 nodes joined; waiting for 3.',
        Reconciling:
          'True Joining: 0 nodes of the 3 that the pool must have are verified. 0 of 3 nodes joined; waiting for 3.',
      },
    ],
    [
      'a rolling update of a pool that was not Ready before',
      sampleState({ pool: rolling(false), ...group({ status: 'UPDATING' }), nodes: sampleNodes(2) }),
      {
        Ready:
          'False Joining: 2 nodes of the 3 that the pool must have are verified. 2 of 3 nodes joined; waiting for 1.',
        NodeGroupReady: 'True Updating: EKS is updating node group web: release 1.36-2026.03.17.',
        NodesVerified: 'Unknown Joining: 2 of 3 nodes joined; waiting for 1.',
        Reconciling:
          'True Joining: 2 nodes of the 3 that the pool must have are verified. 2 of 3 nodes joined; waiting for 1.',
      },
    ],
    [
      'the last of the first nodes is not complete',
      sampleState({
        nodes: [
          ...sampleNodes(2),
          sampleNode({ name: 'ip-9', createdAt: NOW - MINUTE, ready: 'False', readyReason: '' }),
        ],
      }),
      {
        Ready:
          'False Joining: 2 nodes of the 3 that the pool must have are verified. 1 node joined and is not complete yet: ip-9 is not Ready (False).',
        NodesVerified: 'Unknown Joining: 1 node joined and is not complete yet: ip-9 is not Ready (False).',
        Reconciling:
          'True Joining: 2 nodes of the 3 that the pool must have are verified. 1 node joined and is not complete yet: ip-9 is not Ready (False).',
      },
    ],
    [
      'somebody deletes the group of a pool that lives',
      sampleState(group({ status: 'DELETING' })),
      working('NodeGroupReady', 'False Deleting: Node group web is being deleted. It is created anew when it is gone.'),
    ],
    [
      'the pool is deleted',
      sampleState({
        pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }),
        ...group({ status: 'DELETING' }),
      }),
      working('NodeGroupReady', 'False Deleting: Node group web is being deleted.'),
    ],
    [
      'the RuntimeClass is missing',
      sampleState({ runtimeClass: undefined }),
      working('RuntimeClassReady', 'False Pending: RuntimeClass windows-2022 is about to be made.'),
    ],
    [
      'the RuntimeClass could not be written',
      sampleState({
        runtimeClass: undefined,
        errors: [
          {
            at: NOW,
            step: 'createRuntimeClass',
            error: sampleError('unavailable', { operation: 'create runtimeclasses' }),
          },
        ],
      }),
      working('RuntimeClassReady', 'False Failed: create runtimeclasses failed: the call was unavailable.'),
    ],
    [
      'another writer was faster: no news',
      sampleState({
        runtimeClass: undefined,
        errors: [{ at: NOW, step: 'createRuntimeClass', error: sampleError('conflict') }],
      }),
      working('RuntimeClassReady', 'False Pending: RuntimeClass windows-2022 is about to be made.'),
    ],
  ]);
});

describe('a right that is missing leaves Ready as it is', () => {
  const denied = sampleError('denied', {
    operation: 'UpdateNodegroupConfig',
    message: 'not authorized to perform: eks:Update',
  });
  const met =
    "False AccessDenied: AWS denied UpdateNodegroupConfig: not authorized to perform: eks:Update. Grant the right to the operator's role; config/aws/iam-policy.json has all of them.";
  const forbidden = sampleError('denied', { operation: 'patch nodes', message: 'nodes "ip-9" is forbidden' });
  const rbac =
    'AccessDenied: The API server denied patch nodes: nodes "ip-9" is forbidden. Grant the right to the operator\'s ServiceAccount; config/rbac has all of them.';
  check([
    [
      'while the group is there',
      sampleState({ errors: [{ at: NOW, step: 'updateConfig', error: denied }] }),
      {
        PrerequisitesMet: met,
        NodeGroupReady:
          'Unknown AccessDenied: UpdateNodegroupConfig of node group web failed: not authorized to perform: eks:Update.',
        Reconciling: met.replace('False', 'True'),
      },
    ],
    [
      'and is named where only the API server can give it',
      sampleState({ errors: [{ at: NOW, step: 'labelNode', error: forbidden }] }),
      { PrerequisitesMet: `False ${rbac}`, Reconciling: `True ${rbac}` },
    ],
    [
      'but nothing is created without it',
      sampleState({ ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: denied }] }),
      {
        Ready: met,
        PrerequisitesMet: met,
        NodeGroupReady:
          'False AccessDenied: UpdateNodegroupConfig of node group web failed: not authorized to perform: eks:Update.',
        NodesVerified: NO_NODES_YET,
        Reconciling: met.replace('False', 'True'),
      },
    ],
  ]);
});

describe('paused: the conditions are as observed, and Paused', () => {
  const pause = (how: string, going = '') =>
    `True Paused: Nothing is changed because ${how}.${going} status.pendingSteps says what would be done.`;
  check([
    [
      'by the spec',
      sampleState({ pool: samplePool({ paused: true }, { status: knownStatus() }) }),
      { Paused: pause('spec.paused is true') },
    ],
    [
      'by the annotation',
      sampleState({
        pool: samplePool({}, { metadata: { annotations: { 'winpool.dev/paused': 'true' } }, status: knownStatus() }),
      }),
      { Paused: pause('it has the annotation winpool.dev/paused') },
    ],
    [
      'while it is deleted',
      sampleState({ pool: samplePool({ paused: true }, { metadata: LEAVING, status: knownStatus() }) }),
      {
        NodeGroupReady: 'False Deleting: Node group web stays while the pool is paused.',
        Ready: 'False Deleting: Node group web stays while the pool is paused.',
        Paused: pause('spec.paused is true', ' The deletion waits, too.'),
      },
    ],
  ]);
});

describe('in every situation', () => {
  /** As sigs.k8s.io/cli-utils/pkg/kstatus reads a custom resource. */
  function kstatus({ Ready, Reconciling, Stalled }: NodeGroupConditions): string[] {
    return [
      ...(Stalled ? ['Failed'] : []),
      ...(Reconciling ? ['InProgress'] : []),
      ...(Ready.status === 'True' && !Reconciling && !Stalled ? ['Current'] : []),
    ];
  }

  it('a pool is never both Reconciling and Stalled, nor Ready and Stalled', () => {
    fc.assert(
      fc.property(randomObservedState, (s) => {
        const assessment = nodeGroupConditions(s);
        assert.ok(kstatus(assessment).length <= 1, JSON.stringify(assessment));
        assert.ok(!(assessment.Stalled && assessment.Ready.status !== 'False'), JSON.stringify(assessment));
      }),
      { numRuns: 3_000 },
    );
  });

  it('every condition has a reason of the catalogue and a message of whole sentences without request ids', () => {
    fc.assert(
      fc.property(randomObservedState, (s) => {
        for (const { reason, message } of Object.values(nodeGroupConditions(s))) {
          assert.ok(reason in reasons, reason);
          // A field of the spec is named as it is written.
          assert.match(message, /^(?:[A-Z0-9]|spec\.).*\.$/s);
          // What a node reports stands in quotes, and may be any word.
          const own = message.replace(/"(?:[^"\\]|\\.)*"/g, '""');
          assert.doesNotMatch(own, /undefined|request ?id|\.\.$|\bNaN\b|\[object/i);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
