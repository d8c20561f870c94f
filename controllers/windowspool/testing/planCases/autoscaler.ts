/** The tags for the cluster-autoscaler that describe a pool's new nodes. */
import { AUTOSCALER_PREFIX } from '../../api/labels.ts';
import { desiredFields, entriesOf } from '../../providers/nodeGroup/changes/appliedFields.ts';
import type { EksDerived } from '../../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../../providers/nodeGroup/model/groupState.ts';
import { CLUSTER_ARN, knownStatus, SCALING_TAGS, samplePool, sampleState } from '../fixtures.ts';
import { otherAuthority, seen, unreachable } from '../sights.ts';
import type { PlanCase } from './planCase.ts';

const GROUP = 'eks-web-0a1b';

/** A pool that has recorded these tags, and a scaling group with other tags. */
function tagged(
  found: Readonly<Record<string, string>>,
  remembered: readonly string[] = [],
  change: Partial<EksState> = {},
): EksDerived {
  const pool = samplePool({}, { status: knownStatus({ scalingTags: [...remembered] }) });
  return sampleState({
    pool,
    autoscaler: { tags: { [GROUP]: found }, templateVersions: [], podAddresses: 9, warmInstances: 0 },
    ...change,
  });
}

const { [`${AUTOSCALER_PREFIX}taint/os`]: _taint, ...withoutTaint } = SCALING_TAGS;

const team = samplePool({ labels: { team: 'web' } }, { status: knownStatus() });

export const autoscalerCases: readonly PlanCase[] = [
  { name: 'tags that match are not changed', observed: tagged(SCALING_TAGS), want: [], rests: { until: '10m' } },
  {
    name: 'tags that another client changed or removed are corrected',
    observed: tagged({ ...withoutTaint, [`${AUTOSCALER_PREFIX}label/kubernetes.io/os`]: 'linux' }),
    want: ['correctScalingTags eks-web-0a1b +label/kubernetes.io/os +taint/os'],
  },
  {
    name: 'tags for dropped labels are removed, but not tags of other clients',
    observed: tagged(
      {
        ...SCALING_TAGS,
        [`${AUTOSCALER_PREFIX}label/team`]: 'web',
        [`${AUTOSCALER_PREFIX}label/rack`]: '7',
        cost: '42',
      },
      ['label/team'],
    ),
    want: ['correctScalingTags eks-web-0a1b -label/team'],
  },
  {
    name: 'the tag for a label of the user is set after it is recorded',
    observed: tagged(SCALING_TAGS, ['label/tier'], {
      group: seen({}, team),
      pool: { ...team, status: knownStatus({ applied: entriesOf(desiredFields(team)), scalingTags: ['label/tier'] }) },
    }),
    want: [
      `record web of ${CLUSTER_ARN}: scaling tags label/team, label/tier`,
      'correctScalingTags eks-web-0a1b +label/team',
    ],
  },
  {
    name: 'the tag for pod addresses is kept while they are unknown',
    observed: tagged(SCALING_TAGS, [], {
      autoscaler: { tags: { [GROUP]: SCALING_TAGS }, templateVersions: [], podAddresses: undefined, warmInstances: 0 },
    }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'tags are not set for a group that the pool does not manage',
    observed: tagged({}, [], { group: seen({ tags: {} }) }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: '10m' },
  },
  {
    name: 'tags are not set in another cluster',
    observed: tagged({}, [], { cluster: otherAuthority }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'tags are not set while AWS cannot be read',
    observed: tagged({}, [], { cluster: unreachable() }),
    want: [],
    waits: { because: 'PrerequisitesMet AWSUnavailable', until: 'backoff' },
  },
];
