/** The plan for what the cluster-autoscaler is told of a pool's new nodes. */
import { entriesOf, wantedFields } from '../nodeGroup/applied.ts';
import type { Situation } from '../situation.ts';
import { CLUSTER_ARN, knownStatus, sampleGroup, samplePool, sampleSituation, sampleTrouble } from './fixtures.ts';
import { otherAuthority, type PlanCase, seen } from './planCases.ts';

const PREFIX = 'k8s.io/cluster-autoscaler/node-template/';
const GROUP = 'eks-web-0a1b';

/** The tags of a scaling group of the sample pool as they should be. */
export const SCALING_TAGS: Readonly<Record<string, string>> = {
  [`${PREFIX}label/kubernetes.io/os`]: 'windows',
  [`${PREFIX}label/kubernetes.io/arch`]: 'amd64',
  [`${PREFIX}label/node.kubernetes.io/windows-build`]: '10.0.20348',
  [`${PREFIX}label/winpool.dev/pool`]: 'web',
  [`${PREFIX}label/winpool.dev/windows-build`]: '10.0.20348',
  [`${PREFIX}resources/vpc.amazonaws.com/PrivateIPv4Address`]: '9',
  [`${PREFIX}taint/os`]: 'windows:NoSchedule',
};

/** A pool that remembers these tags, and a scaling group that has others. */
function tagged(
  found: Readonly<Record<string, string>>,
  remembered: readonly string[] = [],
  change: Partial<Situation> = {},
): Situation {
  const pool = samplePool({}, { status: knownStatus({ scalingTags: [...remembered] }) });
  return sampleSituation({ pool, autoscaler: { tags: { [GROUP]: found }, podAddresses: 9 }, ...change });
}

const CORRECT = `correct the cluster-autoscaler's tags of scaling group ${GROUP}:`;
const { [`${PREFIX}taint/os`]: _taint, ...withoutTaint } = SCALING_TAGS;
const unreachable = { kind: 'unreachable', trouble: sampleTrouble('unavailable') } as const;

const team = samplePool({ labels: { team: 'web' } }, { status: knownStatus() });

export const autoscalerCases: readonly PlanCase[] = [
  { name: 'nothing where the tags are as they should be', situation: tagged(SCALING_TAGS), want: [] },
  {
    name: 'what somebody took away or changed',
    situation: tagged({ ...withoutTaint, [`${PREFIX}label/kubernetes.io/os`]: 'linux' }),
    want: [`${CORRECT} set label/kubernetes.io/os, taint/os`],
  },
  {
    name: 'what the nodes no longer have, but nothing that others told it',
    situation: tagged({ ...SCALING_TAGS, [`${PREFIX}label/team`]: 'web', [`${PREFIX}label/rack`]: '7', cost: '42' }, [
      'label/team',
    ]),
    want: [`${CORRECT} remove label/team`],
  },
  {
    name: 'a label of the user, once it is remembered',
    situation: tagged(SCALING_TAGS, ['label/tier'], {
      group: { kind: 'seen', group: sampleGroup(team) },
      pool: { ...team, status: knownStatus({ applied: entriesOf(wantedFields(team)), scalingTags: ['label/tier'] }) },
    }),
    want: [`remember web of ${CLUSTER_ARN}: scaling tags label/team, label/tier`, `${CORRECT} set label/team`],
  },
  {
    name: 'nothing of addresses while they are not known',
    situation: tagged(SCALING_TAGS, [], { autoscaler: { tags: { [GROUP]: SCALING_TAGS }, podAddresses: undefined } }),
    want: [],
  },
  { name: 'nothing of the group of another', situation: tagged({}, [], { group: seen({ tags: {} }) }), want: [] },
  { name: 'nothing in another cluster', situation: tagged({}, [], { cluster: otherAuthority }), want: [] },
  { name: 'nothing while AWS does not answer', situation: tagged({}, [], { cluster: unreachable }), want: [] },
];
