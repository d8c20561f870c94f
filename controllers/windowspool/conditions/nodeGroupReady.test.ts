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

const WORKAROUND = 'The operator retries; to delete the pool without it, set deletionPolicy: Retain.';
const retained = samplePool({ deletionPolicy: 'Retain' }, { metadata: LEAVING, status: knownStatus() });

describe('a node group that cannot be read', () => {
  const error = sampleError('unavailable');
  const away = (seconds: number, last?: NodeGroup): Pick<ObservedState, 'group'> => ({
    group: { kind: 'unreachable', error, since: NOW - seconds * 1_000, last },
  });
  const unknown = 'AWSUnavailable: Node group web cannot be read: DescribeNodegroup failed: the call was unavailable.';
  const cluster = {
    kind: 'unreachable',
    error: sampleError('unavailable', { operation: 'DescribeCluster' }),
  } as const;
  check([
    ['changes no condition for a minute', sampleState(away(59, sampleGroup())), {}],
    [
      'is reported after a minute, and the pool stays Ready',
      sampleState(away(60, sampleGroup())),
      {
        NodeGroupReady: `Unknown ${unknown} Its last known status is ACTIVE.`,
        Reconciling: `True ${unknown} Its last known status is ACTIVE.`,
      },
    ],
    [
      'at the start does not change what the nodes show',
      sampleState({ ...away(0), cluster }),
      {
        PrerequisitesMet: 'Unknown AWSUnavailable: DescribeCluster failed: the call was unavailable.',
        NodeGroupReady: `Unknown ${unknown}`,
        Reconciling: 'True AWSUnavailable: DescribeCluster failed: the call was unavailable.',
      },
    ],
    [
      'has a workaround for a deleted pool, also when only the cluster cannot be read',
      sampleState({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }), cluster }),
      {
        ...working(
          'NodeGroupReady',
          `False Deleting: Node group web is being deleted. DescribeCluster failed: the call was unavailable. ${WORKAROUND}`,
        ),
        PrerequisitesMet: 'Unknown AWSUnavailable: DescribeCluster failed: the call was unavailable.',
      },
    ],
    [
      'has a workaround for a deleted pool',
      sampleState({
        pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }),
        ...away(0, sampleGroup()),
      }),
      working(
        'NodeGroupReady',
        `False Deleting: Node group web is being deleted. DescribeNodegroup failed: the call was unavailable. ${WORKAROUND}`,
      ),
    ],
  ]);
});

describe('a state that ends without user action does not stall the pool', () => {
  const issue = { code: 'InsufficientFreeAddresses', message: 'Subnet subnet-1 is full.', resourceIds: ['subnet-1'] };
  const retain = samplePool({}, { metadata: LEAVING, status: knownStatus() });
  const subnets =
    'Free addresses in the subnets (aws ec2 describe-subnets --subnet-ids subnet-0a000000 subnet-0b000000), or lower nodeGroup.scaling.maxSize.';
  check([
    [
      'a degraded group with enough verified nodes',
      sampleState(group({ status: 'DEGRADED', healthIssues: [issue] })),
      {
        NodeGroupReady: `False Degraded: Node group web is DEGRADED: InsufficientFreeAddresses: Subnet subnet-1 is full. (subnet-1). ${subnets}`,
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
      'a group that another client updates',
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
      {
        RuntimeClassReady:
          'True UsedAsIs: RuntimeClass windows-2022 was not created by the operator. It fits and is used unchanged.',
      },
    ],
    [
      'a deletion that EKS failed to finish',
      sampleState({ pool: retain, ...group({ status: 'DELETE_FAILED', healthIssues: [issue] }) }),
      working(
        'NodeGroupReady',
        `False DeleteFailed: EKS failed to delete node group web: InsufficientFreeAddresses: Subnet subnet-1 is full. (subnet-1). ${subnets} The operator retries; to delete the pool without it, set deletionPolicy: Retain.`,
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
        `False Deleting: Node group web is being deleted. DeleteNodegroup failed: the call was refused. ${WORKAROUND}`,
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
          'False NotOwned: RuntimeClass windows-2022 is managed by windowspool-operator and cannot be used: its handler is other, expected runhcs-wcow-process. Set runtimeClass.name to a new name, or change it there.',
      },
    ],
    [
      'a deleted pool that retains its group',
      sampleState({ pool: retained }),
      working('NodeGroupReady', 'False Retained: Node group web is retained.'),
    ],
    [
      'a deleted pool that retains a group that EKS is updating',
      sampleState({ pool: retained, ...group({ status: 'UPDATING' }) }),
      working(
        'NodeGroupReady',
        "False Retained: Node group web is retained. The operator's labels and tags are removed from it first, once it is no longer UPDATING.",
      ),
    ],
    [
      'a deleted pool that retains a group that cannot be read',
      sampleState({
        pool: retained,
        group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined },
      }),
      working(
        'NodeGroupReady',
        "False Retained: Node group web is retained. The operator's labels and tags are removed from it first: DescribeNodegroup failed: the call was throttled. The operator retries.",
      ),
    ],
  ]);
});
