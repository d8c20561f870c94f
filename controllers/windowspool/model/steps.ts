/** The operator's actions as data: planned by plan.ts, carried out by act.ts, described in status.pendingSteps. */
import type { LeavingNode } from '../api/api.gen.ts';
import type { DesiredNodePod, NodePod } from '../ports/nodePods.ts';
import type { NodeMarks, NodeRecord, NodeReport } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import type { DesiredRuntimeClass, RuntimeClass } from '../ports/runtimeClasses.ts';
import type { RetiringCapacity } from './capacity.ts';
import type { DisruptionReservation } from './disruption.ts';
import type { TaintChange } from './poolNodesView.ts';

/** The kinds of steps, each with what it needs. Every step can be repeated. A provider adds its own kinds. */
export interface Steps {
  addFinalizer: NoDetails;
  removeFinalizer: NoDetails;
  /** Takes a share of the disruption budget for nodes that are removed one by one. */
  reserveDisruption: {
    reservation: DisruptionReservation;
    /** Descriptions of what the reservation starts: the nodes whose turn it is. */
    begins: readonly string[];
  };
  /**
   * Records in status that the termination of these instances is about to be requested. A replica that finds the record waits before it requests the
   * termination again: the first request may still be on its way.
   */
  recordTerminations: { entries: readonly LeavingNode[] };
  createRuntimeClass: { desired: DesiredRuntimeClass };
  /** Corrects the content of a RuntimeClass. */
  applyRuntimeClass: { desired: DesiredRuntimeClass; seen: RuntimeClass };
  /** Makes the pool an owner of the RuntimeClass. */
  shareRuntimeClass: { seen: RuntimeClass };
  releaseRuntimeClass: { seen: RuntimeClass };
  deleteRuntimeClass: { seen: RuntimeClass };
  labelNode: { node: NodeRecord; build: string };
  /** Sets the pool's labels and taints on a node of existingNodes, and records the previous values. */
  markNode: { node: NodeRecord; change: NodeMarks };
  /** Restores the labels and taints that a node had before it joined the pool. */
  releaseNode: { node: NodeRecord; change: NodeMarks; retain?: Retaining };
  /** Sets or removes the operator's taints on a node. */
  taintNode: { node: NodeRecord; change: TaintChange; retain?: Retaining };
  /** Cordons a node before it is drained. */
  cordonNode: {
    node: NodeRecord;
    /** What must be true of its instance; absent when that was just read. */
    check?: { readonly instanceID: string; readonly scalingGroups: readonly string[] };
  };
  /** Reports that a node of a second group could not be drained. It stays cordoned. Writes nothing to the node. */
  giveUpNode: { node: NodeRecord; entry: LeavingNode; why: string };
  /** Requests the eviction of pods, once each. */
  evictPods: {
    node: NodeRecord;
    evictions: readonly { readonly pod: DrainPod; readonly gracePeriodSeconds: number }[];
  };
  /** Terminates the instance of a node after a last check of all conditions. */
  terminateInstance: {
    node: NodeRecord;
    entry: LeavingNode;
    scalingGroups: readonly string[];
    /** The node's UID: a refusal is remembered with it. */
    target: string;
    /** How many pods terminate with a node that is not drained. */
    withPods?: number;
    /** The group that the pool no longer needs. */
    retiring?: Pick<RetiringCapacity, 'group'>;
  };
  /** Terminates an instance that never became a node, after a last check of all conditions. */
  terminateUnregistered: {
    entry: LeavingNode;
    scalingGroups: readonly string[];
    /** The instance ID: a refusal is remembered with it. */
    target: string;
  };
  /** Reports that a node of existingNodes is drained and the operator is done with it. Writes nothing to the node. */
  reportDrained: { node: NodeRecord; entry: LeavingNode; text: string };
  /** Keeps a node: removes the operator's cordon, and writes the reason to its annotation unless the annotation was removed. */
  uncordonNode: {
    node: NodeRecord;
    answer?: { readonly key: string; readonly value: string; readonly why?: string };
    retain?: Retaining;
  };
  /** Writes the verification result of a node to its conditions, or removes them. */
  setNodeCondition: {
    node: NodeRecord;
    report: NodeReport;
    retain?: Retaining;
  };
  /** Runs a pod on a node. */
  createNodePod: { node: NodeRecord; pod: DesiredNodePod };
  /** Deletes a pod on a node that has done its work, or that nothing needs. */
  deleteNodePod: {
    pod: NodePod;
    /** Why the container of an image that was pulled did not start. */
    startError?: string;
    retain?: Retaining;
  };
}

/** A step without details. */
type NoDetails = Readonly<Record<never, never>>;

/** One action: a kind, and what it needs. */
export type Step = { [K in keyof Steps]: { readonly kind: K } & Readonly<Steps[K]> }[keyof Steps];

/** A step about one node. It does not wait for steps about other nodes. */
export type NodeStep = Extract<Step, { readonly node: NodeRecord }>;

/**
 * The step removes the operator's marks from a group that outlives its pool. Marks that AWS permanently refuses to remove stay, so that Retain never
 * blocks the deletion of a pool.
 */
export type Retaining = true;

/** The step that evicts pods from one node. */
export type EvictPods = Extract<Step, { kind: 'evictPods' }>;
