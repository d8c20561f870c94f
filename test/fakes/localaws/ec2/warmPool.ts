/*
 * The warm pool of a node group's Auto Scaling group:
 *
 *   launch -> Warmed:Pending -> Warmed:Stopped | Warmed:Running | Warmed:Hibernated -> (scale-out) Pending -> InService
 *   InService -> (scale-in, with reuseOnScaleIn) Warmed:Pending -> ...
 *
 * Sources: "Use warm pools with managed node groups" in the user guide of EKS, "Warm pools" and "Use lifecycle hooks with a warm pool" in that of EC2
 * Auto Scaling, and the comments on PutWarmPool in its service model.
 */
import type { WarmPoolConfiguration, WarmPoolState } from '@aws-sdk/client-auto-scaling';
import type { WarmPoolConfig } from '@aws-sdk/client-eks';
import { durations } from '../durations.ts';
import type { GroupRecord, InstanceRecord } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { addInstance, boot, join, runningInstances, terminate, warmInstances } from './instances.ts';
import { placeFor } from './placement.ts';

/** The configuration of the warm pool of a group: that of another client of Auto Scaling before that of EKS. */
function configOf({ warmPool, nodegroup: { warmPoolConfig } }: GroupRecord): WarmPoolConfig | undefined {
  return warmPool ?? (warmPoolConfig?.enabled === true ? warmPoolConfig : undefined);
}

/** Whether instances return to the warm pool when the group is scaled in. */
export const reusesInstances = (group: GroupRecord): boolean => configOf(group)?.reuseOnScaleIn === true;

/** The state that instances in the warm pool of a group are kept in, as Auto Scaling spells it: EKS has it in capitals. */
function poolStateOf(config: WarmPoolConfig): WarmPoolState {
  const state = config.poolState?.toUpperCase();
  return state === 'RUNNING' ? 'Running' : state === 'HIBERNATED' ? 'Hibernated' : 'Stopped';
}

/** How many instances the warm pool has: what its capacity leaves beside the desired size, and at least its minimum. */
function sizeOf(group: GroupRecord): number {
  const config = configOf(group);
  if (config === undefined) return 0;
  const { desiredSize = 0, maxSize = 0 } = group.nodegroup.scalingConfig ?? {};
  const { maxGroupPreparedCapacity: most = -1 } = config;
  const prepared = most < 0 ? maxSize + group.growth : most;
  return Math.max(config.minSize ?? 0, prepared - desiredSize - group.growth);
}

/** Launches or terminates instances until the warm pool has its size. EKS is not known to report that there is no room for one. */
export function fillWarmPool(cloud: LocalAwsState, group: GroupRecord): void {
  const returning = runningInstances(cloud, group.name).filter(({ returns }) => returns === true).length;
  const warm = warmInstances(cloud, group.name);
  const size = sizeOf(group) - returning;
  for (const instance of warm.slice(Math.max(0, size))) terminate(cloud, instance);
  for (let missing = size - warm.length; missing > 0; missing -= 1) {
    const place = placeFor(cloud, group);
    if (!('subnet' in place)) return;
    prepare(cloud, group, addInstance(cloud, group, place));
  }
}

/** Terminates the instances of the warm pool. */
export function emptyWarmPool(cloud: LocalAwsState, group: GroupRecord): void {
  for (const instance of warmInstances(cloud, group.name)) terminate(cloud, instance);
}

/** The instances of the warm pool were launched with other settings: they are replaced or kept, depending on the switch. */
export function settingsChanged(cloud: LocalAwsState, group: GroupRecord): void {
  if (cloud.switches.outdatedWarmInstances === 'kept') return;
  emptyWarmPool(cloud, group);
  fillWarmPool(cloud, group);
}

// The first boot, which takes as long as for a node, and then the state of the pool.
function prepare(cloud: LocalAwsState, group: GroupRecord, instance: InstanceRecord): void {
  instance.warm = 'Pending';
  const { starts } = instance;
  cloud.timeline.after(durations.boot, () => {
    if (instance.state !== 'pending' || instance.starts !== starts) return;
    instance.state = 'running';
    if (cloud.switches.nodesOfWarmInstances === 'registered') join(cloud, group, instance);
    rest(cloud, group, instance);
  });
}

function rest(cloud: LocalAwsState, group: GroupRecord, instance: InstanceRecord): void {
  const state = poolStateOf(configOf(group) ?? {});
  if (state === 'Running') {
    instance.warm = state;
    return;
  }
  const { starts } = instance;
  cloud.timeline.after(durations.stop, () => {
    if (instance.state !== 'running' || instance.starts !== starts) return;
    instance.state = 'stopped';
    instance.warm = state;
    if (instance.joined) cloud.emit({ kind: 'lost', instance });
  });
}

/** Moves an instance of the warm pool into service. Returns false if none is ready. */
export function startWarm(cloud: LocalAwsState, group: GroupRecord): boolean {
  const instance = warmInstances(cloud, group.name).find(({ warm }) => warm !== 'Pending');
  if (instance?.warm === undefined || instance.warm === 'Pending') return false;
  const seconds = durations[`start${instance.warm}`];
  delete instance.warm;
  // EC2: the time of the launch is that of the last start.
  if (instance.state === 'stopped') instance.launchedAt = cloud.timeline.now();
  boot(cloud, group, instance, seconds);
  return true;
}

/** Returns an instance from service to the warm pool, or terminates it if the warm pool has its size. */
export function toWarmPool(cloud: LocalAwsState, group: GroupRecord, instance: InstanceRecord): void {
  delete instance.terminating;
  delete instance.returns;
  if (warmInstances(cloud, group.name).length >= sizeOf(group)) {
    terminate(cloud, instance);
    return;
  }
  instance.starts += 1;
  instance.warm = 'Pending';
  instance.drained = false;
  if (instance.joined && cloud.switches.nodesOfReusedInstances === 'deleted') {
    cloud.emit({ kind: 'leave', instance });
    instance.joined = false;
  }
  rest(cloud, group, instance);
}

/** The warm pool as DescribeAutoScalingGroups reports it; nothing if there is none. */
export function describeWarmPool(
  cloud: LocalAwsState,
  group: GroupRecord,
): { readonly WarmPoolConfiguration?: WarmPoolConfiguration; readonly WarmPoolSize?: number } {
  const config = configOf(group);
  if (config === undefined) return {};
  return {
    WarmPoolConfiguration: {
      ...(config.maxGroupPreparedCapacity !== undefined && {
        MaxGroupPreparedCapacity: config.maxGroupPreparedCapacity,
      }),
      MinSize: config.minSize ?? 0,
      PoolState: poolStateOf(config),
      InstanceReusePolicy: { ReuseOnScaleIn: config.reuseOnScaleIn ?? false },
    },
    WarmPoolSize: warmInstances(cloud, group.name).length,
  };
}
