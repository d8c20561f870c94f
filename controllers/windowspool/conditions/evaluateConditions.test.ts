import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { WindowsPoolStatus } from '../api/api.gen.ts';
import { reasons } from '../api/reasons.ts';
import type { NodeGroupConditions } from '../model/conditions.ts';
import { GATE_TAINT } from '../nodes/nodeTaints.ts';
import { nodeGroupConditions } from '../providers/nodeGroup/conditions/nodeGroupConditions.ts';
import {
  knownStatus,
  LEAVING,
  MINUTE,
  NOW,
  outcomeOf,
  sampleError,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleState,
} from '../testing/fixtures.ts';
import { randomObservedState } from '../testing/randomObservedState.ts';
import { runs } from '../testing/runs.ts';
import { absent, group, NO_NODES_YET, NOT_CREATED, truthTable, working, wrongNode } from '../testing/truthTable.ts';

const check = truthTable('conditions/InProgress');

/** Only with the gate does EKS go on with nodes that fail. */
const gated = (policy: string) => (policy === 'Gate' ? ['1 node is gated', 'gate.md#the-gate-and-updates'] : []);

const DENIED = ['UpdateNodegroupConfig', 'not authorized to perform: eks:Update', 'config/aws/iam-policy.json'];

/** A pool whose group is being updated to another release, and whether it was Ready when the update started. */
function rolling(wasReady: boolean) {
  const update = {
    id: 'u-1',
    type: 'VersionUpdate',
    target: 'x',
    change: 'release 1.36-2026.03.17',
    status: 'InProgress',
  };
  const status = knownStatus({ update });
  const joiningSince = '2026-03-01T11:59:00Z';
  const tracking = { ...status?.tracking, joiningSince, ...(wasReady && { ready: true }) };
  return samplePool({}, { status: { ...status, tracking } });
}

describe('while something is in progress, the pool is Reconciling', () => {
  check([
    [
      'before the group is created',
      sampleState({ ...absent }),
      { ...working('NodeGroupReady', NOT_CREATED), NodesVerified: NO_NODES_YET },
    ],
    [
      'while EKS creates the group',
      sampleState({ ...group({ status: 'CREATING' }), nodes: [] }),
      {
        ...working('NodeGroupReady', ['False Creating', 'web']),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'after the creation, until the first node has joined',
      sampleState({ nodes: [] }),
      {
        Ready: ['False Joining', '0 of 3 required'],
        NodesVerified: ['Unknown Joining', '0 of 3'],
        Reconciling: ['True Joining', '0 of 3 required'],
      },
    ],
    [
      'while a rolling update replaces a node of a Ready pool, which stays Ready',
      sampleState({
        pool: rolling(true),
        ...group({ status: 'UPDATING' }),
        nodes: sampleNodes(2),
      }),
      {
        Ready: ['True EnoughNodesVerified', '2 of 2'],
        NodeGroupReady: ['True Updating', 'web', '1.36-2026.03.17'],
        NodesVerified: ['Unknown Joining', '2 of 3'],
        Reconciling: ['True Updating', 'web', '1.36-2026.03.17'],
      },
    ],
    ...(['Gate', 'Quarantine'] as const).map(
      (policy) =>
        [
          `while a rolling update continues although a new node fails verification, with policy ${policy}`,
          sampleState({
            pool: { ...rolling(true), spec: { ...rolling(true).spec, verification: { policy } } },
            ...group({ status: 'UPDATING' }),
            nodes: [...sampleNodes(2), { ...wrongNode('ip-9'), taints: [...sampleNode().taints, GATE_TAINT] }],
          }),
          {
            Ready: ['False WrongBuild', '2 of 3 required', '1 of 3', 'ip-9', '2025', '10.0.26100', '2022'],
            NodeGroupReady: ['True Updating', 'web', '1.36-2026.03.17', ...gated(policy)],
            NodesVerified: ['False WrongBuild', '1 of 3', 'ip-9', '2025', '10.0.26100', '2022', '10.0.20348'],
            Reconciling: ['True Updating', 'web', '1.36-2026.03.17', ...gated(policy)],
          },
        ] as const,
    ),
    [
      'while a rolling update of a Ready pool leaves no node',
      sampleState({ pool: rolling(true), ...group({ status: 'UPDATING' }), nodes: [] }),
      {
        Ready: ['False Joining', '0 of 3 required'],
        NodeGroupReady: ['True Updating', 'web', '1.36-2026.03.17'],
        NodesVerified: ['Unknown Joining', '0 of 3'],
        Reconciling: ['True Joining', '0 of 3 required'],
      },
    ],
    [
      'during a rolling update of a pool that was not Ready before',
      sampleState({ pool: rolling(false), ...group({ status: 'UPDATING' }), nodes: sampleNodes(2) }),
      {
        Ready: ['False Joining', '2 of 3 required'],
        NodeGroupReady: ['True Updating', 'web', '1.36-2026.03.17'],
        NodesVerified: ['Unknown Joining', '2 of 3'],
        Reconciling: ['True Joining', '2 of 3 required'],
      },
    ],
    [
      'until the last of the first nodes is Ready',
      sampleState({
        nodes: [
          ...sampleNodes(2),
          sampleNode({ name: 'ip-9', createdAt: NOW - MINUTE, ready: 'False', readyReason: '' }),
        ],
      }),
      {
        Ready: ['False Joining', '2 of 3 required', '1 node', 'ip-9'],
        NodesVerified: ['Unknown Joining', '1 node', 'ip-9'],
        Reconciling: ['True Joining', '2 of 3 required', '1 node', 'ip-9'],
      },
    ],
    [
      'while another client deletes the group, and Ready stays True with enough verified nodes',
      sampleState(group({ status: 'DELETING' })),
      {
        NodeGroupReady: ['False Deleting', 'web'],
        Reconciling: ['True Deleting', 'web'],
      },
    ],
    [
      'while the pool is being deleted',
      sampleState({
        pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }),
        ...group({ status: 'DELETING' }),
      }),
      working('NodeGroupReady', ['False Deleting', 'web']),
    ],
    [
      'while the RuntimeClass is missing',
      sampleState({ runtimeClass: undefined }),
      working('RuntimeClassReady', ['False Pending', 'windows-2022']),
    ],
    [
      'after a write of the RuntimeClass failed',
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
      working('RuntimeClassReady', ['False Failed', 'create runtimeclasses', 'the call was unavailable']),
    ],
    [
      'after a conflicting write of the RuntimeClass, which is not reported',
      sampleState({
        runtimeClass: undefined,
        errors: [{ at: NOW, step: 'createRuntimeClass', error: sampleError('conflict') }],
      }),
      working('RuntimeClassReady', ['False Pending', 'windows-2022']),
    ],
  ]);
});

describe('a missing permission', () => {
  const denied = sampleError('denied', {
    operation: 'UpdateNodegroupConfig',
    message: 'not authorized to perform: eks:Update',
  });
  const deniedFor = (minutes: number): WindowsPoolStatus => {
    const since = new Date(NOW - minutes * MINUTE).toISOString();
    return { ...knownStatus(), tracking: { prerequisites: { result: 'Denied', since } } };
  };
  const forbidden = sampleError('denied', { operation: 'patch nodes', message: 'nodes "ip-9" is forbidden' });
  check([
    [
      'does not change Ready while the group exists',
      sampleState({ errors: [{ at: NOW, step: 'updateConfig', error: denied }] }),
      {
        PrerequisitesMet: ['False AccessDenied', ...DENIED],
        NodeGroupReady: ['Unknown AccessDenied', 'UpdateNodegroupConfig', 'web', 'See PrerequisitesMet.'],
        Reconciling: ['True AccessDenied', ...DENIED],
      },
    ],
    [
      'of the API server is granted to the ServiceAccount',
      sampleState({ errors: [{ at: NOW, step: 'labelNode', error: forbidden }] }),
      {
        PrerequisitesMet: ['False AccessDenied', 'patch nodes', 'nodes "ip-9" is forbidden', 'config/rbac'],
        Reconciling: ['True AccessDenied', 'patch nodes', 'nodes "ip-9" is forbidden', 'config/rbac'],
      },
    ],
    [
      'stalls the pool after 10 minutes',
      sampleState({
        pool: samplePool({}, { status: deniedFor(10) }),
        errors: [{ at: NOW, step: 'updateConfig', error: denied }],
      }),
      {
        PrerequisitesMet: ['False AccessDenied', ...DENIED],
        NodeGroupReady: ['Unknown AccessDenied', 'UpdateNodegroupConfig', 'web', 'See PrerequisitesMet.'],
        Stalled: ['True AccessDenied', ...DENIED],
      },
    ],
    [
      'blocks the creation of the group',
      sampleState({ ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: denied }] }),
      {
        Ready: ['False AccessDenied', ...DENIED],
        PrerequisitesMet: ['False AccessDenied', ...DENIED],
        NodeGroupReady: ['False AccessDenied', 'UpdateNodegroupConfig', 'web', 'See PrerequisitesMet.'],
        NodesVerified: NO_NODES_YET,
        Reconciling: ['True AccessDenied', ...DENIED],
      },
    ],
  ]);
});

describe('a paused pool has the condition Paused, and the others as observed', () => {
  check([
    [
      'when the spec pauses it',
      sampleState({ pool: samplePool({ paused: true }, { status: knownStatus() }) }),
      { Paused: ['True Paused', 'spec.paused', 'status.pendingSteps'] },
    ],
    [
      'when the annotation pauses it',
      sampleState({
        pool: samplePool({}, { metadata: { annotations: { 'winpool.dev/paused': 'true' } }, status: knownStatus() }),
      }),
      { Paused: ['True Paused', 'winpool.dev/paused', 'status.pendingSteps'] },
    ],
    [
      'when it is being deleted',
      sampleState({ pool: samplePool({ paused: true }, { metadata: LEAVING, status: knownStatus() }) }),
      {
        NodeGroupReady: ['False Deleting', 'web'],
        Ready: ['False Deleting', 'web'],
        Paused: ['True Paused', 'spec.paused', 'status.pendingSteps'],
      },
    ],
  ]);
});

describe('for every observed state', () => {
  /** As sigs.k8s.io/cli-utils/pkg/kstatus reads a custom resource. */
  function kstatus({ Ready, Reconciling, Stalled }: NodeGroupConditions): string[] {
    return [
      ...(Stalled ? ['Failed'] : []),
      ...(Reconciling ? ['InProgress'] : []),
      ...(Ready.status === 'True' && !Reconciling && !Stalled ? ['Current'] : []),
    ];
  }

  it('a pool has at most one status of kstatus', () => {
    fc.assert(
      fc.property(randomObservedState, (s) => {
        const assessment = nodeGroupConditions(outcomeOf(s));
        assert.ok(kstatus(assessment).length <= 1, JSON.stringify(assessment));
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('a condition says that its object is about to be changed only if a step changes it', () => {
    const changes: Partial<Record<keyof NodeGroupConditions, RegExp>> = {
      NodeGroupReady: /^(create|switch)/,
      RuntimeClassReady: /RuntimeClass$/,
      UpToDate: /^(update|begin|adopt|switch|remember|createLaunchTemplate)/,
    };
    fc.assert(
      fc.property(randomObservedState, (s) => {
        const result = outcomeOf(s);
        const kinds = result.decisions.flatMap(({ steps }) => steps.map(({ kind }) => kind));
        const { NodeGroupReady, RuntimeClassReady, UpToDate } = nodeGroupConditions(result);
        for (const [type, { message }] of Object.entries({ NodeGroupReady, RuntimeClassReady, UpToDate })) {
          const change = changes[type as keyof NodeGroupConditions];
          // A single failed read changes no condition.
          if (result.decisions.some(({ wait }) => wait?.reason === 'AWSUnavailable' || wait?.reason === 'AccessDenied'))
            continue;
          if (change && /about to be (created|replaced|updated)/.test(message))
            assert.ok(
              kinds.some((kind) => change.test(kind)),
              `${message} Steps: ${kinds.join(', ')}`,
            );
        }
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('every condition has a known reason, and a message of whole sentences without request IDs', () => {
    fc.assert(
      fc.property(randomObservedState, (s) => {
        for (const { reason, message } of Object.values(nodeGroupConditions(outcomeOf(s)))) {
          assert.ok(reason in reasons, reason);
          // A field of the spec is named as it is written, and a command ends the message, so that it can be copied.
          assert.match(message, /^(?:[A-Z0-9]|spec\.).*(?:\.|: (?:kubectl|aws) [^.]+(?:\.[^.]+)*)$/s);
          assert.doesNotMatch(message, /: (?:kubectl|aws) [^\n]*[a-z]\. [A-Z]/);
          // A kubelet can report any word; such words are in quotes.
          const own = message.replace(/"(?:[^"\\]|\\.)*"/g, '""');
          assert.doesNotMatch(own, /undefined|request ?id|\.\.$|\bNaN\b|\[object/i);
        }
      }),
      { numRuns: runs(3_000) },
    );
  });
});
