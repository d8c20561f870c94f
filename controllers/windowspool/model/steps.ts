/** The operator's actions as data: planned by plan.ts, carried out by act.ts, described in status.pendingSteps. */
import type { CanaryNodeGroup, FormerNodeGroup, LeavingNode, NodeGroupState } from '../api.gen.ts';
import type { ConfigChange, NewNodeGroup, NodeGroup, VersionChange } from '../ports/eks.ts';
import type { MachineTemplate, MachineVersion } from '../ports/machineTemplates.ts';
import type { DesiredNodePod, NodePod } from '../ports/nodePods.ts';
import type { NodeMarks, NodeRecord, NodeReport } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import type { Addon, ConfigMapOwner } from '../ports/prerequisites.ts';
import type { DesiredRuntimeClass, RuntimeClass } from '../ports/runtimeClasses.ts';
import type { Difference, ScalingTagChange, TagChange } from './changes.ts';
import type { DisruptionReservation, ReleaseFailure } from './disruption.ts';
import type { TaintChange } from './poolNodes.ts';

/** The kinds of steps, each with what it needs. Every step can be repeated. */
interface Steps {
  addFinalizer: NoDetails;
  removeFinalizer: NoDetails;
  /** Writes what must survive a crash to status before AWS is called. */
  remember: { memory: Memory };
  /** Takes a share of the disruption budget, and writes what must survive a crash with it. */
  reserveDisruption: {
    memory: Memory | ReservationMemory;
    /** Descriptions of what the reservation starts, where no other step has one: the nodes whose turn it is. */
    begins?: readonly string[];
  };
  /**
   * Records in status that the termination of these instances is about to be requested. A replica that finds the record waits before it requests the
   * termination again: the first request may still be on its way.
   */
  recordTerminations: { entries: readonly LeavingNode[] };
  /** Adopts a group that no pool owns, by setting the pool's tag and nothing else. */
  adoptNodeGroup: { group: NodeGroup; pool: string };
  /** Creates an access entry of type EC2_WINDOWS, without which nodes with the role lack permissions. */
  createAccessEntry: { role: string; token: string };
  /** Enables Windows IPAM for the whole cluster in the vpc-cni add-on, when that owns the setting. */
  updateAddon: { cluster: string; addon: Addon; token: string };
  /** Enables Windows IPAM for the whole cluster in ConfigMap kube-system/amazon-vpc-cni. */
  applyCniConfig: {
    seen: ConfigMapOwner | undefined;
    /** Which tool may revert it, and the remedy. */
    warning?: string;
  };
  /** Creates the launch template of a pool that sets its machine. */
  createLaunchTemplate: {
    template: Pick<MachineTemplate, 'name' | 'tags'> & Pick<MachineVersion, 'machine' | 'description'>;
    token: string;
  };
  /** Adds a version to it. */
  createLaunchTemplateVersion: {
    template: TemplateRef;
    /** Its expected number. */
    version: string;
    written: Pick<MachineVersion, 'machine' | 'description'>;
    /** A description of what differs from the version of the group. */
    change: string;
    token: string;
  };
  deleteLaunchTemplateVersions: { template: TemplateRef; versions: readonly string[] };
  deleteLaunchTemplate: { template: TemplateRef; why: string };
  createNodeGroup: { desired: NewNodeGroup; token: string };
  /** Makes another group the one that the spec describes. Writes only status. */
  switchNodeGroup: {
    memory: Memory;
    text: string;
    /** The group stays the same, and only the record of the former one is restored. */
    keepsMain?: true;
  };
  /** Records that the group that the spec describes serves the pool, before the former one is changed. Writes only status. */
  beginDraining: { memory: Memory; text: string };
  /** Records the canary before it is created, or again when its record was lost. Writes only status. */
  beginCanary: { memory: Memory; text: string };
  createCanary: { desired: NewNodeGroup; token: string };
  /** Records that the canary has ended, before it is drained. Writes only status. */
  endCanary: { memory: Memory; text: string };
  /** Lets the former group, or the canary, shrink to zero. */
  shrinkFormerGroup: { group: string; change: Pick<ConfigChange, 'scaling' | 'warmPool'>; token: string };
  /** Deletes the former group, or the canary. One that was drained must have no node, by an uncached read. */
  deleteFormerGroup: { group: string; why: string; isDrained: boolean };
  updateConfig: {
    group: string;
    /** How many nodes EKS terminates, when the update shrinks the group. */
    ends?: number;
    change: ConfigChange;
    token: string;
    target: string;
    drift?: Drift;
    retain?: Retaining;
  };
  /** A rolling update to another Kubernetes version or AMI release. */
  updateNodeGroupVersion: {
    group: string;
    change: VersionChange;
    token: string;
    target: string;
    drift?: Drift;
    /** The release fails verification in another pool, but the spec asks for it. */
    doubt?: ReleaseFailure;
  };
  correctTags: {
    group: NodeGroup;
    change: TagChange;
    drift?: Drift;
    retain?: Retaining;
  };
  /** Sets tags on the scaling group that tell the cluster-autoscaler what a new node looks like. */
  correctScalingTags: { change: ScalingTagChange; retain?: Retaining };
  deleteNodeGroup: { group: string; why: string };
  createRuntimeClass: { desired: DesiredRuntimeClass };
  applyRuntimeClass: {
    desired: DesiredRuntimeClass;
    seen: RuntimeClass;
    /** Whether the content is written too, and not only the owner reference. */
    differs: boolean;
    /** Whether the pool becomes one of its owners. */
    lacksOwner: boolean;
  };
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
  /** Reports that a node of a former group could not be drained. It stays cordoned. Writes nothing to the node. */
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

type TemplateRef = Pick<MachineTemplate, 'id' | 'name'>;

/** A step without details. */
type NoDetails = Readonly<Record<never, never>>;

/** One action: a kind, and what it needs. */
export type Step = { [K in keyof Steps]: { readonly kind: K } & Readonly<Steps[K]> }[keyof Steps];

/** A step about one node. It does not wait for steps about other nodes. */
export type NodeStep = Extract<Step, { readonly node: NodeRecord }>;

/** Differences that the step corrects although the spec did not change. */
export type Drift = readonly Difference[];

/**
 * The step removes the operator's marks from a group that outlives its pool. Marks that AWS permanently refuses to remove stay, so that Retain never
 * blocks the deletion of a pool.
 */
export type Retaining = true;

/** What status records because it cannot be observed anywhere else. */
export interface Memory {
  readonly cluster: { readonly name: string; readonly arn: string };
  readonly nodeGroupName: string;
  /** For a group that the pool does not have yet: everything that it has or will have. */
  readonly initial?: { readonly applied: readonly string[]; readonly desired: number | undefined };
  /** The fields that the update to be sent changes. */
  readonly sending?: readonly string[];
  /** The former group, with a change. */
  readonly former?: FormerNodeGroup;
  /** Another group becomes the one that the spec describes: nothing that status has of the present one is kept, except this. */
  readonly switched?: { readonly former?: FormerNodeGroup | undefined; readonly canary?: CanaryNodeGroup };
  /** The canary, with a change. */
  readonly canary?: CanaryNodeGroup;
  /** The failure of the version that the canary tried. */
  readonly failed?: NonNullable<NodeGroupState['failedTarget']>;
  /** The share of the disruption budget that is about to be used. */
  readonly reservation?: DisruptionReservation;
  /** The name of the launch template that is about to be created: it is deleted with the pool. */
  readonly machineTemplate?: string;
  /** The short keys of all operator tags that a scaling group will have. */
  readonly scalingTags?: readonly string[];
}

/** What the status of a pool of existing nodes records: nothing of it is in AWS. */
export interface ReservationMemory {
  readonly reservation: DisruptionReservation;
}

/** The step that evicts pods from one node. */
export type EvictPods = Extract<Step, { kind: 'evictPods' }>;
