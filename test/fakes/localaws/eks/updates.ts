import type {
  DescribeUpdateRequest,
  Nodegroup,
  NodegroupUpdateConfig,
  Taint,
  Update,
  UpdateNodegroupConfigRequest,
  UpdateParam,
  UpdateType,
} from '@aws-sdk/client-eks';
import { type AwsFault, inUse, invalidParameter, notFound } from '../awsFault.ts';
import { durations } from '../durations.ts';
import { livingInstances } from '../ec2/instances.ts';
import { resize } from '../ec2/scaling.ts';
import { settingsChanged } from '../ec2/warmPool.ts';
import type { GroupRecord, UpdateRecord } from '../records.ts';
import { type LocalAwsState, takePlan } from '../state.ts';
import { checkLaunches, later, reviewAccess, setStatus } from './groupStatus.ts';
import { once } from './idempotency.ts';
import { checkCluster } from './nodegroups.ts';
import { labelsFault, reservedTaintsFault, sizeRangeFault, taintsFault, unavailableFault } from './validation.ts';
import { configuredWarmPool, warmPoolFault } from './warmPoolConfig.ts';

/** UpdateNodegroupConfig: validates the request, and starts an update that is InProgress. The group changes when it succeeds, not before. */
export function updateNodegroupConfig(cloud: LocalAwsState, request: UpdateNodegroupConfigRequest): { update: Update } {
  const group = cloud.group(request.nodegroupName);
  return once(cloud, request, { operation: 'UpdateNodegroupConfig', group: group.name }, () => {
    const fault = updateFault(cloud, group, request);
    if (fault !== undefined) throw fault;
    checkCluster(cloud, 'update Nodegroup');
    checkUpdatable(cloud, group);
    const update = openUpdate(cloud, { group: group.name }, 'ConfigUpdate', paramsOf(request));
    startUpdate(cloud, group, update, request);
    return { update: structuredClone(update) };
  });
}

/** A new update that is InProgress; of the cluster itself when there is neither group nor add-on. */
export function openUpdate(
  cloud: LocalAwsState,
  of: Omit<UpdateRecord, 'update'>,
  type: UpdateType,
  params: UpdateParam[],
): Update {
  const id = cloud.nextUuid();
  const update: Update = { id, status: 'InProgress', type, params, createdAt: cloud.timeline.now(), errors: [] };
  cloud.updates.set(id, { ...of, update });
  return update;
}

/** DescribeUpdate, of a node group's update, an add-on's or the cluster's. */
export function describeUpdate(
  cloud: LocalAwsState,
  { updateId: id, nodegroupName, addonName }: DescribeUpdateRequest,
): { update: Update } {
  if (nodegroupName !== undefined) cloud.group(nodegroupName);
  const record = cloud.updates.get(id ?? '');
  if (record === undefined || record.group !== nodegroupName || record.addon !== addonName)
    throw notFound(`No update found for ID: ${id}`);
  return { update: structuredClone(record.update) };
}

/** The node group after an update request. */
function configured(nodegroup: Nodegroup, request: UpdateNodegroupConfigRequest): Nodegroup {
  const { labels, taints, scalingConfig, updateConfig, nodeRepairConfig, warmPoolConfig } = request;
  const after: Nodegroup = structuredClone(nodegroup);
  after.labels = { ...after.labels, ...labels?.addOrUpdateLabels };
  for (const label of labels?.removeLabels ?? []) delete after.labels[label];
  if (Object.keys(after.labels).length === 0) delete after.labels;
  const gone = [...(taints?.removeTaints ?? []), ...(taints?.addOrUpdateTaints ?? [])];
  const kept = (after.taints ?? []).filter((taint) => !gone.some((other) => sameTaint(taint, other)));
  after.taints = [...kept, ...(taints?.addOrUpdateTaints ?? [])];
  if (after.taints.length === 0) delete after.taints;
  if (scalingConfig !== undefined) after.scalingConfig = { ...after.scalingConfig, ...defined(scalingConfig) };
  if (updateConfig !== undefined) after.updateConfig = updateConfigOf(after.updateConfig, updateConfig);
  if (nodeRepairConfig !== undefined)
    after.nodeRepairConfig = { ...after.nodeRepairConfig, ...defined(nodeRepairConfig) };
  // "false to disable and remove it": the SDK's comment on WarmPoolConfig.enabled.
  if (warmPoolConfig?.enabled === false) delete after.warmPoolConfig;
  else if (warmPoolConfig !== undefined)
    after.warmPoolConfig = configuredWarmPool(after.warmPoolConfig, defined(warmPoolConfig));
  return structuredClone(after);
}

// A count replaces a percentage and vice versa; the strategy is a separate setting.
function updateConfigOf(before: Nodegroup['updateConfig'], given: NodegroupUpdateConfig): NodegroupUpdateConfig {
  const { updateStrategy, ...amount } = before ?? {};
  const hasAmount = given.maxUnavailable !== undefined || given.maxUnavailablePercentage !== undefined;
  const kept = { ...(hasAmount ? {} : amount), ...(updateStrategy === undefined ? {} : { updateStrategy }) };
  return { ...kept, ...defined(given) };
}

/** Changes the configuration of the group at once: its instances are scaled and its existing nodes relabeled. */
export function configure(cloud: LocalAwsState, group: GroupRecord, after: Nodegroup): void {
  const before = structuredClone(group.nodegroup);
  for (const key of Object.keys(group.nodegroup)) Reflect.deleteProperty(group.nodegroup, key);
  Object.assign(group.nodegroup, after);
  const changed = (key: 'labels' | 'taints') => JSON.stringify(before[key] ?? {}) !== JSON.stringify(after[key] ?? {});
  if (changed('labels') || changed('taints')) {
    for (const instance of livingInstances(cloud, group.name)) {
      if (instance.isCustom && cloud.switches.settingsOfCustomNodes === 'never') continue;
      if (instance.joined) cloud.emit({ kind: 'relabel', instance, before, after: structuredClone(after) });
    }
    settingsChanged(cloud, group);
  }
  resize(cloud, group);
}

function updateFault(
  cloud: LocalAwsState,
  group: GroupRecord,
  request: UpdateNodegroupConfigRequest,
): AwsFault | undefined {
  const { labels, taints, scalingConfig, updateConfig } = request;
  return (
    emptyFault(request) ??
    sizesFault(cloud, group, scalingConfig) ??
    labelsFault(labels?.addOrUpdateLabels) ??
    taintsFault(taints?.addOrUpdateTaints) ??
    reservedTaintsFault(taints?.addOrUpdateTaints, cloud) ??
    taintsFault(taints?.removeTaints) ??
    taintsFault(configured(group.nodegroup, request).taints) ??
    unavailableFault(updateConfig) ??
    warmPoolFault(cloud, { ...group.nodegroup, warmPoolConfig: configured(group.nodegroup, request).warmPoolConfig }) ??
    noChangeFault(cloud, group, request)
  );
}

function emptyFault({ labels, taints, scalingConfig }: UpdateNodegroupConfigRequest) {
  // Seen, the first two.
  if (scalingConfig !== undefined && Object.values(scalingConfig).every((size) => size === undefined)) {
    return invalidParameter('Either all or at least one of minSize, maxSize, desiredSize must be provided');
  }
  if (
    labels !== undefined &&
    Object.keys(labels.addOrUpdateLabels ?? {}).length + (labels.removeLabels ?? []).length === 0
  ) {
    return invalidParameter('Both or either addOrUpdateLabels or removeLabels must not be empty');
  }
  if (taints !== undefined && (taints.addOrUpdateTaints ?? []).length + (taints.removeTaints ?? []).length === 0) {
    return invalidParameter('Both or either addOrUpdateTaints or removeTaints must not be empty');
  }
  return undefined;
}

function sizesFault(cloud: LocalAwsState, group: GroupRecord, sizes: UpdateNodegroupConfigRequest['scalingConfig']) {
  if (sizes === undefined) return undefined;
  const { minSize = 0, maxSize = 0, desiredSize = 0 } = { ...group.nodegroup.scalingConfig, ...defined(sizes) };
  // Seen, both.
  if (minSize > desiredSize) {
    return invalidParameter(`Minimum capacity ${minSize} can't be greater than desired size ${desiredSize}`);
  }
  if (desiredSize > maxSize) return invalidParameter("desiredSize can't be greater than maxSize");
  return sizeRangeFault(cloud, { ...sizes });
}

function noChangeFault(cloud: LocalAwsState, group: GroupRecord, request: UpdateNodegroupConfigRequest) {
  if (cloud.switches.updatesWithoutChange === 'accept') return undefined;
  const same =
    JSON.stringify(configured(group.nodegroup, request)) === JSON.stringify(configured(group.nodegroup, bare(request)));
  return same ? invalidParameter('The update changes nothing of the node group') : undefined;
}

const bare = ({ clusterName, nodegroupName }: UpdateNodegroupConfigRequest) => ({ clusterName, nodegroupName });

/** Rejects a second update, and one of a group that is not ready for it. */
export function checkUpdatable(cloud: LocalAwsState, group: GroupRecord): void {
  const { status } = group.nodegroup;
  if (status === 'ACTIVE' || (status === 'DEGRADED' && cloud.switches.updatesWhileDegraded === 'accept')) return;
  throw inUse('Nodegroup cannot be updated as it is currently not in Active State');
}

function startUpdate(
  cloud: LocalAwsState,
  group: GroupRecord,
  update: Update,
  request: UpdateNodegroupConfigRequest,
): void {
  const wasDegraded = group.nodegroup.status === 'DEGRADED';
  setStatus(cloud, group, 'UPDATING');
  later(cloud, group, durations.configUpdate, () => {
    const failure = takePlan(cloud.plans.updateFailures, group.name);
    if (failure !== undefined) {
      update.status = failure.status ?? 'Failed';
      update.errors = structuredClone(failure.errors);
      setStatus(cloud, group, wasDegraded || failure.degraded === true ? 'DEGRADED' : 'ACTIVE');
      return;
    }
    update.status = 'Successful';
    const sizeBefore = group.nodegroup.scalingConfig?.desiredSize ?? 0;
    configure(cloud, group, configured(group.nodegroup, request));
    // A degraded group becomes ACTIVE by a successful scale-out, and by nothing else.
    const healed = (group.nodegroup.scalingConfig?.desiredSize ?? 0) > sizeBefore && group.launchIssue === undefined;
    if (wasDegraded && healed) group.nodegroup.health = { issues: [] };
    setStatus(cloud, group, wasDegraded && !healed ? 'DEGRADED' : 'ACTIVE');
    checkLaunches(cloud, group);
    reviewAccess(cloud, group);
  });
}

function paramsOf({
  labels,
  taints,
  scalingConfig,
  updateConfig,
  nodeRepairConfig,
  warmPoolConfig,
}: UpdateNodegroupConfigRequest): UpdateParam[] {
  const rows: [UpdateParam['type'], unknown][] = [
    ['LabelsToAdd', labels?.addOrUpdateLabels],
    ['LabelsToRemove', labels?.removeLabels],
    ['TaintsToAdd', taints?.addOrUpdateTaints],
    ['TaintsToRemove', taints?.removeTaints],
    ['MinSize', scalingConfig?.minSize],
    ['MaxSize', scalingConfig?.maxSize],
    ['DesiredSize', scalingConfig?.desiredSize],
    ['MaxUnavailable', updateConfig?.maxUnavailable],
    ['MaxUnavailablePercentage', updateConfig?.maxUnavailablePercentage],
    ['UpdateStrategy', updateConfig?.updateStrategy],
    ['NodeRepairEnabled', nodeRepairConfig?.enabled],
    ['WarmPoolEnabled', warmPoolConfig?.enabled],
    ['WarmPoolMinSize', warmPoolConfig?.minSize],
    ['WarmPoolMaxGroupPreparedCapacity', warmPoolConfig?.maxGroupPreparedCapacity],
    ['WarmPoolState', warmPoolConfig?.poolState],
    ['WarmPoolReuseOnScaleIn', warmPoolConfig?.reuseOnScaleIn],
  ];
  return rows
    .filter(([, value]) => value !== undefined)
    .map(([type, value]) => ({ type, value: typeof value === 'object' ? JSON.stringify(value) : String(value) }));
}

const sameTaint = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;

/** The same object without members that are undefined. */
const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
