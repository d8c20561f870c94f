/** The version of a user's launch template. */

import type { VersionChange } from '../../ports/eks.ts';
import { desiredFields, entriesOf } from '../../providers/eks/applied.ts';
import { versionTargetOf } from '../../providers/eks/upgrades/versionChanges.ts';
import { known } from '../answers.ts';
import { APPLIED, NEXT, samplePool, sampleTemplate } from '../fixtures.ts';
import { unasked } from '../prerequisites.ts';
import { AUTOMATIC, failed, fits, inWindow, SATURDAYS, TEMPLATE_SEEN, templated } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { reserving } from './steps.ts';

const RELEASE = 'release 1.36-2026.02.11';
const TO_3: VersionChange = {
  kubernetesVersion: '1.36',
  releaseVersion: '1.36-2026.02.11',
  launchTemplate: { name: 'windows', version: '3' },
  force: false,
};
const UPDATE = (version: number, release = RELEASE) =>
  `update node group web: ${release} with version ${version} of launch template windows`;
/** A day on which the release of the group starts no node any more. */
const PRIVATE = Date.parse('2026-07-01T00:00:00Z');
const FAILED = failed(versionTargetOf(samplePool(), TO_3));
const EDITED = entriesOf(desiredFields(templated(3, fits('3')).pool));

export const templateCases: readonly PlanCase[] = [
  {
    name: 'another number in the spec is sent at once, with the release that the group has',
    observed: templated(3, fits('3')),
    want: [reserving('template version'), UPDATE(3)],
  },
  {
    name: 'a number is sent without the release of the group where AWS has made that private',
    observed: templated(3, fits('3'), {}, {}, { now: PRIVATE, newestRelease: known(NEXT) }),
    want: [reserving('template version'), UPDATE(3, 'newest release of 1.36')],
  },
  {
    name: 'a number is sent with the release of the group where that is the newest, however old it is',
    observed: templated(3, fits('3'), {}, {}, { now: PRIVATE, newestRelease: known('1.36-2026.02.11') }),
    want: [reserving('template version'), UPDATE(3)],
  },
  {
    name: 'a private release that the spec pins is sent with a number: EKS decides',
    observed: templated(3, fits('3'), { releaseVersion: '1.36-2026.02.11' }, {}, { now: PRIVATE }),
    want: [reserving('release', 'template version'), UPDATE(3)],
  },
  { name: 'the number that the group has needs nothing', observed: templated('2', fits('2')), want: [] },
  {
    name: 'a number that cannot be looked at is sent, and EKS judges it',
    observed: templated(3, unasked()),
    want: [reserving('template version'), UPDATE(3)],
  },
  {
    name: 'what EKS would not take is not sent',
    observed: templated(3, known(sampleTemplate('3', { forbidden: [{ field: 'ImageId', value: 'ami-1' }] }))),
    want: [],
  },
  { name: 'a version that is not there is not sent', observed: templated(3, known(undefined)), want: [] },
  {
    name: 'an edit behind the back of the operator is put right',
    observed: templated(3, fits('3'), {}, { applied: EDITED }),
    want: [reserving(), UPDATE(3)],
  },
  {
    name: 'a number and a release are one update',
    observed: templated(3, fits('3'), { releaseVersion: NEXT }),
    want: [reserving('release', 'template version'), UPDATE(3, `release ${NEXT}`)],
  },
  {
    name: '$Latest is followed with policy Automatic',
    observed: templated('$Latest', fits('3'), AUTOMATIC),
    want: [reserving(), UPDATE(3)],
  },
  {
    name: '$Default is followed back, too',
    observed: templated('$Default', fits('1'), AUTOMATIC),
    want: [reserving(), UPDATE(1)],
  },
  { name: '$Latest is only told of with policy Manual', observed: templated('$Latest', fits('3')), want: [] },
  {
    name: '$Latest is followed where the release is pinned',
    observed: templated(
      '$Latest',
      fits('3'),
      { ...AUTOMATIC, releaseVersion: '1.36-2026.02.11' },
      { applied: [...APPLIED] },
    ),
    want: [reserving('release'), UPDATE(3)],
  },
  {
    name: '$Latest and the newest release are one update',
    observed: templated('$Latest', fits('3'), AUTOMATIC, {}, { newestRelease: known(NEXT) }),
    want: [reserving(), UPDATE(3, `release ${NEXT}`)],
  },
  {
    name: '$Latest that EKS would not take holds up no release',
    observed: templated('$Latest', known(undefined), AUTOMATIC, {}, { newestRelease: known(NEXT) }),
    want: [reserving(), `update node group web: release ${NEXT}`],
  },
  {
    name: '$Latest that cannot be looked at is what it was',
    observed: templated('$Latest', unasked(), AUTOMATIC, { launchTemplate: { ...TEMPLATE_SEEN, wantedVersion: '3' } }),
    want: [reserving(), UPDATE(3)],
  },
  {
    name: '$Latest that was never looked at is nothing',
    observed: templated('$Latest', unasked(), AUTOMATIC),
    want: [],
  },
  {
    name: 'a version that failed is not sent again, even while it cannot be looked at',
    observed: templated('$Latest', unasked(), AUTOMATIC, {
      launchTemplate: { ...TEMPLATE_SEEN, wantedVersion: '3' },
      failedTarget: FAILED,
    }),
    want: [],
  },
  {
    name: 'the next version after one that failed is sent',
    observed: templated('$Latest', fits('4'), AUTOMATIC, { failedTarget: FAILED }),
    want: [reserving(), UPDATE(4)],
  },
  {
    name: 'the windows of automatic updates hold for $Latest, not for a number',
    observed: templated('$Latest', fits('3'), inWindow(SATURDAYS)),
    want: [],
  },
];
