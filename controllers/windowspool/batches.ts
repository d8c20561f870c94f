/** What of a plan may be done at the same time. */

import type { Step } from './model/steps.ts';
import { isNodeStep } from './steps/steps.ts';

/** The steps in order, as lists that may be taken beside each other: one for each node, and each other step alone. */
export function batchesOf(steps: readonly Step[]): (readonly Step[])[][] {
  const batches: (readonly Step[])[][] = [];
  let nodes: Map<string, Step[]> | undefined;
  for (const step of steps) {
    if (!isNodeStep(step)) {
      nodes = undefined;
      batches.push([[step]]);
      continue;
    }
    const known = nodes?.get(step.node.name);
    if (known) known.push(step);
    else {
      const list = [step];
      if (nodes) batches.at(-1)?.push(list);
      else batches.push([list]);
      nodes = (nodes ?? new Map<string, Step[]>()).set(step.node.name, list);
    }
  }
  return batches;
}
