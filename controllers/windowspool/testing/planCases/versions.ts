/** The Kubernetes version and the AMI release that the spec pins. */
import { desiredFields, entriesOf } from '../../providers/nodeGroup/changes/appliedFields.ts';
import { configTargetOf } from '../../providers/nodeGroup/changes/groupChanges.ts';
import { APPLIED, NEXT, samplePool, sampleState } from '../fixtures.ts';
import { annotated, failed, NEXT_TARGET, pinned } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { GROW_STEPS, reserving, TO_NEXT_STEPS } from './steps.ts';

const bigger = samplePool({ nodeGroup: { releaseVersion: NEXT, scaling: { maxSize: 9 } } });
const GROW_TARGET = configTargetOf(bigger, { scaling: { maxSize: 9 } });

export const versionCases: readonly PlanCase[] = [
  {
    name: 'the group gets the pinned release',
    observed: sampleState(pinned({ releaseVersion: NEXT })),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'both spellings of a release are equal',
    observed: sampleState(pinned({ releaseVersion: '1.36-2026-02-11' })),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'the group gets the pinned Kubernetes version, with its newest release',
    observed: sampleState(
      pinned({ kubernetesVersion: '1.36' }, {}, { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' }),
    ),
    want: [reserving('version'), 'updateNodeGroupVersion web newest for 1.36'],
  },
  {
    name: 'the release of another Kubernetes version is sent with that version',
    observed: sampleState(
      pinned({ releaseVersion: NEXT }, {}, { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' }),
    ),
    want: [reserving('release'), `updateNodeGroupVersion web ${NEXT}`],
  },
  {
    name: 'both may be pinned',
    observed: sampleState(
      pinned(
        { kubernetesVersion: '1.36', releaseVersion: NEXT },
        {},
        { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' },
      ),
    ),
    want: [reserving('version', 'release'), `updateNodeGroupVersion web ${NEXT}`],
  },
  {
    name: 'a version that is newer than the control plane waits, and other changes do not',
    observed: sampleState(
      pinned({ kubernetesVersion: '1.37' }, {}, {}, { nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }),
    ),
    want: GROW_STEPS,
  },
  {
    name: 'the release of a version that is newer than the control plane waits',
    observed: sampleState(pinned({ releaseVersion: '1.37-2026.03.17' })),
    want: [],
    waits: { because: 'UpToDate UnsupportedVersion', until: '10m' },
  },
  {
    name: 'a pin that the spec drops does not change the group',
    observed: sampleState(pinned({}, { applied: [...APPLIED, 'release=01234567', 'version=01234567'].sort() })),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'the version is sent first, and one change at a time',
    observed: sampleState(
      pinned({ releaseVersion: NEXT }, {}, {}, { nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }),
    ),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a degraded group is still updated, because that may fix it',
    observed: sampleState(pinned({ releaseVersion: NEXT }, {}, { status: 'DEGRADED' })),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a group that EKS is updating is not changed, whatever its release',
    observed: sampleState(pinned({ releaseVersion: NEXT }, {}, { status: 'UPDATING' })),
    want: [],
    waits: { because: 'NodeGroupReady Updating', until: '1s' },
  },
  {
    name: 'pods are deleted by force if the spec requests it',
    observed: sampleState(pinned({ releaseVersion: NEXT, update: { policy: 'Manual', force: true } })),
    want: [reserving('release'), `updateNodeGroupVersion web ${NEXT} force`],
  },
  {
    name: 'a release that failed is not retried',
    observed: sampleState(pinned({ releaseVersion: NEXT }, { failedChanges: [failed(NEXT_TARGET)] })),
    want: [],
    waits: { because: 'NodeGroupReady UpdateFailed', until: '10m' },
  },
  {
    name: 'a release that failed is retried with force',
    observed: sampleState(
      pinned(
        { releaseVersion: NEXT, update: { policy: 'Manual', force: true } },
        { failedChanges: [failed(NEXT_TARGET)] },
      ),
    ),
    want: [reserving('release'), `updateNodeGroupVersion web ${NEXT} force`],
  },
  {
    name: 'a release that failed is retried when the annotation requests it',
    observed: sampleState(annotated(pinned({ releaseVersion: NEXT }, { failedChanges: [failed(NEXT_TARGET)] }), '1')),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a release that failed again is not retried for the same annotation',
    observed: sampleState(
      annotated(pinned({ releaseVersion: NEXT }, { failedChanges: [failed(NEXT_TARGET, '1')] }), '1'),
    ),
    want: [],
    waits: { because: 'NodeGroupReady UpdateFailed', until: '10m' },
  },
  {
    name: 'a release that failed is not retried when the annotation is removed',
    observed: sampleState(pinned({ releaseVersion: NEXT }, { failedChanges: [failed(NEXT_TARGET, '1')] })),
    want: [],
    waits: { because: 'NodeGroupReady UpdateFailed', until: '10m' },
  },
  {
    name: 'a release that failed does not block other changes',
    observed: sampleState(
      pinned(
        { releaseVersion: NEXT },
        { failedChanges: [failed(NEXT_TARGET)] },
        {},
        { nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } },
      ),
    ),
    want: GROW_STEPS,
  },
  {
    name: 'of two changes that failed neither is retried',
    observed: sampleState(
      pinned(
        { releaseVersion: NEXT },
        { failedChanges: [failed(GROW_TARGET), failed(NEXT_TARGET)] },
        {},
        { nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } },
      ),
    ),
    want: [],
    waits: { because: 'NodeGroupReady UpdateFailed', until: '10m' },
  },
  {
    name: 'a release that another client installed is only reported with driftPolicy Report',
    observed: sampleState(
      pinned(
        { releaseVersion: NEXT },
        { applied: entriesOf(desiredFields(samplePool({ nodeGroup: { releaseVersion: NEXT } }))) },
        {},
        { nodeGroup: { driftPolicy: 'Report' } },
      ),
    ),
    want: [],
    waits: { because: 'UpToDate Drifted', until: '10m' },
    later: TO_NEXT_STEPS.slice(1),
  },
];
