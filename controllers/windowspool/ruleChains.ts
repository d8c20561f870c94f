/** Rules, and how a chain of them decides. Pure. */
import type { Decision, Verdict, Wait } from './model/decisions.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Step } from './model/steps.ts';

/** Returns what it decides, `[]` when the chain has nothing to do, or undefined when the rule does not apply. */
export type Rule = (s: ObservedState) => Verdict | readonly Step[] | undefined;

/** The rules for one subject: the first that applies decides. */
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

/** The verdict of a rule that takes no step until something else has happened. */
export function waitFor(reason: Wait['reason'], on: Wait['on'], more: Omit<Wait, 'reason' | 'on'> = {}): Verdict {
  return { steps: [], wait: { reason, on, ...more } };
}

/** What the chains decide, in their order. A rule that stands in several chains, such as a guard, is evaluated once. */
export function decide(chains: readonly RuleChain[], s: ObservedState): Decision<RuleChain['about']>[] {
  const known = new Map<Rule, Verdict | undefined>();
  const verdictOf = (rule: Rule) => {
    if (!known.has(rule)) known.set(rule, normalized(rule(s)));
    return known.get(rule);
  };
  return chains.flatMap(({ about, rules }) => {
    for (const rule of rules) {
      const verdict = verdictOf(rule);
      if (verdict) return verdict.wait || verdict.steps.length > 0 ? { about, ...verdict } : [];
    }
    return [];
  });
}

function normalized(result: ReturnType<Rule>): Verdict | undefined {
  return result && 'steps' in result ? result : result && { steps: result };
}

/** The steps that the chains give. */
export function stepsOf(chains: readonly RuleChain[], s: ObservedState): Step[] {
  return decide(chains, s).flatMap(({ steps }) => steps);
}
