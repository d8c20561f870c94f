/**
 * Nodes that are replaced because they have been failing for too long, and the short circuit that stops remediation, as in the MachineHealthCheck of
 * Cluster API. Pure.
 */
import type { LeavingNode, WindowsPool } from '../api/api.gen.ts';
import { REMEDIATION_ANNOTATION } from '../api/labels.ts';
import type { NodeCheck } from '../api/reasons.ts';
import type { Capacity, RetiringCapacity } from '../model/capacity.ts';
import type { Halt } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { CheckFailure, VerificationResult } from '../model/poolNodesView.ts';
import { podsOn, preparationOf, runsNodePods } from '../nodePods/preparation.ts';
import { verifyNode } from '../nodes/verify.ts';
import type { Instance } from '../ports/ec2.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { durationOf } from '../util/durations.ts';
import { count } from '../util/words.ts';
import { isOutdated, isRemediation, mayBeReplaced, operationFor } from './nodeAnnotations.ts';

/** Whether the operator replaces unhealthy nodes itself, and does not only report them. */
export function replacesUnhealthy({ spec }: Pick<WindowsPool, 'spec'>): boolean {
  return spec.remediation?.policy === 'Replace';
}

/** The nodes that have been failing for too long and that no annotation excludes or already covers. */
export function unhealthyNodes(s: ObservedState, { retiring }: Pick<Capacity, 'retiring'>): NodeRecord[] {
  const { remediation } = s.pool.spec;
  if (!remediation) return [];
  const before = s.now - durationOf(remediation.unhealthyAfter);
  return withResult(s)
    .filter(({ failures }) => !isOfImages(failures))
    .map(({ node }) => node)
    .filter((node) => node.verified?.status === 'False' && node.verifiedSince <= before)
    .filter((node) => operationFor(node) === undefined && !(REMEDIATION_ANNOTATION in node.annotations))
    .filter((node) => !isRetired(s, retiring, node));
}

/** Checks of a node that say nothing about it while the operator cannot run its pods there. */
const NO_RESULT: readonly NodeCheck[] = ['ImagesMissing', 'SmokeTestPending'];

/** Checks of a node that say whether it can run an image. */
const OF_IMAGES: readonly NodeCheck[] = ['ImagePullFailed', 'SmokeTestFailed'];

/** Whether the cause is an image that no node of the pool can run, such as one of another Windows build: a new node would fail, too. */
function isOfImages(failures: readonly CheckFailure[]): boolean {
  const isCause = ({ reason, isLasting }: CheckFailure) => isLasting === true && OF_IMAGES.includes(reason);
  return failures.some(isCause) && failures.every((failure) => isCause(failure) || NO_RESULT.includes(failure.reason));
}

/**
 * The failing nodes, except those that only lack the result of a pod that the operator cannot list or create, because of a permission or a quota: a
 * new node would lack it, too.
 */
function withResult({ pool, poolNodes, nodePods }: ObservedState): readonly VerificationResult[] {
  if (!runsNodePods(pool.spec.verification)) return poolNodes.failing;
  const waiting = new Set(poolNodes.podNeeds.flatMap(({ node, next }) => (next ? [node.name] : [])));
  const lacksPod = ({ name }: NodeRecord) => nodePods.kind === 'unknown' || waiting.has(name);
  return poolNodes.failing.filter(
    ({ node, failures }) => !lacksPod(node) || failures.some(({ reason }) => !NO_RESULT.includes(reason)),
  );
}

/** Instances that have been running for too long without becoming nodes. */
export function unhealthyInstances(s: ObservedState, { unjoined }: Pick<Capacity, 'unjoined'>): Instance[] {
  const { remediation } = s.pool.spec;
  if (!remediation) return [];
  const before = s.now - durationOf(remediation.unhealthyAfter);
  return unjoined.filter(({ launchedAt }) => launchedAt <= before);
}

/** When the next node will have been failing for too long, in epoch milliseconds; Infinity if there is none. */
export function nextUnhealthyAt({ pool, poolNodes, now }: ObservedState): number {
  const { remediation } = pool.spec;
  if (!remediation) return Number.POSITIVE_INFINITY;
  const after = durationOf(remediation.unhealthyAfter);
  const times = poolNodes.failing
    .filter(({ node }) => node.verified?.status === 'False')
    .map(({ node }) => node.verifiedSince + after);
  return times.filter((time) => time > now).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

/** Why no node is remediated, in sentences: so many fail that the cause is probably not the nodes, and replacing them would not help. */
export function shortCircuit({ pool, poolNodes }: ObservedState, { size, unjoined }: Capacity): Halt | undefined {
  const { remediation } = pool.spec;
  if (!remediation || size === undefined) return undefined;
  const limit = String(remediation.maxUnhealthy);
  const max = amountOf(limit, size);
  const failing = poolNodes.failing.length + unjoined.length;
  if (failing <= max) return undefined;
  const consequence = replacesUnhealthy(pool)
    ? 'None of them is replaced. Check NodesVerified for the cause.'
    : 'Check NodesVerified for the cause before you replace nodes.';
  const message = `${count(failing, 'node')} failed verification or did not join, more than remediation.maxUnhealthy (${limit}). ${consequence}`;
  return { reason: 'TooManyUnhealthy', message };
}

/** `3`, or `40%` of the nodes, rounded down. */
export function amountOf(limit: string, nodes: number): number {
  const number = Number.parseInt(limit, 10);
  return limit.endsWith('%') ? Math.floor((number * nodes) / 100) : number;
}

/** Whether the node is one of a group that the pool no longer needs. */
export function isRetired(
  { poolNodes }: ObservedState,
  retiring: Pick<RetiringCapacity, 'group'> | undefined,
  node: NodeRecord,
): boolean {
  return retiring?.group !== undefined && retiring.group === poolNodes.groupOf(node);
}

/** Whether the operation is still requested for the current node. A node that recovers is not remediated; whether one is still outdated, its provider knows. */
export function isStillRequested(
  entry: LeavingNode,
  now: NodeRecord,
  s: ObservedState,
  retiring: Pick<RetiringCapacity, 'group'> | undefined,
): boolean {
  const { operation } = entry;
  if (operation === 'DrainNodeGroup') return isRetired(s, retiring, now);
  if (isOutdated(entry)) return mayBeReplaced(now);
  if (!isRemediation(entry)) return operationFor(now) === operation;
  return fails(now, s) && replacesUnhealthy(s.pool) && !(REMEDIATION_ANNOTATION in now.annotations);
}

/** Whether the node fails, as the pool knows it; its own verification counts for a node that the pool does not have. */
function fails(now: NodeRecord, s: ObservedState): boolean {
  if (s.poolNodes.failing.some(({ node }) => node.uid === now.uid)) return true;
  const preparation = preparationOf(now, s.pool.spec.verification, podsOn(s.nodePods, now), s.now);
  return verifyNode(now, s.poolNodes.expected, s.now, preparation).state === 'failing';
}
