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
import { absent, check, group, NO_NODES_YET, pool, stalled, stalledAndReady } from '../testing/truthTable.ts';

describe('a pool that needs user action is Stalled with the reason', () => {
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
  const own = samplePool({ runtimeClass: { name: 'web' } }, { status: knownStatus() });
  const foreign = sampleRuntimeClass(pool, { managed: false, managedBy: undefined, owners: [], tolerations: [] });
  const nowhere = samplePool();
  const takenBy = (owners: string) =>
    `False NotOwned: RuntimeClass web differs from what this pool needs${owners}. Set runtimeClass.name to a new name.`;
  const flags = "Check the operator's flags --cluster-name and --region.";
  const mismatch = `${flags} Nothing is changed. To delete the pool, set deletionPolicy: Retain.`;
  const elsewhere = `False ClusterMismatch: The certificate authority of EKS cluster prod in eu-west-1 is not that of the API server that the operator uses. ${mismatch}`;
  const NOT_READ = "Unknown ClusterMismatch: Node group web is not read, because this is not the pool's cluster.";
  const older = sampleError('refused', { operation: 'CreateNodegroup', message: 'version 1.35 is not valid' });
  const { nodeGroup } = samplePool().spec;
  const pinned = samplePool({ nodeGroup: { ...nodeGroup, kubernetesVersion: '1.35' } }, { status: knownStatus() });
  const refused = sampleError('refused', { operation: 'CreateNodegroup', message: 'Subnet x does not exist' });
  const limit = sampleError('limit', { operation: 'CreateNodegroup', message: 'Quota of 30 is used up.' });
  const again =
    'Next attempt at 12:15Z; to retry now: kubectl annotate wp web winpool.dev/retry=$(date +%s) --overwrite';
  const retry =
    'Not retried until the spec changes or you run: kubectl annotate wp web winpool.dev/retry=$(date +%s) --overwrite';
  check([
    [
      'when a creation failed',
      sampleState({ ...group({ status: 'CREATE_FAILED', healthIssues: [issue] }), nodes: [] }),
      {
        ...stalled(
          'NodeGroupReady',
          'False CreateFailed: EKS failed to create node group web: NodeCreationFailure: Instances failed to join (i-1 and i-2). Check the policies of the node role (aws iam list-attached-role-policies --role-name windows-nodes), and the route from the subnets to the API server. A retry deletes the group with its instances first. The operator retries.',
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'as soon as EKS rejects a creation',
      sampleState({ ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: refused }] }),
      {
        ...stalled(
          'NodeGroupReady',
          `False CreateRejected: EKS rejected the creation of node group web: Subnet x does not exist. ${again}`,
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'when EKS rejects a creation because the spec pins an older Kubernetes version than that of the cluster',
      sampleState({ pool: pinned, ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: older }] }),
      {
        ...stalled(
          'NodeGroupReady',
          `False CreateRejected: EKS rejected the creation of node group web: version 1.35 is not valid. nodeGroup.kubernetesVersion pins Kubernetes 1.35, but the cluster runs 1.36. EKS creates node groups only with the version of the cluster. Remove the pin, or pin 1.36. ${again}`,
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'when a quota is used up',
      sampleState({ ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: limit }] }),
      {
        ...stalled(
          'NodeGroupReady',
          `False QuotaExceeded: EKS rejected the creation of node group web: Quota of 30 is used up. ${again}`,
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'when EKS rejected an update, and Ready stays True',
      sampleState({ pool: samplePool({}, { status: failed('UpdateRejected') }), ...group(SMALLER) }),
      stalledAndReady('NodeGroupReady', `False UpdateRejected: EKS refused it. ${retry}`),
    ],
    [
      'as soon as an update failed, and Ready stays True',
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
      stalledAndReady(
        'NodeGroupReady',
        `False UpdateFailed: Update u-1 of node group web failed: PodEvictionFailure: Reached max retries (ip-10-0-1-1). 3 of 3 nodes are still verified. Find the PodDisruptionBudgets that allow no disruption (kubectl get pdb --all-namespaces). Scale the workload up, relax its PodDisruptionBudget, or delete the pods. nodeGroup.update.force: true terminates nodes even if pods still run on them. ${retry}`,
      ),
    ],
    [
      'when a deletion failed, and Ready stays True',
      sampleState(group({ status: 'DELETE_FAILED' })),
      stalledAndReady(
        'NodeGroupReady',
        'False DeleteFailed: EKS failed to delete node group web: EKS reports no reason. The operator retries.',
      ),
    ],
    [
      'when a group that it does not manage has the name; the nodes of that group are not counted',
      sampleState({ ...group({ tags: {} }), nodes: [] }),
      {
        ...stalled(
          'NodeGroupReady',
          'False NotOwned: Node group web exists but is not managed by this pool (tag winpool.dev/pool missing), so the operator does not change it. Set nodeGroup.name to another name, or let this pool adopt the node group: https://docs.example/adoption.md.',
        ),
        NodesVerified:
          'False Pending: The nodes of node group web are not counted, because it is not managed by this pool.',
      },
    ],
    [
      'when the group differs in fields that EKS cannot change, and Ready stays True',
      sampleState(group({ amiType: 'WINDOWS_FULL_2022_x86_64', diskSizeGiB: 100 })),
      stalledAndReady(
        'NodeGroupReady',
        'False ImmutableDifference: Node group web differs from the spec in fields that EKS cannot change: AMI type is WINDOWS_FULL_2022_x86_64 (expected WINDOWS_CORE_2022_x86_64) and disk size is 100 (expected 50). Correct the spec, set nodeGroup.replacement: BlueGreen, or create another pool.',
      ),
    ],
    [
      'when the cluster is not the one that the operator runs in',
      sampleState({ cluster: otherAuthority }),
      { ...stalled('PrerequisitesMet', elsewhere), NodeGroupReady: NOT_READ },
    ],
    [
      'when the cluster is not the one that the operator runs in, and the pool is being deleted',
      sampleState({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }), cluster: otherAuthority }),
      { ...stalled('PrerequisitesMet', elsewhere), NodeGroupReady: NOT_READ },
    ],
    [
      'when the flags name another cluster',
      sampleState({ settings: { ...settings, clusterName: 'test' } }),
      {
        ...stalled(
          'PrerequisitesMet',
          `False ClusterMismatch: The pool's node group was created in ${CLUSTER_ARN}, and the operator is configured for test in eu-west-1. ${mismatch}`,
        ),
        NodeGroupReady: NOT_READ,
      },
    ],
    [
      'when the cluster does not exist, and Ready stays True',
      sampleState({ pool: nowhere, cluster: { kind: 'absent' } }),
      stalledAndReady(
        'PrerequisitesMet',
        `False ClusterNotFound: EKS cluster prod does not exist in eu-west-1. ${flags}`,
      ),
    ],
    [
      'when the cluster no longer exists, and Ready stays True',
      sampleState({ cluster: { kind: 'absent' } }),
      stalledAndReady(
        'PrerequisitesMet',
        `False ClusterNotFound: EKS cluster prod no longer exists in eu-west-1. ${flags}`,
      ),
    ],
    [
      'when a RuntimeClass that no pool created has the name and does not fit',
      sampleState({ runtimeClass: foreign }),
      stalled(
        'RuntimeClassReady',
        'False NotOwned: RuntimeClass windows-2022 was not created by the operator and cannot be used: it has no toleration for os=windows:NoSchedule. Set runtimeClass.name to a new name, or set runtimeClass.adoption: IfUnowned to have the operator delete and recreate it.',
      ),
    ],
    [
      'when another pool uses the RuntimeClass',
      sampleState({ pool: own, runtimeClass: sampleRuntimeClass(own, { owners: [api], tolerations: [] }) }),
      stalled('RuntimeClassReady', takenBy(' and is used by WindowsPool api')),
    ],
    [
      'when a RuntimeClass of a deleted pool has another handler',
      sampleState({ pool: own, runtimeClass: sampleRuntimeClass(own, { owners: [], handler: 'other' }) }),
      stalled('RuntimeClassReady', takenBy('')),
    ],
  ]);
});
