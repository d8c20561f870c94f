/** What a pool does not do because of others: a release that fails there, or their rolling updates. */

import { planFor } from '../../plan.ts';
import { remembering } from '../../providers/eks/applied.ts';
import { NEXT, RELEASE_FAILURE, sampleState } from '../fixtures.ts';
import { AUTOMATIC, annotated, failed, NEXT_TARGET, newest, pinned } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { AUTOMATIC_STEPS, GROW_STEPS, reserving, TO_NEXT_STEPS } from './steps.ts';

const DOUBTS = { disrupted: [], failures: [RELEASE_FAILURE] };
const OTHERS = { disrupted: ['api'], failures: [] };

export const fleetCases: readonly PlanCase[] = [
  {
    name: 'a release that fails in another pool is not rolled out by itself',
    observed: sampleState({ ...pinned(AUTOMATIC), ...newest(NEXT), fleet: DOUBTS }),
    want: [],
  },
  {
    name: 'what replaces no node does not wait for a release that fails elsewhere',
    observed: sampleState({
      ...pinned(AUTOMATIC, {}, {}, { scaling: { min: 3, max: 9 } }),
      ...newest(NEXT),
      fleet: DOUBTS,
    }),
    want: GROW_STEPS,
  },
  {
    name: 'a release that fails in a pool of another AMI type is rolled out',
    observed: sampleState({
      ...pinned(AUTOMATIC),
      ...newest(NEXT),
      fleet: { ...DOUBTS, failures: [{ ...RELEASE_FAILURE, amiType: 'WINDOWS_FULL_2022_x86_64' }] },
    }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'a newer release than the one that fails in another pool is rolled out',
    observed: sampleState({ ...pinned(AUTOMATIC), ...newest('1.36-2026.04.18'), fleet: DOUBTS }),
    want: [reserving(), 'update node group web: release 1.36-2026.04.18'],
  },
  {
    name: 'a pinned release goes ahead although it fails in another pool',
    observed: sampleState({ ...pinned({ releaseVersion: NEXT }), fleet: DOUBTS }),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'an automatic update that is to be tried again goes ahead although its release fails in another pool',
    observed: sampleState({
      ...annotated(pinned(AUTOMATIC, { failedTarget: failed(NEXT_TARGET) }), '1'),
      ...newest(NEXT),
      fleet: DOUBTS,
    }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'no rolling update begins while as many others as allowed lose nodes',
    observed: sampleState({ ...pinned({ releaseVersion: NEXT }), fleet: OTHERS }),
    want: [],
  },
  {
    name: 'what replaces no node does not wait for others',
    observed: sampleState({
      ...pinned({ releaseVersion: NEXT }, {}, {}, { scaling: { min: 3, max: 9 } }),
      fleet: OTHERS,
    }),
    want: GROW_STEPS,
  },
  {
    name: 'a pool that had its turn when the operator ended goes on',
    observed: sampleState({ ...reserved(), fleet: OTHERS }),
    want: [`update node group web: release ${NEXT}`],
  },
];

/** The pool as a crash left it between its claim and the call. */
function reserved() {
  const { pool, group } = pinned({ releaseVersion: NEXT });
  const [reservation] = planFor(sampleState({ pool, group })).steps;
  const status = reservation?.kind === 'reserveDisruption' ? remembering(pool.status, reservation.memory) : undefined;
  return { pool: { ...pool, ...(status && { status }) }, group };
}
