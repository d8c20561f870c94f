/** The interface between the domain and the sources of nodes. Each provider has a folder here. */

import type { WindowsPool, WindowsPoolStatus } from '../api/api.gen.ts';
import type { GaugeSample } from '../api/metricCatalogue.ts';
import type { Capacity } from '../model/capacity.ts';
import type { ConditionSet, ConditionState } from '../model/conditions.ts';
import type { Decision, HeldStep } from '../model/decisions.ts';
import type { ReleaseFailure } from '../model/disruption.ts';
import type { Derived, Due, Unchanged } from '../model/due.ts';
import type { ObservedState, Settings } from '../model/observedState.ts';
import type { Outcome, RunResult } from '../model/outcome.ts';
import type { Step } from '../model/steps.ts';
import type { Read, ReadCache, Snapshot } from '../observation/readCache.ts';
import type { Sources } from '../observation/sources.ts';
import type { CallError } from '../ports/callResult.ts';
import type { EventSinks } from '../ports/pools.ts';
import type { RuleChain } from '../rules/ruleChains.ts';

/** What a provider needs to observe a pool. */
export interface ObserveContext {
  readonly readCache: ReadCache;
  readonly sources: Sources;
  readonly settings: Settings;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
  /** Whether nothing is written after it, so that one answer about what changed outside the cluster is enough. */
  readonly isPreview?: true;
}

/** What a provider needs to take steps. */
export interface ActContext extends ObserveContext {
  /** The current time, in epoch milliseconds. */
  readonly clock: () => number;
}

/** A source of nodes: how its pools are observed, reconciled and reported. */
export interface Provider<S extends ObservedState = ObservedState, D extends Derived = Derived> {
  /** Reads the observed state of a pool. With `before`, nothing outside the cluster is read. */
  observe(pool: WindowsPool, before: Snapshot | undefined, context: ObserveContext): Promise<S>;
  /** What is kept of a read from outside the cluster until the next one; absent where nothing is read there. */
  snapshot?(s: S): Read;
  /** Whether cached state may be enough for a reconcile: nothing is then read outside the cluster unless a step needs it. */
  mayUseCache(pool: WindowsPool, snapshot: Snapshot | undefined): boolean;
  /** How many nodes there should be, and which may leave. */
  capacity(s: S): Capacity;
  /** What is due, from a complete observed state. */
  due(s: S): D['due'];
  /** Whether the observed state is incomplete, so that `observe` must run again without `before`. */
  needsRead(s: D): boolean;
  /** The rules of a pool, and those of a pool that is being deleted. */
  readonly chains: readonly RuleChain<D>[];
  readonly deletionChains: readonly RuleChain<D>[];
  /** Steps that the chains do not give yet, although something is due: those that follow the steps of this run, and those that a user must allow. */
  laterSteps(s: D, steps: readonly Step[]): readonly HeldStep[];
  /** The conditions of the pool, in the order of status. */
  conditions(result: RunResult<D>): ConditionSet;
  /** The part of status that only pools of this provider have. */
  status(
    result: RunResult<D>,
  ): Pick<
    WindowsPoolStatus,
    'nodeGroup' | 'karpenter' | 'machines' | 'existingNodes' | 'checks' | 'tracking' | 'disruption' | 'cluster'
  >;
  /** Milliseconds until external state must be read again. `statusAgeMs`: how long the node group has had its current status. */
  untilNextRead(s: D, statusAgeMs: number): number;
  /** Milliseconds until a run that no wait announces: this run made it necessary. Infinity, or absent, if there is none. */
  untilNextEvent?(s: D): number;
  /**
   * Takes the steps, alone where they change what other pools have read, and forgets what they made stale. Undefined: another pool was faster. Absent: the
   * steps are just taken.
   */
  takeSteps?(
    steps: readonly Step[],
    s: S,
    context: ActContext,
    take: () => Promise<Outcome<S>>,
  ): Promise<Outcome<S> | undefined>;
  /** What a preview shows of what is read from outside the cluster. */
  preview(s: D, decisions: readonly Decision[], conditions: ConditionSet): PreviewPart;
  /** The gauges that only pools of this provider have. */
  samples?(s: D, status: WindowsPoolStatus): GaugeSample[];
  /** Publishes the events that only pools of this provider have. Never fails. */
  publish?(outcome: Outcome<S>, sinks: EventSinks): void;
  /** Errors of calls outside the cluster that decide when they are repeated. */
  outsideErrors?(s: S): readonly CallError[];
  /** Whether an answer from outside the cluster is still to be confirmed: until then, what was decided before stays in status. */
  isUnconfirmed?(s: S): boolean;
  /** How many nodes there should be, as status shows it. */
  shownSize?(s: D): number | undefined;
  /** What another controller reports about a node, in sentences. */
  explainNode?(s: S, node: string): string | undefined;
  /** The names of the pool's node groups, first the one that the spec describes; empty where it has none. */
  nodeGroupNames(pool: WindowsPool): readonly string[];
  /** The releases that fail verification in the pool, as its status shows; absent where nodes have none. */
  releaseFailures?(pool: WindowsPool): readonly ReleaseFailure[];
  /** Which of the operator's marks remain although no call was denied, as the rest of a sentence; undefined when none do. */
  describeUnremovedMarks(outcome: Outcome<S>): string | undefined;
}

/** The part of a preview that depends on the provider. */
export interface PreviewPart {
  /** The condition about what the nodes come from. */
  readonly source: ConditionState;
  /** Whether that could be read, so that its conditions say what is true now. */
  readonly isObserved: boolean;
  /** Whether everything could be read on which the steps depend. */
  readonly isComplete: boolean;
  /** How it differs from the spec. */
  readonly differences: readonly string[];
  /** A condition that says what a change waits for. */
  readonly waiting?: ConditionState;
}

/** The observed state with what its provider says is due. A copy of it with changes must be derived again. */
export function withDue<S extends ObservedState, D extends Due>(s: S, due: D): S & Unchanged & { readonly due: D } {
  return { ...s, due } as S & Unchanged & { readonly due: D };
}
