/** EC2: instances, and the scaling groups behind node groups. */
import type { CallResult } from './callResult.ts';

/** An EC2 instance of a node group's scaling group. */
export interface Instance {
  readonly id: string;
  readonly privateDnsName: string;
  /** When it was last launched or started, in epoch milliseconds. */
  readonly launchedAt: number;
}

/** An EC2 instance that is looked up by its ID. */
export interface KnownInstance {
  /** The EC2 state: pending, running, shutting-down, terminated, stopping, stopped. */
  readonly state: string;
  /** The tag aws:autoscaling:groupName, which only EC2 Auto Scaling can set; undefined: the instance belongs to no scaling group. */
  readonly scalingGroup: string | undefined;
  /** The name of its node: EKS admits a kubelet only under the name that EC2 has for its instance. Empty once terminated. */
  readonly privateDnsName: string;
}

/** Reads EC2 instances. */
export interface Instances {
  /** One instance in any state; undefined when EC2 does not know the ID, or no longer. */
  find(id: string, signal: AbortSignal): Promise<CallResult<KnownInstance | undefined>>;
  /** The pending and running instances of a scaling group, without those of its warm pool, which are not nodes. */
  ofScalingGroup(name: string, signal: AbortSignal): Promise<CallResult<readonly Instance[]>>;
}

/** A scaling group as EC2 Auto Scaling lists it. */
export interface ScalingGroup {
  readonly tags: Readonly<Record<string, string>>;
  /** The IDs of its instances, including terminating ones, without those of its warm pool, which are not nodes. */
  readonly instances: readonly string[];
  /** The versions of launch templates that it and its instances use, with the ID of the template: `lt-1 3`. */
  readonly templateVersions: readonly string[];
  /** How many instances its warm pool has, whatever their state. */
  readonly warmInstances: number;
}

/** The EC2 scaling groups behind the node groups of the operator's cluster. */
export interface ScalingGroups {
  /** All scaling groups, by name. */
  list(signal: AbortSignal): Promise<CallResult<Readonly<Record<string, ScalingGroup>>>>;
  /** Sets tags on the scaling group only: instances do not inherit them. */
  setTags(group: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<CallResult<void>>;
  /** Succeeds for tags that do not exist. */
  removeTags(group: string, keys: readonly string[], signal: AbortSignal): Promise<CallResult<void>>;
  /**
   * The lifecycle state of an instance in a scaling group: `InService`, `Terminating:Wait`; undefined when it is not in the group.
   * https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-lifecycle.html
   */
  lifecycleOf(group: string, instance: string, signal: AbortSignal): Promise<CallResult<string | undefined>>;
  /**
   * Terminates an instance of a scaling group, which then launches another, or shrinks by one (`shrink`). Not idempotent: two calls may shrink it by
   * two.
   */
  terminateInstance(instance: string, shrink: boolean, signal: AbortSignal): Promise<CallResult<void>>;
}
