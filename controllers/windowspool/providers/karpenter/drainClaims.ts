/** How nodes of Karpenter are removed one by one: the operator deletes their NodeClaims, and Karpenter drains and terminates them. */
import type { LeavingNode } from '../../api/api.gen.ts';
import { type DrainAction, waitAction } from '../../disruption/drainAction.ts';
import { admissionSteps, drainSteps } from '../../disruption/drainRules.ts';
import { isStillInBudget } from '../../disruption/nodeBudget.ts';
import type { ReadTerminatingNode } from '../../disruption/observeLeavingNodes.ts';
import { isStillRequested } from '../../disruption/remediation.ts';
import { nodesOfMachines } from '../../membership/machineNodes.ts';
import type { RuleResult } from '../../model/decisions.ts';
import type { Admission, TerminatingNodeView } from '../../model/disruption.ts';
import type { Sources } from '../../observation/sources.ts';
import { karpenterIn } from '../../rules/nodeSource.ts';
import { describeUnread } from '../../util/words.ts';
import { readClaim } from './deleteClaim.ts';
import { type KarpenterDerived, type KarpenterState, leavingNodes } from './karpenterState.ts';

/** Ensures that the NodeClaims of admitted nodes are deleted. */
export function drainClaims(s: KarpenterDerived): RuleResult {
  return drainSteps(s, nextDrainAction);
}

/** Ensures that nodes to be removed are admitted when the budget allows it. */
export function admitClaims(s: KarpenterDerived): RuleResult {
  return admissionSteps(s);
}

/** The nodes whose turn begins, and those that wait, without those that Karpenter is already draining. */
export function withoutDeleting({ begin, ...rest }: Admission, s: KarpenterState): Admission {
  const leaving = leavingNodes(s);
  const stays = (name: string) => !leaving.has(name);
  return { ...rest, begin: begin.filter(({ name }) => stays(name)), waiting: rest.waiting.filter(stays) };
}

/** The next action for a node, from its state as just read. */
function nextDrainAction({ entry, node, member }: TerminatingNodeView, s: KarpenterDerived): DrainAction {
  const now = node.ok ? node.value : undefined;
  if (!node.ok) return { kind: 'wait', why: describeUnread('The node', node.error) };
  if (now?.uid !== entry.uid) return { kind: 'done' };
  if (now.deleting || leavingNodes(s).has(now.name)) return { kind: 'wait', why: drainedByKarpenter(entry.name, s) };
  if (!isStillRequested(entry, now, s, undefined)) return { kind: 'restore' };
  if (!member?.ok) return waitAction(entry, s, 'It is not known whether a NodeClaim of the pool has it.');
  if (!member.value)
    return { kind: 'restore', answer: 'refused', why: `no NodeClaim of the pool has node ${entry.name}` };
  const { serving, whyNone } = s.due.capacity;
  if (!serving) return waitAction(entry, s, `It waits: ${whyNone}.`);
  if (!isStillInBudget(entry, now, s, serving)) return { kind: 'restore' };
  return { kind: 'end', step: { kind: 'deleteNodeClaim', node: now, entry } };
}

/** Karpenter never gives up: only terminationGracePeriod limits how long it waits for pods. */
function drainedByKarpenter(name: string, { pool }: KarpenterState): string {
  const { terminationGracePeriod } = karpenterIn(pool.spec);
  if (terminationGracePeriod !== undefined) return `Karpenter drains it for at most ${terminationGracePeriod}.`;
  return `Karpenter drains it, and waits without a limit for volumes, and for pods with a PodDisruptionBudget or the annotation karpenter.sh/do-not-disrupt (kubectl describe node ${name}).`;
}

/** Reads a terminating node and its NodeClaim. */
export function nodeReader(s: KarpenterState, sources: Sources, signal: AbortSignal): ReadTerminatingNode {
  return async (entry: LeavingNode): Promise<TerminatingNodeView> => {
    const node = await sources.nodes.read(entry.name, signal);
    const now = node.ok ? node.value : undefined;
    if (now?.uid !== entry.uid) return { entry, node };
    const claim = await readClaim(now, s, sources.nodePools, signal);
    if (!claim.ok) return { entry, node, member: claim };
    const selected = { machines: nodesOfMachines({ machines: claim.value ? [claim.value] : [] }) };
    return { entry, node, member: { ok: true, value: sources.nodeMembership.confirms(s.pool, selected, now) } };
  };
}
