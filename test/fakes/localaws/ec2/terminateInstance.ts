import { durations } from '../durations.ts';
import { checkLaunches } from '../eks/groupStatus.ts';
import { cordon, drain, stopDrain } from '../nodes/nodeDrain.ts';
import type { GroupRecord, InstanceRecord } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { terminateUnderNode } from './instances.ts';
import { resize } from './scaling.ts';
import { toWarmPool } from './warmPool.ts';

/** Terminates an instance at once, whatever runs on it. Its Auto Scaling group launches another if it is below its desired capacity. */
export function terminateInstance(cloud: LocalAwsState, instance: InstanceRecord): void {
  terminateUnderNode(cloud, instance);
  const group = cloud.groups.get(instance.group);
  if (group !== undefined && group.autoScalingGroup === instance.autoScalingGroup) follow(cloud, group);
}

/**
 * An Auto Scaling group takes an instance out of service, and launches another one if its desired size requires it. EKS' lifecycle hook
 * (Terminate-LC-Hook) delays the termination of the old one: its node is cordoned and drained, and after 15 minutes it is terminated in any
 * case. Sources: the user
 * guide's "Simplify node lifecycle with managed node groups", and the lifecycle states of EC2 Auto Scaling's user guide.
 */
export function takeOutOfService(cloud: LocalAwsState, group: GroupRecord, instance: InstanceRecord): void {
  instance.terminating = 'Terminating:Wait';
  follow(cloud, group);
  const during = (seconds: number, run: () => void) =>
    cloud.timeline.after(seconds, () => {
      if (instance.state !== 'terminated') run();
    });
  const proceed = () => {
    stopDrain(instance);
    instance.terminating = 'Terminating:Proceed';
    during(durations.drained, () => {
      if (instance.returns === true) toWarmPool(cloud, group, instance);
      else terminateUnderNode(cloud, instance);
    });
  };
  const poll = (left: number): void => {
    if (instance.drained || left <= 0) proceed();
    else during(durations.look, () => poll(left - 1));
  };
  during(durations.hook, () => {
    cordon(cloud, instance, true);
    drain(cloud, instance);
    poll(Math.round(durations.drain / durations.look));
  });
}

/** Scales an Auto Scaling group to its desired capacity, unless it is being deleted. */
export function follow(cloud: LocalAwsState, group: GroupRecord): void {
  if (group.nodegroup.status === 'DELETING') return;
  resize(cloud, group);
  checkLaunches(cloud, group);
}
