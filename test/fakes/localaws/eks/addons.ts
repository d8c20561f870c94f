import type { Addon, AddonIssue, AddonStatus, Update, UpdateAddonRequest } from '@aws-sdk/client-eks';
import { parseDocument } from 'yaml';
import { inUse, invalidParameter, notFound } from '../awsFault.ts';
import { durations } from '../durations.ts';
import type { LocalAwsState } from '../state.ts';
import { once } from './idempotency.ts';
import { openUpdate } from './updates.ts';

/** An administrator's change of an add-on; omitted fields are not changed. `configurationValues` is JSON or YAML as text, as in EKS. */
export interface AddonChange extends Pick<Addon, 'addonVersion' | 'configurationValues' | 'serviceAccountRoleArn'> {
  readonly name: string;
  readonly exists?: boolean;
  readonly status?: string;
}

/** The settings of the vpc-cni add-on for Windows, which are strings in its schema: charts/aws-vpc-cni of aws/amazon-vpc-cni-k8s. */
const textSettings = ['enableWindowsIpam', 'enableWindowsPrefixDelegation'];

/** DescribeAddon. */
export function describeAddon(cloud: LocalAwsState, name: string | undefined): { readonly addon: Addon } {
  return { addon: addonOf(cloud, name) };
}

/** UpdateAddon: checks, then an update that is InProgress. The add-on gets its new configuration when that succeeds. */
export function updateAddon(cloud: LocalAwsState, request: UpdateAddonRequest): { update: Update } {
  const { addonName = '' } = request;
  const addon = addonOf(cloud, addonName);
  return once(cloud, request, { operation: 'UpdateAddon', group: `addon ${addonName}` }, () => {
    const { configurationValues } = request;
    const fault = configurationValues === undefined ? undefined : faultIn(configurationValues);
    if (fault !== undefined)
      throw invalidParameter(`ConfigurationValue provided in request is not supported: ${fault}`);
    if (['CREATING', 'UPDATING', 'DELETING'].includes(addon.status ?? ''))
      throw inUse(`Addon ${addonName} cannot be updated as it is currently in ${addon.status} state`);
    const update = openUpdate(cloud, { addon: addonName }, 'AddonUpdate', paramsOf(request));
    change(cloud, addonName, { status: 'UPDATING', health: { issues: [] } });
    cloud.timeline.after(durations.addonUpdate, () => finish(cloud, request, update));
    return { update: structuredClone(update) };
  });
}

/** Adds, changes or removes an add-on, at once. Throws RangeError for values that EKS would reject. */
export function setAddon(cloud: LocalAwsState, { name, exists = true, ...given }: AddonChange): void {
  if (!exists) {
    cloud.addons.delete(name);
    return;
  }
  const { configurationValues } = given;
  const fault = configurationValues === undefined ? undefined : faultIn(configurationValues);
  if (fault !== undefined)
    throw new RangeError(`configurationValues is ${configurationValues}; ${fault}; give an object such as {"a":"b"}`);
  const addon: Addon = cloud.addons.get(name) ?? {
    addonName: name,
    clusterName: cloud.cluster.name,
    status: 'ACTIVE',
    addonVersion: 'v1.21.1-eksbuild.1',
    health: { issues: [] },
    addonArn: cloud.arn(`addon/${cloud.cluster.name}/${name}/${cloud.nextUuid()}`),
    createdAt: cloud.timeline.now(),
    tags: {},
  };
  cloud.addons.set(name, addon);
  const { status, ...rest } = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  change(cloud, name, { ...rest, ...(status === undefined ? {} : { status: status as AddonStatus }) });
}

/** The configuration values of an add-on, of JSON or YAML. */
export function valuesOf({ configurationValues = '' }: Pick<Addon, 'configurationValues'>): Record<string, unknown> {
  return parseDocument(configurationValues).toJS() ?? {};
}

function addonOf(cloud: LocalAwsState, name: string | undefined): Addon {
  const addon = cloud.addons.get(name ?? '');
  // Seen, at UpdateAddon.
  if (addon === undefined) throw notFound(`No addon: ${name} found in cluster: ${cloud.cluster.name}`);
  return addon;
}

function change(cloud: LocalAwsState, name: string, changed: Partial<Addon>): void {
  cloud.addons.set(name, { ...addonOf(cloud, name), ...changed, modifiedAt: cloud.timeline.now() });
}

/** Finishes an update: with success, with an injected failure, or with a conflict in the cluster. */
function finish(cloud: LocalAwsState, request: UpdateAddonRequest, update: Update): void {
  const { addonName = '', resolveConflicts } = request;
  // It was removed in the meantime.
  if (!cloud.addons.has(addonName)) return;
  const before = addonOf(cloud, addonName);
  const failure = cloud.plans.addonFailures.shift();
  if (failure !== undefined) {
    fail(cloud, request, update, failure);
    return;
  }
  change(cloud, addonName, configured(request));
  cloud.applyAddon(resolveConflicts ?? 'NONE', (conflict) => {
    if (!cloud.addons.has(addonName)) return;
    if (conflict !== undefined) {
      cloud.addons.set(addonName, before);
      // Seen: aws/amazon-vpc-cni-k8s#2877.
      const message = `Conflicts found when trying to apply. Will not continue due to resolve conflicts mode. Conflicts: ${conflict}`;
      fail(cloud, request, update, { code: 'ConfigurationConflict', message });
      return;
    }
    update.status = 'Successful';
    change(cloud, addonName, { status: 'ACTIVE' });
  });
}

function fail(cloud: LocalAwsState, request: UpdateAddonRequest, update: Update, { code, message }: AddonIssue): void {
  const { addonName = '' } = request;
  update.status = 'Failed';
  update.errors = [{ errorCode: 'ConfigurationConflict', errorMessage: message, resourceIds: [addonName] }];
  const issues = [{ code, message, resourceIds: [addonName] }];
  const shown = cloud.switches.failedAddonUpdate === 'showsNewValues' ? configured(request) : {};
  change(cloud, addonName, { ...shown, status: 'UPDATE_FAILED', health: { issues } });
}

/**
 * The fields of an add-on that an update changes. An omitted role is removed: "If you don't specify an existing IAM role, then the add-on uses
 * the permissions assigned to the node IAM role" (SDK).
 */
function configured({ addonVersion, configurationValues, serviceAccountRoleArn }: UpdateAddonRequest): Partial<Addon> {
  return {
    serviceAccountRoleArn,
    ...(addonVersion === undefined ? {} : { addonVersion }),
    ...(configurationValues === undefined ? {} : { configurationValues }),
  };
}

function paramsOf(request: UpdateAddonRequest) {
  const rows = [
    ['AddonVersion', request.addonVersion],
    ['ServiceAccountRoleArn', request.serviceAccountRoleArn],
    ['ResolveConflicts', request.resolveConflicts],
    ['ConfigurationValues', request.configurationValues],
  ] as const;
  return rows.flatMap(([type, value]) => (value === undefined ? [] : [{ type, value }]));
}

/** Why EKS rejects configuration values, with the messages of its schema validation (seen in issues of its clients). */
function faultIn(text: string): string | undefined {
  const document = parseDocument(text);
  const values: unknown = document.errors.length > 0 ? undefined : document.toJS();
  if (text !== '' && (typeof values !== 'object' || values === null || Array.isArray(values)))
    return 'it is neither a JSON nor a YAML object';
  const wrong = Object.entries(values ?? {}).find(
    ([key, value]) => textSettings.includes(key) && typeof value !== 'string',
  );
  if (wrong === undefined) return undefined;
  return `Json schema validation failed with error: [$.${wrong[0]}: ${typeof wrong[1]} found, string expected]`;
}
