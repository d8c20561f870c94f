/** The rules about groups that somebody else made (nodeGroup.adoption) or edited (driftPolicy) as a table. */
import type { NodeGroup } from '../ports.ts';
import type { Situation } from '../situation.ts';
import {
  APPLIED,
  CLUSTER_ARN,
  knownStatus,
  sampleGroup,
  samplePool,
  sampleSituation,
  sampleTrouble,
} from './fixtures.ts';
import { otherAuthority, type PlanCase } from './planCases.ts';

const adopting = samplePool({ nodeGroup: { adoption: 'IfUnowned' } });
const REMEMBER = `remember web of ${CLUSTER_ARN}: 5 fields, desired open`;
const ADOPT = 'adopt node group web: set the tag winpool.dev/pool=web';
const sending = (...fields: string[]) => `remember web of ${CLUSTER_ARN}: sending ${fields.join(', ')}`;

/** A group as somebody else makes it: its own labels and tags, another size. */
const LEGACY = {
  labels: { team: 'legacy' },
  tags: { terraform: 'true' },
  scaling: { min: 1, max: 9, desired: 7 },
} as const;
const legacy = (change: Partial<NodeGroup> = {}): Situation['group'] => ({
  kind: 'seen',
  group: sampleGroup(adopting, { ...LEGACY, ...change }),
});
/** What the legacy group lacks, as an update. */
const UPDATE =
  'update node group web: labels set winpool.dev/pool, winpool.dev/windows-build; scaling min 3, max 5, desired 5 (EKS ends 2 nodes and ignores PodDisruptionBudgets)';

const adopted = { 'winpool.dev/pool': 'web', ...LEGACY.tags };
const reporting = samplePool({ driftPolicy: 'Report' }, { status: knownStatus() });
const seen = (change: Partial<NodeGroup>): Situation['group'] => ({
  kind: 'seen',
  group: sampleGroup(reporting, change),
});
const edited = { ...sampleGroup(reporting).labels, 'winpool.dev/windows-build': 'no' };
const smaller = { scaling: { min: 3, max: 4, desired: 3 } };

export const adoptionCases: readonly PlanCase[] = [
  {
    name: 'a group of nobody gets the tag and nothing else; what it lacks is shown',
    situation: sampleSituation({ pool: adopting, group: legacy() }),
    want: [REMEMBER, ADOPT],
    later: [UPDATE],
  },
  {
    name: 'a group that fits needs nothing but the tag',
    situation: sampleSituation({ pool: adopting, group: legacy(sampleGroup(adopting, { tags: {} })) }),
    want: [REMEMBER, ADOPT],
  },
  {
    name: 'the desired size of the spec counts as sent: the group keeps its own',
    situation: sampleSituation({
      pool: samplePool({ nodeGroup: { adoption: 'IfUnowned' }, scaling: { desired: 4 } }),
      group: legacy(sampleGroup(adopting, { tags: {}, scaling: { min: 3, max: 5, desired: 3 } })),
    }),
    want: [REMEMBER.replace('open', '4'), ADOPT],
  },
  {
    name: 'a group that was there before is adopted where the pool was to be made anew, too',
    situation: sampleSituation({
      pool: samplePool({ nodeGroup: { adoption: 'IfUnowned' } }, { status: knownStatus() }),
      group: legacy(sampleGroup(adopting, { tags: {} })),
    }),
    want: [ADOPT],
  },
  {
    name: 'a DEGRADED group is adopted',
    situation: sampleSituation({
      pool: adopting,
      group: legacy({ ...sampleGroup(adopting), status: 'DEGRADED', tags: {} }),
    }),
    want: [REMEMBER, ADOPT],
  },
  ...(['CREATING', 'UPDATING', 'DELETING', 'CREATE_FAILED', 'DELETE_FAILED'] as const).map((status) => ({
    name: `a group that is ${status} is not adopted`,
    situation: sampleSituation({ pool: adopting, group: legacy({ status }) }),
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
    situation: sampleSituation({ pool: adopting, group: legacy(change) }),
    want: [],
  })),
  {
    name: 'a group of the other edition is adopted: that is for people to put right',
    situation: sampleSituation({
      pool: adopting,
      group: legacy({ ...sampleGroup(adopting), tags: {}, amiType: 'WINDOWS_FULL_2022_x86_64' }),
    }),
    want: [REMEMBER, ADOPT],
  },
  {
    name: 'nothing is adopted in a cluster with another certificate authority',
    situation: sampleSituation({ pool: adopting, group: legacy(), cluster: otherAuthority }),
    want: [],
  },
  {
    name: 'nothing is adopted while the cluster is not proven to be ours',
    situation: sampleSituation({
      pool: adopting,
      group: legacy(),
      cluster: { kind: 'unreachable', trouble: sampleTrouble('throttled') },
    }),
    want: [],
  },
  {
    name: 'an adopted group is brought to the spec; labels and tags of others stay',
    situation: sampleSituation({
      pool: samplePool({ nodeGroup: { adoption: 'IfUnowned' } }, { status: knownStatus() }),
      group: legacy({ tags: adopted }),
    }),
    want: [UPDATE],
  },
  {
    name: 'an adopted group is only looked at with driftPolicy Report',
    situation: sampleSituation({ pool: reporting, group: legacy({ tags: adopted }) }),
    want: [],
    later: [UPDATE],
  },
  {
    name: 'an edit is reported with driftPolicy Report, and put right by nobody',
    situation: sampleSituation({ pool: reporting, group: seen({ labels: edited }) }),
    want: [],
    later: ['update node group web: labels set winpool.dev/windows-build'],
  },
  {
    name: 'a change of the spec is carried out with driftPolicy Report, and edits of other fields stay',
    situation: sampleSituation({
      pool: samplePool({ driftPolicy: 'Report', scaling: { max: 9 } }, { status: knownStatus() }),
      group: seen({ labels: edited }),
    }),
    want: [sending('scaling'), 'update node group web: scaling max 9'],
  },
  {
    name: 'a change that was sent before a crash is no edit: what the spec says now is sent',
    situation: sampleSituation({
      pool: samplePool(
        { driftPolicy: 'Report' },
        { status: knownStatus({ applied: APPLIED.map((entry) => entry.replace(/^scaling=.*/, 'scaling=?')) }) },
      ),
      group: seen(smaller),
    }),
    want: ['update node group web: scaling max 5'],
  },
  {
    name: 'a size that the user asks for is sent with the bounds that it fits, though an edit changed those',
    situation: sampleSituation({
      pool: samplePool({ driftPolicy: 'Report', scaling: { desired: 5 } }, { status: knownStatus() }),
      group: seen(smaller),
    }),
    want: [sending('desired'), 'update node group web: scaling max 5, desired 5'],
  },
  {
    name: 'the tag that somebody changed is reported with driftPolicy Report',
    situation: sampleSituation({
      pool: samplePool(
        { driftPolicy: 'Report', nodeGroup: { tags: { cost: '42' } } },
        { status: knownStatus({ applied: [...APPLIED, 'tag cost=8334c554'].sort() }) },
      ),
      group: seen({ tags: { 'winpool.dev/pool': 'web', cost: '7' } }),
    }),
    want: [],
    later: ['correct the tags of node group web: set cost'],
  },
];
