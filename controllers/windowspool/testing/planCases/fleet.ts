/** What a pool does not do because of others: a release that fails there, or their rolling updates. */
import { remembering } from '../../nodeGroup/applied.ts';
import { planFor } from '../../plan.ts';
import { NEXT, RELEASE_FAILURE, sampleSituation } from '../fixtures.ts';
import { AUTOMATIC, annotated, failed, NEXT_TARGET, newest, pinned } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { AUTOMATIC_STEPS, claiming, GROW_STEPS, TO_NEXT_STEPS } from './steps.ts';

const DOUBTS = { disrupted: [], failures: [RELEASE_FAILURE] };
const OTHERS = { disrupted: ['api'], failures: [] };

export const fleetCases: readonly PlanCase[] = [
  {
    name: 'a release that fails in another pool is not rolled out by itself',
    situation: sampleSituation({ ...pinned(AUTOMATIC), ...newest(NEXT), fleet: DOUBTS }),
    want: [],
  },
  {
    name: 'what replaces no node does not wait for a release that fails elsewhere',
    situation: sampleSituation({
      ...pinned(AUTOMATIC, {}, {}, { scaling: { min: 3, max: 9 } }),
      ...newest(NEXT),
      fleet: DOUBTS,
    }),
    want: GROW_STEPS,
  },
  {
    name: 'a release that fails in a pool of another AMI type is rolled out',
    situation: sampleSituation({
      ...pinned(AUTOMATIC),
      ...newest(NEXT),
      fleet: { ...DOUBTS, failures: [{ ...RELEASE_FAILURE, amiType: 'WINDOWS_FULL_2022_x86_64' }] },
    }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'a newer release than the one that fails in another pool is rolled out',
    situation: sampleSituation({ ...pinned(AUTOMATIC), ...newest('1.36-2026.04.18'), fleet: DOUBTS }),
    want: [claiming(), 'update node group web: release 1.36-2026.04.18'],
  },
  {
    name: 'a pinned release goes ahead although it fails in another pool',
    situation: sampleSituation({ ...pinned({ releaseVersion: NEXT }), fleet: DOUBTS }),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'an automatic update that is to be tried again goes ahead although its release fails in another pool',
    situation: sampleSituation({
      ...annotated(pinned(AUTOMATIC, { failedTarget: failed(NEXT_TARGET) }), '1'),
      ...newest(NEXT),
      fleet: DOUBTS,
    }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'no rolling update begins while as many others as allowed lose nodes',
    situation: sampleSituation({ ...pinned({ releaseVersion: NEXT }), fleet: OTHERS }),
    want: [],
  },
  {
    name: 'what replaces no node does not wait for others',
    situation: sampleSituation({
      ...pinned({ releaseVersion: NEXT }, {}, {}, { scaling: { min: 3, max: 9 } }),
      fleet: OTHERS,
    }),
    want: GROW_STEPS,
  },
  {
    name: 'a pool that had its turn when the operator ended goes on',
    situation: sampleSituation({ ...claimed(), fleet: OTHERS }),
    want: [`update node group web: release ${NEXT}`],
  },
];

/** The pool as a crash left it between its claim and the call. */
function claimed() {
  const { pool, group } = pinned({ releaseVersion: NEXT });
  const [claim] = planFor(sampleSituation({ pool, group })).steps;
  const status = claim?.kind === 'claimDisruption' ? remembering(pool.status, claim.memory) : undefined;
  return { pool: { ...pool, ...(status && { status }) }, group };
}
