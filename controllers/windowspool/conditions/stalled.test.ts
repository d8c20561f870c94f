import type { WindowsPoolStatus } from '../api/api.gen.ts';
import { configTargetOf } from '../providers/nodeGroup/changes/groupChanges.ts';
import {
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
import type { Brief } from '../testing/goldenTexts.ts';
import { otherAuthority } from '../testing/sights.ts';
import { absent, group, NO_NODES_YET, pool, stalled, stalledAndReady, truthTable } from '../testing/truthTable.ts';

const check = truthTable('conditions/Stalled');

const NOT_CONFIGURED: Brief = [
  'False ClusterNotConfigured',
  '--cluster-name',
  '--region',
  'windowspool-operator-cluster',
];
const ELSEWHERE = ['prod', 'eu-west-1', '--cluster-name', '--region', 'deletionPolicy'];

describe('a pool that needs user action is Stalled with the reason', () => {
  const issue = { code: 'NodeCreationFailure', message: 'Instances failed to join', resourceIds: ['i-1', 'i-2'] };
  const failed = (reason: string): WindowsPoolStatus =>
    knownStatus({
      failedChanges: [
        {
          target: configTargetOf(pool, GROW),
          reason,
          message: 'EKS refused it',
          time: '2026-03-01T11:00:00Z',
        },
      ],
    });
  const api = { name: 'api', uid: 'uid-api' };
  const own = samplePool({ runtimeClass: { name: 'web' } }, { status: knownStatus() });
  const foreign = sampleRuntimeClass(pool, { managed: false, managedBy: undefined, owners: [], tolerations: [] });
  const nowhere = samplePool();
  const withoutCluster = { ...settings, clusterName: '', region: '' };
  const older = sampleError('refused', { operation: 'CreateNodegroup', message: 'version 1.35 is not valid' });
  const { nodeGroup } = samplePool().spec;
  const pinned = samplePool({ nodeGroup: { ...nodeGroup, kubernetesVersion: '1.35' } }, { status: knownStatus() });
  const refused = sampleError('refused', { operation: 'CreateNodegroup', message: 'Subnet x does not exist' });
  const limit = sampleError('limit', { operation: 'CreateNodegroup', message: 'Quota of 30 is used up.' });
  check([
    [
      'when a creation failed',
      sampleState({ ...group({ status: 'CREATE_FAILED', healthIssues: [issue] }), nodes: [] }),
      {
        ...stalled('NodeGroupReady', [
          'False CreateFailed',
          'web',
          'NodeCreationFailure',
          'Instances failed to join',
          'i-1',
          'i-2',
          'windows-nodes',
          'AmazonEKSWorkerNodePolicy',
        ]),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'as soon as EKS rejects a creation',
      sampleState({ ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: refused }] }),
      {
        ...stalled('NodeGroupReady', [
          'False CreateRejected',
          'web',
          'Subnet x does not exist',
          '12:15Z',
          'winpool.dev/retry=$(date +%s)',
        ]),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'when EKS rejects a creation because the spec pins an older Kubernetes version than that of the cluster',
      sampleState({ pool: pinned, ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: older }] }),
      {
        ...stalled('NodeGroupReady', [
          'False CreateRejected',
          'web',
          'version 1.35 is not valid',
          'nodeGroup.kubernetesVersion',
          '1.36',
          '12:15Z',
          'winpool.dev/retry=$(date +%s)',
        ]),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'when a quota is used up',
      sampleState({ ...absent, errors: [{ at: NOW, step: 'createNodeGroup', error: limit }] }),
      {
        ...stalled('NodeGroupReady', [
          'False QuotaExceeded',
          'web',
          'Quota of 30 is used up',
          '12:15Z',
          'winpool.dev/retry=$(date +%s)',
        ]),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'when EKS rejected an update, and Ready stays True',
      sampleState({ pool: samplePool({}, { status: failed('UpdateRejected') }), ...group(SMALLER) }),
      stalledAndReady('NodeGroupReady', ['False UpdateRejected', 'EKS refused it', 'winpool.dev/retry=$(date +%s)']),
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
      stalledAndReady('NodeGroupReady', [
        'False UpdateFailed',
        'web',
        'PodEvictionFailure',
        'Reached max retries',
        'ip-10-0-1-1',
      ]),
    ],
    [
      'when a deletion failed, and Ready stays True',
      sampleState(group({ status: 'DELETE_FAILED' })),
      stalledAndReady('NodeGroupReady', ['False DeleteFailed', 'web']),
    ],
    [
      'when a group that it does not manage has the name; the nodes of that group are not counted',
      sampleState({ ...group({ tags: {} }), nodes: [] }),
      {
        ...stalled('NodeGroupReady', [
          'False NotOwned',
          'web',
          'winpool.dev/pool',
          'nodeGroup.name',
          'winpool.dev/adoptable-by=web',
        ]),
        NodesVerified: ['False Pending', 'web'],
      },
    ],
    [
      'when the group differs in fields that EKS cannot change, and Ready stays True',
      sampleState(group({ amiType: 'WINDOWS_FULL_2022_x86_64', diskSizeGiB: 100 })),
      stalledAndReady('NodeGroupReady', [
        'False ImmutableDifference',
        'web',
        'WINDOWS_FULL_2022_x86_64',
        'WINDOWS_CORE_2022_x86_64',
        '100',
        'nodeGroup.immutableChangePolicy: Replace',
      ]),
    ],
    [
      'when the cluster is not the one that the operator runs in',
      sampleState({ cluster: otherAuthority }),
      {
        ...stalled('PrerequisitesMet', ['False ClusterMismatch', ...ELSEWHERE]),
        NodeGroupReady: ['Unknown ClusterMismatch', 'web'],
      },
    ],
    [
      'when the cluster is not the one that the operator runs in, and the pool is being deleted',
      sampleState({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }), cluster: otherAuthority }),
      {
        ...stalled('PrerequisitesMet', ['False ClusterMismatch', ...ELSEWHERE]),
        NodeGroupReady: ['Unknown ClusterMismatch', 'web'],
      },
    ],
    [
      'when the flags name another cluster',
      sampleState({ settings: { ...settings, clusterName: 'test' } }),
      {
        ...stalled('PrerequisitesMet', [
          'False ClusterMismatch',
          'arn:aws:eks:eu-west-1:111122223333:cluster/prod',
          '--cluster-name',
          '--region',
          'deletionPolicy',
        ]),
        NodeGroupReady: ['Unknown ClusterMismatch', 'web'],
      },
    ],
    [
      'when the operator is not configured for an EKS cluster',
      sampleState({ pool: nowhere, settings: withoutCluster, ...absent, nodes: [] }),
      {
        ...stalled('PrerequisitesMet', NOT_CONFIGURED),
        NodeGroupReady: ['Unknown ClusterNotConfigured', 'web'],
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'when the operator is no longer configured for an EKS cluster, and the pool is being deleted',
      sampleState({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }), settings: withoutCluster }),
      {
        ...stalled('PrerequisitesMet', [...NOT_CONFIGURED, 'deletionPolicy: Retain']),
        NodeGroupReady: ['Unknown ClusterNotConfigured', 'web'],
      },
    ],
    [
      'when the cluster does not exist, and Ready stays True',
      sampleState({ pool: nowhere, cluster: { kind: 'absent' } }),
      stalledAndReady('PrerequisitesMet', ['False ClusterNotFound', 'prod', 'eu-west-1', '--cluster-name', '--region']),
    ],
    [
      'when the cluster no longer exists, and Ready stays True',
      sampleState({ cluster: { kind: 'absent' } }),
      stalledAndReady('PrerequisitesMet', ['False ClusterNotFound', 'prod', 'eu-west-1', '--cluster-name', '--region']),
    ],
    [
      'when a RuntimeClass that no pool created has the name and does not fit',
      sampleState({ runtimeClass: foreign }),
      stalled('RuntimeClassReady', [
        'False NotOwned',
        'windows-2022',
        'os=windows:NoSchedule',
        'runtimeClass.name',
        'runtimeClass.adoption: IfUnowned',
      ]),
    ],
    [
      'when another pool uses the RuntimeClass',
      sampleState({ pool: own, runtimeClass: sampleRuntimeClass(own, { owners: [api], tolerations: [] }) }),
      stalled('RuntimeClassReady', ['False NotOwned', 'web', 'api', 'runtimeClass.name']),
    ],
    [
      'when a RuntimeClass of a deleted pool has another handler',
      sampleState({ pool: own, runtimeClass: sampleRuntimeClass(own, { owners: [], handler: 'other' }) }),
      stalled('RuntimeClassReady', ['False NotOwned', 'web', 'runtimeClass.name']),
    ],
  ]);
});
