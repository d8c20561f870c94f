/** What a pool does not do because of other pools: releases that fail there, and their rolling updates. */

import { planFor } from '../../plan.ts';
import { statusWith } from '../../providers/nodeGroup/reporting/writeAheadStatus.ts';
import { NEXT, RELEASE_FAILURE, sampleState } from '../fixtures.ts';
import { AUTOMATIC, annotated, failed, NEXT_TARGET, newest, pinned } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { AUTOMATIC_STEPS, GROW_STEPS, reserving, TO_NEXT_STEPS } from './steps.ts';

const RELEASE_FAILS = { disrupted: [], failures: [RELEASE_FAILURE] };
const OTHERS = { disrupted: ['api'], failures: [] };

export const otherPoolsCases: readonly PlanCase[] = [
  {
    name: 'a release that fails in another pool is not rolled out automatically',
    observed: sampleState({ ...pinned(AUTOMATIC), ...newest(NEXT), otherPools: RELEASE_FAILS }),
    want: [],
    waits: { because: 'UpToDate ReleaseNotVerified', until: '10m' },
  },
  {
    name: 'a change that replaces no node does not wait for a release that fails elsewhere',
    observed: sampleState({
      ...pinned(AUTOMATIC, {}, {}, { nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }),
      ...newest(NEXT),
      otherPools: RELEASE_FAILS,
    }),
    want: GROW_STEPS,
  },
  {
    name: 'a release that fails in a pool of another AMI type is rolled out',
    observed: sampleState({
      ...pinned(AUTOMATIC),
      ...newest(NEXT),
      otherPools: { ...RELEASE_FAILS, failures: [{ ...RELEASE_FAILURE, kind: 'WINDOWS_FULL_2022_x86_64' }] },
    }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'a newer release than the one that fails in another pool is rolled out',
    observed: sampleState({ ...pinned(AUTOMATIC), ...newest('1.36-2026.04.18'), otherPools: RELEASE_FAILS }),
    want: [reserving(), 'updateNodeGroupVersion web 1.36-2026.04.18'],
  },
  {
    name: 'a pinned release is rolled out although it fails in another pool',
    observed: sampleState({ ...pinned({ releaseVersion: NEXT }), otherPools: RELEASE_FAILS }),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'an automatic update that the user retries is rolled out although its release fails in another pool',
    observed: sampleState({
      ...annotated(pinned(AUTOMATIC, { failedChanges: [failed(NEXT_TARGET)] }), '1'),
      ...newest(NEXT),
      otherPools: RELEASE_FAILS,
    }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'no rolling update starts while as many other pools as allowed replace nodes',
    observed: sampleState({ ...pinned({ releaseVersion: NEXT }), otherPools: OTHERS }),
    want: [],
    waits: { because: 'UpToDate WaitingForBudget', until: '10m' },
  },
  {
    name: 'a change that replaces no node does not wait for other pools',
    observed: sampleState({
      ...pinned({ releaseVersion: NEXT }, {}, {}, { nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }),
      otherPools: OTHERS,
    }),
    want: GROW_STEPS,
  },
  {
    name: 'a pool with a share of the budget continues after a crash',
    observed: sampleState({ ...reserved(), otherPools: OTHERS }),
    want: [`updateNodeGroupVersion web ${NEXT}`],
  },
];

/** The pool after a crash between its reservation and the call. */
function reserved() {
  const { pool, group } = pinned({ releaseVersion: NEXT });
  const [reservation] = planFor(sampleState({ pool, group })).steps;
  const status = reservation?.kind === 'reserveUpdate' ? statusWith(pool.status, reservation.ahead) : undefined;
  return { pool: { ...pool, ...(status && { status }) }, group };
}
