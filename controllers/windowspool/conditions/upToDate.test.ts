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
const reporting = samplePool({ driftPolicy: 'Report' }, { status });
const edited = { labels: { 'winpool.dev/pool': 'web', 'winpool.dev/windows-build': '10.0.17763' }, taints: [] };
const failedGrowth = {
  target: configTargetOf(samplePool({ scaling: { max: 9 } }), { scaling: { max: 9 } }),
  reason: 'UpdateFailed',
  message: 'Update u-1 failed',
  time: '2026-03-01T11:00:00Z',
};
const SATURDAYS = { schedule: '0 2 * * SAT', duration: '4h', timeZone: 'Europe/Berlin' };
const ALWAYS = { schedule: '* * * * *', duration: '2m', timeZone: 'Etc/UTC' };
const NEVER = { schedule: '0 25 * * *', duration: '1h', timeZone: 'Etc/UTC' };
const newest = (value: string) => ({ newestRelease: { ok: true, value } }) as const;

/** A pool that follows the newest release in these windows, its spec and memory changed. */
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
const NEWER = 'Node group web has AMI release 1.36-2026.02.11, and 1.36-2026.02.28 is the newest.';
const FAULT =
  'spec.nodeGroup.update.maintenanceWindows[1].schedule is "0 25 * * *": Invalid value for hour: 25. Give one such as "0 2 * * SAT". Until then no automatic update begins in that window.';
const EDITS =
  'label winpool.dev/windows-build is 10.0.17763 and the spec says 10.0.20348; taint os:NoSchedule is missing and the spec says windows.';
const due = samplePool({ nodeGroup: { releaseVersion: '1.36-2026.03.17' } }, { status });
const dueUpdate = { pool: due, ...group({}) };
const automaticUpdate = {
  pool: samplePool({ nodeGroup: { update: { policy: 'Automatic', force: false } } }, { status }),
  newestRelease: { ok: true, value: '1.36-2026.03.17' },
} as const;
const DOUBT =
  'With release 1.36-2026.03.17 node ip-10-0-9-1 of pool api fails verification: WrongBuild: runs build 10.0.17763.';
const NONE = 'Unknown Pending: There is no node group web of the pool to compare with the spec.';

describe('UpToDate', () => {
  const table: readonly (readonly [string, ObservedState, string])[] = [
    ['is True when nothing differs', sampleState(), 'True AsSpecified: Node group web is as the spec says.'],
    [
      'is True for what others added and for the size that an autoscaler chose',
      sampleState(
        group({
          labels: { ...sampleGroup().labels, other: 'x' },
          taints: [...sampleGroup().taints, { key: 'other', effect: 'NoSchedule' }],
          tags: { ...sampleGroup().tags, backup: 'daily' },
          scaling: { min: 3, max: 5, desired: 5 },
        }),
      ),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'is True for either spelling of the registration taint',
      sampleState(group({ taints: [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }] })),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'names each edit with both values, where they are only reported',
      sampleState({ pool: reporting, ...group(edited) }),
      `False Drifted: Node group web: ${EDITS} Put the group or the spec right, or set driftPolicy: Correct.`,
    ],
    [
      'names at most ten',
      sampleState({
        pool: samplePool({
          driftPolicy: 'Report',
          labels: Object.fromEntries([...'abcdefghijkl'].map((key) => [key, '1'])),
        }),
        ...group({}),
      }),
      `False Drifted: Node group web: ${[...'abcdefghij'].map((key) => `label ${key} is missing and the spec says 1`).join('; ')}; and 2 more. Put the group or the spec right, or set driftPolicy: Correct.`,
    ],
    [
      'names the pools for which a rolling update waits',
      sampleState({ ...dueUpdate, fleet: { disrupted: ['api', 'batch'], failures: [] } }),
      'False WaitingForBudget: Node group web: release is 1.36-2026.02.11 and the spec says 1.36-2026.03.17. The rolling update waits: api and batch lose nodes now, and --max-pools-updating is 1.',
    ],
    [
      'says that an automatic update waits, too',
      sampleState({ ...automaticUpdate, fleet: { disrupted: ['api'], failures: [] } }),
      'False WaitingForBudget: Node group web: update.policy is Automatic and release 1.36-2026.03.17 is due. The rolling update waits: api loses nodes now, and --max-pools-updating is 1.',
    ],
    [
      'names the node for which an automatic update waits, before its turn and its window',
      sampleState({ ...automaticUpdate, fleet: { disrupted: ['batch'], failures: [RELEASE_FAILURE] } }),
      `False ReleaseNotVerified: Node group web has AMI release 1.36-2026.02.11, and 1.36-2026.03.17 is the newest. ${DOUBT} It is not rolled out by itself until that node is verified, or gone; the next release is. To have it nevertheless, set spec.nodeGroup.releaseVersion: 1.36-2026.03.17.`,
    ],
    [
      'warns of a pinned release that fails in another pool',
      sampleState({ ...dueUpdate, fleet: { disrupted: [], failures: [RELEASE_FAILURE] } }),
      `False Outdated: Node group web: release is 1.36-2026.02.11 and the spec says 1.36-2026.03.17. It is about to be changed. ${DOUBT}`,
    ],
    [
      'warns of a newer release that fails in another pool',
      sampleState({
        newestRelease: automaticUpdate.newestRelease,
        fleet: { disrupted: [], failures: [RELEASE_FAILURE] },
      }),
      `False UpdateAvailable: Node group web has AMI release 1.36-2026.02.11, and 1.36-2026.03.17 is the newest. ${DOUBT} Set spec.nodeGroup.releaseVersion: 1.36-2026.03.17, or update.policy: Automatic.`,
    ],
    [
      'is False until edits are put right',
      sampleState(group(edited)),
      `False Outdated: Node group web: ${EDITS} It is about to be changed.`,
    ],
    [
      'is False until a change of the spec is done, what was dropped included',
      sampleState({
        pool: samplePool(
          { registrationTaint: false, driftPolicy: 'Report', taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
          { status },
        ),
        ...group({}),
      }),
      'False Outdated: Node group web: taint gpu:NoSchedule is missing; taint os:NoSchedule is windows and the spec does not have it. It is about to be changed.',
    ],
    [
      'is False until a paused pool is resumed',
      sampleState({ pool: samplePool({ paused: true, scaling: { max: 9 } }, { status }), ...group({}) }),
      'False Outdated: Node group web: scaling is 3 to 5 and the spec says 3 to 9. It is changed when the pool is resumed.',
    ],
    [
      'is False until the desired size is sent',
      sampleState({ pool: samplePool({ scaling: { desired: 4 } }, { status }), ...group({}) }),
      'False Outdated: Node group web: the desired size is to be sent. It is about to be changed.',
    ],
    [
      'names the pinned release that the group does not have',
      sampleState({
        pool: samplePool({ nodeGroup: { releaseVersion: '1.36-2026.03.17' } }, { status }),
        ...group({}),
      }),
      'False Outdated: Node group web: release is 1.36-2026.02.11 and the spec says 1.36-2026.03.17. It is about to be changed.',
    ],
    [
      'says that a pinned version waits for the control plane',
      sampleState({ pool: samplePool({ nodeGroup: { kubernetesVersion: '1.37' } }, { status }), ...group({}) }),
      'False UnsupportedVersion: Node group web: version is 1.36 and the spec says 1.37. The pinned version waits for the control plane: see PrerequisitesMet.',
    ],
    [
      'says what failed',
      sampleState({
        pool: samplePool({ scaling: { max: 9 } }, { status: knownStatus({ failedTarget: failedGrowth }) }),
        ...group({}),
      }),
      'False UpdateFailed: Node group web: scaling is 3 to 5 and the spec says 3 to 9. Update u-1 failed. It is not tried again until the spec or the annotation winpool.dev/retry changes.',
    ],
    [
      'is False until an automatic update begins',
      sampleState({
        pool: samplePool({ nodeGroup: { update: { policy: 'Automatic' } } }, { status }),
        ...group({}),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      'False Outdated: Node group web has AMI release 1.36-2026.02.11, and 1.36-2026.02.28 is the newest. It is about to be changed.',
    ],
    [
      'says which release waits for which maintenance window',
      sampleState({ pool: automatic([SATURDAYS]), ...newest('1.36-2026.02.28') }),
      `False WaitingForWindow: ${NEWER} The update begins at 2026-03-07T01:00Z (2026-03-07 02:00 in Europe/Berlin), in a maintenance window. To have it now, set spec.nodeGroup.releaseVersion: 1.36-2026.02.28.`,
    ],
    [
      'says of a window that is open what it says without windows',
      sampleState({ pool: automatic([ALWAYS]), ...newest('1.36-2026.02.28') }),
      `False Outdated: ${NEWER} It is about to be changed.`,
    ],
    [
      'is False when a paused pool has an automatic update before it',
      sampleState({ pool: automatic([SATURDAYS], { paused: true }), ...newest('1.36-2026.02.28') }),
      `False Outdated: ${NEWER} It is changed when the pool is resumed.`,
    ],
    [
      'names a window that never opens, before there is anything to update',
      sampleState({ pool: automatic([SATURDAYS, NEVER]) }),
      `False InvalidMaintenanceWindow: ${FAULT}`,
    ],
    [
      'names a window that never opens, and what waits for it',
      sampleState({ pool: automatic([NEVER]), ...newest('1.36-2026.02.28') }),
      `False InvalidMaintenanceWindow: ${FAULT.replace('[1]', '[0]')} ${NEWER} To have it now, set spec.nodeGroup.releaseVersion: 1.36-2026.02.28.`,
    ],
    [
      'is silent about windows where nothing is automatic',
      sampleState({ pool: automatic([NEVER], { nodeGroup: { update: { policy: 'Manual' } } }) }),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'says that an automatic update failed, and what is tried next',
      sampleState({
        pool: automatic([SATURDAYS], {}, { failedTarget: { ...failedGrowth, target: AUTOMATIC_TARGET } }),
        ...newest('1.36-2026.02.28'),
      }),
      `False UpdateFailed: ${NEWER} Update u-1 failed. It is not tried again until the spec or the annotation winpool.dev/retry changes; the next release is.`,
    ],
    [
      'is True with the newest release',
      sampleState({ newestRelease: { ok: true, value: '1.36-2026.02.11' } }),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'tells of a newer release, with the field to set',
      sampleState({ newestRelease: { ok: true, value: '1.36-2026.02.28' } }),
      'False UpdateAvailable: Node group web has AMI release 1.36-2026.02.11, and 1.36-2026.02.28 is the newest. Set spec.nodeGroup.releaseVersion: 1.36-2026.02.28, or update.policy: Automatic.',
    ],
    [
      'warns from three months on that nodes will not start',
      sampleState({
        ...group({ releaseVersion: '1.36-2025.12.01' }),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      'False UpdateAvailable: Node group web has AMI release 1.36-2025.12.01, and 1.36-2026.02.28 is the newest. AWS makes this AMI private about 2026-04-01: no node starts from it then. Set spec.nodeGroup.releaseVersion: 1.36-2026.02.28, or update.policy: Automatic.',
    ],
    [
      'says when nodes no longer start',
      sampleState({
        ...group({ releaseVersion: '1.36-2025.11.01' }),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      'False UpdateAvailable: Node group web has AMI release 1.36-2025.11.01, and 1.36-2026.02.28 is the newest. AWS made this AMI private about 2026-03-01: no node starts from it any more. Set spec.nodeGroup.releaseVersion: 1.36-2026.02.28, or update.policy: Automatic.',
    ],
    [
      'warns where the newest release is not known',
      sampleState(group({ releaseVersion: '1.36-2025.12.01' })),
      'True AsSpecified: Node group web is as the spec says. AWS makes this AMI private about 2026-04-01: no node starts from it then.',
    ],
    [
      'does not warn of the newest release, however old it is',
      sampleState({
        ...group({ releaseVersion: '1.36-2025.11.01' }),
        newestRelease: { ok: true, value: '1.36-2025.11.01' },
      }),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'does not warn a day before',
      sampleState(group({ releaseVersion: '1.36-2025.12.02' })),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'says why the newest release is not known',
      sampleState({
        newestRelease: {
          ok: false,
          error: sampleError('denied', { operation: 'GetParameter', message: 'not authorized: ssm:GetParameter' }),
        },
      }),
      'True AsSpecified: Node group web is as the spec says. The newest AMI release is not known: GetParameter failed: not authorized: ssm:GetParameter.',
    ],
    [
      'tells of another version of the launch template',
      templated('$Latest', fits('3')),
      'False UpdateAvailable: Node group web: $Latest of launch template windows is version 3 now, and the node group has 2. Set spec.nodeGroup.launchTemplate.version: 3, or update.policy: Automatic.',
    ],
    [
      'tells of it beside a newer release',
      templated('$Latest', fits('3'), {}, {}, newest('1.36-2026.02.28')),
      'False UpdateAvailable: Node group web has AMI release 1.36-2026.02.11, and 1.36-2026.02.28 is the newest. Set spec.nodeGroup.releaseVersion: 1.36-2026.02.28, or update.policy: Automatic. $Latest of launch template windows is version 3 now, and the node group has 2. Set spec.nodeGroup.launchTemplate.version: 3, or update.policy: Automatic.',
    ],
    [
      'is False until the number in the spec is there',
      templated(3, fits('3')),
      'False Outdated: Node group web: template version is 2 and the spec says 3. It is about to be changed.',
    ],
    [
      'is False while EKS would not take that number',
      templated(3, known(undefined)),
      'False LaunchTemplateUnfit: Node group web: template version is 2 and the spec says 3. EKS would not take that version: see PrerequisitesMet.',
    ],
    [
      'is False until the group follows its launch template',
      templated('$Latest', fits('3'), AUTOMATIC),
      'False Outdated: Node group web has version 2 of launch template windows, and 3 is wanted. It is about to be changed.',
    ],
    [
      'says for which window both wait',
      templated(
        '$Latest',
        fits('3'),
        { update: { ...AUTOMATIC.update, maintenanceWindows: [SATURDAYS] } },
        {},
        newest('1.36-2026.02.28'),
      ),
      'False WaitingForWindow: Node group web has AMI release 1.36-2026.02.11, and 1.36-2026.02.28 is the newest; version 2 of launch template windows, and 3 is wanted. The update begins at 2026-03-07T01:00Z (2026-03-07 02:00 in Europe/Berlin), in a maintenance window. To have it now, set spec.nodeGroup.releaseVersion: 1.36-2026.02.28 and spec.nodeGroup.launchTemplate.version: 3.',
    ],
    [
      'says which template is due while others lose nodes',
      templated('$Latest', fits('3'), AUTOMATIC, {}, { fleet: { disrupted: ['api'], failures: [] } }),
      'False WaitingForBudget: Node group web: update.policy is Automatic and release 1.36-2026.02.11 with version 3 of launch template windows is due. The rolling update waits: api loses nodes now, and --max-pools-updating is 1.',
    ],
    [
      'is False while the cluster-autoscaler cannot be told what a new node is like',
      sampleState({
        errors: [
          {
            at: NOW,
            step: 'correctScalingTags',
            error: sampleError('refused', { operation: 'CreateOrUpdateTags' }),
          },
        ],
      }),
      "False Outdated: Node group web: the cluster-autoscaler's tags of its scaling group could not be set: CreateOrUpdateTags failed: the call was refused. It is tried again.",
    ],
    [
      'is False for what EKS cannot change',
      sampleState(group({ diskSizeGiB: 100 })),
      'False ImmutableDifference: Node group web differs in what EKS cannot change: disk size is 100 and the spec says 50.',
    ],
    [
      'names an edit beside what EKS cannot change',
      sampleState({ pool: reporting, ...group({ ...edited, diskSizeGiB: 100 }) }),
      'False ImmutableDifference: Node group web differs in what EKS cannot change: disk size is 100 and the spec says 50. Beside that, label winpool.dev/windows-build is 10.0.17763 and the spec says 10.0.20348; taint os:NoSchedule is missing and the spec says windows.',
    ],
    [
      'is Unknown while EKS works on the group',
      sampleState(group({ status: 'UPDATING', labels: {} })),
      'Unknown Pending: Node group web is UPDATING; it is compared with the spec when EKS is done.',
    ],
    ['is Unknown without a group', sampleState({ group: { kind: 'absent' } }), NONE],
    ['is Unknown for the group of another', sampleState(group({ tags: {} })), NONE],
    ['is Unknown in another cluster', sampleState({ cluster: otherAuthority }), NONE],
    [
      'is what was seen last while AWS does not answer',
      sampleState({
        group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: sampleGroup() },
      }),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'is Unknown for a pool that goes',
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

  it('turns neither Ready nor Stalled when an edit is only reported', () => {
    const { Ready, Stalled, Reconciling } = nodeGroupConditions(sampleState({ pool: reporting, ...group(edited) }));
    assert.deepEqual([Ready.status, Stalled, Reconciling], ['True', undefined, undefined]);
  });

  it('turns neither Ready nor Stalled nor Reconciling while an automatic update waits, or after it failed', () => {
    const failed = { failedTarget: { ...failedGrowth, target: AUTOMATIC_TARGET } };
    for (const memory of [{}, failed]) {
      const s = sampleState({ pool: automatic([SATURDAYS], {}, memory), ...newest('1.36-2026.02.28') });
      const { Ready, NodeGroupReady, UpToDate, Stalled, Reconciling } = nodeGroupConditions(s);
      const statuses = [Ready, NodeGroupReady, UpToDate, Stalled, Reconciling].map((finding) => finding?.status);
      assert.deepEqual(statuses, ['True', 'True', 'False', undefined, undefined]);
    }
  });

  it('takes every difference for an edit when the memory was lost', () => {
    const lost = samplePool({ driftPolicy: 'Report' }, { status: { ...status, nodeGroup: { name: 'web' } } });
    assert.equal(nodeGroupConditions(sampleState({ pool: lost, ...group(edited) })).UpToDate.reason, 'Drifted');
  });
});
