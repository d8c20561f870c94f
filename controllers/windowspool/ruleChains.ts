/** Rules, and how a list of them gives steps. Pure. */
import type { ObservedState } from './model/observedState.ts';
import type { Step } from './model/steps.ts';

/** Says what to do, [] for "wait", or undefined for "not my case". */
export type Rule = (s: ObservedState) => readonly Step[] | undefined;

/** The rules for one part of the world, first match wins. */
export interface RuleChain {
  readonly about:
    | 'deletion'
    | 'finalizer'
    | 'nodeGroup'
    | 'windowsIpam'
    | 'accessEntry'
    | 'tags'
    | 'scalingTags'
    | 'formerRuntimeClass'
    | 'runtimeClass'
    | 'release'
    | 'nodes'
    | 'taints'
    | 'nodeConditions'
    | 'terminatingNodes'
    | 'annotations';
  readonly rules: readonly Rule[];
}

/** The steps that the chains give. Exported so that a test can take rules away. */
export function stepsOf(chains: readonly RuleChain[], s: ObservedState): Step[] {
  return chains.flatMap(({ rules }) => {
    for (const rule of rules) {
      const steps = rule(s);
      if (steps) return steps;
    }
    return [];
  });
}
