/** Rules, and how a chain of them gives steps. Pure. */
import type { ObservedState } from './model/observedState.ts';
import type { Step } from './model/steps.ts';

/** Returns steps, [] for "wait", or undefined when it does not apply. */
export type Rule = (s: ObservedState) => readonly Step[] | undefined;

/** The rules for one subject: the first match wins. */
export interface RuleChain {
  readonly about:
    | 'deletion'
    | 'finalizer'
    | 'launchTemplate'
    | 'nodeGroup'
    | 'formerNodeGroup'
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
    | 'nodePods'
    | 'terminatingNodes'
    | 'annotations';
  readonly rules: readonly Rule[];
}

/** The steps that the chains give. Exported so that a test can remove rules. */
export function stepsOf(chains: readonly RuleChain[], s: ObservedState): Step[] {
  return chains.flatMap(({ rules }) => {
    for (const rule of rules) {
      const steps = rule(s);
      if (steps) return steps;
    }
    return [];
  });
}
