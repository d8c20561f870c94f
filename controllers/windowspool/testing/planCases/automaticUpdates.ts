/** Updates that nobody asked for by name: nodeGroup.update.policy. */
import { NEXT, sampleSituation } from '../fixtures.ts';
import { AUTOMATIC, failed, NEXT_TARGET, newest, pinned } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { AUTOMATIC_STEPS } from './steps.ts';

export const automaticUpdateCases: readonly PlanCase[] = [
  {
    name: 'an automatic update moves to the newest release',
    situation: sampleSituation({ ...pinned(AUTOMATIC), ...newest(NEXT) }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'a manual one does not',
    situation: sampleSituation({ ...pinned({}), ...newest(NEXT) }),
    want: [],
  },
  {
    name: 'an automatic update follows the control plane',
    situation: sampleSituation({
      ...pinned(AUTOMATIC, {}, { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.04.18' }),
      ...newest(NEXT),
    }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'an automatic update does not go back',
    situation: sampleSituation({ ...pinned(AUTOMATIC), ...newest('1.36-2026.01.13') }),
    want: [],
  },
  {
    name: 'a pinned release is not updated automatically',
    situation: sampleSituation({ ...pinned({ ...AUTOMATIC, releaseVersion: '1.36-2026.02.11' }), ...newest(NEXT) }),
    want: [],
  },
  {
    name: 'the newest release of another Kubernetes version than the pinned one is from before the change',
    situation: sampleSituation(
      pinned({ ...AUTOMATIC, kubernetesVersion: '1.36' }, { latestReleaseVersion: '1.37-2026.03.17' }),
    ),
    want: [],
  },
  {
    name: 'an automatic update that failed is not tried again, also while the newest release cannot be asked for',
    situation: sampleSituation(pinned(AUTOMATIC, { latestReleaseVersion: NEXT, failedTarget: failed(NEXT_TARGET) })),
    want: [],
  },
];
