/** What the chains of rules decide for a pool, and why. Types only. */
import type { Reason } from '../api/reasons.ts';
import type { Step } from './steps.ts';

/** The subjects that have a chain of rules. */
export type Chain =
  | 'deletion'
  | 'finalizer'
  | 'launchTemplate'
  | 'nodeGroup'
  | 'nodeClass'
  | 'nodePool'
  | 'machineSet'
  | 'machines'
  | 'rollout'
  | 'marks'
  | 'replacement'
  | 'version'
  | 'config'
  | 'secondNodeGroup'
  | 'windowsIpam'
  | 'accessEntry'
  | 'tags'
  | 'scalingTags'
  | 'prerequisites'
  | 'policy'
  | 'formerRuntimeClass'
  | 'runtimeClass'
  | 'release'
  | 'nodes'
  | 'taints'
  | 'nodeConditions'
  | 'machineConditions'
  | 'nodePods'
  | 'terminatingNodes'
  | 'annotations';

/**
 * What ends a wait:
 * - `time`: a known time passes
 * - `read`: the next read of AWS
 * - `watch`: a change of an object in the cluster, including the spec
 * - `pools`: another pool, or the end of an update of this one: both release a share of the disruption budget
 */
export type WaitsOn = 'time' | 'read' | 'watch' | 'pools';

/** Why a chain of rules takes no step, or no further step, although something is due. */
export interface Wait {
  readonly reason: Reason;
  /** What it waits for, and what ends the wait sooner, in sentences. Absent if a condition describes that from the observed state. */
  readonly message?: string;
  readonly on: WaitsOn;
  /** When the wait ends at the latest, in epoch milliseconds, if that is known. A wait on `time` causes a run then. */
  readonly until?: number;
  /** Whether AWS, the operator or a node works on it. */
  readonly progress?: true;
}

/** What a policy in the spec leaves as it is, although something is due. */
export interface Rest {
  readonly reason: Reason;
  /** What is due, and how to get it, in sentences. Absent if a condition describes that from the observed state. */
  readonly message?: string;
}

/** What a rule decides: the steps to take now, what the rest of the chain waits for, and what is left as it is. */
export interface RuleResult {
  readonly steps: readonly Step[];
  readonly wait?: Wait;
  readonly rest?: Rest;
  /** What single objects wait for, in a chain that is about many, by UID. */
  readonly waits?: ReadonlyMap<string, Wait>;
  /** Whether the chain that follows this one is evaluated as well. */
  readonly continues?: true;
}

/** A step that is due and not taken in this run, and why. */
export interface HeldStep {
  readonly step: Step;
  readonly heldBy: Reason;
}

/** The result of the rule that decided for a chain. A chain that is skipped, or has nothing to do, has none. */
export interface Decision extends Omit<RuleResult, 'waits'> {
  readonly about: Chain;
  /** The UID of the object, in a chain that is about many; absent for what the whole chain decides. */
  readonly subject?: string;
}
