/** The rules for the nodes of a pool that is not being deleted. */

import type { ObservedState } from '../model/observedState.ts';
import type { Step } from '../model/steps.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { parseKernelVersion } from './windowsVersions.ts';

/** Corrects the build label that pods are scheduled by: old kubelets do not set it, and it is outdated on patched nodes. */
export function correctBuildLabels({ poolNodes }: ObservedState): Step[] | undefined {
  return poolNodes.mislabelled.flatMap((node): Step[] => {
    const build = parseKernelVersion(node.kernelVersion)?.build;
    return build ? [{ kind: 'labelNode', node, build }] : [];
  });
}

/**
 * How many nodes one run writes for one purpose: the writes trigger the pool for the next ones, and its status shows the progress in between.
 * Exported for the tests.
 */
export const NODES_IN_A_RUN = 250;

/** Sets and removes the operator's taints on nodes according to their verification results. */
export function correctTaints(s: ObservedState): Step[] {
  return inThisRun(s, s.poolNodes.mistainted).map(({ node, change }) => ({ kind: 'taintNode', node, change }));
}

/** Writes the verification result to the conditions of each node. */
export function setNodeConditions(s: ObservedState): Step[] {
  return inThisRun(s, s.poolNodes.unreported).map(({ node, report }) => ({
    kind: 'setNodeCondition',
    node,
    report,
  }));
}

/**
 * The nodes that this run writes. A node that is labelled in this run changes and is verified again, so it waits; unless labelling is suspended
 * because another controller reverts it.
 */
function inThisRun<T extends { readonly node: NodeRecord }>(s: ObservedState, all: readonly T[]): readonly T[] {
  const { poolNodes, membership } = s;
  const suspended = new Set(membership?.contention.nodes);
  const labelled = new Set(
    [...poolNodes.mislabelled, ...poolNodes.unmarked.map(({ node }) => node)].map(({ name }) => name),
  );
  return turnOf(
    s,
    all.filter(({ node: { name } }) => !labelled.has(name) || suspended.has(name)),
  );
}

/**
 * At most as many items as one run writes, starting at a rotating position: if the first ones were always refused, the others would never get their
 * turn.
 */
export function turnOf<T>({ now }: Pick<ObservedState, 'now'>, waiting: readonly T[]): readonly T[] {
  if (waiting.length <= NODES_IN_A_RUN) return waiting;
  const start = Math.floor(now / 1_000) % waiting.length;
  return [...waiting.slice(start), ...waiting.slice(0, start)].slice(0, NODES_IN_A_RUN);
}
