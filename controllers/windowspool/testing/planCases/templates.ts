/** The version of the user's launch template. */

import type { VersionChange } from '../../ports/eks.ts';
import { desiredFields, entriesOf } from '../../providers/nodeGroup/changes/appliedFields.ts';
import { versionTargetOf } from '../../providers/nodeGroup/versions/versionChanges.ts';
import { known } from '../answers.ts';
import { APPLIED, NEXT, RELEASE, samplePool, sampleTemplate } from '../fixtures.ts';
import { unasked } from '../prerequisites.ts';
import { AUTOMATIC, failed, fits, inWindow, SATURDAYS, TEMPLATE_SEEN, templated } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { reserving } from './steps.ts';

const TO_3: VersionChange = {
  kubernetesVersion: '1.36',
  releaseVersion: '1.36-2026.02.11',
  launchTemplate: { name: 'windows', version: '3' },
  force: false,
};
const UPDATE = (version: number, release = RELEASE) => `updateNodeGroupVersion web ${release} windows@${version}`;
/** A day on which new nodes cannot start from the release of the group. */
const PRIVATE = Date.parse('2026-07-01T00:00:00Z');
const FAILED = failed(versionTargetOf(samplePool(), TO_3));
const EDITED = entriesOf(desiredFields(templated(3, fits('3')).pool));

export const templateCases: readonly PlanCase[] = [
  {
    name: 'another version number in the spec is sent at once, with the release of the group',
    observed: templated(3, fits('3')),
    want: [reserving('template version'), UPDATE(3)],
  },
  {
    name: 'a version number is sent without the release of the group if AWS has made that private',
    observed: templated(3, fits('3'), {}, {}, { now: PRIVATE, newestRelease: known(NEXT) }),
    want: [reserving('template version'), UPDATE(3, 'newest for 1.36')],
  },
  {
    name: 'a version number is sent with the release of the group if that is the newest, however old it is',
    observed: templated(3, fits('3'), {}, {}, { now: PRIVATE, newestRelease: known('1.36-2026.02.11') }),
    want: [reserving('template version'), UPDATE(3)],
  },
  {
    name: 'a private release that the spec pins is sent with a version number, and EKS decides',
    observed: templated(3, fits('3'), { releaseVersion: '1.36-2026.02.11' }, {}, { now: PRIVATE }),
    want: [reserving('release', 'template version'), UPDATE(3)],
  },
  {
    name: 'the version number that the group has needs nothing',
    observed: templated('2', fits('2')),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a version number that cannot be read is sent, and EKS decides',
    observed: templated(3, unasked()),
    want: [reserving('template version'), UPDATE(3)],
  },
  {
    name: 'a version that EKS does not accept is not sent',
    observed: templated(3, known(sampleTemplate('3', { forbidden: [{ field: 'ImageId', value: 'ami-1' }] }))),
    want: [],
    waits: { because: 'PrerequisitesMet LaunchTemplateInvalid', until: '20s' },
  },
  {
    name: 'a version that does not exist is not sent',
    observed: templated(3, known(undefined)),
    want: [],
    waits: { because: 'PrerequisitesMet LaunchTemplateNotFound', until: '20s' },
  },
  {
    name: 'an edited launch template version is corrected',
    observed: templated(3, fits('3'), {}, { applied: EDITED }),
    want: [reserving(), UPDATE(3)],
  },
  {
    name: 'a version number and a release are one update',
    observed: templated(3, fits('3'), { releaseVersion: NEXT }),
    want: [reserving('release', 'template version'), UPDATE(3, NEXT)],
  },
  {
    name: '$Latest is followed with policy Automatic',
    observed: templated('$Latest', fits('3'), AUTOMATIC),
    want: [reserving(), UPDATE(3)],
  },
  {
    name: '$Default is also followed to an older version',
    observed: templated('$Default', fits('1'), AUTOMATIC),
    want: [reserving(), UPDATE(1)],
  },
  {
    name: '$Latest is only reported with policy Manual',
    observed: templated('$Latest', fits('3')),
    want: [],
    waits: { because: 'UpToDate UpdateAvailable', until: '10m' },
  },
  {
    name: '$Latest is followed if the release is pinned',
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
    want: [reserving(), UPDATE(3, NEXT)],
  },
  {
    name: 'a $Latest that EKS does not accept does not block a release',
    observed: templated('$Latest', known(undefined), AUTOMATIC, {}, { newestRelease: known(NEXT) }),
    want: [reserving(), `updateNodeGroupVersion web ${NEXT}`],
  },
  {
    name: 'a $Latest that cannot be read is the last known version',
    observed: templated('$Latest', unasked(), AUTOMATIC, { launchTemplate: { ...TEMPLATE_SEEN, desiredVersion: '3' } }),
    want: [reserving(), UPDATE(3)],
  },
  {
    name: 'a $Latest that was never read causes nothing',
    observed: templated('$Latest', unasked(), AUTOMATIC),
    want: [],
    waits: { because: 'PrerequisitesMet AccessDenied', until: '20s' },
  },
  {
    name: 'a version that failed is not sent again, also while it cannot be read',
    observed: templated('$Latest', unasked(), AUTOMATIC, {
      launchTemplate: { ...TEMPLATE_SEEN, desiredVersion: '3' },
      failedChanges: [FAILED],
    }),
    want: [],
    waits: { because: 'UpToDate UpdateFailed', until: '20s' },
  },
  {
    name: 'the next version after a failed one is sent',
    observed: templated('$Latest', fits('4'), AUTOMATIC, { failedChanges: [FAILED] }),
    want: [reserving(), UPDATE(4)],
  },
  {
    name: 'maintenance windows apply to $Latest, and not to a version number',
    observed: templated('$Latest', fits('3'), inWindow(SATURDAYS)),
    want: [],
    waits: { because: 'UpToDate WaitingForWindow', until: '10m' },
  },
];
