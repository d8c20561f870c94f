/** How many nodes a rolling update replaces at a time, and its strategy. */
import { configTargetOf } from '../../providers/nodeGroup/changes/groupChanges.ts';
import { NEXT, samplePool, sampleState } from '../fixtures.ts';
import { CAREFUL, failed, NEXT_TARGET, pinned } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { sending, TO_NEXT_STEPS } from './steps.ts';

const CAREFUL_STEPS = [sending('update maxUnavailable'), 'updateConfig web maxUnavailable=2'];
const careful = samplePool({ nodeGroup: { releaseVersion: NEXT }, ...CAREFUL });
const CAREFUL_TARGET = configTargetOf(careful, { update: { maxUnavailable: '2' } });

export const updateSettingCases: readonly PlanCase[] = [
  {
    name: 'the group gets maxUnavailable',
    observed: sampleState(pinned({}, {}, {}, CAREFUL)),
    want: CAREFUL_STEPS,
  },
  {
    name: 'the group gets a percentage and the strategy',
    observed: sampleState(
      pinned(
        { update: { policy: 'Manual', force: false, strategy: 'Minimal' } },
        {},
        {},
        { disruption: { maxUnavailable: '33%' } },
      ),
    ),
    want: [sending('update maxUnavailable', 'update strategy'), 'updateConfig web maxUnavailable=33% strategy=Minimal'],
  },
  {
    name: 'a setting that the spec does not have is not changed',
    observed: sampleState(pinned({}, {}, { update: { maxUnavailable: '7', strategy: 'Minimal' } })),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'maxUnavailable is sent before nodes are replaced',
    observed: sampleState(
      pinned({ releaseVersion: NEXT }, {}, {}, { ...CAREFUL, nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }),
    ),
    want: CAREFUL_STEPS,
  },
  {
    name: 'no node is replaced after that has failed',
    observed: sampleState(pinned({ releaseVersion: NEXT }, { failedChanges: [failed(CAREFUL_TARGET)] }, {}, CAREFUL)),
    want: [],
    waits: { because: 'NodeGroupReady UpdateFailed', until: '10m' },
  },
  {
    name: 'a release that failed with other settings is retried with the new ones',
    observed: sampleState(
      pinned(
        { releaseVersion: NEXT },
        { failedChanges: [failed(NEXT_TARGET)] },
        { update: { maxUnavailable: '2', strategy: 'Default' } },
        CAREFUL,
      ),
    ),
    want: TO_NEXT_STEPS,
  },
];
