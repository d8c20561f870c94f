/** Nodes that Karpenter has planned pods onto, and on which the gate stays closed because they fail. Pure. */
import { REPLACE_ANNOTATION } from '../../api/labels.ts';
import { replacesUnhealthy } from '../../disruption/remediation.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { untolerated } from '../../runtimeClass/runtimeClass.ts';
import { count, joined, sentence } from '../../util/words.ts';
import { type KarpenterDerived, type KarpenterState, leavingNodes, liveClaims } from './karpenterState.ts';

/** How many pods a message names. */
const PODS_IN_MESSAGE = 3;

/** A node that fails verification, and the keys of its startup taints. */
interface HeldNode {
  readonly node: NodeRecord;
  readonly startupTaints: readonly string[];
}

/**
 * The nodes that fail and have a startup taint. Karpenter neither disrupts such a node nor starts another one for the pods that fit on it:
 * https://github.com/kubernetes-sigs/karpenter/issues/3242
 */
export function heldNodes(s: Pick<KarpenterState, 'pool' | 'karpenter' | 'poolNodes'>): readonly HeldNode[] {
  if (s.poolNodes.failing.length === 0) return [];
  const claims = new Map(liveClaims(s).map((claim) => [claim.node, claim]));
  return s.poolNodes.failing.flatMap(({ node }) => {
    const { isInitialized = true, startupTaints = [] } = claims.get(node.name) ?? {};
    return !isInitialized && node.taints.some(({ key }) => startupTaints.includes(key))
      ? [{ node, startupTaints }]
      : [];
  });
}

/** Which pods wait for nodes that are not replaced now, and why they are not; empty if there are none. */
export function describeWaitingPods(s: KarpenterDerived): string {
  const all = heldNodes(s);
  if (all.length === 0) return '';
  const leaving = new Set([
    ...leavingNodes(s).keys(),
    ...(s.pool.status?.disruption?.nodes ?? []).map(({ name }) => name),
  ]);
  const held = all.filter(({ node }) => !leaving.has(node.name));
  const pods = podsFor(s, held);
  const [first] = held;
  if (!first || pods.length === 0) return '';
  const nodes = joined(held.map(({ node }) => node.name));
  return ` ${count(pods.length, 'pod')} may wait for ${nodes}, because Karpenter starts no other node for ${pods.length === 1 ? 'it' : 'them'}: ${joined(pods, PODS_IN_MESSAGE)}. ${whyNotReplaced(s, first.node.name)}`;
}

/** The pending pods that fit on one of the nodes without its startup taints. */
function podsFor({ pendingPods }: KarpenterDerived, held: readonly HeldNode[]): readonly string[] {
  if (!pendingPods?.ok) return [];
  const fitting = pendingPods.value.filter(({ nodeSelector, tolerations }) =>
    held.some(({ node, startupTaints }) => {
      const taints = node.taints.filter(
        ({ key, effect }) => effect !== 'PreferNoSchedule' && !startupTaints.includes(key),
      );
      const isSelected = Object.entries(nodeSelector).every(([key, value]) => node.labels[key] === value);
      return isSelected && untolerated(taints, tolerations).length === 0;
    }),
  );
  return fitting.map(({ namespace, name }) => `${namespace}/${name}`);
}

/** Why the node is not replaced, and what to do. */
function whyNotReplaced({ pool, due }: KarpenterDerived, name: string): string {
  const { halted, waiting, waitsFor } = due.nodes;
  const replace = `kubectl annotate node ${name} ${REPLACE_ANNOTATION}=true`;
  if (halted) return `The operator replaces none (${halted.reason}). To replace one: ${replace}`;
  if (waiting.includes(name)) return sentence(`The node is replaced later: ${waitsFor}`);
  const after = replacesUnhealthy(pool) && pool.spec.remediation?.unhealthyAfter;
  if (after) return `The operator replaces a node that has failed for ${after} (remediation.unhealthyAfter).`;
  return `To replace the node: ${replace}`;
}
