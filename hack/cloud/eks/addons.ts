import type { Addon, AddonStatus } from '@aws-sdk/client-eks';
import { notFound } from '../awsFault.ts';
import type { CloudState } from '../state.ts';

/** What an administrator can say of an add-on; what is not said stays. `configurationValues` is JSON as text, as EKS has it. */
export interface AddonChange {
  readonly name: string;
  readonly exists?: boolean;
  readonly status?: string;
  readonly addonVersion?: string;
  readonly configurationValues?: string;
}

/** DescribeAddon. */
export function describeAddon(cloud: CloudState, name: string | undefined): { readonly addon: Addon } {
  const addon = cloud.addons.get(name ?? '');
  // Seen, at UpdateAddon.
  if (addon === undefined) throw notFound(`No addon: ${name} found in cluster: ${cloud.cluster.name}`);
  return { addon };
}

/** Adds, changes or removes an add-on, at once. Throws RangeError for values that EKS would refuse. */
export function setAddon(
  cloud: CloudState,
  { name, exists = true, configurationValues, ...change }: AddonChange,
): void {
  if (!exists) {
    cloud.addons.delete(name);
    return;
  }
  if (configurationValues !== undefined) checkValues(configurationValues);
  const now = cloud.timeline.now();
  const addon = cloud.addons.get(name) ?? {
    addonName: name,
    clusterName: cloud.cluster.name,
    status: 'ACTIVE',
    addonVersion: 'v1.21.1-eksbuild.1',
    health: { issues: [] },
    addonArn: cloud.arn(`addon/${cloud.cluster.name}/${name}/${cloud.nextUuid()}`),
    createdAt: now,
    tags: {},
  };
  cloud.addons.set(name, {
    ...addon,
    ...(change.status === undefined ? {} : { status: change.status as AddonStatus }),
    ...(change.addonVersion === undefined ? {} : { addonVersion: change.addonVersion }),
    ...(configurationValues === undefined ? {} : { configurationValues }),
    modifiedAt: now,
  });
}

function checkValues(text: string): void {
  const wrong = new RangeError(`configurationValues is ${text}; give a JSON object as text, such as {"a":"b"}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong;
  // The add-on's schema has a string there, and EKS refuses anything else.
  if ('enableWindowsIpam' in value && typeof value.enableWindowsIpam !== 'string') {
    throw new RangeError('enableWindowsIpam is a string to EKS; give "true" or "false" with quotation marks');
  }
}
