import assert from 'node:assert/strict';
import type { MaintenanceWindow } from '../../../api/api.gen.ts';
import { known } from '../../../testing/answers.ts';
import {
  knownStatus,
  LEAVING,
  NEXT,
  NOW,
  outcomeOf,
  RELEASE_FAILURE,
  sampleCluster,
  sampleError,
  sampleGroup,
  samplePool,
  sampleState,
} from '../../../testing/fixtures.ts';
import { type Brief, textTable } from '../../../testing/goldenTexts.ts';
import { otherAuthority } from '../../../testing/sights.ts';
import { group } from '../../../testing/truthTable.ts';
import { AUTOMATIC, fits, newest, pinned, ROLLED_BACK, templated } from '../../../testing/upgradeScenes.ts';
import { configTargetOf } from '../changes/groupChanges.ts';
import type { EksDerived } from '../model/groupDue.ts';
import { versionTargetOf } from '../versions/versionChanges.ts';
import { nodeGroupConditions } from './nodeGroupConditions.ts';

const check = textTable('conditions/UpToDate');

const status = knownStatus();
const reporting = samplePool({ nodeGroup: { driftPolicy: 'Report' } }, { status });
const edited = { labels: { 'winpool.dev/pool': 'web', 'winpool.dev/windows-build': '10.0.17763' }, taints: [] };
const unfinished = knownStatus({ update: { id: 'u-1', type: 'ConfigUpdate', target: 'x', status: 'InProgress' } });
const failedGrowth = {
  target: configTargetOf(samplePool({ nodeGroup: { scaling: { maxSize: 9 } } }), { scaling: { maxSize: 9 } }),
  reason: 'UpdateFailed',
  message: 'Update u-1 failed',
  time: '2026-03-01T11:00:00Z',
};
const SATURDAYS = { schedule: '0 2 * * SAT', duration: '4h', timeZone: 'Europe/Berlin' };
const ALWAYS = { schedule: '* * * * *', duration: '2m', timeZone: 'Etc/UTC' };
const NEVER = { schedule: '0 25 * * *', duration: '1h', timeZone: 'Etc/UTC' };
const OF_1_35 = { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' };

/** A pool with automatic updates in these windows, and changes of its spec and status. */
function automatic(
  maintenanceWindows: MaintenanceWindow[],
  { nodeGroup, ...spec }: Parameters<typeof samplePool>[0] = {},
  memory: Parameters<typeof knownStatus>[0] = {},
) {
  const update = { policy: 'Automatic', force: false, ...nodeGroup?.update, maintenanceWindows } as const;
  return samplePool({ ...spec, nodeGroup: { update } }, { status: knownStatus(memory) });
}
const AUTOMATIC_TARGET = versionTargetOf(samplePool(), {
  kubernetesVersion: '1.36',
  releaseVersion: '1.36-2026.02.28',
  force: false,
});
const due = samplePool({ nodeGroup: { releaseVersion: '1.36-2026.03.17' } }, { status });
const dueUpdate = { pool: due, ...group({}) };
const automaticUpdate = {
  pool: samplePool({ nodeGroup: { update: { policy: 'Automatic', force: false } } }, { status }),
  newestRelease: { ok: true, value: '1.36-2026.03.17' },
} as const;

describe('UpToDate', () => {
  const table: readonly (readonly [string, EksDerived, Brief])[] = [
    ['is True when nothing differs', sampleState(), ['True MatchesSpec', 'web']],
    [
      'is True with labels, taints and tags of other clients, and with a size that an autoscaler set',
      sampleState(
        group({
          labels: { ...sampleGroup().labels, other: 'x' },
          taints: [...sampleGroup().taints, { key: 'other', effect: 'NoSchedule' }],
          tags: { ...sampleGroup().tags, backup: 'daily' },
          scaling: { minSize: 3, maxSize: 5, desiredSize: 5 },
        }),
      ),
      ['True MatchesSpec', 'web'],
    ],
    [
      'is True for either spelling of the registration taint',
      sampleState(group({ taints: [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }] })),
      ['True MatchesSpec', 'web'],
    ],
    [
      'names each edit with both values when driftPolicy is Report',
      sampleState({ pool: reporting, ...group(edited) }),
      [
        'False Drifted',
        'web',
        'winpool.dev/windows-build',
        '10.0.17763',
        '10.0.20348',
        'os:NoSchedule',
        'nodeGroup.driftPolicy: Correct',
      ],
    ],
    [
      'names at most ten edits',
      sampleState({
        pool: samplePool({
          nodeGroup: { driftPolicy: 'Report' },
          labels: Object.fromEntries([...'abcdefghijkl'].map((key) => [key, '1'])),
        }),
        ...group({}),
      }),
      ['False Drifted', 'web', '2 more', 'nodeGroup.driftPolicy: Correct'],
    ],
    [
      'names the pools for which a rolling update waits',
      sampleState({ ...dueUpdate, otherPools: { disrupted: ['api', 'batch'], failures: [] } }),
      ['False WaitingForBudget', 'web', '1.36-2026.02.11', '1.36-2026.03.17', 'api', 'batch', '--max-pools-updating=1'],
    ],
    [
      'names only what waits, and not the settings that are sent now',
      sampleState({
        ...automaticUpdate,
        ...group(edited),
        otherPools: { disrupted: ['api'], failures: [] },
      }),
      ['False WaitingForBudget', 'web', '1.36-2026.03.17', 'api', '--max-pools-updating=1'],
    ],
    [
      'reports that an automatic update waits for other pools too',
      sampleState({ ...automaticUpdate, otherPools: { disrupted: ['api'], failures: [] } }),
      ['False WaitingForBudget', 'web', '1.36-2026.03.17', 'api', '--max-pools-updating=1'],
    ],
    [
      'names the node that an automatic update waits for, rather than other pools and maintenance windows',
      sampleState({ ...automaticUpdate, otherPools: { disrupted: ['batch'], failures: [RELEASE_FAILURE] } }),
      [
        'False ReleaseNotVerified',
        'web',
        '1.36-2026.02.11',
        'ip-10-0-9-1',
        'api',
        'WrongBuild',
        'nodeGroup.releaseVersion: 1.36-2026.03.17',
        '10.0.17763',
      ],
    ],
    [
      'names the canary that an automatic update waits for',
      sampleState({
        ...automaticUpdate,
        otherPools: { disrupted: [], failures: [{ ...RELEASE_FAILURE, onCanary: true }] },
      }),
      [
        'False ReleaseNotVerified',
        'web',
        '1.36-2026.02.11',
        'ip-10-0-9-1',
        'api',
        'WrongBuild',
        'nodeGroup.releaseVersion: 1.36-2026.03.17',
        '10.0.17763',
      ],
    ],
    [
      'warns of a pinned release that fails verification in another pool',
      sampleState({ ...dueUpdate, otherPools: { disrupted: [], failures: [RELEASE_FAILURE] } }),
      ['False UpdatePending', 'web', '1.36-2026.02.11', '1.36-2026.03.17', 'ip-10-0-9-1', 'api', 'WrongBuild'],
    ],
    [
      'warns of a newer release that fails verification in another pool',
      sampleState({
        newestRelease: automaticUpdate.newestRelease,
        otherPools: { disrupted: [], failures: [RELEASE_FAILURE] },
      }),
      ['False UpdateAvailable', 'web', '1.36-2026.02.11', 'ip-10-0-9-1', 'api', 'WrongBuild', '10.0.17763'],
    ],
    [
      'names an edit while the result of the last update is unknown',
      sampleState({ pool: samplePool(reporting.spec, { status: unfinished }), ...group(edited) }),
      ['False Drifted', 'web', 'os:NoSchedule', 'nodeGroup.driftPolicy: Correct'],
    ],
    [
      'reports a newer release while the result of the last update is unknown',
      sampleState({ pool: samplePool({}, { status: unfinished }), ...newest('1.36-2026.02.28') }),
      ['False UpdateAvailable', 'web', '1.36-2026.02.11', 'nodeGroup.releaseVersion: 1.36-2026.02.28'],
    ],
    [
      'is False until edits are corrected',
      sampleState(group(edited)),
      ['False UpdatePending', 'web', 'winpool.dev/windows-build', '10.0.17763', '10.0.20348', 'os:NoSchedule'],
    ],
    [
      'is False until a change of the spec is applied, including removed fields',
      sampleState({
        pool: samplePool(
          {
            registrationTaint: 'None',
            nodeGroup: { driftPolicy: 'Report' },
            taints: [{ key: 'gpu', effect: 'NoSchedule' }],
          },
          { status },
        ),
        ...group({}),
      }),
      ['False UpdatePending', 'web', 'gpu:NoSchedule', 'os:NoSchedule', 'windows'],
    ],
    [
      'is False until a paused pool is resumed',
      sampleState({
        pool: samplePool({ paused: true, nodeGroup: { scaling: { maxSize: 9 } } }, { status }),
        ...group({}),
      }),
      ['False UpdatePending', 'web', '3 to 9', 'resumed'],
    ],
    [
      'is False until the desired size is sent',
      sampleState({ pool: samplePool({ nodeGroup: { scaling: { desiredSize: 4 } } }, { status }), ...group({}) }),
      ['False UpdatePending', 'web', 'nodeGroup.scaling.desiredSize'],
    ],
    [
      'names the pinned release that the group does not have',
      sampleState({
        pool: samplePool({ nodeGroup: { releaseVersion: '1.36-2026.03.17' } }, { status }),
        ...group({}),
      }),
      ['False UpdatePending', 'web', '1.36-2026.02.11', '1.36-2026.03.17'],
    ],
    [
      'reports a pinned version that waits for the control plane',
      sampleState({ pool: samplePool({ nodeGroup: { kubernetesVersion: '1.37' } }, { status }), ...group({}) }),
      ['False UnsupportedVersion', 'web', '1.36', '1.37', 'PrerequisitesMet'],
    ],
    [
      'reports what failed',
      sampleState({
        pool: samplePool(
          { nodeGroup: { scaling: { maxSize: 9 } } },
          { status: knownStatus({ failedChanges: [failedGrowth] }) },
        ),
        ...group({}),
      }),
      ['False UpdateFailed', 'web', '3 to 9', 'u-1', 'winpool.dev/retry=$(date +%s)'],
    ],
    [
      'is False until an automatic update starts',
      sampleState({
        pool: samplePool({ nodeGroup: { update: { policy: 'Automatic' } } }, { status }),
        ...group({}),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      ['False UpdatePending', 'web', '1.36-2026.02.11', '1.36-2026.02.28'],
    ],
    [
      'names the release that waits for a maintenance window',
      sampleState({ pool: automatic([SATURDAYS]), ...newest('1.36-2026.02.28') }),
      [
        'False WaitingForWindow',
        'web',
        '1.36-2026.02.11',
        '2026-03-07T01:00Z',
        '02:00',
        'Europe/Berlin',
        'nodeGroup.releaseVersion: 1.36-2026.02.28',
      ],
    ],
    [
      'reports in an open window the same as without windows',
      sampleState({ pool: automatic([ALWAYS]), ...newest('1.36-2026.02.28') }),
      ['False UpdatePending', 'web', '1.36-2026.02.11', '1.36-2026.02.28'],
    ],
    [
      'is False while an automatic update of a paused pool is due',
      sampleState({ pool: automatic([SATURDAYS], { paused: true }), ...newest('1.36-2026.02.28') }),
      ['False UpdatePending', 'web', '1.36-2026.02.11', '1.36-2026.02.28', 'resumed'],
    ],
    [
      'names a window that never opens, even if no update is due',
      sampleState({ pool: automatic([SATURDAYS, NEVER]) }),
      ['False InvalidMaintenanceWindow', 'spec.nodeGroup.update.maintenanceWindows[1].schedule', '"0 25 * * *"'],
    ],
    [
      'names a window that never opens, and the update that waits for it',
      sampleState({ pool: automatic([NEVER]), ...newest('1.36-2026.02.28') }),
      [
        'False InvalidMaintenanceWindow',
        'spec.nodeGroup.update.maintenanceWindows[0].schedule',
        '"0 25 * * *"',
        'web',
        '1.36-2026.02.11',
        'nodeGroup.releaseVersion: 1.36-2026.02.28',
      ],
    ],
    [
      'does not report windows when updates are manual',
      sampleState({ pool: automatic([NEVER], { nodeGroup: { update: { policy: 'Manual' } } }) }),
      ['True MatchesSpec', 'web'],
    ],
    [
      'reports that an automatic update failed, and what is installed next',
      sampleState({
        pool: automatic([SATURDAYS], {}, { failedChanges: [{ ...failedGrowth, target: AUTOMATIC_TARGET }] }),
        ...newest('1.36-2026.02.28'),
      }),
      ['False UpdateFailed', 'web', '1.36-2026.02.11', '1.36-2026.02.28', 'u-1', 'winpool.dev/retry=$(date +%s)'],
    ],
    [
      'is True with the newest release',
      sampleState({ newestRelease: { ok: true, value: '1.36-2026.02.11' } }),
      ['True MatchesSpec', 'web'],
    ],
    [
      'reports a newer release, with the field to set',
      sampleState({ newestRelease: { ok: true, value: '1.36-2026.02.28' } }),
      [
        'False UpdateAvailable',
        'web',
        '1.36-2026.02.11',
        'nodeGroup.releaseVersion: 1.36-2026.02.28',
        'nodeGroup.update.policy: Automatic',
      ],
    ],
    [
      'says why a group that was rolled back gets no automatic update to the next Kubernetes version',
      sampleState({ ...pinned(AUTOMATIC, ROLLED_BACK, OF_1_35), ...newest(NEXT) }),
      ['False RolledBack', 'web', '1.36-2026.03.17', '1.35-2026.02.11', '1.36', 'winpool.dev/retry'],
    ],
    [
      'says why a group that was rolled back gets no automatic update to the release that it had',
      sampleState({ ...pinned(AUTOMATIC, ROLLED_BACK), ...newest(NEXT) }),
      ['False RolledBack', 'web', '1.36-2026.03.17', '1.36-2026.02.11', 'winpool.dev/retry'],
    ],
    [
      'says with policy Manual that the group was rolled back',
      sampleState({ ...pinned({}, ROLLED_BACK, OF_1_35), ...newest(NEXT) }),
      ['False RolledBack', 'web', '1.36-2026.03.17', '1.35-2026.02.11', 'nodeGroup.releaseVersion: 1.36-2026.03.17'],
    ],
    [
      'names the automatic update that waits while EKS changes the version of the cluster',
      sampleState({
        ...pinned(AUTOMATIC),
        ...newest(NEXT),
        cluster: { kind: 'seen', cluster: sampleCluster({ status: 'UPDATING' }) },
      }),
      ['False ClusterNotActive', 'web', '1.36-2026.03.17'],
    ],
    [
      'reports nodes that are newer than the control plane',
      sampleState({ cluster: { kind: 'seen', cluster: sampleCluster({ kubernetesVersion: '1.35' }) } }),
      ['False UnsupportedVersion', 'web', '1.36', 'prod', 'nodeGroup.kubernetesVersion: "1.35"'],
    ],
    [
      'warns after three months that AWS will make the AMI private',
      sampleState({
        ...group({ releaseVersion: '1.36-2025.12.01' }),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      [
        'False UpdateAvailable',
        'web',
        '1.36-2025.12.01',
        '2026-04-01',
        'nodeGroup.releaseVersion: 1.36-2026.02.28',
        'nodeGroup.update.policy: Automatic',
      ],
    ],
    [
      'warns after four months that the AMI is private',
      sampleState({
        ...group({ releaseVersion: '1.36-2025.11.01' }),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      [
        'False UpdateAvailable',
        'web',
        '1.36-2025.11.01',
        '2026-03-01',
        'nodeGroup.releaseVersion: 1.36-2026.02.28',
        'nodeGroup.update.policy: Automatic',
      ],
    ],
    [
      'warns about an old AMI when the newest release is unknown',
      sampleState(group({ releaseVersion: '1.36-2025.12.01' })),
      ['True MatchesSpec', 'web', '2026-04-01'],
    ],
    [
      'does not warn about the newest release, however old it is',
      sampleState({
        ...group({ releaseVersion: '1.36-2025.11.01' }),
        newestRelease: { ok: true, value: '1.36-2025.11.01' },
      }),
      ['True MatchesSpec', 'web'],
    ],
    [
      'does not warn a day before three months',
      sampleState(group({ releaseVersion: '1.36-2025.12.02' })),
      ['True MatchesSpec', 'web'],
    ],
    [
      'reports why the newest release is unknown',
      sampleState({
        newestRelease: {
          ok: false,
          error: sampleError('denied', { operation: 'GetParameter', message: 'not authorized: ssm:GetParameter' }),
        },
      }),
      ['True MatchesSpec', 'web', 'ssm:GetParameter'],
    ],
    [
      'reports another version of the launch template',
      templated('$Latest', fits('3')),
      [
        'False UpdateAvailable',
        'web',
        'version 2',
        'windows',
        '$Latest',
        'nodeGroup.launchTemplate.version: 3',
        'nodeGroup.update.policy: Automatic',
      ],
    ],
    [
      'reports another version of the launch template together with a newer release',
      templated('$Latest', fits('3'), {}, {}, newest('1.36-2026.02.28')),
      [
        'False UpdateAvailable',
        'web',
        '1.36-2026.02.11',
        'nodeGroup.releaseVersion: 1.36-2026.02.28',
        'nodeGroup.update.policy: Automatic',
        'windows',
        '$Latest',
      ],
    ],
    [
      'is False until the group has the launch template version of the spec',
      templated(3, fits('3')),
      ['False UpdatePending', 'web', '2 (expected 3)'],
    ],
    [
      'is False while EKS does not accept the launch template version of the spec',
      templated(3, known(undefined)),
      ['False LaunchTemplateInvalid', 'web', '2 (expected 3)', 'PrerequisitesMet'],
    ],
    [
      'is False until an automatic update to a new launch template version starts',
      templated('$Latest', fits('3'), AUTOMATIC),
      ['False UpdatePending', 'web', 'version 2', 'windows', 'desired: 3'],
    ],
    [
      'names the window that a release and a launch template version wait for',
      templated(
        '$Latest',
        fits('3'),
        { update: { ...AUTOMATIC.update, maintenanceWindows: [SATURDAYS] } },
        {},
        newest('1.36-2026.02.28'),
      ),
      [
        'False WaitingForWindow',
        'web',
        '1.36-2026.02.11',
        'windows',
        'desired: 3',
        '2026-03-07T01:00Z',
        '02:00',
        'Europe/Berlin',
      ],
    ],
    [
      'names the launch template version that waits for other pools',
      templated('$Latest', fits('3'), AUTOMATIC, {}, { otherPools: { disrupted: ['api'], failures: [] } }),
      ['False WaitingForBudget', 'web', '1.36-2026.02.11', 'version 3', 'windows', 'api', '--max-pools-updating=1'],
    ],
    [
      'is False while the tags for the cluster-autoscaler cannot be set',
      sampleState({
        errors: [
          {
            at: NOW,
            step: 'correctScalingTags',
            error: sampleError('refused', { operation: 'CreateOrUpdateTags' }),
          },
        ],
      }),
      ['False UpdatePending', 'web', 'CreateOrUpdateTags', 'the call was refused'],
    ],
    [
      'is False when the group differs in a field that EKS cannot change',
      sampleState(group({ diskSizeGiB: 100 })),
      ['False ImmutableDifference', 'web', '100', 'nodeGroup.immutableChangePolicy: Replace'],
    ],
    [
      'names other differences together with a field that EKS cannot change',
      sampleState({ pool: reporting, ...group({ ...edited, diskSizeGiB: 100 }) }),
      [
        'False ImmutableDifference',
        'web',
        '100',
        'winpool.dev/windows-build',
        '10.0.17763',
        '10.0.20348',
        'os:NoSchedule',
      ],
    ],
    [
      'is Unknown while EKS works on the group',
      sampleState(group({ status: 'UPDATING', labels: {} })),
      ['Unknown Pending', 'web', 'UPDATING'],
    ],
    ['is Unknown without a group', sampleState({ group: { kind: 'absent' } }), ['Unknown Pending', 'web']],
    [
      'is Unknown for a group that the pool does not manage',
      sampleState(group({ tags: {} })),
      ['Unknown Pending', 'web'],
    ],
    ['is Unknown in another cluster', sampleState({ cluster: otherAuthority }), ['Unknown Pending', 'web']],
    [
      'is Unknown while a group that was never read cannot be read',
      sampleState({
        group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined },
      }),
      ['Unknown Pending', 'web'],
    ],
    [
      'uses the last known group while AWS cannot be read',
      sampleState({
        group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: sampleGroup() },
      }),
      ['True MatchesSpec', 'web'],
    ],
    [
      'is Unknown for a pool that is being deleted',
      sampleState({ pool: samplePool({}, { metadata: LEAVING, status }) }),
      ['Unknown Pending'],
    ],
  ];
  for (const [name, observed, want] of table) {
    const texts = () => {
      const { status: state, reason, message } = nodeGroupConditions(outcomeOf(observed)).UpToDate;
      return [`${state} ${reason}: ${message}`];
    };
    check(name, texts, [want]);
  }

  it('does not change Ready or Stalled when an edit is only reported', () => {
    const { Ready, Stalled, Reconciling } = nodeGroupConditions(
      outcomeOf(sampleState({ pool: reporting, ...group(edited) })),
    );
    assert.deepEqual([Ready.status, Stalled, Reconciling], ['True', undefined, undefined]);
  });

  it('does not change Ready, Stalled or Reconciling while an automatic update waits, or after it failed', () => {
    const failed = { failedChanges: [{ ...failedGrowth, target: AUTOMATIC_TARGET }] };
    for (const memory of [{}, failed]) {
      const s = sampleState({ pool: automatic([SATURDAYS], {}, memory), ...newest('1.36-2026.02.28') });
      const { Ready, NodeGroupReady, UpToDate, Stalled, Reconciling } = nodeGroupConditions(outcomeOf(s));
      const statuses = [Ready, NodeGroupReady, UpToDate, Stalled, Reconciling].map((finding) => finding?.status);
      assert.deepEqual(statuses, ['True', 'True', 'False', undefined, undefined]);
    }
  });

  it('reports every difference as an edit when the status was lost', () => {
    const lost = samplePool(
      { nodeGroup: { driftPolicy: 'Report' } },
      { status: { ...status, nodeGroup: { name: 'web' }, tracking: {} } },
    );
    assert.equal(
      nodeGroupConditions(outcomeOf(sampleState({ pool: lost, ...group(edited) }))).UpToDate.reason,
      'Drifted',
    );
  });
});
