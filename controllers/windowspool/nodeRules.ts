/** The rules for the nodes of a pool that lives. */
import type { Situation } from './situation.ts';
import type { Step } from './steps.ts';
import { parseKernelVersion } from './windows.ts';

/** Ensures that the label by which pods are placed says what the kernel is: old kubelets lack it, patched ones lag behind. */
export function correctBuildLabels({ roster }: Situation): Step[] | undefined {
  return roster.mislabelled.flatMap((node): Step[] => {
    const build = parseKernelVersion(node.kernelVersion)?.build;
    return build ? [{ kind: 'labelNode', node, build }] : [];
  });
}

/**
 * How many nodes get or lose taints in one run: what is written wakes the pool for the next ones, and its status tells in between how far
 * it is. Exported for the tests.
 */
export const TAINTED_AT_ONCE = 250;

/**
 * Ensures that nodes have the operator's taints that their verdicts ask for, and no others of them. A node that is labelled in this run is
 * another after it, and is looked at anew.
 */
export function correctTaints({ roster, now }: Situation): Step[] {
  const labelled = new Set(roster.mislabelled.map(({ name }) => name));
  const steps = roster.mistainted
    .filter(({ node }) => !labelled.has(node.name))
    .map(({ node, change }): Step => ({ kind: 'taintNode', node, change }));
  if (steps.length <= TAINTED_AT_ONCE) return steps;
  // Not always the same ones first: should they all be refused, the others would never have their turn.
  const start = Math.floor(now / 1_000) % steps.length;
  return [...steps.slice(start), ...steps.slice(0, start)].slice(0, TAINTED_AT_ONCE);
}
