/** Pools whose nodes get another version, with their groups. */
import type { LaunchTemplateSpec, NodeGroupSpec, WindowsPool } from '../api/api.gen.ts';
import { RETRY_ANNOTATION } from '../api/labels.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { LaunchTemplate } from '../ports/prerequisites.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../providers/nodeGroup/model/groupState.ts';
import { versionTargetOf } from '../providers/nodeGroup/versions/versionChanges.ts';
import { known } from './answers.ts';
import {
  knownStatus,
  NEXT,
  type SpecChange,
  sampleGroup,
  samplePool,
  sampleState,
  sampleTemplate,
} from './fixtures.ts';
import { sampleFacts } from './prerequisites.ts';

type Pins = Partial<Pick<NodeGroupSpec, 'releaseVersion' | 'kubernetesVersion' | 'update'>>;
/** Of a pool with a launch template. */
type Rest = Omit<Partial<NodeGroupSpec>, 'instanceTypes' | 'diskSizeGiB'>;
type State = NonNullable<Parameters<typeof knownStatus>[0]>;

/** A pool whose pins were changed since its group was created, and its group. */
export function pinned(pins: Pins, state: State = {}, group: Partial<NodeGroup> = {}, spec: SpecChange = {}) {
  const pool = samplePool({ ...spec, nodeGroup: { ...pins, ...spec.nodeGroup } }, { status: knownStatus(state) });
  return { pool, group: { kind: 'seen', group: sampleGroup(samplePool(), group) } } as const;
}

/** The same with the retry annotation. */
export function annotated(s: Pick<EksState, 'pool' | 'group'>, retry: string): Pick<EksState, 'pool' | 'group'> {
  const pool: WindowsPool = {
    ...s.pool,
    metadata: { ...s.pool.metadata, annotations: { [RETRY_ANNOTATION]: retry } },
  };
  return { ...s, pool };
}

/** A failed update, as status records it. */
export function failed(target: string, retry?: string) {
  const time = '2026-02-01T00:00:00Z';
  return { target, reason: 'UpdateFailed', message: 'no', time, ...(retry !== undefined && { retry }) };
}

/** The target of an update to the next release in status. */
export const NEXT_TARGET = versionTargetOf(samplePool(), {
  kubernetesVersion: '1.36',
  releaseVersion: NEXT,
  force: false,
});

/** Updates are automatic. */
export const AUTOMATIC = { update: { policy: 'Automatic', force: false } } as const;
/** What status records of a group that had the next release before. */
export const ROLLED_BACK = { rollback: { from: NEXT, time: '2026-02-28T00:00:00Z' } } as const;
/** Two nodes may be unavailable at a time. */
export const CAREFUL = { disruption: { maxUnavailable: 2 } } as const;

/** Maintenance windows: now is Sunday at noon, UTC. */
export const SATURDAYS = [{ schedule: '0 2 * * SAT', duration: '4h', timeZone: 'Etc/UTC' }];
export const SUNDAYS = [{ schedule: '0 13 * * SUN', duration: '10m', timeZone: 'Europe/Berlin' }];
export const inWindow = (maintenanceWindows: typeof SATURDAYS) =>
  ({ update: { policy: 'Automatic', force: false, maintenanceWindows } }) as const;

/** The newest release that AWS returns. */
export const newest = (value: string) => ({ newestRelease: known(value) }) as const;

/** The version of the template that the group has. */
export const TEMPLATE_SEEN = { id: 'lt-0a1b2c3d', name: 'windows', version: '2' };
/** This version as EC2 returns it, with everything that EKS requires. */
export const fits = (version: string) => known(sampleTemplate(version, { instanceType: 'm5.large' }));

/** A pool with this version of its template, the template in EC2, and a group with version 2. */
export function templated(
  version: LaunchTemplateSpec['version'],
  launchTemplate: CallResult<LaunchTemplate | undefined>,
  rest: Rest = {},
  state: State = {},
  change: Partial<EksState> = {},
): EksDerived {
  const nodeGroup = { launchTemplate: { name: 'windows', version }, ...rest };
  const pool = samplePool(
    { nodeGroup: { instanceTypes: undefined, diskSizeGiB: undefined, ...nodeGroup } },
    { status: knownStatus(state) },
  );
  const seen = sampleGroup(pool, {
    instanceTypes: [],
    launchTemplate: TEMPLATE_SEEN,
    releaseVersion: '1.36-2026.02.11',
  });
  const group = { kind: 'seen', group: { ...seen, tags: sampleGroup().tags } } as const;
  return sampleState({ pool, group, prerequisites: sampleFacts({ launchTemplate }), ...change });
}
