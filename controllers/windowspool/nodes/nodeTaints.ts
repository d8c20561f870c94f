/** The operator's taints, which keep pods off nodes that are not verified. Pure. */
import type { WindowsPool, WindowsPoolSpec } from '../api/api.gen.ts';
import { GATE_TAINT_KEY, PLAIN_GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../api/labels.ts';
import type { TaintChange, TaintPolicy, VerificationResult } from '../model/poolNodesView.ts';
import type { NodeRecord, Taint } from '../ports/nodes.ts';

/** The taint that keeps Linux pods off Windows nodes: https://kubernetes.io/docs/concepts/windows/user-guide/#taints-and-tolerations */
export const REGISTRATION_TAINT: Taint = { key: 'os', value: 'windows', effect: 'NoSchedule' };

/** The taint with which the nodes of a pool register; empty if the spec has none. */
export function registrationTaintsOf({ registrationTaint }: Pick<WindowsPoolSpec, 'registrationTaint'>): Taint[] {
  return registrationTaint === 'None' ? [] : [REGISTRATION_TAINT];
}

/** The taint that nodes register with when verification.policy is Gate: the node group carries it. */
export const GATE_TAINT: Taint = { key: GATE_TAINT_KEY, effect: 'NoSchedule' };

/** Replaces it if EKS rejects its key. */
const PLAIN_GATE_TAINT: Taint = { key: PLAIN_GATE_TAINT_KEY, effect: 'NoSchedule' };

/** Both gate taints mean the same on a group and on a node. */
export const GATE_TAINTS: readonly Taint[] = [GATE_TAINT, PLAIN_GATE_TAINT];

/** The gate taint that the pool's group should have under Gate. */
export function gateTaintOf({ spec, status }: Pick<WindowsPool, 'spec' | 'status'>): Taint {
  return readinessTaintIn(spec) ?? GATE_TAINTS.find(({ key }) => key === status?.tracking?.gateTaint) ?? GATE_TAINT;
}

/**
 * The taints that the Node Readiness Controller sets and removes, by its NodeReadinessRules. It accepts no other prefix:
 * https://github.com/kubernetes-sigs/node-readiness-controller. The operator never changes them on a node.
 */
const READINESS_PREFIX = 'readiness.k8s.io/';

/** The gate taint of a pool that leaves the gate to a NodeReadinessRule. */
export function readinessTaintIn({ verification }: Pick<WindowsPoolSpec, 'verification'>): Taint | undefined {
  const { policy, readinessTaint } = verification;
  return policy === 'Gate' && readinessTaint ? { key: readinessTaint, effect: 'NoSchedule' } : undefined;
}

/** Whether the node has the taint that nodes of the pool register with under Gate. */
export function hasGateTaintOf(spec: Pick<WindowsPoolSpec, 'verification'>, node: Pick<NodeRecord, 'taints'>): boolean {
  const wanted = readinessTaintIn(spec);
  return node.taints.some(wanted ? (taint) => isSameTaint(taint, wanted) : isGateTaint);
}

/** Whether a NodeReadinessRule keeps pods off the node. */
export function isAwaitingRule({ taints }: Pick<NodeRecord, 'taints'>): boolean {
  return taints.some(isReadinessTaint);
}

/** Whether it is a taint of a NodeReadinessRule that keeps pods off a node. */
export function isReadinessTaint({ key, effect }: Taint): boolean {
  return key.startsWith(READINESS_PREFIX) && effect !== 'PreferNoSchedule';
}

/**
 * The operator's taints that the node should have. The operator never adds the gate taint to a node, it only keeps or removes it: a node registers
 * with it, or gets it from EKS, which taints existing nodes when their group gets a taint. So a node that fails later, with pods on it, is
 * quarantined.
 */
export function desiredTaints({ node, state, failures }: VerificationResult, policy: TaintPolicy): readonly Taint[] {
  if (state === 'verified') return [];
  const gates = GATE_TAINTS.filter((gate) => node.taints.some((one) => isSameTaint(one, gate)));
  if (policy.gate && gates.length > 0) return gates;
  const [first] = failures;
  if (!policy.quarantine || state !== 'failing' || !first) return [];
  return [{ key: QUARANTINE_TAINT_KEY, value: first.reason, effect: 'NoSchedule' }];
}

/** The change from the operator's current taints on the node to the desired ones; undefined when there is none. Other taints are ignored. */
export function taintChangeFor(result: VerificationResult, policy: TaintPolicy): TaintChange | undefined {
  const found = result.node.taints.filter(isOurs);
  const desired = desiredTaints(result, policy);
  const set = desired.filter(
    (taint) => !found.some((other) => isSameTaint(taint, other) && (taint.value ?? other.value) === other.value),
  );
  const remove = found.filter((taint) => !desired.some((other) => isSameTaint(taint, other)));
  return set.length + remove.length > 0 ? { set, remove } : undefined;
}

/** Whether the node has the gate taint, or a NodeReadinessRule keeps pods off it. */
export function isGated({ taints }: Pick<NodeRecord, 'taints'>): boolean {
  return taints.some((taint) => isGateTaint(taint) || isReadinessTaint(taint));
}

/** Whether the node has the quarantine taint. */
export function isQuarantined({ taints }: Pick<NodeRecord, 'taints'>): boolean {
  return taints.some((taint) => isOurs(taint) && !isGateTaint(taint));
}

/** Whether it is a gate taint, with any value: the operator owns the key. */
export function isGateTaint(taint: Taint): boolean {
  return GATE_TAINTS.some((gate) => isSameTaint(taint, gate));
}

/** Whether it is one of the operator's taints. With another effect it belongs to another controller or user. */
export function isOurs(taint: Taint): boolean {
  return isGateTaint(taint) || (taint.key === QUARANTINE_TAINT_KEY && taint.effect === 'NoSchedule');
}

/** Whether two taints are the same to Kubernetes and EKS, which identify taints by key and effect. */
export function isSameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}
