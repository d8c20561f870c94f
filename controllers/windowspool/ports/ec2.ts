/** EC2: instances, and the scaling groups behind node groups. */
import type { CallResult } from './callResult.ts';

/** An EC2 instance of a node group's scaling group. */
export interface Instance {
  readonly id: string;
  readonly privateDnsName: string;
  /** Epoch milliseconds. */
  readonly launchedAt: number;
}

/** An instance about which somebody asks by its id. */
export interface KnownInstance {
  /** As EC2 names it: pending, running, shutting-down, terminated, stopping, stopped. */
  readonly state: string;
  /** The tag aws:autoscaling:groupName, which only EC2 Auto Scaling can write; undefined: it belongs to no scaling group. */
  readonly scalingGroup: string | undefined;
  /** The name of its node: EKS lets a kubelet in only under the name that EC2 has for its instance. Empty once it has ended. */
  readonly privateDnsName: string;
}

export interface Instances {
  /** One instance, whatever its state; undefined when EC2 knows none of this id, or no longer. */
  find(id: string, signal: AbortSignal): Promise<CallResult<KnownInstance | undefined>>;
  /** The pending and running instances of a scaling group, by its own list: those of its warm pool are no nodes, and left out. */
  ofScalingGroup(name: string, signal: AbortSignal): Promise<CallResult<readonly Instance[]>>;
}

/** The scaling groups of EC2 behind the node groups of the operator's one cluster. */
export interface ScalingGroups {
  /** The tags of all of them, by their names. */
  tags(signal: AbortSignal): Promise<CallResult<Readonly<Record<string, Readonly<Record<string, string>>>>>>;
  /** Tags of the group alone: instances do not get them. */
  setTags(group: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<CallResult<void>>;
  /** Removing a tag that is not there is done. */
  removeTags(group: string, keys: readonly string[], signal: AbortSignal): Promise<CallResult<void>>;
  /**
   * Where in its life a scaling group has an instance: `InService`, `Terminating:Wait`; undefined when the group has it not, or no longer.
   * https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-lifecycle.html
   */
  lifecycleOf(group: string, instance: string, signal: AbortSignal): Promise<CallResult<string | undefined>>;
  /** Ends an instance of a scaling group, which starts another one, or gets smaller by it (`shrink`). Two calls may shrink it by two. */
  terminateInstance(instance: string, shrink: boolean, signal: AbortSignal): Promise<CallResult<void>>;
}
