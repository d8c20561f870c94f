/** The rules for nodes that are replaced or removed by annotation, or remediated. */
import type { LeavingNode } from '../api/api.gen.ts';
import { describeRest } from '../conditions/disrupting.ts';
import type { RuleResult, Wait } from '../model/decisions.ts';
import type { Admission, Candidate, DisruptionReservation, TerminatingNodeView } from '../model/disruption.ts';
import { NODE_REPLACEMENT } from '../model/disruption.ts';
import type { Derived } from '../model/due.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Step } from '../model/steps.ts';
import type { DrainPod } from '../ports/pods.ts';
import { nodeSourceOf } from '../rules/nodeSource.ts';
import { isPaused } from '../rules/poolQueries.ts';
import { timeOf } from '../util/durations.ts';
import { count } from '../util/words.ts';
import { graceFor, nameOf } from './drain.ts';
import { type DrainAction, drainOptionsOf } from './drainAction.ts';
import {
  annotationOf,
  causeOf,
  isExcludedFromDrain,
  isOutdated,
  isRemediation,
  shrinksGroup,
} from './nodeAnnotations.ts';
import { isRetired, replacesUnhealthy, unhealthyInstances, unhealthyNodes } from './remediation.ts';
import { terminatingNodes } from './reservation.ts';
import { terminatedBy } from './terminateInstance.ts';
import { isNodeless } from './terminatingNode.ts';

/** The next action for a node, from its current state. */
type NextDrainAction<D extends Derived> = (view: TerminatingNodeView, s: D) => DrainAction;

/**
 * Advances nodes whose turn it is: cordons, drains, terminates or uncordons them. Only from a fresh, uncached read. Also removes a cordon of the
 * operator that status does not record, because the status was lost.
 */
export function drainSteps<D extends Derived>(s: D, next: NextDrainAction<D>): RuleResult {
  const { operations } = s;
  const { serving, retiring } = s.due.capacity;
  // A paused pool only shows what it would do, which must not change with every read.
  const isActionable = operations && (operations.fresh || isPaused(s.pool));
  const turns =
    operations?.nodes.map((view) => {
      const action = next(view, s);
      return { view, action, steps: isActionable ? stepsFor(view, action, s) : [] };
    }) ?? [];
  const advanced = turns.flatMap(({ steps }) => steps);
  const terminated = advanced.flatMap((step) => terminatedBy(step) ?? []);
  const record: Step[] = terminated.length > 0 ? [{ kind: 'recordTerminations', entries: terminated }] : [];
  const known = new Set(terminatingNodes(s.pool).map(({ uid }) => uid));
  const cordoned = serving ? s.poolNodes.cordoned : [];
  const lost = cordoned.filter((node) => !known.has(node.uid) && !isRetired(s, retiring, node));
  return {
    steps: [...record, ...advanced, ...lost.map((node): Step => ({ kind: 'uncordonNode', node }))],
    waits: new Map(turns.flatMap(({ view, action, steps }) => (steps.length === 0 ? [waitOfNode(view, action)] : []))),
  };
}

/** What a node waits for that gets its next step, or leaves status, after another read. */
function waitOfNode({ entry }: TerminatingNodeView, action: DrainAction): [string, Wait] {
  const { why, isBlocked } = action.kind === 'wait' ? action : {};
  const reason = isBlocked ? 'DrainBlocked' : entry.drainedTime === undefined ? 'Draining' : 'Drained';
  return [entry.uid, { reason, on: 'read', progress: true, ...(why !== undefined && { message: why }) }];
}

/** Gives requested nodes their turn: status records it before the first of them is touched. */
export function admissionSteps(s: Derived): RuleResult {
  const wait = waitOfRequests(s.due.nodes);
  const rest = isOnlyReported(s) && ({ reason: 'ReplacementDue' } as const);
  return { steps: turnsOf(s), ...(wait && { wait }), ...(rest && { rest }) };
}

/** Whether nodes have been failing for too long that remediation.policy Report leaves as they are. */
function isOnlyReported(s: Derived): boolean {
  const { capacity, nodes } = s.due;
  if (replacesUnhealthy(s.pool) || nodes.halted !== undefined) return false;
  const { ends } = nodeSourceOf(s.pool);
  return unhealthyNodes(s, capacity).length > 0 || (ends !== undefined && unhealthyInstances(s, capacity).length > 0);
}

/** What the nodes wait for that are not admitted now. */
function waitOfRequests({ waiting, waitsOn, refused, halted }: Admission): Wait | undefined {
  if (waiting.length > 0) return { reason: 'DisruptionPending', on: waitsOn, progress: true };
  const [rejected] = refused;
  if (rejected) return { reason: rejected.reason, on: 'watch' };
  return halted && { reason: halted.reason, on: 'watch' };
}

/** The record of the nodes whose turn begins. */
function turnsOf(s: Derived): Step[] {
  const { begin } = s.due.nodes;
  if (begin.length === 0) return [];
  const startTime = timeOf(s.now);
  const nodes: LeavingNode[] = [
    ...terminatingNodes(s.pool),
    ...begin.map((candidate) => ({ ...candidate, startTime })),
  ];
  const { deadline: _open, ...known } = s.pool.status?.disruption ?? { startTime };
  const reservation: DisruptionReservation = { ...known, reason: NODE_REPLACEMENT, change: describe(nodes), nodes };
  const begins = begin.map((candidate) => describeTurn(candidate, s));
  return [{ kind: 'reserveDisruption', reservation, begins }];
}

/** Describes what happens to a node whose turn begins. */
function describeTurn(candidate: Candidate, s: Derived): string {
  const { name, instanceID, operation } = candidate;
  if (isNodeless(candidate)) return `replace instance ${instanceID}, which did not join`;
  const { outdated = [] } = s.due.capacity;
  const known = [...s.poolNodes.requested, ...s.poolNodes.failing.map(({ node }) => node), ...outdated];
  const isExcluded = known.some((node) => node.name === name && isExcludedFromDrain(node));
  const { ends, drainedBy } = nodeSourceOf(s.pool);
  if (!ends) return `${isExcluded ? 'cordon' : 'drain'} node ${name}; its provisioner must terminate it`;
  const verb = shrinksGroup(candidate) ? 'remove' : 'replace';
  const cause = causeOf(candidate);
  const whose = operation === 'DrainNodeGroup' ? `, whose ${s.due.capacity.retiring?.why}` : '';
  const why = cause ? `, which ${cause}` : whose;
  const end = ends === 'instance' ? `terminate instance ${instanceID}` : `delete its ${ends}`;
  const how =
    drainedBy === 'Karpenter'
      ? `${end}, which Karpenter drains`
      : isExcluded
        ? `${end} with its pods`
        : `drain it, ${end}`;
  return `${verb} node ${name}${why} (${how})`;
}

function describe(nodes: readonly LeavingNode[]): string {
  const retired = nodes.filter(({ operation }) => operation === 'DrainNodeGroup').length;
  const removed = nodes.filter(({ operation }) => operation === 'Remove').length;
  const remediated = nodes.filter(isRemediation).length;
  const outdated = nodes.filter(isOutdated).length;
  const replaced = nodes.length - removed - remediated - outdated - retired;
  const parts = [
    ...(replaced > 0 ? [`replace ${count(replaced, 'node')}`] : []),
    ...(remediated > 0 ? [`replace ${count(remediated, 'failing node')}`] : []),
    ...(outdated > 0 ? [`replace ${count(outdated, 'outdated node')}`] : []),
    ...(removed > 0 ? [`remove ${count(removed, 'node')}`] : []),
    ...(retired > 0 ? [`remove ${count(retired, 'node')} of a node group that is replaced`] : []),
  ];
  return parts.join(', ');
}

function stepsFor(view: TerminatingNodeView, action: DrainAction, s: ObservedState): Step[] {
  const { entry } = view;
  const node = view.node.ok ? view.node.value : undefined;
  if (action.kind === 'end') return [action.step];
  if (!node || isNodeless(entry)) return [];
  switch (action.kind) {
    case 'wait':
    case 'done':
      return [];
    case 'cordon':
      return [{ kind: 'cordonNode', node }];
    case 'evict': {
      const options = drainOptionsOf(s.pool);
      const evictions = blockedLast(action.pods, s).map((pod) => ({ pod, gracePeriodSeconds: graceFor(pod, options) }));
      return [{ kind: 'evictPods', node, evictions }];
    }
    default: {
      if (!action.answer) return [{ kind: 'uncordonNode', node }];
      const why = action.why ?? (action.answer === 'timed-out' ? describeRest(view, s) : undefined);
      if (entry.operation === 'DrainNodeGroup')
        return [{ kind: 'giveUpNode', node, entry, why: why ?? 'its drain timed out' }];
      const answer = { key: annotationOf(entry), value: action.answer, ...(why && { why }) };
      return [{ kind: 'uncordonNode', node, answer }];
    }
  }
}

/** The pods, last those that were blocked in the last pass: if a webhook hangs, a pass ends before it has tried all of them. */
function blockedLast(pods: readonly DrainPod[], { operations }: ObservedState): DrainPod[] {
  const lastBlocked = new Set(operations?.blocked.map(nameOf));
  return [...pods].sort((a, b) => Number(lastBlocked.has(nameOf(a))) - Number(lastBlocked.has(nameOf(b))));
}
