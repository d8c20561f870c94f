/** The operator's taints on nodes, by which pods keep away from what is not verified. Pure. */
import type { WindowsPool } from '../api.gen.ts';
import { GATE_TAINT_KEY, PLAIN_GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../labels.ts';
import type { TaintChange, TaintPolicy, VerificationResult } from '../model/poolNodes.ts';
import type { NodeRecord, Taint } from '../ports/nodes.ts';

/** The taint that keeps Linux pods away: https://kubernetes.io/docs/concepts/windows/user-guide/#taints-and-tolerations */
export const REGISTRATION_TAINT: Taint = { key: 'os', value: 'windows', effect: 'NoSchedule' };

/** Nodes are born with it where verification.policy is Gate: the node group carries it. */
export const GATE_TAINT: Taint = { key: GATE_TAINT_KEY, effect: 'NoSchedule' };

/** In its place where EKS refuses its key. */
const PLAIN_GATE_TAINT: Taint = { key: PLAIN_GATE_TAINT_KEY, effect: 'NoSchedule' };

/** Both mean the same on a group and on a node. */
export const GATE_TAINTS: readonly Taint[] = [GATE_TAINT, PLAIN_GATE_TAINT];

/** The one that the pool's group is to have under Gate. */
export function gateTaintOf({ status }: WindowsPool): Taint {
  return GATE_TAINTS.find(({ key }) => key === status?.nodeGroup?.gateTaint) ?? GATE_TAINT;
}

/**
 * Which of the operator's taints the node should have. The gate's is never given to a node, only left: a node is born with it, or gets it
 * from EKS, which taints living nodes when their group gets a taint. So a node that fails later, with pods on it, is quarantined.
 */
export function desiredTaints({ node, state, failures }: VerificationResult, policy: TaintPolicy): readonly Taint[] {
  if (state === 'verified') return [];
  if (policy.gate && isGated(node))
    return GATE_TAINTS.filter((gate) => node.taints.some((one) => isSameTaint(one, gate)));
  const [first] = failures;
  if (!policy.quarantine || state !== 'failing' || !first) return [];
  return [{ key: QUARANTINE_TAINT_KEY, value: first.reason, effect: 'NoSchedule' }];
}

/** What leads from the node's taints to the desired ones; undefined when nothing does. The taints of others are none of it. */
export function taintChangeFor(result: VerificationResult, policy: TaintPolicy): TaintChange | undefined {
  const found = result.node.taints.filter(isOurs);
  const desired = desiredTaints(result, policy);
  const set = desired.filter(
    (taint) => !found.some((other) => isSameTaint(taint, other) && (taint.value ?? other.value) === other.value),
  );
  const remove = found.filter((taint) => !desired.some((other) => isSameTaint(taint, other)));
  return set.length + remove.length > 0 ? { set, remove } : undefined;
}

/** Whether the node has the gate's taint. */
export function isGated({ taints }: Pick<NodeRecord, 'taints'>): boolean {
  return taints.some(isGateTaint);
}

/** Whether the node has the quarantine's taint. */
export function isQuarantined({ taints }: Pick<NodeRecord, 'taints'>): boolean {
  return taints.some((taint) => isOurs(taint) && !isGateTaint(taint));
}

/** Whatever its value: the key is the operator's. */
export function isGateTaint(taint: Taint): boolean {
  return GATE_TAINTS.some((gate) => isSameTaint(taint, gate));
}

/** Whether it is one of the operator's own. With another effect it is somebody else's. */
export function isOurs(taint: Taint): boolean {
  return isGateTaint(taint) || (taint.key === QUARANTINE_TAINT_KEY && taint.effect === 'NoSchedule');
}

/** Kubernetes and EKS tell taints apart by key and effect. */
export function isSameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}
