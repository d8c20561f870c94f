import type { ObservedState } from '../model/observedState.ts';
import type { NodeGroup } from '../ports/eks.ts';
import {
  knownStatus,
  LEAVING,
  NOW,
  sampleError,
  sampleGroup,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from '../testing/fixtures.ts';
import { check, group, pool, working } from '../testing/truthTable.ts';

const retained = samplePool({ deletionPolicy: 'Retain' }, { metadata: LEAVING, status: knownStatus() });

describe('AWS that cannot be looked at', () => {
  const error = sampleError('unavailable');
  const away = (seconds: number, last?: NodeGroup): Pick<ObservedState, 'group'> => ({
    group: { kind: 'unreachable', error, since: NOW - seconds * 1_000, last },
  });
  const unknown =
    "AWSUnavailable: Node group web can't be looked at: DescribeNodegroup failed: the call was unavailable.";
  const cluster = {
    kind: 'unreachable',
    error: sampleError('unavailable', { operation: 'DescribeCluster' }),
  } as const;
  check([
    ['changes nothing for a minute', sampleState(away(59, sampleGroup())), {}],
    [
      'is told after a minute, and the pool stays Ready',
      sampleState(away(60, sampleGroup())),
      {
        NodeGroupReady: `Unknown ${unknown} It was ACTIVE when it was last seen.`,
        Reconciling: `True ${unknown} It was ACTIVE when it was last seen.`,
      },
    ],
    [
      'at the start leaves what the nodes say',
      sampleState({ ...away(0), cluster }),
      {
        PrerequisitesMet: 'Unknown AWSUnavailable: DescribeCluster failed: the call was unavailable.',
        NodeGroupReady: `Unknown ${unknown}`,
        Reconciling: 'True AWSUnavailable: DescribeCluster failed: the call was unavailable.',
      },
    ],
    [
      'for a deleted pool names the way out, also where only the cluster cannot be asked',
      sampleState({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }), cluster }),
      {
        ...working(
          'NodeGroupReady',
          'False Deleting: Node group web is being deleted. DescribeCluster failed: the call was unavailable. It is tried again; deletionPolicy: Retain lets the pool go without it.',
        ),
        PrerequisitesMet: 'Unknown AWSUnavailable: DescribeCluster failed: the call was unavailable.',
      },
    ],
    [
      'for a deleted pool names the way out',
      sampleState({
        pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }),
        ...away(0, sampleGroup()),
      }),
      working(
        'NodeGroupReady',
        'False Deleting: Node group web is being deleted. DescribeNodegroup failed: the call was unavailable. It is tried again; deletionPolicy: Retain lets the pool go without it.',
      ),
    ],
  ]);
});

describe('what helps itself is not Stalled', () => {
  const issue = { code: 'InsufficientFreeAddresses', message: 'Subnet subnet-1 is full.', resourceIds: ['subnet-1'] };
  const retain = samplePool({}, { metadata: LEAVING, status: knownStatus() });
  const wayOut = 'It is tried again; deletionPolicy: Retain lets the pool go without it.';
  check([
    [
      'a degraded group with enough verified nodes',
      sampleState(group({ status: 'DEGRADED', healthIssues: [issue] })),
      {
        NodeGroupReady:
          'False Degraded: Node group web is DEGRADED: InsufficientFreeAddresses: Subnet subnet-1 is full. (subnet-1). Free addresses in the subnets, or lower scaling.max.',
      },
    ],
    [
      'an active group with a health issue',
      sampleState(group({ healthIssues: [{ ...issue, resourceIds: [] }] })),
      {
        NodeGroupReady:
          'True Active: Node group web is ACTIVE. Health issues: InsufficientFreeAddresses: Subnet subnet-1 is full.',
      },
    ],
    [
      'a group on which somebody else works',
      sampleState({ errors: [{ at: NOW, step: 'updateConfig', error: sampleError('busy') }] }),
      {},
    ],
    [
      'a throttled update',
      sampleState({
        errors: [
          {
            at: NOW,
            step: 'updateConfig',
            error: sampleError('throttled', { operation: 'UpdateNodegroupConfig' }),
          },
        ],
      }),
      {
        NodeGroupReady:
          'Unknown AWSUnavailable: UpdateNodegroupConfig of node group web failed: the call was throttled.',
        Reconciling: 'True AWSUnavailable: UpdateNodegroupConfig of node group web failed: the call was throttled.',
      },
    ],
    [
      'a RuntimeClass that was there before and fits',
      sampleState({ runtimeClass: sampleRuntimeClass(pool, { managed: false, owners: [] }) }),
      { RuntimeClassReady: 'True UsedAsIs: RuntimeClass windows-2022 was there before and fits.' },
    ],
    [
      'a pool that manages no RuntimeClass',
      sampleState({ pool: samplePool({ runtimeClass: { manage: false } }, { status: knownStatus() }) }),
      { RuntimeClassReady: 'True NotManaged: The pool manages no RuntimeClass (runtimeClass.manage is false).' },
    ],
    [
      'a deletion that EKS could not finish',
      sampleState({ pool: retain, ...group({ status: 'DELETE_FAILED', healthIssues: [issue] }) }),
      working(
        'NodeGroupReady',
        `False DeleteFailed: EKS could not delete node group web: InsufficientFreeAddresses: Subnet subnet-1 is full. (subnet-1). ${wayOut}`,
      ),
    ],
    [
      'a deletion that EKS refused',
      sampleState({
        pool: retain,
        errors: [{ at: NOW, step: 'deleteNodeGroup', error: sampleError('refused', { operation: 'DeleteNodegroup' }) }],
      }),
      working(
        'NodeGroupReady',
        `False Deleting: Node group web is being deleted. DeleteNodegroup failed: the call was refused. ${wayOut}`,
      ),
    ],
    [
      'a deletion with a foreign RuntimeClass of the name',
      sampleState({
        pool: retain,
        runtimeClass: sampleRuntimeClass(pool, { managed: false, owners: [], handler: 'other' }),
      }),
      {
        ...working('NodeGroupReady', 'False Deleting: Node group web is being deleted.'),
        RuntimeClassReady:
          'False NotOwned: RuntimeClass windows-2022 was there before and does not place pods on this pool: it needs handler runhcs-wcow-process, nodeSelector kubernetes.io/os=windows, kubernetes.io/arch=amd64 and node.kubernetes.io/windows-build=10.0.20348 and a toleration of os=windows:NoSchedule. Delete it and the operator makes its own, or set runtimeClass.scope: Pool.',
      },
    ],
    [
      'a pool that goes without its group',
      sampleState({ pool: retained }),
      working('NodeGroupReady', 'False Retained: Node group web stays.'),
    ],
    [
      'a pool that goes without its group, on which EKS works',
      sampleState({ pool: retained, ...group({ status: 'UPDATING' }) }),
      working(
        'NodeGroupReady',
        'False Retained: Node group web stays. The labels and tags of the operator are taken from it first, when it is no longer UPDATING.',
      ),
    ],
    [
      'a pool that goes without its group, of which AWS tells nothing',
      sampleState({
        pool: retained,
        group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined },
      }),
      working(
        'NodeGroupReady',
        'False Retained: Node group web stays. The labels and tags of the operator are taken from it first: DescribeNodegroup failed: the call was throttled. It is tried again.',
      ),
    ],
  ]);
});
