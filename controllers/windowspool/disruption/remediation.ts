/**
 * Nodes that are replaced because they fail for too long, and when none of them is: a short circuit, as a machine health check of Cluster API
 * has one. Pure.
 */
import type { LeavingNode } from '../api.gen.ts';
import { REMEDIATION_ANNOTATION } from '../labels.ts';
import type { ObservedState } from '../model/observedState.ts';
import { nodeSourceOf } from '../nodeSource.ts';
import { instanceIdOf } from '../nodes/lostNodes.ts';
import { verifyNode } from '../nodes/verify.ts';
import type { Instance } from '../ports/ec2.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { expectationOf, lateInstances } from '../queries.ts';
import { durationOf } from '../util/durations.ts';
import { count } from '../util/words.ts';
import { operationFor } from './nodeAnnotations.ts';

/** The nodes that fail for too long, and of which nobody says what becomes of them. */
export function unhealthyNodes(s: ObservedState): NodeRecord[] {
  const { remediation } = s.pool.spec;
  if (!remediation) return [];
  const before = s.now - durationOf(remediation.unhealthyAfter);
  return s.poolNodes.failing
    .map(({ node }) => node)
    .filter((node) => node.verified?.status === 'False' && node.verifiedSince <= before)
    .filter((node) => operationFor(node) === undefined && !(REMEDIATION_ANNOTATION in node.annotations));
}

/** Instances of the group that run for too long and are no nodes. EC2 is asked for instances only while nodes are missing. */
export function unhealthyInstances(s: ObservedState): Instance[] {
  const { remediation } = s.pool.spec;
  if (!remediation) return [];
  const before = s.now - durationOf(remediation.unhealthyAfter);
  return unjoinedInstances(s).filter(({ launchedAt }) => launchedAt <= before);
}

/** Those that are no nodes at all: a node that only lost the label of its group runs on, and is told of elsewhere. */
function unjoinedInstances(s: ObservedState): Instance[] {
  const unlabelledNodes = new Set(s.poolNodes.unlabelledNodes.map(instanceIdOf));
  return (lateInstances(s) ?? []).filter(({ id }) => !unlabelledNodes.has(id));
}

/** When the next node has failed for too long, epoch milliseconds; infinity when none will. */
export function nextUnhealthyAt({ pool, poolNodes, now }: ObservedState): number {
  const { remediation } = pool.spec;
  if (!remediation) return Number.POSITIVE_INFINITY;
  const after = durationOf(remediation.unhealthyAfter);
  const times = poolNodes.failing
    .filter(({ node }) => node.verified?.status === 'False')
    .map(({ node }) => node.verifiedSince + after);
  return times.filter((time) => time > now).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

/** That so many nodes fail that the nodes are hardly the cause: then ending them mends nothing and takes what still works. */
export function shortCircuit(s: ObservedState): string | undefined {
  const { pool, poolNodes, group } = s;
  const { remediation } = pool.spec;
  const nodes =
    group.kind === 'seen' ? group.group.scaling.desired : group.kind === 'none' ? poolNodes.total : undefined;
  if (!remediation || nodes === undefined) return undefined;
  const limit = String(remediation.maxUnhealthy);
  const most = amountOf(limit, nodes);
  const failing = poolNodes.failing.length + unjoinedInstances(s).length;
  if (failing <= most) return undefined;
  return `${count(failing, 'node')} ${failing === 1 ? 'fails or has' : 'fail or have'} not joined, more than remediation.maxUnhealthy (${limit}) allows: ${nodeSourceOf(pool).terminatesInstances ? 'none of these is replaced' : 'look for the cause before you replace any'}`;
}

/** `3`, or `40%` of the nodes, rounded down. */
export function amountOf(limit: string, nodes: number): number {
  const number = Number.parseInt(limit, 10);
  return limit.endsWith('%') ? Math.floor((number * nodes) / 100) : number;
}

/** Whether the node is still to go, as it is now. One that is to be remediated and recovers stays. */
export function isStillRequested({ operation }: LeavingNode, now: NodeRecord, s: ObservedState): boolean {
  if (operation !== 'Remediate') return operationFor(now) === operation;
  const fails = verifyNode(now, expectationOf(s), s.now).state === 'failing';
  return fails && s.pool.spec.remediation !== undefined && !(REMEDIATION_ANNOTATION in now.annotations);
}
