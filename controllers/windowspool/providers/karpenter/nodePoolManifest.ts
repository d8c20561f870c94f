/** The NodePool of a pool, as it should be. Pure. */

import type { KarpenterSpec, NodeRequirement, WindowsPool } from '../../api/api.gen.ts';
import {
  MANAGED_BY,
  MANAGED_BY_LABEL,
  OS_LABEL,
  POOL_KEY,
  TEMPLATE_HASH_ANNOTATION,
  WINDOWS,
} from '../../api/labels.ts';
import { isInWindow, windowEnd } from '../../disruption/maintenance.ts';
import { gateTaintOf, registrationTaintsOf } from '../../nodes/nodeTaints.ts';
import { buildOf, WINDOWS_BUILD_LABEL } from '../../nodes/windowsVersions.ts';
import type { Budget, NodePool, NodePoolManifest, NodePoolSpec } from '../../ports/karpenter.ts';
import { karpenterIn } from '../../rules/nodeSource.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { hashOf } from '../../util/hash.ts';

/**
 * The NodePool, which has the name of the pool.
 * @param seen the NodePool as it is
 * @param now epoch milliseconds, on which the budgets depend
 */
export function manifestFor(pool: WindowsPool, seen: NodePool | undefined, now: number): NodePoolManifest {
  const { name } = pool.metadata;
  const spec = specFor(pool, now);
  return {
    metadata: {
      name,
      labels: { [POOL_KEY]: name, [MANAGED_BY_LABEL]: MANAGED_BY },
      annotations: { [TEMPLATE_HASH_ANNOTATION]: hashOf(spec) },
      ...(seen && { uid: seen.uid, resourceVersion: seen.resourceVersion }),
    },
    spec,
  };
}

function specFor(pool: WindowsPool, now: number): NodePoolSpec {
  const { labels = {}, taints = [], windowsVersion, verification } = pool.spec;
  const source = karpenterIn(pool.spec);
  const {
    nodeClassRef,
    requirements = [],
    limits,
    weight,
    expireAfter,
    terminationGracePeriod,
    consolidation,
  } = source;
  return {
    ...(weight !== undefined && { weight }),
    ...(limits && { limits }),
    disruption: {
      consolidationPolicy: consolidation.policy,
      consolidateAfter: consolidation.consolidateAfter,
      budgets: budgetsFor(pool.spec, source, now),
    },
    template: {
      metadata: { labels: { ...labels, [POOL_KEY]: pool.metadata.name } },
      spec: {
        nodeClassRef,
        requirements: [
          is(OS_LABEL, WINDOWS),
          is('kubernetes.io/arch', 'amd64'),
          is(WINDOWS_BUILD_LABEL, buildOf(windowsVersion)),
          ...requirements,
        ],
        taints: [...registrationTaintsOf(pool.spec), ...taints],
        startupTaints: verification.policy === 'Gate' && !isDeleting(pool) ? [gateTaintOf(pool)] : [],
        expireAfter,
        ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
      },
    },
  };
}

function is(key: string, value: string): NodeRequirement {
  return { key, operator: 'In', values: [value] };
}

/** What Karpenter may disrupt of its own accord, unless the spec says: its default. */
const OF_CONSOLIDATION = '10%';

/** The longest duration that a closing budget needs: until the operator runs again. */
const UNTIL_REOPENED = '720h';

/**
 * A budget that names only Drifted leaves the other reasons without a limit, so there is one for them. While a maintenance window is open, a budget closes it at its
 * end, also if the operator does not run then. The most restrictive budget of a reason counts: https://karpenter.sh/docs/concepts/disruption/#nodepool-disruption-budgets
 */
function budgetsFor(
  { disruption }: Pick<WindowsPool['spec'], 'disruption'>,
  { update }: KarpenterSpec,
  now: number,
): readonly Budget[] {
  const windows = update?.maintenanceWindows;
  const others: Budget = { nodes: OF_CONSOLIDATION, reasons: ['Empty', 'Underutilized'] };
  if (!isInWindow(windows, now)) return [others, { nodes: '0', reasons: ['Drifted'] }];
  const drifted: Budget = { nodes: String(disruption?.maxUnavailable ?? 1), reasons: ['Drifted'] };
  const end = windowEnd(windows, now);
  return end === undefined ? [others, drifted] : [others, drifted, closingAt(end)];
}

function closingAt(end: number): Budget {
  const time = new Date(end);
  // A schedule has no seconds, and a window may end between two minutes: this one ends with the minute before.
  const schedule = [time.getUTCMinutes(), time.getUTCHours(), time.getUTCDate(), time.getUTCMonth() + 1, '*'].join(' ');
  return { nodes: '0', reasons: ['Drifted'], schedule, duration: UNTIL_REOPENED };
}

/** The parts of the template whose hash Karpenter compares with that of each NodeClaim: a change of one replaces every node. */
const HASHED = ['labels', 'taints', 'startupTaints', 'expireAfter', 'terminationGracePeriod'] as const;

/** What differs between the NodePool and its manifest. */
export interface NodePoolDifference {
  /** The fields, such as `taints`; empty: there is no difference. */
  readonly changes: readonly string[];
  readonly replacesNodes: boolean;
}

/** What the manifest changes in the NodePool. Optional fields that other clients have set stay. */
export function differenceOf(seen: NodePool, { spec }: NodePoolManifest): NodePoolDifference {
  const [live, desired] = [partsOf(seen.spec), partsOf(spec)];
  const owned: readonly string[] = seen.ownFields;
  const changes = (Object.keys(desired) as (keyof typeof desired)[]).filter((part) =>
    desired[part] === undefined ? owned.includes(part) : !covers(live[part], desired[part], part === 'limits'),
  );
  return { changes, replacesNodes: HASHED.some((part) => changes.includes(part)) };
}

/** The parts of a spec by their names. */
function partsOf(spec: unknown) {
  const { weight, limits, disruption, template } = recordIn(spec);
  const { consolidationPolicy, consolidateAfter, budgets } = recordIn(disruption);
  const { metadata, spec: claim } = recordIn(template);
  const { nodeClassRef, requirements, taints, startupTaints, expireAfter, terminationGracePeriod } = recordIn(claim);
  return {
    weight,
    limits,
    consolidationPolicy,
    consolidateAfter,
    budgets,
    labels: recordIn(metadata).labels,
    nodeClassRef,
    requirements,
    taints,
    startupTaints,
    expireAfter,
    terminationGracePeriod,
  };
}

/**
 * Whether a stored value is what is desired. An empty list may be stored as none, and a quantity as a number or a text.
 * @param isPartial whether it may have more members, which other clients have set
 */
function covers(live: unknown, desired: unknown, isPartial = false): boolean {
  if (Array.isArray(desired)) {
    const items: readonly unknown[] = Array.isArray(live) ? live : [];
    return items.length === desired.length && desired.every((item, index) => covers(items[index], item));
  }
  if (typeof desired === 'object' && desired !== null) {
    const [known, wanted] = [recordIn(live), Object.entries(desired)];
    const isWhole = isPartial || Object.keys(known).length === wanted.length;
    return isWhole && wanted.every(([key, value]) => covers(known[key], value));
  }
  return String(live) === String(desired);
}

function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
