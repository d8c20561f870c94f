import type { WindowsPoolStatus } from '../api.gen.ts';
import { configTargetOf } from '../providers/eks/groupChanges.ts';
import {
  CLUSTER_ARN,
  GROW,
  knownStatus,
  LEAVING,
  NOW,
  SMALLER,
  sampleError,
  samplePool,
  sampleRuntimeClass,
  sampleState,
  settings,
} from '../testing/fixtures.ts';
import { otherAuthority } from '../testing/sights.ts';
import { absent, check, group, NO_NODES_YET, pool, stalled } from '../testing/truthTable.ts';

describe('nothing but a human helps: Ready is False, and Stalled with the reason', () => {
  const issue = { code: 'NodeCreationFailure', message: 'Instances failed to join', resourceIds: ['i-1', 'i-2'] };
  const failed = (reason: string): WindowsPoolStatus =>
    knownStatus({
      failedTarget: {
        target: configTargetOf(pool, GROW),
        reason,
        message: 'EKS refused it',
        time: '2026-03-01T11:00:00Z',
      },
    });
  const api = { name: 'api', uid: 'uid-api' };
  const own = samplePool({ runtimeClass: { scope: 'Pool' } }, { status: knownStatus() });
  const foreign = sampleRuntimeClass(pool, { managed: false, owners: [], tolerations: [] });
  const nowhere = samplePool();
  const takenBy = (owners: string) =>
    `False NotOwned: RuntimeClass web says something else than this pool wants${owners}. Choose another runtimeClass.name, or delete it.`;
  const mismatch =
    'Check --cluster-name and --region. Nothing is changed; deletionPolicy: Retain lets a deleted pool go.';
  const elsewhere = `False ClusterMismatch: EKS cluster prod in eu-west-1 has another certificate authority than the API server that the operator uses. ${mismatch}`;
  const NOT_LOOKED_AT = "Unknown ClusterMismatch: Node group web is not looked at: this is not the pool's cluster.";
  const older = sampleError('refused', { operation: 'CreateNodegroup', message: 'version 1.35 is not valid' });
  const { nodeGroup } = samplePool().spec;
  const pinned = samplePool({ nodeGroup: { ...nodeGroup, kubernetesVersion: '1.35' } }, { status: knownStatus() });
  const refused = sampleError('refused', { operation: 'CreateNodegroup', message: 'Subnet x does not exist' });
  const limit = sampleError('limit', { operation: 'CreateNodegroup', message: 'Quota of 30 is used up.' });
  const again =
    'It is tried again after a while, and at once when the spec or the annotation winpool.dev/retry changes.';
  check([
    [
      'a creation failed',
      sampleState({ ...group({ status: 'CREATE_FAILED', healthIssues: [issue] }), nodes: [] }),
      {
        ...stalled(
          'NodeGroupReady',
          'False CreateFailed: EKS could not create node group web: NodeCreationFailure: Instances failed to join (i-1 and i-2). Mend the cause; the group is created anew after a while, and at once when the spec changes.',
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'a creation was refused, told at once',
      sampleState({ ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: refused }] }),
      {
        ...stalled(
          'NodeGroupReady',
          `False CreateRefused: EKS refused to create node group web: Subnet x does not exist. ${again}`,
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'a creation was refused for a Kubernetes version that the spec pins below that of the cluster',
      sampleState({ pool: pinned, ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: older }] }),
      {
        ...stalled(
          'NodeGroupReady',
          `False CreateRefused: EKS refused to create node group web: version 1.35 is not valid. spec.nodeGroup.kubernetesVersion pins Kubernetes 1.35, and the cluster has 1.36: EKS creates node groups of the cluster's version. Remove the pin, or pin 1.36. ${again}`,
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'a quota is used up',
      sampleState({ ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: limit }] }),
      {
        ...stalled(
          'NodeGroupReady',
          `False QuotaExceeded: EKS refused to create node group web: Quota of 30 is used up. ${again}`,
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'an update was refused',
      sampleState({ pool: samplePool({}, { status: failed('UpdateRefused') }), ...group(SMALLER) }),
      stalled(
        'NodeGroupReady',
        'False UpdateRefused: EKS refused it. It is not tried again until the spec or the annotation winpool.dev/retry changes.',
      ),
    ],
    [
      'an update failed, told at once',
      sampleState({
        pool: samplePool(
          {},
          {
            status: knownStatus({
              update: { id: 'u-1', type: 'ConfigUpdate', target: configTargetOf(pool, GROW), status: 'InProgress' },
            }),
          },
        ),
        ...group(SMALLER),
        update: {
          id: 'u-1',
          type: 'ConfigUpdate',
          status: 'Failed',
          createdAt: NOW,
          errors: [{ code: 'PodEvictionFailure', message: 'Reached max retries', resourceIds: ['ip-10-0-1-1'] }],
        },
      }),
      stalled(
        'NodeGroupReady',
        'False UpdateFailed: Update u-1 of node group web failed: PodEvictionFailure: Reached max retries (ip-10-0-1-1). Let the PodDisruptionBudget of the pods give way, or end them, or set nodeGroup.update.force: true. It is not tried again until the spec or the annotation winpool.dev/retry changes.',
      ),
    ],
    [
      'a deletion failed',
      sampleState(group({ status: 'DELETE_FAILED' })),
      stalled(
        'NodeGroupReady',
        'False DeleteFailed: EKS could not delete node group web: EKS gives no reason. It is tried again.',
      ),
    ],
    [
      'a foreign group has the name; its nodes are not counted',
      sampleState({ ...group({ tags: {} }), nodes: [] }),
      {
        ...stalled(
          'NodeGroupReady',
          'False NotOwned: A node group web exists that has no tag winpool.dev/pool=web. It is never changed. Set spec.nodeGroup.adoption: IfUnowned to take it over, or spec.nodeGroup.name to a name that is free, or delete that group.',
        ),
        NodesVerified: "False Pending: The nodes of node group web are not counted: it is not the pool's.",
      },
    ],
    [
      'the group differs in what EKS cannot change',
      sampleState(group({ amiType: 'WINDOWS_FULL_2022_x86_64', diskSizeGiB: 100 })),
      stalled(
        'NodeGroupReady',
        'False ImmutableDifference: Node group web differs in what EKS cannot change: AMI type is WINDOWS_FULL_2022_x86_64 and the spec says WINDOWS_CORE_2022_x86_64 and disk size is 100 and the spec says 50. Put the spec right, or create another pool.',
      ),
    ],
    [
      'the cluster is another',
      sampleState({ cluster: otherAuthority }),
      { ...stalled('PrerequisitesMet', elsewhere), NodeGroupReady: NOT_LOOKED_AT },
    ],
    [
      'the cluster is another and the pool is deleted',
      sampleState({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }), cluster: otherAuthority }),
      { ...stalled('PrerequisitesMet', elsewhere), NodeGroupReady: NOT_LOOKED_AT },
    ],
    [
      'the flags name another cluster',
      sampleState({ settings: { ...settings, clusterName: 'test' } }),
      {
        ...stalled(
          'PrerequisitesMet',
          `False ClusterMismatch: The pool's node group was created in ${CLUSTER_ARN}, and the operator works for test in eu-west-1. ${mismatch}`,
        ),
        NodeGroupReady: NOT_LOOKED_AT,
      },
    ],
    [
      'EKS does not know the cluster',
      sampleState({ pool: nowhere, cluster: { kind: 'absent' } }),
      stalled(
        'PrerequisitesMet',
        'False ClusterNotFound: EKS does not know a cluster prod in eu-west-1. Check --cluster-name and --region.',
      ),
    ],
    [
      'EKS no longer knows the cluster',
      sampleState({ cluster: { kind: 'absent' } }),
      stalled(
        'PrerequisitesMet',
        'False ClusterNotFound: EKS no longer knows a cluster prod in eu-west-1. Check --cluster-name and --region.',
      ),
    ],
    [
      'a foreign RuntimeClass has the name and does not fit',
      sampleState({ runtimeClass: foreign }),
      stalled(
        'RuntimeClassReady',
        'False NotOwned: RuntimeClass windows-2022 was there before and does not place pods on this pool: it needs handler runhcs-wcow-process, nodeSelector kubernetes.io/os=windows, kubernetes.io/arch=amd64 and node.kubernetes.io/windows-build=10.0.20348 and a toleration of os=windows:NoSchedule. Delete it and the operator makes its own, or set runtimeClass.scope: Pool.',
      ),
    ],
    [
      'another pool has the name of the RuntimeClass',
      sampleState({ pool: own, runtimeClass: sampleRuntimeClass(own, { owners: [api], tolerations: [] }) }),
      stalled('RuntimeClassReady', takenBy(' and belongs to api')),
    ],
    [
      'a RuntimeClass that was left behind has another handler',
      sampleState({ pool: own, runtimeClass: sampleRuntimeClass(own, { owners: [], handler: 'other' }) }),
      stalled('RuntimeClassReady', takenBy('')),
    ],
  ]);
});
