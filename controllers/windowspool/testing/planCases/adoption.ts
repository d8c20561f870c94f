/** Groups that the operator did not create: nodeGroup.adoption. */
import type { NodeGroup } from '../../ports/eks.ts';
import { knownStatus, sampleGroup, samplePool, sampleState, settings } from '../fixtures.ts';
import { otherAuthority, seen, unreachable } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { REMEMBER } from './steps.ts';

const adopting = samplePool({ nodeGroup: { adoption: 'IfUnowned' } });
const ADOPT = 'adoptNodeGroup web';

const ADOPTABLE = { 'winpool.dev/adoptable-by': 'web' };

/** A group that another client created: with other labels and tags, and another size. */
const LEGACY = {
  labels: { team: 'legacy' },
  tags: { terraform: 'true', ...ADOPTABLE },
  scaling: { minSize: 1, maxSize: 9, desiredSize: 7 },
} as const;
const legacy = (change: Partial<NodeGroup> = {}) => seen({ ...LEGACY, ...change }, adopting);
/** What the legacy group lacks, as an update. */
const UPDATE = 'updateConfig web +winpool.dev/pool +winpool.dev/windows-build minSize=3 maxSize=5 desiredSize=5 ends=2';

const adopted = { 'winpool.dev/pool': 'web', ...LEGACY.tags };
const reporting = samplePool({ nodeGroup: { driftPolicy: 'Report' } }, { status: knownStatus() });

export const adoptionCases: readonly PlanCase[] = [
  {
    name: 'an unowned group gets only the tag, and its differences are shown',
    observed: sampleState({ pool: adopting, group: legacy() }),
    want: [REMEMBER, ADOPT],
    later: [UPDATE],
  },
  {
    name: 'a group that matches the spec needs only the tag',
    observed: sampleState({ pool: adopting, group: legacy(sampleGroup(adopting, { tags: ADOPTABLE })) }),
    want: [REMEMBER, ADOPT],
  },
  {
    name: 'the desired size of the spec counts as sent, and the group keeps its size',
    observed: sampleState({
      pool: samplePool({ nodeGroup: { adoption: 'IfUnowned', scaling: { desiredSize: 4 } } }),
      group: legacy(sampleGroup(adopting, { tags: ADOPTABLE, scaling: { minSize: 3, maxSize: 5, desiredSize: 3 } })),
    }),
    want: [REMEMBER.replace('open', '4'), ADOPT],
  },
  {
    name: 'an existing group is also adopted by a recreated pool, and again when it lost its tag',
    observed: sampleState({
      pool: samplePool({ nodeGroup: { adoption: 'IfUnowned' } }, { status: knownStatus() }),
      group: legacy(sampleGroup(adopting, { tags: ADOPTABLE })),
    }),
    want: [ADOPT],
  },
  {
    name: 'a group is not adopted if adoption is not enabled',
    observed: sampleState({
      pool: adopting,
      group: legacy(),
      settings: { ...settings, enableNodeGroupAdoption: false },
    }),
    want: [],
    waits: { because: 'NodeGroupReady AdoptionRejected', until: '10m' },
  },
  {
    name: 'a DEGRADED group is adopted',
    observed: sampleState({
      pool: adopting,
      group: legacy({ ...sampleGroup(adopting), status: 'DEGRADED', tags: ADOPTABLE }),
    }),
    want: [REMEMBER, ADOPT],
  },
  ...(
    [
      ['CREATING', { because: 'NodeGroupReady Adopting', until: '20s' }],
      ['UPDATING', { because: 'NodeGroupReady Adopting', until: '20s' }],
      ['DELETING', { because: 'NodeGroupReady Adopting', until: '20s' }],
      ['CREATE_FAILED', { because: 'NodeGroupReady AdoptionRejected', until: '10m' }],
      ['DELETE_FAILED', { because: 'NodeGroupReady AdoptionRejected', until: '10m' }],
    ] as const
  ).map(([status, waits]) => ({
    name: `a group that is ${status} is not adopted`,
    observed: sampleState({ pool: adopting, group: legacy({ status }) }),
    want: [],
    waits,
  })),
  ...(
    [
      ['another pool', { tags: { ...ADOPTABLE, 'winpool.dev/pool': 'api' } }, 'NotOwned'],
      ['no pool in particular', { tags: { terraform: 'true' } }, 'AdoptionRejected'],
      [
        'which AWS administrators permit another pool',
        { tags: { 'winpool.dev/adoptable-by': 'api' } },
        'AdoptionRejected',
      ],
      ['another Windows version', { amiType: 'WINDOWS_CORE_2019_x86_64' }, 'AdoptionRejected'],
      ['Linux', { amiType: 'AL2023_x86_64_STANDARD' }, 'AdoptionRejected'],
      ['an unknown AMI type', { amiType: 'CUSTOM' }, 'AdoptionRejected'],
    ] as const
  ).map(
    ([what, change, reason]): PlanCase => ({
      name: `a group of ${what} is not adopted`,
      observed: sampleState({ pool: adopting, group: legacy(change) }),
      want: [],
      waits: { because: `NodeGroupReady ${reason}`, until: '10m' },
    }),
  ),
  {
    name: 'a group of the other edition is adopted, and the difference is reported',
    observed: sampleState({
      pool: adopting,
      group: legacy({ ...sampleGroup(adopting), tags: ADOPTABLE, amiType: 'WINDOWS_FULL_2022_x86_64' }),
    }),
    want: [REMEMBER, ADOPT],
  },
  {
    name: 'nothing is adopted in a cluster with another certificate authority',
    observed: sampleState({ pool: adopting, group: legacy(), cluster: otherAuthority }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'nothing is adopted while the cluster is not verified',
    observed: sampleState({
      pool: adopting,
      group: legacy(),
      cluster: unreachable('throttled'),
    }),
    want: [],
    waits: { because: 'PrerequisitesMet AWSUnavailable', until: 'backoff' },
  },
  {
    name: 'an adopted group is corrected, and labels and tags of other clients stay',
    observed: sampleState({
      pool: samplePool({ nodeGroup: { adoption: 'IfUnowned' } }, { status: knownStatus() }),
      group: legacy({ tags: adopted }),
    }),
    want: [UPDATE],
  },
  {
    name: 'an adopted group is not corrected with driftPolicy Report',
    observed: sampleState({ pool: reporting, group: legacy({ tags: adopted }) }),
    want: [],
    waits: { because: 'UpToDate Drifted', until: '10m' },
    later: [UPDATE],
  },
];
