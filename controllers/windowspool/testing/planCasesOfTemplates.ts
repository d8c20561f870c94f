/** The rules about the version of a user's launch template as a table. */
import type { LaunchTemplateSpec, NodeGroupSpec } from '../api.gen.ts';
import { entriesOf, wantedFields } from '../nodeGroup/applied.ts';
import type { Answer, VersionChange } from '../ports.ts';
import type { LaunchTemplate } from '../prerequisites/ports.ts';
import type { Situation } from '../situation.ts';
import { versionTargetOf } from '../upgrades/versionChanges.ts';
import {
  APPLIED,
  CLUSTER_ARN,
  knownStatus,
  sampleGroup,
  samplePool,
  sampleSituation,
  sampleTemplate,
} from './fixtures.ts';
import type { PlanCase } from './planCases.ts';
import { known, sampleFacts, unasked } from './prerequisites.ts';

type Version = LaunchTemplateSpec['version'];
type State = NonNullable<Parameters<typeof knownStatus>[0]>;
type Rest = Omit<Partial<NodeGroupSpec>, 'instanceTypes' | 'diskSizeGiB'>;

export const AUTOMATIC = { update: { policy: 'Automatic', force: false } } as const;
const SEEN = { id: 'lt-0a1b2c3d', name: 'windows', version: '2' };
export const fits = (version: string) => known(sampleTemplate(version, { instanceType: 'm5.large' }));

/** A pool that wants this version of its template, what EC2 says of that, and a group that has version 2. */
export function templated(
  version: Version,
  launchTemplate: Answer<LaunchTemplate | undefined>,
  rest: Rest = {},
  state: State = {},
  change: Partial<Situation> = {},
): Situation {
  const nodeGroup = { launchTemplate: { name: 'windows', version }, ...rest };
  const pool = samplePool(
    { nodeGroup: { instanceTypes: undefined, diskSizeGiB: undefined, ...nodeGroup } },
    { status: knownStatus(state) },
  );
  const seen = sampleGroup(pool, { instanceTypes: [], launchTemplate: SEEN, releaseVersion: '1.36-2026.02.11' });
  const group = { kind: 'seen', group: { ...seen, tags: sampleGroup().tags } } as const;
  return sampleSituation({ pool, group, prerequisites: sampleFacts({ launchTemplate }), ...change });
}

const RELEASE = 'release 1.36-2026.02.11';
const TO_3: VersionChange = {
  kubernetesVersion: '1.36',
  releaseVersion: '1.36-2026.02.11',
  launchTemplate: { name: 'windows', version: '3' },
  force: false,
};
const UPDATE = (version: number, release = RELEASE) =>
  `update node group web: ${release} with version ${version} of launch template windows`;
const claiming = (...fields: string[]) => `claim web of ${CLUSTER_ARN}: sending ${fields.join(', ')}`;
const failed = {
  target: versionTargetOf(samplePool(), TO_3),
  reason: 'UpdateFailed',
  message: 'no',
  time: '2026-02-01T00:00:00Z',
};
const EDITED = entriesOf(wantedFields(templated(3, fits('3')).pool));

export const templateCases: readonly PlanCase[] = [
  {
    name: 'another number in the spec is sent at once, with the release that the group has',
    situation: templated(3, fits('3')),
    want: [claiming('template version'), UPDATE(3)],
  },
  { name: 'the number that the group has needs nothing', situation: templated('2', fits('2')), want: [] },
  {
    name: 'a number that cannot be looked at is sent, and EKS judges it',
    situation: templated(3, unasked()),
    want: [claiming('template version'), UPDATE(3)],
  },
  {
    name: 'what EKS would not take is not sent',
    situation: templated(3, known(sampleTemplate('3', { forbidden: [{ field: 'ImageId', value: 'ami-1' }] }))),
    want: [],
  },
  { name: 'a version that is not there is not sent', situation: templated(3, known(undefined)), want: [] },
  {
    name: 'an edit behind the back of the operator is put right',
    situation: templated(3, fits('3'), {}, { applied: EDITED }),
    want: [claiming(), UPDATE(3)],
  },
  {
    name: 'a number and a release are one update',
    situation: templated(3, fits('3'), { releaseVersion: '1.36-2026.03.17' }),
    want: [claiming('release', 'template version'), UPDATE(3, 'release 1.36-2026.03.17')],
  },
  {
    name: '$Latest is followed with policy Automatic',
    situation: templated('$Latest', fits('3'), AUTOMATIC),
    want: [claiming(), UPDATE(3)],
  },
  {
    name: '$Default is followed back, too',
    situation: templated('$Default', fits('1'), AUTOMATIC),
    want: [claiming(), UPDATE(1)],
  },
  { name: '$Latest is only told of with policy Manual', situation: templated('$Latest', fits('3')), want: [] },
  {
    name: '$Latest is followed where the release is pinned',
    situation: templated(
      '$Latest',
      fits('3'),
      { ...AUTOMATIC, releaseVersion: '1.36-2026.02.11' },
      { applied: [...APPLIED] },
    ),
    want: [claiming('release'), UPDATE(3)],
  },
  {
    name: '$Latest and the newest release are one update',
    situation: templated('$Latest', fits('3'), AUTOMATIC, {}, { newestRelease: known('1.36-2026.03.17') }),
    want: [claiming(), UPDATE(3, 'release 1.36-2026.03.17')],
  },
  {
    name: '$Latest that EKS would not take holds up no release',
    situation: templated('$Latest', known(undefined), AUTOMATIC, {}, { newestRelease: known('1.36-2026.03.17') }),
    want: [claiming(), 'update node group web: release 1.36-2026.03.17'],
  },
  {
    name: '$Latest that cannot be looked at is what it was',
    situation: templated('$Latest', unasked(), AUTOMATIC, { launchTemplate: { ...SEEN, wantedVersion: '3' } }),
    want: [claiming(), UPDATE(3)],
  },
  {
    name: '$Latest that was never looked at is nothing',
    situation: templated('$Latest', unasked(), AUTOMATIC),
    want: [],
  },
  {
    name: 'a version that failed is not sent again, even while it cannot be looked at',
    situation: templated('$Latest', unasked(), AUTOMATIC, {
      launchTemplate: { ...SEEN, wantedVersion: '3' },
      failedTarget: failed,
    }),
    want: [],
  },
  {
    name: 'the next version after one that failed is sent',
    situation: templated('$Latest', fits('4'), AUTOMATIC, { failedTarget: failed }),
    want: [claiming(), UPDATE(4)],
  },
  {
    name: 'the windows of automatic updates hold for $Latest, not for a number',
    situation: templated('$Latest', fits('3'), {
      update: {
        policy: 'Automatic',
        force: false,
        maintenanceWindows: [{ schedule: '0 2 * * SAT', duration: '4h', timeZone: 'Etc/UTC' }],
      },
    }),
    want: [],
  },
];
