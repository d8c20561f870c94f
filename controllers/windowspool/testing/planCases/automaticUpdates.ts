/** Automatic updates: nodeGroup.update.policy. */
import { NEXT, sampleCluster, sampleState } from '../fixtures.ts';
import { AUTOMATIC, failed, NEXT_TARGET, newest, pinned, ROLLED_BACK } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { AUTOMATIC_STEPS } from './steps.ts';

export const automaticUpdateCases: readonly PlanCase[] = [
  {
    name: 'an automatic update moves to the newest release',
    observed: sampleState({ ...pinned(AUTOMATIC), ...newest(NEXT) }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'a newer release is not installed with policy Manual',
    observed: sampleState({ ...pinned({}), ...newest(NEXT) }),
    want: [],
    waits: { because: 'UpToDate UpdateAvailable', until: '10m' },
  },
  {
    name: 'an automatic update follows the control plane',
    observed: sampleState({
      ...pinned(AUTOMATIC, {}, { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.04.18' }),
      ...newest(NEXT),
    }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'an automatic update does not install an older release',
    observed: sampleState({ ...pinned(AUTOMATIC), ...newest('1.36-2026.01.13') }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a pinned release is not updated automatically',
    observed: sampleState({ ...pinned({ ...AUTOMATIC, releaseVersion: '1.36-2026.02.11' }), ...newest(NEXT) }),
    want: [],
    waits: { because: 'UpToDate UpdateAvailable', until: '10m' },
  },
  {
    name: 'the newest release of another Kubernetes version than the pinned one is not installed',
    observed: sampleState(
      pinned({ ...AUTOMATIC, kubernetesVersion: '1.36' }, { latestReleaseVersion: '1.37-2026.03.17' }),
    ),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'an automatic update that failed is not retried, also while the newest release cannot be read',
    observed: sampleState(pinned(AUTOMATIC, { latestReleaseVersion: NEXT, failedChanges: [failed(NEXT_TARGET)] })),
    want: [],
    waits: { because: 'UpToDate UpdateFailed', until: '10m' },
  },
  {
    name: 'an automatic update does not undo a rollback',
    observed: sampleState({ ...pinned(AUTOMATIC, ROLLED_BACK), ...newest(NEXT) }),
    want: [],
    waits: { because: 'UpToDate RolledBack', until: '10m' },
  },
  {
    name: 'an automatic update does not start while EKS changes the version of the cluster',
    observed: sampleState({
      ...pinned(AUTOMATIC),
      ...newest(NEXT),
      cluster: { kind: 'seen', cluster: sampleCluster({ status: 'UPDATING' }) },
    }),
    want: [],
    waits: { because: 'UpToDate ClusterNotActive', until: '10m' },
  },
  {
    name: 'nodes that are newer than the control plane are not updated automatically',
    observed: sampleState({
      ...pinned(AUTOMATIC),
      ...newest('1.35-2026.03.17'),
      cluster: { kind: 'seen', cluster: sampleCluster({ kubernetesVersion: '1.35' }) },
    }),
    want: [],
    waits: { because: 'UpToDate UnsupportedVersion', until: '10m' },
  },
];
