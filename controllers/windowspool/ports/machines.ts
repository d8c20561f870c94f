/** Machines of Cluster API and of OpenShift, and the objects that keep a number of them. Texts of other controllers are cut and cleaned. */
import type { MachineSetReference, NodeSelector } from '../api/api.gen.ts';
import type { CallError, CallResult } from './callResult.ts';
import type { NodeCondition } from './nodes.ts';

/** A MachineDeployment, a MachineSet or a MachinePool. */
export interface MachineSet {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  /** The desired number of Machines. */
  readonly replicas: number;
  /** How many Machines are made from an earlier template, as far as that is known. */
  readonly outdated: number;
  /** Whether its controller is replacing them. */
  readonly isRollingOut: boolean;
  /** Whether its controller leaves it to others to delete outdated Machines (strategy OnDelete). */
  readonly isOnDelete: boolean;
  /** Whether its controller has seen its last change. */
  readonly isObserved: boolean;
  /** Why its controller does nothing, as the rest of a sentence; empty if it works. */
  readonly pausedBy: string;
  /** What sets the number of Machines, such as `an autoscaler`; empty: users do. */
  readonly sizedBy: string;
  /** The pool that may change its size and delete its Machines; empty: none. */
  readonly usableBy: string;
  /** The pool for which the operator created it; empty: another tool did. */
  readonly createdFor: string;
  /** The hash of the machines.template that was applied last; empty: none was. */
  readonly templateHash: string;
  /** The Cluster of its Machines; empty for OpenShift. */
  readonly clusterName: string;
  /** `AzureMachineTemplate/windows-1`, from which its controller makes the infrastructure of new Machines; empty for OpenShift. */
  readonly infrastructureTemplate: string;
  /** What its controller reports as wrong; otherwise empty. */
  readonly problem: string;
  /** The UID of the object that controls it; empty if there is none. */
  readonly controllerUid: string;
  /** What its provider has created. Only a MachinePool has it. */
  readonly instances?: Instances;
}

/** The instances of a MachinePool. Its provider may or may not create Machines for them. */
export interface Instances {
  readonly providerIDs: readonly string[];
  /** The names of their nodes. Which node has which provider ID is not known. */
  readonly nodes: readonly string[];
  /** Since when it has had fewer nodes than it should, in epoch milliseconds; undefined while it has all. */
  readonly incompleteSince: number | undefined;
}

/** A Machine. */
export interface Machine {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly deleting: boolean;
  /** The name of its node; empty until it has one. */
  readonly node: string;
  /** As in the spec of its node; empty until the infrastructure exists. */
  readonly providerID: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether it is made from an earlier template, as its controller reports: a MachineSet of its own does not know. */
  readonly isOutdated: boolean;
  /** Whether its controller has given it up. */
  readonly hasFailed: boolean;
  /** What its controller reports as wrong; otherwise empty. */
  readonly problem: string;
  /** Whether it is Ready only while it has the condition winpool.dev/Verified (spec.readinessGates). */
  readonly hasReadinessGate: boolean;
  /** The status of that condition; empty if it has none. */
  readonly verified: string;
  /** The UID of the MachineSet that controls it; empty if there is none. */
  readonly controllerUid: string;
  /** The size for which the operator marked it as the first to go; undefined: it did not. */
  readonly goesAtSize: number | undefined;
  /** Who told its controller not to drain it. */
  readonly drainExcludedBy: 'nobody' | 'operator' | 'user';
}

/** A MachineHealthCheck, which replaces Machines. */
export interface HealthCheck {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly selector: NodeSelector;
  /** How long a new Machine may have no node before it is replaced, in milliseconds; undefined: as long as it takes. */
  readonly startupTimeoutMs: number | undefined;
}

/**
 * What the pool's object has.
 * - `unknown`: it was not read yet, or reading it failed with `error`.
 */
export type MachinesView =
  | { readonly kind: 'unknown'; readonly error?: CallError }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'seen';
      readonly set: MachineSet;
      readonly machines: readonly Machine[];
      /** How many objects create Machines from a template: the MachineSets of a MachineDeployment, or the object. */
      readonly sets: number;
      /** Those that select one of the Machines. Absent: none, or they cannot be read. */
      readonly healthChecks?: readonly HealthCheck[];
    };

/**
 * The provider IDs that each node may have to which the pool's Machines or NodeClaims refer, by the node's name: that of its Machine, or those of all instances of a
 * MachinePool without Machines. The same object for the same content.
 */
export type MachineNodes = ReadonlyMap<string, ReadonlySet<string>>;

/** The Machines of pools. */
export interface MachineSets {
  /** From the cache. */
  of(pool: string): MachinesView;
  /** The object and its Machines, uncached; undefined if the object does not exist. */
  read(
    ref: MachineSetReference,
    signal: AbortSignal,
  ): Promise<CallResult<Omit<Extract<MachinesView, { kind: 'seen' }>, 'kind'> | undefined>>;
  /** Sets the number of Machines. Error `conflict` if the object has changed since it was seen. */
  scale(ref: MachineSetReference, seen: MachineSet, replicas: number, signal: AbortSignal): Promise<CallResult<void>>;
  /** Marks a Machine as the one that goes when the number is lowered to `size`, and as one that its controller does not drain. */
  markForDeletion(
    ref: MachineSetReference,
    machine: Machine,
    size: number,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
  /** Removes the marks of the operator. Those of users stay. */
  unmark(ref: MachineSetReference, machine: Machine, signal: AbortSignal): Promise<CallResult<void>>;
  /** Writes the condition winpool.dev/Verified of a Machine. */
  report(
    ref: MachineSetReference,
    machine: Machine,
    condition: NodeCondition,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
  /** Deletes a Machine after marking it as one that its controller does not drain. If that fails, the mark stays. Success if it is gone. */
  delete(ref: MachineSetReference, machine: Machine, signal: AbortSignal): Promise<CallResult<void>>;
}
