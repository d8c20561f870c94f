/** Groups that somebody else made: nodeGroup.adoption. */
import type { NodeGroup } from '../../ports/eks.ts';
import { knownStatus, sampleGroup, samplePool, sampleState } from '../fixtures.ts';
import { otherAuthority, seen, unreachable } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { REMEMBER } from './steps.ts';

const adopting = samplePool({ nodeGroup: { adoption: 'IfUnowned' } });
const ADOPT = 'adopt node group web: set the tag winpool.dev/pool=web';

/** A group as somebody else makes it: its own labels and tags, another size. */
const LEGACY = {
  labels: { team: 'legacy' },
  tags: { terraform: 'true' },
  scaling: { min: 1, max: 9, desired: 7 },
} as const;
const legacy = (change: Partial<NodeGroup> = {}) => seen({ ...LEGACY, ...change }, adopting);
/** What the legacy group lacks, as an update. */
const UPDATE =
  'update node group web: labels set winpool.dev/pool, winpool.dev/windows-build; scaling min 3, max 5, desired 5 (EKS ends 2 nodes and ignores PodDisruptionBudgets)';

const adopted = { 'winpool.dev/pool': 'web', ...LEGACY.tags };
const reporting = samplePool({ driftPolicy: 'Report' }, { status: knownStatus() });

export const adoptionCases: readonly PlanCase[] = [
  {
    name: 'a group of nobody gets the tag and nothing else; what it lacks is shown',
    observed: sampleState({ pool: adopting, group: legacy() }),
    want: [REMEMBER, ADOPT],
    later: [UPDATE],
  },
  {
    name: 'a group that fits needs nothing but the tag',
    observed: sampleState({ pool: adopting, group: legacy(sampleGroup(adopting, { tags: {} })) }),
    want: [REMEMBER, ADOPT],
  },
  {
    name: 'the desired size of the spec counts as sent: the group keeps its own',
    observed: sampleState({
      pool: samplePool({ nodeGroup: { adoption: 'IfUnowned' }, scaling: { desired: 4 } }),
      group: legacy(sampleGroup(adopting, { tags: {}, scaling: { min: 3, max: 5, desired: 3 } })),
    }),
    want: [REMEMBER.replace('open', '4'), ADOPT],
  },
  {
    name: 'a group that was there before is adopted where the pool was to be made anew, too',
    observed: sampleState({
      pool: samplePool({ nodeGroup: { adoption: 'IfUnowned' } }, { status: knownStatus() }),
      group: legacy(sampleGroup(adopting, { tags: {} })),
    }),
    want: [ADOPT],
  },
  {
    name: 'a DEGRADED group is adopted',
    observed: sampleState({
      pool: adopting,
      group: legacy({ ...sampleGroup(adopting), status: 'DEGRADED', tags: {} }),
    }),
    want: [REMEMBER, ADOPT],
  },
  ...(['CREATING', 'UPDATING', 'DELETING', 'CREATE_FAILED', 'DELETE_FAILED'] as const).map((status) => ({
    name: `a group that is ${status} is not adopted`,
    observed: sampleState({ pool: adopting, group: legacy({ status }) }),
    want: [],
  })),
  ...(
    [
      ['another pool', { tags: { 'winpool.dev/pool': 'api' } }],
      ['another Windows version', { amiType: 'WINDOWS_CORE_2019_x86_64' }],
      ['Linux', { amiType: 'AL2023_x86_64_STANDARD' }],
      ['an AMI that nobody knows', { amiType: 'CUSTOM' }],
    ] as const
  ).map(([what, change]) => ({
    name: `a group of ${what} is not adopted`,
    observed: sampleState({ pool: adopting, group: legacy(change) }),
    want: [],
  })),
  {
    name: 'a group of the other edition is adopted: that is for people to put right',
    observed: sampleState({
      pool: adopting,
      group: legacy({ ...sampleGroup(adopting), tags: {}, amiType: 'WINDOWS_FULL_2022_x86_64' }),
    }),
    want: [REMEMBER, ADOPT],
  },
  {
    name: 'nothing is adopted in a cluster with another certificate authority',
    observed: sampleState({ pool: adopting, group: legacy(), cluster: otherAuthority }),
    want: [],
  },
  {
    name: 'nothing is adopted while the cluster is not proven to be ours',
    observed: sampleState({
      pool: adopting,
      group: legacy(),
      cluster: unreachable('throttled'),
    }),
    want: [],
  },
  {
    name: 'an adopted group is brought to the spec; labels and tags of others stay',
    observed: sampleState({
      pool: samplePool({ nodeGroup: { adoption: 'IfUnowned' } }, { status: knownStatus() }),
      group: legacy({ tags: adopted }),
    }),
    want: [UPDATE],
  },
  {
    name: 'an adopted group is only looked at with driftPolicy Report',
    observed: sampleState({ pool: reporting, group: legacy({ tags: adopted }) }),
    want: [],
    later: [UPDATE],
  },
];
