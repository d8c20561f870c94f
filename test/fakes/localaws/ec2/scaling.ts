/** How the Auto Scaling group of a node group follows its desired capacity. */
import type { GroupRecord, InstanceRecord } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { launch, livingInstances, terminate } from './instances.ts';
import { placeFor } from './placement.ts';
import { fillWarmPool, reusesInstances, startWarm, toWarmPool } from './warmPool.ts';

/** Launches or terminates instances until their number is the desired size of the group plus its growth, and the warm pool has its size. */
export function resize(cloud: LocalAwsState, group: GroupRecord): void {
  scaleTo(cloud, group, (group.nodegroup.scalingConfig?.desiredSize ?? 0) + group.growth);
  fillWarmPool(cloud, group);
}

/**
 * Starts, launches or terminates instances until there are that many: those of the warm pool come first. The kubelets follow. The reason of
 * failed launches is in the group's `launchIssue`.
 */
export function scaleTo(cloud: LocalAwsState, group: GroupRecord, desired: number): void {
  delete group.launchIssue;
  const living = livingInstances(cloud, group.name);
  for (let missing = desired - living.length; missing > 0; missing -= 1) {
    if (startWarm(cloud, group)) continue;
    const place = placeFor(cloud, group);
    if (!('subnet' in place)) {
      group.launchIssue = place;
      return;
    }
    launch(cloud, group, place);
  }
  for (let extra = living.length - desired; extra > 0; extra -= 1) {
    const victim = scaleInVictim(livingInstances(cloud, group.name));
    if (victim === undefined) return;
    if (reusesInstances(group)) toWarmPool(cloud, group, victim);
    else terminate(cloud, victim);
  }
}

/** The default termination policy of Auto Scaling: first the zone with the most instances, then the oldest instance in it. */
export function scaleInVictim(living: InstanceRecord[]): InstanceRecord | undefined {
  const inZone = (zone: string) => living.filter((instance) => instance.subnet.zone === zone).length;
  const most = Math.max(...living.map((instance) => inZone(instance.subnet.zone)));
  return living.find((instance) => inZone(instance.subnet.zone) === most);
}
