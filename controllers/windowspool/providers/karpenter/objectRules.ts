/** The rules for the NodePool and the EC2NodeClass of a pool. */
import { ADOPTABLE_BY, TEMPLATE_HASH_ANNOTATION } from '../../api/labels.ts';
import type { RuleResult } from '../../model/decisions.ts';
import type { Step } from '../../model/steps.ts';
import { GATE_TAINTS } from '../../nodes/nodeTaints.ts';
import type { KarpenterKind, KarpenterObject, NodeClaim } from '../../ports/karpenter.ts';
import { karpenterIn } from '../../rules/nodeSource.ts';
import { waitFor } from '../../rules/ruleChains.ts';
import { clockTime, count, describeFailure, joined } from '../../util/words.ts';
import { isOwned, type KarpenterDerived, liveClaims, objectIn, objectName, type Unresolved } from './karpenterState.ts';

/** How long the operator waits before it reverts a change of another client again, in milliseconds: both might revert each other forever. */
const REVERTED_AGAIN_MS = 60_000;

/** Ensures that the EC2NodeClass exists and is as the spec says, if the pool has one. */
export function keepNodeClass(s: KarpenterDerived): RuleResult | Step[] | undefined {
  const { unresolved } = s.due;
  if (s.karpenter.kind === 'unknown' || unresolved === undefined) return keepObject(s, 'EC2NodeClass');
  const message = `${objectName(s, 'EC2NodeClass')} is created when ${AWAITED[unresolved]}. See PrerequisitesMet.`;
  return waitFor('NotChecked', 'read', { message });
}

const AWAITED: Readonly<Record<Unresolved, string>> = {
  ami: 'the ID of its AMI is known',
  userData: 'the script of nodeClass.userData can be used',
};

/** Ensures that the NodePool exists and is as the spec says. */
export const keepNodePool = (s: KarpenterDerived) => keepObject(s, 'NodePool');

/** One that another tool created is left alone. */
function keepObject(s: KarpenterDerived, kind: KarpenterKind): RuleResult | Step[] | undefined {
  const due = s.due.objects[kind];
  if (s.karpenter.kind === 'unknown' || !due) return undefined;
  const { manifest, changes, isDrifted, replacesNodes } = due;
  const seen = objectIn(s, kind);
  const isForeign = seen !== undefined && !isOwned(s, kind);
  if (seen && isForeign && !mayAdopt(s, seen)) return notOwnedWait(s, kind);
  if (seen?.deleting) return undefined;
  if (!seen) return [{ kind: 'applyKarpenterObject', manifest, isNew: true, changes: [], replacesNodes: false }];
  const isCurrent = seen.manifestHash === manifest.metadata.annotations[TEMPLATE_HASH_ANNOTATION];
  if (isCurrent && changes.length === 0) return undefined;
  const until = seen.appliedAt + REVERTED_AGAIN_MS;
  if (isDrifted && s.now < until) {
    const message = `Another client changed ${joined(changes)} of ${objectName(s, kind)}. The operator reverts this at ${clockTime(until)}. Change the WindowsPool instead.`;
    return waitFor('Drifted', 'time', { message, until, progress: true });
  }
  const adopts = isForeign && ({ adopts: true } as const);
  return [{ kind: 'applyKarpenterObject', manifest, isNew: false, changes, replacesNodes, ...adopts }];
}

/** Whether the spec and the owner of the object agree that the pool takes it over. */
function mayAdopt({ pool }: KarpenterDerived, { adoptableBy }: KarpenterObject): boolean {
  return karpenterIn(pool.spec).adoption === 'IfUnowned' && adoptableBy === pool.metadata.name;
}

/** Waits while another tool or pool has an object of this name. */
function notOwnedWait(s: KarpenterDerived, kind: KarpenterKind): RuleResult {
  const { name } = s.pool.metadata;
  const adopt = `set karpenter.adoption: IfUnowned, and run kubectl annotate ${kind.toLowerCase()} ${name} ${ADOPTABLE_BY}=${name}`;
  const message = `${objectName(s, kind)} exists, but WindowsPool ${name} did not create it. Delete it, or create another WindowsPool with another name. To adopt it, ${adopt}`;
  return waitFor('NodePoolNotOwned', 'watch', { message });
}

/**
 * Ensures that the NodePool of a deleted pool is deleted, and its NodeClaims with it. With Retain, it stays without the gate, that no controller would open on new nodes,
 * and without maintenance windows: Karpenter then replaces every node that had the gate.
 */
export function deleteNodePool(s: KarpenterDerived): RuleResult | Step[] | undefined {
  if (s.pool.spec.deletionPolicy === 'Retain') return handOver(s);
  if (s.karpenter.kind === 'unknown') {
    const { error } = s.karpenter;
    if (error?.kind === 'gone') return undefined;
    const why = error ? `: ${describeFailure(error)}` : '.';
    const message = `${objectName(s)} cannot be read, so it is not deleted${why} To delete the pool without it, set deletionPolicy: Retain.`;
    return waitFor('NodePoolUnknown', 'watch', { message });
  }
  const left = s.karpenter.claims.length;
  return deleteObject(s, 'NodePool', `and Karpenter drains and deletes its nodes: ${count(left, 'NodeClaim')} left.`);
}

/** Ensures that the EC2NodeClass of a deleted pool is deleted after the NodePool: nodes are terminated with its settings. */
export function deleteNodeClass(s: KarpenterDerived): RuleResult | Step[] | undefined {
  if (s.pool.spec.deletionPolicy === 'Retain' || s.karpenter.kind === 'unknown') return undefined;
  return deleteObject(s, 'EC2NodeClass', 'and Karpenter deletes its instance profile and launch templates.');
}

function deleteObject(s: KarpenterDerived, kind: KarpenterKind, what: string): RuleResult | Step[] | undefined {
  const seen = objectIn(s, kind);
  if (!seen || !isOwned(s, kind)) return undefined;
  if (!seen.deleting) return [{ kind: 'deleteKarpenterObject', object: kind, seen }];
  const message = `${objectName(s, kind)} is being deleted, ${what}`;
  return waitFor('NodePoolDeleting', 'watch', { message, progress: true });
}

/** What a NodePool that stays must not have: the gate, and budgets that only the operator opens. */
function handOver(s: KarpenterDerived): RuleResult | undefined {
  const due = s.due.objects.NodePool;
  if (s.karpenter.kind === 'unknown') {
    const { error } = s.karpenter;
    // It never becomes known.
    if (error?.kind === 'denied' || error?.kind === 'gone') return undefined;
    const message = `${objectName(s)} cannot be read, so it still has the gate and the budgets of the pool.`;
    return waitFor('NodePoolUnknown', 'watch', { message, progress: true });
  }
  if (!due || !isOwned(s) || objectIn(s, 'NodePool')?.deleting) return undefined;
  const { manifest, changes, replacesNodes } = due;
  const apply = { kind: 'applyKarpenterObject', manifest, isNew: false, changes, replacesNodes, retain: true } as const;
  const steps: readonly Step[] = [
    ...(changes.length > 0 ? [apply] : []),
    ...gatedClaims(s).map((claim): Step => ({ kind: 'deleteGatedClaim', claim, retain: true })),
  ];
  return steps.length > 0 ? { steps, continues: true } : undefined;
}

/**
 * NodeClaims whose nodes the pool does not have yet, and which still get the gate. Karpenter plans pods onto such a node and never replaces it, because it is not
 * initialized; without its NodeClaim, it creates another one.
 */
function gatedClaims(s: KarpenterDerived): readonly NodeClaim[] {
  const gates: readonly string[] = GATE_TAINTS.map(({ key }) => key);
  const known = new Set(s.membership?.toRelease.map(({ name }) => name));
  return liveClaims(s).filter(
    ({ node, isInitialized, startupTaints }) =>
      !isInitialized && !known.has(node) && startupTaints.some((key) => gates.includes(key)),
  );
}
