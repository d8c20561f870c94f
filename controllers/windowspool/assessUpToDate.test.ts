import assert from 'node:assert/strict';
import { assess } from './assess.ts';
import { configTargetOf } from './groupChanges.ts';
import type { Situation } from './situation.ts';
import { knownStatus, NOW, sampleGroup, samplePool, sampleSituation, sampleTrouble } from './testing/fixtures.ts';
import { LEAVING, otherAuthority } from './testing/planCases.ts';
import { group } from './testing/truthTable.ts';

const status = knownStatus();
const reporting = samplePool({ driftPolicy: 'Report' }, { status });
const edited = { labels: { 'winpool.dev/pool': 'web', 'winpool.dev/windows-build': '10.0.17763' }, taints: [] };
const failedGrowth = {
  target: configTargetOf(samplePool({ scaling: { max: 9 } }), { scaling: { max: 9 } }),
  reason: 'UpdateFailed',
  message: 'Update u-1 failed',
  time: '2026-03-01T11:00:00Z',
};
const EDITS =
  'label winpool.dev/windows-build is 10.0.17763 and the spec says 10.0.20348; taint os:NoSchedule is missing and the spec says windows.';
const NONE = 'Unknown Pending: There is no node group web of the pool to compare with the spec.';

describe('UpToDate', () => {
  const table: readonly (readonly [string, Situation, string])[] = [
    ['is True when nothing differs', sampleSituation(), 'True AsSpecified: Node group web is as the spec says.'],
    [
      'is True for what others added and for the size that an autoscaler chose',
      sampleSituation(
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
      sampleSituation(group({ taints: [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }] })),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'names each edit with both values, where they are only reported',
      sampleSituation({ pool: reporting, ...group(edited) }),
      `False Drifted: Node group web: ${EDITS} Put the group or the spec right, or set driftPolicy: Correct.`,
    ],
    [
      'names at most ten',
      sampleSituation({
        pool: samplePool({
          driftPolicy: 'Report',
          labels: Object.fromEntries([...'abcdefghijkl'].map((key) => [key, '1'])),
        }),
        ...group({}),
      }),
      `False Drifted: Node group web: ${[...'abcdefghij'].map((key) => `label ${key} is missing and the spec says 1`).join('; ')}; and 2 more. Put the group or the spec right, or set driftPolicy: Correct.`,
    ],
    [
      'is False until edits are put right',
      sampleSituation(group(edited)),
      `False Outdated: Node group web: ${EDITS} It is about to be changed.`,
    ],
    [
      'is False until a change of the spec is done, what was dropped included',
      sampleSituation({
        pool: samplePool(
          { registrationTaint: false, driftPolicy: 'Report', taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
          { status },
        ),
        ...group({}),
      }),
      'False Outdated: Node group web: taint gpu:NoSchedule is missing and the spec says an empty value; taint os:NoSchedule is windows and the spec does not have it. It is about to be changed.',
    ],
    [
      'is False until a paused pool is resumed',
      sampleSituation({ pool: samplePool({ paused: true, scaling: { max: 9 } }, { status }), ...group({}) }),
      'False Outdated: Node group web: scaling is 3 to 5 and the spec says 3 to 9. It is changed when the pool is resumed.',
    ],
    [
      'is False until the desired size is sent',
      sampleSituation({ pool: samplePool({ scaling: { desired: 4 } }, { status }), ...group({}) }),
      'False Outdated: Node group web: the desired size is to be sent. It is about to be changed.',
    ],
    [
      'names the pinned release that the group does not have',
      sampleSituation({
        pool: samplePool({ nodeGroup: { releaseVersion: '1.36-2026.03.17' } }, { status }),
        ...group({}),
      }),
      'False Outdated: Node group web: release is 1.36-2026.02.11 and the spec says 1.36-2026.03.17. It is about to be changed.',
    ],
    [
      'says that a pinned version waits for the control plane',
      sampleSituation({ pool: samplePool({ nodeGroup: { kubernetesVersion: '1.37' } }, { status }), ...group({}) }),
      'False UnsupportedVersion: Node group web: version is 1.36 and the spec says 1.37. The pinned version waits for the control plane: see PrerequisitesMet.',
    ],
    [
      'says what failed',
      sampleSituation({
        pool: samplePool({ scaling: { max: 9 } }, { status: knownStatus({ failedTarget: failedGrowth }) }),
        ...group({}),
      }),
      'False UpdateFailed: Node group web: scaling is 3 to 5 and the spec says 3 to 9. Update u-1 failed. It is not tried again until the spec or the annotation winpool.dev/retry changes.',
    ],
    [
      'is False until an automatic update begins',
      sampleSituation({
        pool: samplePool({ nodeGroup: { update: { policy: 'Automatic' } } }, { status }),
        ...group({}),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      'False Outdated: Node group web has AMI release 1.36-2026.02.11, and 1.36-2026.02.28 is the newest. It is about to be changed.',
    ],
    [
      'is True with the newest release',
      sampleSituation({ newestRelease: { ok: true, value: '1.36-2026.02.11' } }),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'tells of a newer release, with the field to set',
      sampleSituation({ newestRelease: { ok: true, value: '1.36-2026.02.28' } }),
      'False UpdateAvailable: Node group web has AMI release 1.36-2026.02.11, and 1.36-2026.02.28 is the newest. Set spec.nodeGroup.releaseVersion: 1.36-2026.02.28, or update.policy: Automatic.',
    ],
    [
      'warns from three months on that nodes will not start',
      sampleSituation({
        ...group({ releaseVersion: '1.36-2025.12.01' }),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      'False UpdateAvailable: Node group web has AMI release 1.36-2025.12.01, and 1.36-2026.02.28 is the newest. AWS makes this AMI private about 2026-04-01: no node starts from it then. Set spec.nodeGroup.releaseVersion: 1.36-2026.02.28, or update.policy: Automatic.',
    ],
    [
      'says when nodes no longer start',
      sampleSituation({
        ...group({ releaseVersion: '1.36-2025.11.01' }),
        newestRelease: { ok: true, value: '1.36-2026.02.28' },
      }),
      'False UpdateAvailable: Node group web has AMI release 1.36-2025.11.01, and 1.36-2026.02.28 is the newest. AWS made this AMI private about 2026-03-01: no node starts from it any more. Set spec.nodeGroup.releaseVersion: 1.36-2026.02.28, or update.policy: Automatic.',
    ],
    [
      'warns where the newest release is not known',
      sampleSituation(group({ releaseVersion: '1.36-2025.12.01' })),
      'True AsSpecified: Node group web is as the spec says. AWS makes this AMI private about 2026-04-01: no node starts from it then.',
    ],
    [
      'does not warn of the newest release, however old it is',
      sampleSituation({
        ...group({ releaseVersion: '1.36-2025.11.01' }),
        newestRelease: { ok: true, value: '1.36-2025.11.01' },
      }),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'does not warn a day before',
      sampleSituation(group({ releaseVersion: '1.36-2025.12.02' })),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'says why the newest release is not known',
      sampleSituation({
        newestRelease: {
          ok: false,
          trouble: sampleTrouble('denied', { operation: 'GetParameter', message: 'not authorized: ssm:GetParameter' }),
        },
      }),
      'True AsSpecified: Node group web is as the spec says. The newest AMI release is not known: GetParameter failed: not authorized: ssm:GetParameter.',
    ],
    [
      'is False for what EKS cannot change',
      sampleSituation(group({ diskSizeGiB: 100 })),
      'False ImmutableDifference: Node group web differs in what EKS cannot change: disk size is 100 and the spec says 50.',
    ],
    [
      'is Unknown while EKS works on the group',
      sampleSituation(group({ status: 'UPDATING', labels: {} })),
      'Unknown Pending: Node group web is UPDATING; it is compared with the spec when EKS is done.',
    ],
    ['is Unknown without a group', sampleSituation({ group: { kind: 'absent' } }), NONE],
    ['is Unknown for the group of another', sampleSituation(group({ tags: {} })), NONE],
    ['is Unknown in another cluster', sampleSituation({ cluster: otherAuthority }), NONE],
    [
      'is what was seen last while AWS does not answer',
      sampleSituation({
        group: { kind: 'unreachable', trouble: sampleTrouble('throttled'), since: NOW, last: sampleGroup() },
      }),
      'True AsSpecified: Node group web is as the spec says.',
    ],
    [
      'is Unknown for a pool that goes',
      sampleSituation({ pool: samplePool({}, { metadata: LEAVING, status }) }),
      'Unknown Pending: The pool is being deleted.',
    ],
  ];
  for (const [name, situation, want] of table) {
    it(name, () => {
      const { status: state, reason, message } = assess(situation).UpToDate;
      assert.equal(`${state} ${reason}: ${message}`, want);
    });
  }

  it('turns neither Ready nor Stalled when an edit is only reported', () => {
    const { Ready, Stalled, Reconciling } = assess(sampleSituation({ pool: reporting, ...group(edited) }));
    assert.deepEqual([Ready.status, Stalled, Reconciling], ['True', undefined, undefined]);
  });

  it('takes every difference for an edit when the memory was lost', () => {
    const lost = samplePool({ driftPolicy: 'Report' }, { status: { ...status, nodeGroup: { name: 'web' } } });
    assert.equal(assess(sampleSituation({ pool: lost, ...group(edited) })).UpToDate.reason, 'Drifted');
  });
});
