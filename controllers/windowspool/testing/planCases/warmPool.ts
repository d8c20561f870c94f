/** The warm pool of a node group. */
import type { WarmPoolSpec } from '../../api/api.gen.ts';
import type { WarmPool } from '../../ports/eks.ts';
import { desiredFields, entriesOf } from '../../providers/nodeGroup/changes/appliedFields.ts';
import type { EksDerived } from '../../providers/nodeGroup/model/groupDue.ts';
import { knownStatus, sampleGroup, samplePool, sampleState } from '../fixtures.ts';
import type { PlanCase } from './planCase.ts';
import { sending } from './steps.ts';

const SPEC: WarmPoolSpec = { minSize: 1, poolState: 'Stopped', reuseOnScaleIn: false };
/** As EKS has it: the capacity is the maximum size. */
const FOUND: WarmPool = { ...SPEC, maxGroupPreparedCapacity: 5 };

/** A pool with a warm pool or without, whose group has another. `before`: the spec that was applied. */
function warmed(
  spec: WarmPoolSpec | undefined,
  found: WarmPool | undefined,
  before: WarmPoolSpec | undefined = undefined,
  driftPolicy: 'Correct' | 'Report' = 'Correct',
): EksDerived {
  const poolWith = (warmPool: WarmPoolSpec | undefined) =>
    samplePool({ nodeGroup: { driftPolicy, ...(warmPool && { warmPool }) } });
  const applied = entriesOf(desiredFields(poolWith(before)));
  const pool = { ...poolWith(spec), status: knownStatus({ applied }) };
  return sampleState({ pool, group: { kind: 'seen', group: sampleGroup(pool, { warmPool: found }) } });
}

export const warmPoolCases: readonly PlanCase[] = [
  {
    name: 'the group gets a warm pool, with its maximum size as the capacity',
    observed: warmed(SPEC, undefined),
    want: [
      sending('warmPool'),
      'updateConfig web warmPool minSize=1 maxGroupPreparedCapacity=5 poolState=Stopped reuseOnScaleIn=false',
    ],
  },
  {
    name: 'the capacity is the minimum of the warm pool if that is greater than the maximum size of the group',
    observed: warmed({ ...SPEC, minSize: 9 }, undefined),
    want: [
      sending('warmPool'),
      'updateConfig web warmPool minSize=9 maxGroupPreparedCapacity=9 poolState=Stopped reuseOnScaleIn=false',
    ],
  },
  {
    name: 'all settings of the warm pool are sent when one differs',
    observed: warmed({ ...SPEC, maxGroupPreparedCapacity: 3, poolState: 'Running', reuseOnScaleIn: true }, FOUND, SPEC),
    want: [
      sending('warmPool'),
      'updateConfig web warmPool minSize=1 maxGroupPreparedCapacity=3 poolState=Running reuseOnScaleIn=true',
    ],
  },
  {
    name: 'a warm pool as in the spec is not changed',
    observed: warmed(SPEC, FOUND, SPEC),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a warm pool without a capacity has that of the group',
    observed: warmed(SPEC, { ...FOUND, maxGroupPreparedCapacity: undefined }, SPEC),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a warm pool that the spec no longer has is removed',
    observed: warmed(undefined, FOUND, SPEC),
    want: [sending('warmPool'), 'updateConfig web warmPool=Removed'],
  },
  {
    name: 'a warm pool that is gone is not removed again',
    observed: warmed(undefined, undefined, SPEC),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'the warm pool of another client is kept',
    observed: warmed(undefined, FOUND),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a warm pool that another client changed is corrected',
    observed: warmed(SPEC, { ...FOUND, minSize: 9 }, SPEC),
    want: ['updateConfig web warmPool minSize=1 maxGroupPreparedCapacity=5 poolState=Stopped reuseOnScaleIn=false'],
  },
  {
    name: 'with driftPolicy Report, a warm pool that another client changed is not corrected',
    observed: warmed(SPEC, { ...FOUND, minSize: 9 }, SPEC, 'Report'),
    want: [],
    waits: { because: 'UpToDate Drifted', until: '10m' },
    later: ['updateConfig web warmPool minSize=1 maxGroupPreparedCapacity=5 poolState=Stopped reuseOnScaleIn=false'],
  },
];
