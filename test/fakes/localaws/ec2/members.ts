/** Instances of node groups that have no kubelet: a benchmark with thousands of nodes writes their Nodes itself. */
import type { InstanceRecord } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { setDesired, sizesOf } from './autoScaling.ts';
import { newInstance } from './instances.ts';
import { launchConfigOf } from './launchConfig.ts';

/** Such an instance. */
export interface Member extends Pick<InstanceRecord, 'id' | 'nodeName' | 'privateIp'> {
  readonly group: string;
}

/** The Auto Scaling group grows by a running instance. */
export function addMember(cloud: LocalAwsState, { group: name, ...identity }: Member): void {
  const group = cloud.group(name);
  const [type = ''] = launchConfigOf(cloud, group).instanceTypes;
  const [subnet] = cloud.subnets;
  if (subnet === undefined) throw new RangeError('the cluster has no subnet');
  const instance = newInstance(cloud, group, { type, subnet }, identity);
  cloud.instances.set(identity.id, { ...instance, state: 'running', joined: true });
  setDesired(group, sizesOf(group).desired + 1);
}

/** The Auto Scaling group shrinks by the instance. */
export function removeMember(cloud: LocalAwsState, { group: name, id }: Pick<Member, 'group' | 'id'>): void {
  const group = cloud.group(name);
  if (cloud.instances.delete(id)) setDesired(group, sizesOf(group).desired - 1);
}
