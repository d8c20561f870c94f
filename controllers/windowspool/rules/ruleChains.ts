/** Rules, and how a chain of them decides. Pure. */
import type { Chain, Decision, Rest, RuleResult, Wait } from '../model/decisions.ts';
import type { Derived } from '../model/due.ts';
import type { Step } from '../model/steps.ts';

/** Returns what it decides, `[]` when the chain has nothing to do, or undefined when the rule does not apply. */
export type Rule<D extends Derived = Derived> = (s: D) => RuleResult | readonly Step[] | undefined;

/** The rules for one subject: the first that applies decides. */
export interface RuleChain<D extends Derived = Derived> {
  readonly about: Chain;
  /**
   * The chain before it. This chain is evaluated only if no rule of that one applies, or the rule that applies lets it continue. A chain that is skipped
   * also skips those that follow it.
   */
  readonly follows?: Chain;
  readonly rules: readonly Rule<D>[];
}

/** The result of a rule that takes no step until something else has happened. */
export function waitFor(reason: Wait['reason'], on: Wait['on'], more: Omit<Wait, 'reason' | 'on'> = {}): RuleResult {
  return { steps: [], wait: { reason, on, ...more } };
}

/** The same, for a rule whose chain does not delay the one that follows it. */
export function waitMeanwhile(...[reason, on, more]: Parameters<typeof waitFor>): RuleResult {
  return { ...waitFor(reason, on, more), continues: true };
}

/** The result of a rule for what is due, and what a policy in the spec leaves as it is. */
export function leave(reason: Rest['reason'], message: string): RuleResult {
  return { steps: [], rest: { reason, message } };
}

/** What the chains decide, in their order. A rule of several chains, such as a guard, is evaluated once. */
export function decide<D extends Derived>(chains: readonly RuleChain<D>[], s: D): Decision[] {
  const known = new Map<Rule<D>, RuleResult | undefined>();
  const evaluated = (rule: Rule<D>) => {
    if (!known.has(rule)) known.set(rule, normalized(rule(s)));
    return known.get(rule);
  };
  const ended = new Set<Chain>();
  return chains.flatMap(({ about, follows, rules }) => {
    if (follows && ended.has(follows)) {
      ended.add(about);
      return [];
    }
    for (const rule of rules) {
      const result = evaluated(rule);
      if (!result) continue;
      if (!result.continues) ended.add(about);
      const { waits = [], ...whole } = result;
      const single = [...waits].map(([subject, wait]) => ({ about, subject, steps: [], wait }));
      return result.wait || result.rest || result.steps.length > 0 ? [{ about, ...whole }, ...single] : single;
    }
    return [];
  });
}

function normalized(result: ReturnType<Rule>): RuleResult | undefined {
  return result && 'steps' in result ? result : result && { steps: result };
}

/** What a chain, or an object in it, waits for; undefined if it does not wait, or the chain was skipped. */
export function waitOf(decisions: readonly Decision[], chain: Chain, subject?: string): Wait | undefined {
  return decisions.find((decision) => decision.about === chain && decision.subject === subject)?.wait;
}

/** What a chain leaves as it is; undefined if there is nothing, or the chain was skipped. */
export function restOf(decisions: readonly Decision[], chain: Chain): Rest | undefined {
  return decisions.find(({ about }) => about === chain)?.rest;
}

/** Whether one of the decisions waits for another pool. */
export function waitsForOtherPools(decisions: readonly Decision[]): boolean {
  return decisions.some(({ wait }) => wait?.on === 'pools');
}

/** Whether one of them waits for a share of the disruption budget, and not only for a release that fails in another pool. */
export function waitsForBudget(decisions: readonly Decision[]): boolean {
  return decisions.some(({ wait }) => wait?.on === 'pools' && wait.reason !== 'ReleaseNotVerified');
}

/** The earliest time after `now` at which a wait on `time` ends, in epoch milliseconds; infinity when there is none. */
export function nextUntil(decisions: readonly Decision[], now: number): number {
  const times = decisions.flatMap(({ wait }) => (wait?.on === 'time' ? (wait.until ?? []) : []));
  return Math.min(Number.POSITIVE_INFINITY, ...times.filter((until) => until > now));
}

/** The steps that the chains give. */
export function stepsOf<D extends Derived>(chains: readonly RuleChain<D>[], s: D): Step[] {
  return decide(chains, s).flatMap(({ steps }) => steps);
}
