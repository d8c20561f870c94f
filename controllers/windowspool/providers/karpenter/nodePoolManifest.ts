/** The NodePool of a pool, as it should be. Pure. */

import type { KarpenterSpec, NodeClassReference, NodeRequirement, WindowsPool } from '../../api/api.gen.ts';
import { OS_LABEL, POOL_KEY, WINDOWS } from '../../api/labels.ts';
import { isInWindow, windowEnd } from '../../disruption/maintenance.ts';
import { gateTaintOf, registrationTaintsOf } from '../../nodes/nodeTaints.ts';
import { buildOf, WINDOWS_BUILD_LABEL } from '../../nodes/windowsVersions.ts';
import type { Budget, NodePoolSpec } from '../../ports/karpenter.ts';
import type { Taint } from '../../ports/nodes.ts';
import { karpenterIn } from '../../rules/nodeSource.ts';
import { isDeleting } from '../../rules/poolQueries.ts';

/** The spec of the NodePool. @param now epoch milliseconds, on which the budgets depend */
export function nodePoolSpecFor(pool: WindowsPool, now: number): NodePoolSpec {
  const { labels = {}, taints = [], windowsVersion } = pool.spec;
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
      budgets: budgetsFor(pool, source, now),
    },
    template: {
      metadata: { labels: { ...labels, [POOL_KEY]: pool.metadata.name } },
      spec: {
        nodeClassRef: nodeClassRef ?? ownNodeClass(pool),
        requirements: [
          is(OS_LABEL, WINDOWS),
          is('kubernetes.io/arch', 'amd64'),
          is(WINDOWS_BUILD_LABEL, buildOf(windowsVersion)),
          ...requirements,
        ],
        taints: [...registrationTaintsOf(pool.spec), ...taints],
        startupTaints: startupTaintsFor(pool),
        expireAfter,
        ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
      },
    },
  };
}

/** The gate. A NodePool that stays when the pool is deleted has it only if a NodeReadinessRule opens it. */
function startupTaintsFor(pool: WindowsPool): readonly Taint[] {
  const { verification } = pool.spec;
  if (verification.policy !== 'Gate' || (isDeleting(pool) && verification.readinessTaint === undefined)) return [];
  return [gateTaintOf(pool)];
}

/** The EC2NodeClass that the operator creates. */
function ownNodeClass({ metadata: { name } }: WindowsPool): NodeClassReference {
  return { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name };
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
 * end, also if the operator does not run for 30 days then. The most restrictive budget of a reason counts: https://karpenter.sh/docs/concepts/disruption/#nodepool-disruption-budgets
 */
function budgetsFor(pool: WindowsPool, { update }: KarpenterSpec, now: number): readonly Budget[] {
  // Windows would stay as they are then.
  const windows = isDeleting(pool) ? undefined : update?.maintenanceWindows;
  const others: Budget = { nodes: OF_CONSOLIDATION, reasons: ['Empty', 'Underutilized'] };
  if (!isInWindow(windows, now)) return [others, { nodes: '0', reasons: ['Drifted'] }];
  const drifted: Budget = { nodes: String(pool.spec.disruption?.maxUnavailable ?? 1), reasons: ['Drifted'] };
  const end = windowEnd(windows, now);
  return end === undefined ? [others, drifted] : [others, drifted, closingAt(end)];
}

function closingAt(end: number): Budget {
  const time = new Date(end);
  // A schedule has no seconds, and a window may end between two minutes: this one ends with the minute before.
  const schedule = [time.getUTCMinutes(), time.getUTCHours(), time.getUTCDate(), time.getUTCMonth() + 1, '*'].join(' ');
  return { nodes: '0', reasons: ['Drifted'], schedule, duration: UNTIL_REOPENED };
}
