/** The rules for the nodes of a pool that lives. */

import type { ObservedState } from '../model/observedState.ts';
import type { Step } from '../model/steps.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { parseKernelVersion } from './windows.ts';

/** Ensures that the label by which pods are placed says what the kernel is: old kubelets lack it, patched ones lag behind. */
export function correctBuildLabels({ poolNodes }: ObservedState): Step[] | undefined {
  return poolNodes.mislabelled.flatMap((node): Step[] => {
    const build = parseKernelVersion(node.kernelVersion)?.build;
    return build ? [{ kind: 'labelNode', node, build }] : [];
  });
}

/**
 * How many nodes are written in one run for one purpose: what is written wakes the pool for the next ones, and its status tells in between
 * how far it is. Exported for the tests.
 */
export const NODES_IN_A_RUN = 250;

/** Ensures that nodes have the operator's taints that their verdicts ask for, and no others of them. */
export function correctTaints(s: ObservedState): Step[] {
  return inTurns(s, s.poolNodes.mistainted).map(({ node, change }) => ({ kind: 'taintNode', node, change }));
}

/** Ensures that the condition of each node says what was found. */
export function setNodeConditions(s: ObservedState): Step[] {
  return inTurns(s, s.poolNodes.unreported).map(({ node, condition }) => ({
    kind: 'setNodeCondition',
    node,
    condition,
  }));
}

/**
 * Those that are written in this run. A node that is labelled in it is another after it, and is looked at anew. One that is not labelled
 * because somebody undoes that is written all the same.
 */
function inTurns<T extends { readonly node: NodeRecord }>(s: ObservedState, all: readonly T[]): readonly T[] {
  const { poolNodes, membership } = s;
  const resting = new Set(membership?.contention.nodes);
  const labelled = new Set(
    [...poolNodes.mislabelled, ...poolNodes.unmarked.map(({ node }) => node)].map(({ name }) => name),
  );
  return turnOf(
    s,
    all.filter(({ node: { name } }) => !labelled.has(name) || resting.has(name)),
  );
}

/** As many as are written in one run. Not always the same ones come first: should they all be refused, the others would never have their turn. */
export function turnOf<T>({ now }: Pick<ObservedState, 'now'>, waiting: readonly T[]): readonly T[] {
  if (waiting.length <= NODES_IN_A_RUN) return waiting;
  const start = Math.floor(now / 1_000) % waiting.length;
  return [...waiting.slice(start), ...waiting.slice(0, start)].slice(0, NODES_IN_A_RUN);
}
