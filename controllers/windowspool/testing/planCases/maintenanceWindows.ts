/** What waits for a maintenance window, and what does not. */
import { NEXT, sampleState } from '../fixtures.ts';
import {
  annotated,
  CAREFUL,
  failed,
  inWindow,
  NEXT_TARGET,
  newest,
  pinned,
  SATURDAYS,
  SUNDAYS,
} from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { AUTOMATIC_STEPS, reserving, sending, TO_NEXT_STEPS } from './steps.ts';

export const maintenanceWindowCases: readonly PlanCase[] = [
  {
    name: 'an automatic update waits for a maintenance window',
    observed: sampleState({ ...pinned(inWindow(SATURDAYS)), ...newest(NEXT) }),
    want: [],
  },
  {
    name: 'an automatic update begins in one of the maintenance windows',
    observed: sampleState({ ...pinned(inWindow([...SATURDAYS, ...SUNDAYS])), ...newest(NEXT) }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'an automatic update does not begin in a window that nobody understands',
    observed: sampleState({
      ...pinned(inWindow([{ schedule: '* * * * *', duration: '1h', timeZone: 'Mars/Base' }])),
      ...newest(NEXT),
    }),
    want: [],
  },
  {
    name: 'the rest of the spec waits for no maintenance window',
    observed: sampleState({
      ...pinned(inWindow(SATURDAYS), {}, {}, { ...CAREFUL, scaling: { min: 3, max: 9 } }),
      ...newest(NEXT),
    }),
    want: [
      sending('scaling', 'update maxUnavailable'),
      'update node group web: scaling max 9; update maxUnavailable 2',
    ],
  },
  {
    name: 'a pinned release waits for no maintenance window',
    observed: sampleState({ ...pinned({ ...inWindow(SATURDAYS), releaseVersion: NEXT }), ...newest(NEXT) }),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a pinned Kubernetes version waits for no maintenance window',
    observed: sampleState({
      ...pinned(
        { ...inWindow(SATURDAYS), kubernetesVersion: '1.36' },
        {},
        { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' },
      ),
      ...newest(NEXT),
    }),
    want: [reserving('version'), 'update node group web: newest release of 1.36'],
  },
  {
    name: 'an automatic update that failed is not tried again in the next maintenance window',
    observed: sampleState({
      ...pinned(inWindow(SUNDAYS), { failedTarget: failed(NEXT_TARGET) }),
      ...newest(NEXT),
    }),
    want: [],
  },
  {
    name: 'an automatic update that failed is tried again outside of its window when the annotation asks for it',
    observed: sampleState({
      ...annotated(pinned(inWindow(SATURDAYS), { failedTarget: failed(NEXT_TARGET) }), '1'),
      ...newest(NEXT),
    }),
    want: AUTOMATIC_STEPS,
  },
];
