import assert from 'node:assert/strict';
import type { MaintenanceWindow } from '../api.gen.ts';
import type { ObservedState } from '../model/observedState.ts';
import { nodeGroupConditions } from '../providers/eks/conditions.ts';
import { configTargetOf } from '../providers/eks/groupChanges.ts';
import { versionTargetOf } from '../providers/eks/upgrades/versionChanges.ts';
import { known } from '../testing/answers.ts';
import {
  knownStatus,
  LEAVING,
  NOW,
  RELEASE_FAILURE,
  sampleError,
  sampleGroup,
  samplePool,
  sampleState,
} from '../testing/fixtures.ts';
import { otherAuthority } from '../testing/sights.ts';
import { group } from '../testing/truthTable.ts';
import { AUTOMATIC, fits, templated } from '../testing/upgradeScenes.ts';

const status = knownStatus();
const reporting = samplePool({ nodeGroup: { driftPolicy: 'Report' } }, { status });
const edited = { labels: { 'winpool.dev/pool': 'web', 'winpool.dev/windows-build': '10.0.17763' }, taints: [] };
const failedGrowth = {
  target: configTargetOf(samplePool({ nodeGroup: { scaling: { maxSize: 9 } } }), { scaling: { maxSize: 9 } }),
  reason: 'UpdateFailed',
  message: 'Update u-1 failed',
  time: '2026-03-01T11:00:00Z',
};
const SATURDAYS = { schedule: '0 2 * * SAT', duration: '4h', timeZone: 'Europe/Berlin' };
const ALWAYS = { schedule: '* * * * *', duration: '2m', timeZone: 'Etc/UTC' };
const NEVER = { schedule: '0 25 * * *', duration: '1h', timeZone: 'Etc/UTC' };
const newest = (value: string) => ({ newestRelease: { ok: true, value } }) as const;

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
const NEWER = 'Node group web has AMI release 1.36-2026.02.11 (newest: 1.36-2026.02.28).';
const FAULT =
  'spec.nodeGroup.update.maintenanceWindows[1].schedule: "0 25 * * *" is invalid (Invalid value for hour: 25). Use a cron schedule such as "0 2 * * SAT". No automatic update starts in that window.';
const EDITS =
  'label winpool.dev/windows-build is 10.0.17763 (expected 10.0.20348); taint os:NoSchedule is missing (expected windows).';
const TO_CORRECT = 'Correct the node group or the spec, or set nodeGroup.driftPolicy: Correct.';
const due = samplePool({ nodeGroup: { releaseVersion: '1.36-2026.03.17' } }, { status });
const dueUpdate = { pool: due, ...group({}) };
const automaticUpdate = {
  pool: samplePool({ nodeGroup: { update: { policy: 'Automatic', force: false } } }, { status }),
  newestRelease: { ok: true, value: '1.36-2026.03.17' },
} as const;
const RELEASE_FAILS =
  'With release 1.36-2026.03.17, node ip-10-0-9-1 of WindowsPool api fails verification: WrongBuild: runs build 10.0.17763.';
const uncompared = (why: string) => `Unknown Pending: Node group web is not compared with the spec: ${why}.`;

describe('UpToDate', () => {
  const table: readonly (readonly [string, ObservedState, string])[] = [
    ['is True when nothing differs', sampleState(), 'True AsSpecified: Node group web matches the spec.'],
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
      'True AsSpecified: Node group web matches the spec.',
    ],
    [
      'is True for either spelling of the registration taint',
      sampleState(group({ taints: [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }] })),
      'True AsSpecified: Node group web matches the spec.',
    ],
    [
      'names each edit with both values when driftPolicy is Report',
      sampleState({ pool: reporting, ...group(edited) }),
      `False Drifted: Node group web drifted from the spec: ${EDITS} ${TO_CORRECT}`,
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
      `False Drifted: Node group web drifted from the spec: ${[...'abcdefghij'].map((key) => `label ${key} is missing (expected 1)`).join('; ')}; and 2 more. ${TO_CORRECT}`,
    ],
    [
      'names the pools for which a rolling update waits',
      sampleState({ ...dueUpdate, fleet: { disrupted: ['api', 'batch'], failures: [] } }),
      'False WaitingForBudget: Node group web differs from the spec: AMI release is 1.36-2026.02.11 (expected 1.36-2026.03.17). The rolling update waits: WindowsPools api and batch are replacing nodes (--max-pools-updating=1).',
    ],
    [
      'reports that an automatic update waits for other pools too',
      sampleState({ ...automaticUpdate, fleet: { disrupted: ['api'], failures: [] } }),
      'False WaitingForBudget: An automatic update of node group web is due: release 1.36-2026.03.17. The rolling update waits: WindowsPool api is replacing nodes (--max-pools-updating=1).',
    ],
    [
      'names the node that an automatic update waits for, rather than other pools and maintenance windows',
      sampleState({ ...automaticUpdate, fleet: { disrupted: ['batch'], failures: [RELEASE_FAILURE] } }),
      `False ReleaseNotVerified: Node group web has AMI release 1.36-2026.02.11 (newest: 1.36-2026.03.17). ${RELEASE_FAILS} The automatic update waits until that node is verified or deleted, or until the next release is available. To update anyway, set nodeGroup.releaseVersion: 1.36-2026.03.17.`,
    ],
    [
      'names the canary that an automatic update waits for',
      sampleState({
        ...automaticUpdate,
        fleet: { disrupted: [], failures: [{ ...RELEASE_FAILURE, onCanary: true }] },
      }),
      'False ReleaseNotVerified: Node group web has AMI release 1.36-2026.02.11 (newest: 1.36-2026.03.17). With release 1.36-2026.03.17, node ip-10-0-9-1 of the canary of WindowsPool api failed verification: WrongBuild: runs build 10.0.17763. The automatic update waits until WindowsPool api has this release or no longer asks for it, or until the next release is available. To update anyway, set nodeGroup.releaseVersion: 1.36-2026.03.17.',
    ],
    [
      'warns of a pinned release that fails verification in another pool',
      sampleState({ ...dueUpdate, fleet: { disrupted: [], failures: [RELEASE_FAILURE] } }),
      `False Outdated: Node group web differs from the spec: AMI release is 1.36-2026.02.11 (expected 1.36-2026.03.17). It is about to be updated. ${RELEASE_FAILS}`,
    ],
    [
      'warns of a newer release that fails verification in another pool',
      sampleState({
        newestRelease: automaticUpdate.newestRelease,
        fleet: { disrupted: [], failures: [RELEASE_FAILURE] },
      }),
      `False UpdateAvailable: Node group web has AMI release 1.36-2026.02.11; the newest is 1.36-2026.03.17. ${RELEASE_FAILS} Set nodeGroup.releaseVersion: 1.36-2026.03.17, or nodeGroup.update.policy: Automatic.`,
    ],
    [
      'is False until edits are corrected',
      sampleState(group(edited)),
      `False Outdated: Node group web differs from the spec: ${EDITS} It is about to be updated.`,
    ],
    [
      'is False until a change of the spec is applied, including removed fields',
      sampleState({
        pool: samplePool(
          {
            registrationTaint: false,
            nodeGroup: { driftPolicy: 'Report' },
            taints: [{ key: 'gpu', effect: 'NoSchedule' }],
          },
          { status },
        ),
        ...group({}),
      }),
      'False Outdated: Node group web differs from the spec: taint gpu:NoSchedule is missing; taint os:NoSchedule is windows (not in the spec). It is about to be updated.',
    ],
    [
      'is False until a paused pool is resumed',
      sampleState({
        pool: samplePool({ paused: true, nodeGroup: { scaling: { maxSize: 9 } } }, { status }),
        ...group({}),
      }),
      'False Outdated: Node group web differs from the spec: scaling is 3 to 5 (expected 3 to 9). It is updated when the pool is resumed.',
    ],
    [
      'is False until the desired size is sent',
      sampleState({ pool: samplePool({ nodeGroup: { scaling: { desiredSize: 4 } } }, { status }), ...group({}) }),
      'False Outdated: Node group web does not have the new nodeGroup.scaling.desiredSize yet. It is about to be updated.',
    ],
    [
      'names the pinned release that the group does not have',
      sampleState({
        pool: samplePool({ nodeGroup: { releaseVersion: '1.36-2026.03.17' } }, { status }),
        ...group({}),
      }),
      'False Outdated: Node group web differs from the spec: AMI release is 1.36-2026.02.11 (expected 1.36-2026.03.17). It is about to be updated.',
    ],
    [
      'reports a pinned version that waits for the control plane',
      sampleState({ pool: samplePool({ nodeGroup: { kubernetesVersion: '1.37' } }, { status }), ...group({}) }),
      'False UnsupportedVersion: Node group web differs from the spec: Kubernetes version is 1.36 (expected 1.37). The control plane must be upgraded first. See PrerequisitesMet.',
    ],
    [
      'reports what failed',
      sampleState({
        pool: samplePool(
          { nodeGroup: { scaling: { maxSize: 9 } } },
          { status: knownStatus({ failedTarget: failedGrowth }) },
        ),
        ...group({}),
      }),
      'False UpdateFailed: Node group web differs from the spec: scaling is 3 to 5 (expected 3 to 9). Update u-1 failed. Not retried until the spec changes or you run: kubectl annotate wp web winpool.dev/retry=$(date +%s) --overwrite',
    ],
    [
      'is False until an automatic update starts',
      sampleState({
        pool: samplePool({ nodeGroup: { update: { policy: 'Automatic' } } }, { status }),
        ...group({}),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      'False Outdated: Node group web has AMI release 1.36-2026.02.11 (newest: 1.36-2026.02.28). It is about to be updated.',
    ],
    [
      'names the release that waits for a maintenance window',
      sampleState({ pool: automatic([SATURDAYS]), ...newest('1.36-2026.02.28') }),
      `False WaitingForWindow: ${NEWER} The update starts at 2026-03-07T01:00Z (2026-03-07 02:00 in Europe/Berlin), in a maintenance window. To update now, set nodeGroup.releaseVersion: 1.36-2026.02.28.`,
    ],
    [
      'reports in an open window the same as without windows',
      sampleState({ pool: automatic([ALWAYS]), ...newest('1.36-2026.02.28') }),
      `False Outdated: ${NEWER} It is about to be updated.`,
    ],
    [
      'is False while an automatic update of a paused pool is due',
      sampleState({ pool: automatic([SATURDAYS], { paused: true }), ...newest('1.36-2026.02.28') }),
      `False Outdated: ${NEWER} It is updated when the pool is resumed.`,
    ],
    [
      'names a window that never opens, even if no update is due',
      sampleState({ pool: automatic([SATURDAYS, NEVER]) }),
      `False InvalidMaintenanceWindow: ${FAULT}`,
    ],
    [
      'names a window that never opens, and the update that waits for it',
      sampleState({ pool: automatic([NEVER]), ...newest('1.36-2026.02.28') }),
      `False InvalidMaintenanceWindow: ${FAULT.replace('[1]', '[0]')} ${NEWER} To update now, set nodeGroup.releaseVersion: 1.36-2026.02.28.`,
    ],
    [
      'does not report windows when updates are manual',
      sampleState({ pool: automatic([NEVER], { nodeGroup: { update: { policy: 'Manual' } } }) }),
      'True AsSpecified: Node group web matches the spec.',
    ],
    [
      'reports that an automatic update failed, and what is installed next',
      sampleState({
        pool: automatic([SATURDAYS], {}, { failedTarget: { ...failedGrowth, target: AUTOMATIC_TARGET } }),
        ...newest('1.36-2026.02.28'),
      }),
      `False UpdateFailed: ${NEWER} Update u-1 failed. The next release is installed automatically. Not retried until the spec changes or you run: kubectl annotate wp web winpool.dev/retry=$(date +%s) --overwrite`,
    ],
    [
      'is True with the newest release',
      sampleState({ newestRelease: { ok: true, value: '1.36-2026.02.11' } }),
      'True AsSpecified: Node group web matches the spec.',
    ],
    [
      'reports a newer release, with the field to set',
      sampleState({ newestRelease: { ok: true, value: '1.36-2026.02.28' } }),
      'False UpdateAvailable: Node group web has AMI release 1.36-2026.02.11; the newest is 1.36-2026.02.28. Set nodeGroup.releaseVersion: 1.36-2026.02.28, or nodeGroup.update.policy: Automatic.',
    ],
    [
      'warns after three months that AWS will make the AMI private',
      sampleState({
        ...group({ releaseVersion: '1.36-2025.12.01' }),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      'False UpdateAvailable: Node group web has AMI release 1.36-2025.12.01; the newest is 1.36-2026.02.28. AWS makes this AMI private around 2026-04-01. After that, new nodes cannot start from it. Set nodeGroup.releaseVersion: 1.36-2026.02.28, or nodeGroup.update.policy: Automatic.',
    ],
    [
      'warns after four months that the AMI is private',
      sampleState({
        ...group({ releaseVersion: '1.36-2025.11.01' }),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      'False UpdateAvailable: Node group web has AMI release 1.36-2025.11.01; the newest is 1.36-2026.02.28. AWS made this AMI private around 2026-03-01. New nodes cannot start from it. Set nodeGroup.releaseVersion: 1.36-2026.02.28, or nodeGroup.update.policy: Automatic.',
    ],
    [
      'warns about an old AMI when the newest release is unknown',
      sampleState(group({ releaseVersion: '1.36-2025.12.01' })),
      'True AsSpecified: Node group web matches the spec. AWS makes this AMI private around 2026-04-01. After that, new nodes cannot start from it.',
    ],
    [
      'does not warn about the newest release, however old it is',
      sampleState({
        ...group({ releaseVersion: '1.36-2025.11.01' }),
        newestRelease: { ok: true, value: '1.36-2025.11.01' },
      }),
      'True AsSpecified: Node group web matches the spec.',
    ],
    [
      'does not warn a day before three months',
      sampleState(group({ releaseVersion: '1.36-2025.12.02' })),
      'True AsSpecified: Node group web matches the spec.',
    ],
    [
      'reports why the newest release is unknown',
      sampleState({
        newestRelease: {
          ok: false,
          error: sampleError('denied', { operation: 'GetParameter', message: 'not authorized: ssm:GetParameter' }),
        },
      }),
      'True AsSpecified: Node group web matches the spec. The newest AMI release is unknown: GetParameter failed: not authorized: ssm:GetParameter.',
    ],
    [
      'reports another version of the launch template',
      templated('$Latest', fits('3')),
      'False UpdateAvailable: Node group web has version 2 of launch template windows; $Latest is version 3. Set nodeGroup.launchTemplate.version: 3, or nodeGroup.update.policy: Automatic.',
    ],
    [
      'reports another version of the launch template together with a newer release',
      templated('$Latest', fits('3'), {}, {}, newest('1.36-2026.02.28')),
      'False UpdateAvailable: Node group web has AMI release 1.36-2026.02.11; the newest is 1.36-2026.02.28. Set nodeGroup.releaseVersion: 1.36-2026.02.28, or nodeGroup.update.policy: Automatic. Node group web has version 2 of launch template windows; $Latest is version 3. Set nodeGroup.launchTemplate.version: 3, or nodeGroup.update.policy: Automatic.',
    ],
    [
      'is False until the group has the launch template version of the spec',
      templated(3, fits('3')),
      'False Outdated: Node group web differs from the spec: launch template version is 2 (expected 3). It is about to be updated.',
    ],
    [
      'is False while EKS does not accept the launch template version of the spec',
      templated(3, known(undefined)),
      'False LaunchTemplateInvalid: Node group web differs from the spec: launch template version is 2 (expected 3). EKS does not accept this version. See PrerequisitesMet.',
    ],
    [
      'is False until an automatic update to a new launch template version starts',
      templated('$Latest', fits('3'), AUTOMATIC),
      'False Outdated: Node group web has version 2 of launch template windows (desired: 3). It is about to be updated.',
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
      'False WaitingForWindow: Node group web has AMI release 1.36-2026.02.11 (newest: 1.36-2026.02.28) and version 2 of launch template windows (desired: 3). The update starts at 2026-03-07T01:00Z (2026-03-07 02:00 in Europe/Berlin), in a maintenance window. To update now, set nodeGroup.releaseVersion: 1.36-2026.02.28 and nodeGroup.launchTemplate.version: 3.',
    ],
    [
      'names the launch template version that waits for other pools',
      templated('$Latest', fits('3'), AUTOMATIC, {}, { fleet: { disrupted: ['api'], failures: [] } }),
      'False WaitingForBudget: An automatic update of node group web is due: release 1.36-2026.02.11 with version 3 of launch template windows. The rolling update waits: WindowsPool api is replacing nodes (--max-pools-updating=1).',
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
      'False Outdated: The tags for the cluster-autoscaler cannot be set on the Auto Scaling group of node group web. CreateOrUpdateTags failed: the call was refused. The operator retries.',
    ],
    [
      'is False when the group differs in a field that EKS cannot change',
      sampleState(group({ diskSizeGiB: 100 })),
      'False ImmutableDifference: Node group web differs from the spec in fields that EKS cannot change: disk size is 100 (expected 50). Correct the spec, set nodeGroup.replacement: BlueGreen, or create another pool.',
    ],
    [
      'names other differences together with a field that EKS cannot change',
      sampleState({ pool: reporting, ...group({ ...edited, diskSizeGiB: 100 }) }),
      'False ImmutableDifference: Node group web differs from the spec in fields that EKS cannot change: disk size is 100 (expected 50). Other differences: label winpool.dev/windows-build is 10.0.17763 (expected 10.0.20348); taint os:NoSchedule is missing (expected windows). Correct the spec, set nodeGroup.replacement: BlueGreen, or create another pool.',
    ],
    [
      'is Unknown while EKS works on the group',
      sampleState(group({ status: 'UPDATING', labels: {} })),
      'Unknown Pending: Node group web is UPDATING and is not compared with the spec until EKS has finished.',
    ],
    ['is Unknown without a group', sampleState({ group: { kind: 'absent' } }), uncompared('it does not exist')],
    [
      'is Unknown for a group that the pool does not manage',
      sampleState(group({ tags: {} })),
      uncompared('it is not managed by this pool'),
    ],
    [
      'is Unknown in another cluster',
      sampleState({ cluster: otherAuthority }),
      uncompared("this is not the pool's cluster"),
    ],
    [
      'is Unknown while a group that was never read cannot be read',
      sampleState({
        group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined },
      }),
      uncompared('it cannot be read'),
    ],
    [
      'uses the last known group while AWS cannot be read',
      sampleState({
        group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: sampleGroup() },
      }),
      'True AsSpecified: Node group web matches the spec.',
    ],
    [
      'is Unknown for a pool that is being deleted',
      sampleState({ pool: samplePool({}, { metadata: LEAVING, status }) }),
      'Unknown Pending: The pool is being deleted.',
    ],
  ];
  for (const [name, observed, want] of table) {
    it(name, () => {
      const { status: state, reason, message } = nodeGroupConditions(observed).UpToDate;
      assert.equal(`${state} ${reason}: ${message}`, want);
    });
  }

  it('does not change Ready or Stalled when an edit is only reported', () => {
    const { Ready, Stalled, Reconciling } = nodeGroupConditions(sampleState({ pool: reporting, ...group(edited) }));
    assert.deepEqual([Ready.status, Stalled, Reconciling], ['True', undefined, undefined]);
  });

  it('does not change Ready, Stalled or Reconciling while an automatic update waits, or after it failed', () => {
    const failed = { failedTarget: { ...failedGrowth, target: AUTOMATIC_TARGET } };
    for (const memory of [{}, failed]) {
      const s = sampleState({ pool: automatic([SATURDAYS], {}, memory), ...newest('1.36-2026.02.28') });
      const { Ready, NodeGroupReady, UpToDate, Stalled, Reconciling } = nodeGroupConditions(s);
      const statuses = [Ready, NodeGroupReady, UpToDate, Stalled, Reconciling].map((finding) => finding?.status);
      assert.deepEqual(statuses, ['True', 'True', 'False', undefined, undefined]);
    }
  });

  it('reports every difference as an edit when the status was lost', () => {
    const lost = samplePool(
      { nodeGroup: { driftPolicy: 'Report' } },
      { status: { ...status, nodeGroup: { name: 'web' }, bookkeeping: {} } },
    );
    assert.equal(nodeGroupConditions(sampleState({ pool: lost, ...group(edited) })).UpToDate.reason, 'Drifted');
  });
});
