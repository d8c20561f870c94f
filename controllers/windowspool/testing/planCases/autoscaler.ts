/** What the cluster-autoscaler is told of a pool's new nodes. */
import { AUTOSCALER_PREFIX } from '../../labels.ts';
import type { ObservedState } from '../../model/observedState.ts';
import { desiredFields, entriesOf } from '../../providers/eks/applied.ts';
import { CLUSTER_ARN, knownStatus, SCALING_TAGS, samplePool, sampleState } from '../fixtures.ts';
import { otherAuthority, seen, unreachable } from '../sights.ts';
import type { PlanCase } from './planCase.ts';

const GROUP = 'eks-web-0a1b';

/** A pool that remembers these tags, and a scaling group that has others. */
function tagged(
  found: Readonly<Record<string, string>>,
  remembered: readonly string[] = [],
  change: Partial<ObservedState> = {},
): ObservedState {
  const pool = samplePool({}, { status: knownStatus({ scalingTags: [...remembered] }) });
  return sampleState({ pool, autoscaler: { tags: { [GROUP]: found }, podAddresses: 9 }, ...change });
}

const CORRECT = `correct the cluster-autoscaler's tags of scaling group ${GROUP}:`;
const { [`${AUTOSCALER_PREFIX}taint/os`]: _taint, ...withoutTaint } = SCALING_TAGS;

const team = samplePool({ labels: { team: 'web' } }, { status: knownStatus() });

export const autoscalerCases: readonly PlanCase[] = [
  { name: 'nothing where the tags are as they should be', observed: tagged(SCALING_TAGS), want: [] },
  {
    name: 'what somebody took away or changed',
    observed: tagged({ ...withoutTaint, [`${AUTOSCALER_PREFIX}label/kubernetes.io/os`]: 'linux' }),
    want: [`${CORRECT} set label/kubernetes.io/os, taint/os`],
  },
  {
    name: 'what the nodes no longer have, but nothing that others told it',
    observed: tagged(
      {
        ...SCALING_TAGS,
        [`${AUTOSCALER_PREFIX}label/team`]: 'web',
        [`${AUTOSCALER_PREFIX}label/rack`]: '7',
        cost: '42',
      },
      ['label/team'],
    ),
    want: [`${CORRECT} remove label/team`],
  },
  {
    name: 'a label of the user, once it is remembered',
    observed: tagged(SCALING_TAGS, ['label/tier'], {
      group: seen({}, team),
      pool: { ...team, status: knownStatus({ applied: entriesOf(desiredFields(team)), scalingTags: ['label/tier'] }) },
    }),
    want: [`remember web of ${CLUSTER_ARN}: scaling tags label/team, label/tier`, `${CORRECT} set label/team`],
  },
  {
    name: 'nothing of addresses while they are not known',
    observed: tagged(SCALING_TAGS, [], { autoscaler: { tags: { [GROUP]: SCALING_TAGS }, podAddresses: undefined } }),
    want: [],
  },
  { name: 'nothing of the group of another', observed: tagged({}, [], { group: seen({ tags: {} }) }), want: [] },
  { name: 'nothing in another cluster', observed: tagged({}, [], { cluster: otherAuthority }), want: [] },
  { name: 'nothing while AWS does not answer', observed: tagged({}, [], { cluster: unreachable() }), want: [] },
];
