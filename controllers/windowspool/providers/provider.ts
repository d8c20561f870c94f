/** What a provider of nodes is: the one interface between the domain and where nodes come from. A folder beside this file for each. */

import type { WindowsPool, WindowsPoolStatus } from '../api.gen.ts';
import type { AwsCache, AwsSnapshot } from '../awsCache.ts';
import type { ConditionSet } from '../model/conditions.ts';
import type { ObservedState, Settings } from '../model/observedState.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Step } from '../model/steps.ts';
import type { RuleChain } from '../ruleChains.ts';
import type { Sources } from '../sources.ts';

/** What observing takes beside the pool. */
export interface ObserveContext {
  readonly awsCache: AwsCache;
  readonly sources: Sources;
  readonly settings: Settings;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

export interface Provider {
  /** Reads the observed state of a pool. With `before`, AWS is not asked. */
  observe(pool: WindowsPool, before: AwsSnapshot | undefined, context: ObserveContext): Promise<ObservedState>;
  /** Whether what is cached may be enough for a reconcile: then AWS is not asked before a step needs it. */
  mayUseCache(pool: WindowsPool, snapshot: AwsSnapshot | undefined): boolean;
  /** Whether more must be read than was. */
  needsRead(s: ObservedState): boolean;
  /** The rules of a pool, and those of one that is being deleted. */
  readonly chains: readonly RuleChain[];
  readonly deletionChains: readonly RuleChain[];
  /** Steps that are not done now although something differs, for status.pendingSteps. */
  pendingSteps(s: ObservedState, steps: readonly Step[]): readonly Step[];
  conditions(s: ObservedState): ConditionSet;
  /** The part of status that only pools of this provider have. */
  status(outcome: Outcome): Pick<WindowsPoolStatus, 'nodeGroup' | 'existingNodes'>;
  /** How long what was read from outside the cluster is good for, in milliseconds, given since when the group has had its status. */
  untilNextRead(s: ObservedState, statusAgeMs: number): number;
  /** Milliseconds until something turns by time alone, such as a maintenance window; infinity when nothing will. */
  untilNextEvent(s: ObservedState): number;
  /** The name of the pool's node group; undefined where it has none. */
  nodeGroupName(pool: WindowsPool): string | undefined;
  /** What stays of the operator's marks although no call was denied, as the rest of a sentence; undefined where nothing does. */
  describeUnremovedMarks(outcome: Outcome): string | undefined;
}
