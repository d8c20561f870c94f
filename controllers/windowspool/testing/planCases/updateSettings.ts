/** How many nodes a rolling update replaces at a time, and its strategy. */
import { configTargetOf } from '../../providers/eks/groupChanges.ts';
import { NEXT, samplePool, sampleState } from '../fixtures.ts';
import { CAREFUL, failed, NEXT_TARGET, pinned } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { sending, TO_NEXT_STEPS } from './steps.ts';

const CAREFUL_STEPS = [sending('update maxUnavailable'), 'update node group web: update maxUnavailable 2'];
const careful = samplePool({ nodeGroup: { releaseVersion: NEXT }, ...CAREFUL });
const CAREFUL_TARGET = configTargetOf(careful, { update: { maxUnavailable: '2' } });

export const updateSettingCases: readonly PlanCase[] = [
  {
    name: 'the group follows how many nodes may be replaced at a time',
    observed: sampleState(pinned({}, {}, {}, CAREFUL)),
    want: CAREFUL_STEPS,
  },
  {
    name: 'a share of the nodes and the strategy are settings, too',
    observed: sampleState(
      pinned(
        { update: { policy: 'Manual', force: false, strategy: 'Minimal' } },
        {},
        {},
        { disruption: { maxUnavailable: '33%' } },
      ),
    ),
    want: [
      sending('update maxUnavailable', 'update strategy'),
      'update node group web: update maxUnavailable 33%, strategy Minimal',
    ],
  },
  {
    name: 'a setting that the spec does not have is left as it is',
    observed: sampleState(pinned({}, {}, { update: { maxUnavailable: '7', strategy: 'Minimal' } })),
    want: [],
  },
  {
    name: 'how many nodes may be replaced at a time is sent before they are replaced',
    observed: sampleState(pinned({ releaseVersion: NEXT }, {}, {}, { ...CAREFUL, scaling: { min: 3, max: 9 } })),
    want: CAREFUL_STEPS,
  },
  {
    name: 'no node is replaced while that failed',
    observed: sampleState(pinned({ releaseVersion: NEXT }, { failedTarget: failed(CAREFUL_TARGET) }, {}, CAREFUL)),
    want: [],
  },
  {
    name: 'a release that failed with other settings is tried again with these',
    observed: sampleState(
      pinned(
        { releaseVersion: NEXT },
        { failedTarget: failed(NEXT_TARGET) },
        { update: { maxUnavailable: '2', strategy: 'Default' } },
        CAREFUL,
      ),
    ),
    want: TO_NEXT_STEPS,
  },
];
