/** Reads the terminating nodes and their pods, uncached. */
import type { LeavingNode } from '../api/api.gen.ts';
import type { Capacity } from '../model/capacity.ts';
import type { TerminatingNodeView } from '../model/disruption.ts';
import type { DrainState, ObservedState } from '../model/observedState.ts';
import type { StepError } from '../model/stepError.ts';
import type { Sources } from '../observation/sources.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { isDeleting } from '../rules/poolQueries.ts';
import { failedKindOf } from '../steps/stepKinds.ts';
import { inParallel } from '../util/inParallel.ts';
import { admit } from './admission.ts';
import { isCordonedByOperator, isUnavailable } from './nodeAnnotations.ts';
import { terminatingNodes } from './reservation.ts';

/**
 * Interval between two passes over the terminating nodes, in milliseconds: short after something has changed, so that a drain takes little longer than its pods, and
 * longer while nothing does. kubectl drain waits 5 s before it retries an eviction.
 */
const SHORTEST_PASS_MS = 1_500;
const LONGEST_PASS_MS = 5_000;
/** The interval as a part of the time since the last change. */
const PART_OF_WAIT = 0.1;
const NODES_AT_ONCE = 8;

/**
 * Adds the terminating nodes as they are now or, shortly after the last pass, as they were: no steps follow from a remembered state. A complete read
 * of AWS always reads them too.
 */
export async function withOperations<S extends ObservedState>(
  s: S,
  before: DrainState | undefined,
  isComplete: boolean,
  look: () => ReadTerminatingNode | Promise<ReadTerminatingNode>,
): Promise<S> {
  const terminating = terminatingNodes(s.pool);
  if (terminating.length === 0 || isDeleting(s.pool)) return s;
  const isKnown = before && terminating.every(({ uid }) => before.nodes.some(({ entry }) => entry.uid === uid));
  if (isKnown && !isComplete && s.now < before.nextAt) {
    const remembered = (before.errors ?? []).map((entry) => ({ ...entry, isRemembered: true as const }));
    const errors = [...s.errors, ...remembered];
    return { ...s, operations: { ...before, fresh: false }, errors };
  }
  const nodes = await inParallel(terminating, NODES_AT_ONCE, await look());
  const errors = nodes.flatMap((view) => errorsOf(view, s.now));
  const since = before && progressOf(before.nodes) === progressOf(nodes) ? (before.since ?? s.now) : s.now;
  const nextAt = s.now + Math.min(Math.max((s.now - since) * PART_OF_WAIT, SHORTEST_PASS_MS), LONGEST_PASS_MS);
  const operations: DrainState = { fresh: true, nextAt, since, nodes, blocked: before?.blocked ?? [] };
  return { ...s, operations, errors: [...s.errors, ...errors] };
}

/** What changes when a drain makes progress: the nodes, whether they are cordoned, and how many of their pods still run and terminate. */
function progressOf(nodes: readonly TerminatingNodeView[]): string {
  return nodes
    .map(({ entry, node, pods }) => {
      const found = node.ok ? node.value : undefined;
      const terminating = pods?.ok && pods.value.filter(({ deletingAt }) => deletingAt !== undefined).length;
      return [entry.uid, found?.unschedulable, pods?.ok && pods.value.length, terminating].join(' ');
    })
    .join();
}

/** The drain state that later runs report, with errors of the API server. Those of AWS are kept in the AWS cache. */
export function rememberedOperations({ operations, errors }: ObservedState): DrainState | undefined {
  const kept = errors.filter((entry) => failedKindOf(entry).blocks === 'drain' && entry.error.kind !== 'conflict');
  return operations && { ...operations, errors: kept };
}

/**
 * Adds an uncached count of the nodes when more of them are about to be drained: a lagging watch still shows nodes that are gone, and one node at a
 * time would become two.
 */
export async function withCount<S extends ObservedState>(
  s: S,
  capacity: Capacity,
  { nodes }: Pick<Sources, 'nodes'>,
  signal: AbortSignal,
): Promise<S> {
  if (s.counted) return s;
  const isAboutToDrain = s.operations?.nodes.some(
    ({ node }) => node.ok && node.value && !isCordonedByOperator(node.value),
  );
  if (isDeleting(s.pool) || (admit(s, capacity).begin.length === 0 && !isAboutToDrain)) return s;
  if (!capacity.serving) return s;
  const { group } = capacity.serving;
  const answer = await (group === undefined
    ? nodes.ofPool(s.pool.metadata.name, signal)
    : nodes.ofGroup(group, signal));
  if (!answer.ok) {
    const error: StepError = { at: s.now, step: 'listNodes', error: answer.error };
    return { ...s, counted: answer, errors: [...s.errors, error] };
  }
  // Existing nodes are the pool's by its selector: anyone who can label a node could add one that is never available.
  const isCounted = (node: NodeRecord) =>
    group === undefined ? s.poolNodes.has(node.name) : s.poolNodes.isMember(node);
  const existing = answer.value.filter((node) => !node.deleting && isCounted(node));
  const unavailable = existing.filter(isUnavailable).map(({ name }) => name);
  return { ...s, counted: { ok: true, value: { total: existing.length, unavailable } } };
}

/** Reads one terminating node and its pods. */
export type ReadTerminatingNode = (entry: LeavingNode) => Promise<TerminatingNodeView>;

function errorsOf({ node, instance, member, accepted, pods }: TerminatingNodeView, at: number): StepError[] {
  const reads = [
    ['readNode', node],
    ['describeInstances', instance],
    ['describeScalingGroups', accepted],
    ['readInstances', member],
    ['listPods', pods],
  ] as const;
  return reads.flatMap(([step, answer]) => (answer && !answer.ok ? [{ at, step, error: answer.error }] : []));
}
