/** The rules about Kubernetes versions and AMI releases as a table. */
import type { NodeGroupSpec, WindowsPool, WindowsPoolSpec } from '../api.gen.ts';
import { RETRY_ANNOTATION } from '../labels.ts';
import { entriesOf, remembering, wantedFields } from '../nodeGroup/applied.ts';
import { configTargetOf } from '../nodeGroup/groupChanges.ts';
import { planFor } from '../plan.ts';
import type { NodeGroup, VersionChange } from '../ports.ts';
import type { Situation } from '../situation.ts';
import { versionTargetOf } from '../upgrades/versionChanges.ts';
import {
  APPLIED,
  CLUSTER_ARN,
  knownStatus,
  RELEASE_FAILURE,
  sampleGroup,
  samplePool,
  sampleSituation,
} from './fixtures.ts';
import type { PlanCase } from './planCases.ts';

type Pins = Partial<Pick<NodeGroupSpec, 'releaseVersion' | 'kubernetesVersion' | 'update'>>;
type State = NonNullable<Parameters<typeof knownStatus>[0]>;

const NEXT = '1.36-2026.03.17';
const TO_NEXT: VersionChange = { kubernetesVersion: '1.36', releaseVersion: NEXT, force: false };

/** A pool whose pins were changed since its group was made, and its group. */
function pinned(pins: Pins, state: State = {}, group: Partial<NodeGroup> = {}, spec: Partial<WindowsPoolSpec> = {}) {
  const pool = samplePool({ nodeGroup: pins, ...spec }, { status: knownStatus(state) });
  return { pool, group: { kind: 'seen', group: sampleGroup(samplePool(), group) } } as const;
}

function annotated(s: Pick<Situation, 'pool' | 'group'>, retry: string): Pick<Situation, 'pool' | 'group'> {
  const pool: WindowsPool = {
    ...s.pool,
    metadata: { ...s.pool.metadata, annotations: { [RETRY_ANNOTATION]: retry } },
  };
  return { ...s, pool };
}

function failed(target: string, retry?: string) {
  const time = '2026-02-01T00:00:00Z';
  return { target, reason: 'UpdateFailed', message: 'no', time, ...(retry !== undefined && { retry }) };
}

const targetOf = (change: VersionChange) => versionTargetOf(samplePool(), change);
const sending = (...fields: string[]) => `remember web of ${CLUSTER_ARN}: sending ${fields.join(', ')}`;
const claiming = (...fields: string[]) => `claim web of ${CLUSTER_ARN}: sending ${fields.join(', ')}`;
const AUTOMATIC_STEPS = [claiming(), `update node group web: release ${NEXT}`];
const TO_NEXT_STEPS = [claiming('release'), `update node group web: release ${NEXT}`];
const bigger = samplePool({ nodeGroup: { releaseVersion: NEXT }, scaling: { max: 9 } });
const GROW_TARGET = configTargetOf(bigger, { scaling: { max: 9 } });
const GROW_STEPS = [sending('scaling'), 'update node group web: scaling max 9'];

const CAREFUL = { disruption: { maxUnavailable: 2 } } as const;
const CAREFUL_STEPS = [sending('update maxUnavailable'), 'update node group web: update maxUnavailable 2'];
const careful = samplePool({ nodeGroup: { releaseVersion: NEXT }, ...CAREFUL });
const CAREFUL_TARGET = configTargetOf(careful, { update: { maxUnavailable: '2' } });

/** Now is Sunday at noon. */
const SATURDAYS = [{ schedule: '0 2 * * SAT', duration: '4h', timeZone: 'Etc/UTC' }];
const SUNDAYS = [{ schedule: '0 13 * * SUN', duration: '10m', timeZone: 'Europe/Berlin' }];
const inWindow = (maintenanceWindows: typeof SATURDAYS) =>
  ({ update: { policy: 'Automatic', force: false, maintenanceWindows } }) as const;

const AUTOMATIC = { update: { policy: 'Automatic', force: false } } as const;
const DOUBTS = { disrupted: [], failures: [RELEASE_FAILURE] };
const OTHERS = { disrupted: ['api'], failures: [] };
const newest = (value: string) => ({ newestRelease: { ok: true, value } }) as const;

export const versionCases: readonly PlanCase[] = [
  {
    name: 'the group follows the pinned release',
    situation: sampleSituation(pinned({ releaseVersion: NEXT })),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a release is the same in either spelling',
    situation: sampleSituation(pinned({ releaseVersion: '1.36-2026-02-11' })),
    want: [],
  },
  {
    name: 'the group follows the pinned Kubernetes version, with its newest release',
    situation: sampleSituation(
      pinned({ kubernetesVersion: '1.36' }, {}, { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' }),
    ),
    want: [claiming('version'), 'update node group web: newest release of 1.36'],
  },
  {
    name: 'the release of another Kubernetes version brings that along',
    situation: sampleSituation(
      pinned({ releaseVersion: NEXT }, {}, { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' }),
    ),
    want: [claiming('release'), `update node group web: release ${NEXT}`],
  },
  {
    name: 'both may be pinned',
    situation: sampleSituation(
      pinned(
        { kubernetesVersion: '1.36', releaseVersion: NEXT },
        {},
        { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' },
      ),
    ),
    want: [claiming('version', 'release'), `update node group web: release ${NEXT}`],
  },
  {
    name: 'a version that the control plane does not have yet waits, and the rest does not',
    situation: sampleSituation(pinned({ kubernetesVersion: '1.37' }, {}, {}, { scaling: { min: 3, max: 9 } })),
    want: GROW_STEPS,
  },
  {
    name: 'the release of a version that the control plane does not have yet waits',
    situation: sampleSituation(pinned({ releaseVersion: '1.37-2026.03.17' })),
    want: [],
  },
  {
    name: 'a pin that the spec drops leaves the group as it is',
    situation: sampleSituation(pinned({}, { applied: [...APPLIED, 'release=01234567', 'version=01234567'].sort() })),
    want: [],
  },
  {
    name: 'the version goes first, and one change at a time',
    situation: sampleSituation(pinned({ releaseVersion: NEXT }, {}, {}, { scaling: { min: 3, max: 9 } })),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a degraded group is still updated: that may be what mends it',
    situation: sampleSituation(pinned({ releaseVersion: NEXT }, {}, { status: 'DEGRADED' })),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a group that EKS updates is left, whatever its release is',
    situation: sampleSituation(pinned({ releaseVersion: NEXT }, {}, { status: 'UPDATING' })),
    want: [],
  },
  {
    name: 'pods are ended by force where the spec says so',
    situation: sampleSituation(pinned({ releaseVersion: NEXT, update: { policy: 'Manual', force: true } })),
    want: [claiming('release'), `update node group web: release ${NEXT}, by force`],
  },
  {
    name: 'a release that failed is not tried again',
    situation: sampleSituation(pinned({ releaseVersion: NEXT }, { failedTarget: failed(targetOf(TO_NEXT)) })),
    want: [],
  },
  {
    name: 'a release that failed is tried again by force',
    situation: sampleSituation(
      pinned(
        { releaseVersion: NEXT, update: { policy: 'Manual', force: true } },
        { failedTarget: failed(targetOf(TO_NEXT)) },
      ),
    ),
    want: [claiming('release'), `update node group web: release ${NEXT}, by force`],
  },
  {
    name: 'a release that failed is tried again when the annotation asks for it',
    situation: sampleSituation(
      annotated(pinned({ releaseVersion: NEXT }, { failedTarget: failed(targetOf(TO_NEXT)) }), '1'),
    ),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a release that failed again is not tried again for the same annotation',
    situation: sampleSituation(
      annotated(pinned({ releaseVersion: NEXT }, { failedTarget: failed(targetOf(TO_NEXT), '1') }), '1'),
    ),
    want: [],
  },
  {
    name: 'a release that failed is not tried again because the annotation went',
    situation: sampleSituation(pinned({ releaseVersion: NEXT }, { failedTarget: failed(targetOf(TO_NEXT), '1') })),
    want: [],
  },
  {
    name: 'a release that failed does not keep the rest back',
    situation: sampleSituation(
      pinned(
        { releaseVersion: NEXT },
        { failedTarget: failed(targetOf(TO_NEXT)) },
        {},
        { scaling: { min: 3, max: 9 } },
      ),
    ),
    want: GROW_STEPS,
  },
  {
    name: 'of two changes that failed neither is tried again',
    situation: sampleSituation(
      pinned(
        { releaseVersion: NEXT },
        { failedTarget: failed(GROW_TARGET), moreFailedTargets: [failed(targetOf(TO_NEXT))] },
        {},
        { scaling: { min: 3, max: 9 } },
      ),
    ),
    want: [],
  },
  {
    name: 'a release that somebody else chose is only told of with driftPolicy Report',
    situation: sampleSituation(
      pinned(
        { releaseVersion: NEXT },
        { applied: entriesOf(wantedFields(samplePool({ nodeGroup: { releaseVersion: NEXT } }))) },
        {},
        { driftPolicy: 'Report' },
      ),
    ),
    want: [],
    later: TO_NEXT_STEPS.slice(1),
  },
  {
    name: 'the group follows how many nodes may be replaced at a time',
    situation: sampleSituation(pinned({}, {}, {}, CAREFUL)),
    want: CAREFUL_STEPS,
  },
  {
    name: 'a share of the nodes and the strategy are settings, too',
    situation: sampleSituation(
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
    situation: sampleSituation(pinned({}, {}, { update: { maxUnavailable: '7', strategy: 'Minimal' } })),
    want: [],
  },
  {
    name: 'how many nodes may be replaced at a time is sent before they are replaced',
    situation: sampleSituation(pinned({ releaseVersion: NEXT }, {}, {}, { ...CAREFUL, scaling: { min: 3, max: 9 } })),
    want: CAREFUL_STEPS,
  },
  {
    name: 'no node is replaced while that failed',
    situation: sampleSituation(pinned({ releaseVersion: NEXT }, { failedTarget: failed(CAREFUL_TARGET) }, {}, CAREFUL)),
    want: [],
  },
  {
    name: 'a release that failed with other settings is tried again with these',
    situation: sampleSituation(
      pinned(
        { releaseVersion: NEXT },
        { failedTarget: failed(targetOf(TO_NEXT)) },
        { update: { maxUnavailable: '2', strategy: 'Default' } },
        CAREFUL,
      ),
    ),
    want: TO_NEXT_STEPS,
  },
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
    situation: sampleSituation(
      pinned(AUTOMATIC, { latestReleaseVersion: NEXT, failedTarget: failed(targetOf(TO_NEXT)) }),
    ),
    want: [],
  },
  {
    name: 'an automatic update waits for a maintenance window',
    situation: sampleSituation({ ...pinned(inWindow(SATURDAYS)), ...newest(NEXT) }),
    want: [],
  },
  {
    name: 'an automatic update begins in one of the maintenance windows',
    situation: sampleSituation({ ...pinned(inWindow([...SATURDAYS, ...SUNDAYS])), ...newest(NEXT) }),
    want: AUTOMATIC_STEPS,
  },
  {
    name: 'an automatic update does not begin in a window that nobody understands',
    situation: sampleSituation({
      ...pinned(inWindow([{ schedule: '* * * * *', duration: '1h', timeZone: 'Mars/Base' }])),
      ...newest(NEXT),
    }),
    want: [],
  },
  {
    name: 'the rest of the spec waits for no maintenance window',
    situation: sampleSituation({
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
    situation: sampleSituation({ ...pinned({ ...inWindow(SATURDAYS), releaseVersion: NEXT }), ...newest(NEXT) }),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a pinned Kubernetes version waits for no maintenance window',
    situation: sampleSituation({
      ...pinned(
        { ...inWindow(SATURDAYS), kubernetesVersion: '1.36' },
        {},
        { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.02.11' },
      ),
      ...newest(NEXT),
    }),
    want: [claiming('version'), 'update node group web: newest release of 1.36'],
  },
  {
    name: 'an automatic update that failed is not tried again in the next maintenance window',
    situation: sampleSituation({
      ...pinned(inWindow(SUNDAYS), { failedTarget: failed(targetOf(TO_NEXT)) }),
      ...newest(NEXT),
    }),
    want: [],
  },
  {
    name: 'an automatic update that failed is tried again outside of its window when the annotation asks for it',
    situation: sampleSituation({
      ...annotated(pinned(inWindow(SATURDAYS), { failedTarget: failed(targetOf(TO_NEXT)) }), '1'),
      ...newest(NEXT),
    }),
    want: AUTOMATIC_STEPS,
  },
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
      ...annotated(pinned(AUTOMATIC, { failedTarget: failed(targetOf(TO_NEXT)) }), '1'),
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
