/** Changes that wait for a maintenance window, and those that do not. */
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
    waits: { because: 'UpToDate WaitingForWindow', until: '10m' },
  },
  {
    name: 'an automatic update starts in one of the maintenance windows',
    observed: sampleState({ ...pinned(inWindow([...SATURDAYS, ...SUNDAYS])), ...newest(NEXT) }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'an automatic update does not start in an invalid window',
    observed: sampleState({
      ...pinned(inWindow([{ schedule: '* * * * *', duration: '1h', timeZone: 'Mars/Base' }])),
      ...newest(NEXT),
    }),
    want: [],
    waits: { because: 'UpToDate InvalidMaintenanceWindow', until: '10m' },
  },
  {
    name: 'other changes of the spec do not wait for a maintenance window',
    observed: sampleState({
      ...pinned(inWindow(SATURDAYS), {}, {}, { ...CAREFUL, nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }),
      ...newest(NEXT),
    }),
    want: [sending('scaling', 'update maxUnavailable'), 'updateConfig web maxSize=9 maxUnavailable=2'],
  },
  {
    name: 'a pinned release does not wait for a maintenance window',
    observed: sampleState({ ...pinned({ ...inWindow(SATURDAYS), releaseVersion: NEXT }), ...newest(NEXT) }),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a pinned Kubernetes version does not wait for a maintenance window',
    observed: sampleState({
      ...pinned(
        { ...inWindow(SATURDAYS), kubernetesVersion: '1.36' },
        {},
        { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' },
      ),
      ...newest(NEXT),
    }),
    want: [reserving('version'), 'updateNodeGroupVersion web newest for 1.36'],
  },
  {
    name: 'an automatic update that failed is not retried in the next maintenance window',
    observed: sampleState({
      ...pinned(inWindow(SUNDAYS), { failedChanges: [failed(NEXT_TARGET)] }),
      ...newest(NEXT),
    }),
    want: [],
    waits: { because: 'UpToDate UpdateFailed', until: '10m' },
  },
  {
    name: 'an automatic update that failed is retried outside of its window when the annotation requests it',
    observed: sampleState({
      ...annotated(pinned(inWindow(SATURDAYS), { failedChanges: [failed(NEXT_TARGET)] }), '1'),
      ...newest(NEXT),
    }),
    want: AUTOMATIC_STEPS,
  },
];
