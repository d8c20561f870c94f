/** The Kubernetes version and the AMI release that the spec names. */
import { desiredFields, entriesOf } from '../../providers/eks/applied.ts';
import { configTargetOf } from '../../providers/eks/groupChanges.ts';
import { APPLIED, NEXT, samplePool, sampleState } from '../fixtures.ts';
import { annotated, failed, NEXT_TARGET, pinned } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { GROW_STEPS, reserving, TO_NEXT_STEPS } from './steps.ts';

const bigger = samplePool({ nodeGroup: { releaseVersion: NEXT }, scaling: { max: 9 } });
const GROW_TARGET = configTargetOf(bigger, { scaling: { max: 9 } });

export const versionCases: readonly PlanCase[] = [
  {
    name: 'the group follows the pinned release',
    observed: sampleState(pinned({ releaseVersion: NEXT })),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a release is the same in either spelling',
    observed: sampleState(pinned({ releaseVersion: '1.36-2026-02-11' })),
    want: [],
  },
  {
    name: 'the group follows the pinned Kubernetes version, with its newest release',
    observed: sampleState(
      pinned({ kubernetesVersion: '1.36' }, {}, { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' }),
    ),
    want: [reserving('version'), 'update node group web: newest release of 1.36'],
  },
  {
    name: 'the release of another Kubernetes version brings that along',
    observed: sampleState(
      pinned({ releaseVersion: NEXT }, {}, { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' }),
    ),
    want: [reserving('release'), `update node group web: release ${NEXT}`],
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
    want: [reserving('version', 'release'), `update node group web: release ${NEXT}`],
  },
  {
    name: 'a version that the control plane does not have yet waits, and the rest does not',
    observed: sampleState(pinned({ kubernetesVersion: '1.37' }, {}, {}, { scaling: { min: 3, max: 9 } })),
    want: GROW_STEPS,
  },
  {
    name: 'the release of a version that the control plane does not have yet waits',
    observed: sampleState(pinned({ releaseVersion: '1.37-2026.03.17' })),
    want: [],
  },
  {
    name: 'a pin that the spec drops leaves the group as it is',
    observed: sampleState(pinned({}, { applied: [...APPLIED, 'release=01234567', 'version=01234567'].sort() })),
    want: [],
  },
  {
    name: 'the version goes first, and one change at a time',
    observed: sampleState(pinned({ releaseVersion: NEXT }, {}, {}, { scaling: { min: 3, max: 9 } })),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a degraded group is still updated: that may be what mends it',
    observed: sampleState(pinned({ releaseVersion: NEXT }, {}, { status: 'DEGRADED' })),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a group that EKS updates is left, whatever its release is',
    observed: sampleState(pinned({ releaseVersion: NEXT }, {}, { status: 'UPDATING' })),
    want: [],
  },
  {
    name: 'pods are ended by force where the spec says so',
    observed: sampleState(pinned({ releaseVersion: NEXT, update: { policy: 'Manual', force: true } })),
    want: [reserving('release'), `update node group web: release ${NEXT}, by force`],
  },
  {
    name: 'a release that failed is not tried again',
    observed: sampleState(pinned({ releaseVersion: NEXT }, { failedTarget: failed(NEXT_TARGET) })),
    want: [],
  },
  {
    name: 'a release that failed is tried again by force',
    observed: sampleState(
      pinned(
        { releaseVersion: NEXT, update: { policy: 'Manual', force: true } },
        { failedTarget: failed(NEXT_TARGET) },
      ),
    ),
    want: [reserving('release'), `update node group web: release ${NEXT}, by force`],
  },
  {
    name: 'a release that failed is tried again when the annotation asks for it',
    observed: sampleState(annotated(pinned({ releaseVersion: NEXT }, { failedTarget: failed(NEXT_TARGET) }), '1')),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a release that failed again is not tried again for the same annotation',
    observed: sampleState(annotated(pinned({ releaseVersion: NEXT }, { failedTarget: failed(NEXT_TARGET, '1') }), '1')),
    want: [],
  },
  {
    name: 'a release that failed is not tried again because the annotation went',
    observed: sampleState(pinned({ releaseVersion: NEXT }, { failedTarget: failed(NEXT_TARGET, '1') })),
    want: [],
  },
  {
    name: 'a release that failed does not keep the rest back',
    observed: sampleState(
      pinned({ releaseVersion: NEXT }, { failedTarget: failed(NEXT_TARGET) }, {}, { scaling: { min: 3, max: 9 } }),
    ),
    want: GROW_STEPS,
  },
  {
    name: 'of two changes that failed neither is tried again',
    observed: sampleState(
      pinned(
        { releaseVersion: NEXT },
        { failedTarget: failed(GROW_TARGET), moreFailedTargets: [failed(NEXT_TARGET)] },
        {},
        { scaling: { min: 3, max: 9 } },
      ),
    ),
    want: [],
  },
  {
    name: 'a release that somebody else chose is only told of with driftPolicy Report',
    observed: sampleState(
      pinned(
        { releaseVersion: NEXT },
        { applied: entriesOf(desiredFields(samplePool({ nodeGroup: { releaseVersion: NEXT } }))) },
        {},
        { driftPolicy: 'Report' },
      ),
    ),
    want: [],
    later: TO_NEXT_STEPS.slice(1),
  },
];
