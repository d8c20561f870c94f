/** What is wrong at the end of a life. */
import type { WarmPoolSpec, WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import {
  CORDONED_ANNOTATION,
  GATE_TAINT_KEY,
  REMEDIATION_ANNOTATION,
  REPLACE_ANNOTATION,
} from '../../../controllers/windowspool/api/labels.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import { isOwnedBy, nodeGroupNameOf } from '../../../controllers/windowspool/providers/nodeGroups.ts';
import { openFailure } from '../../../controllers/windowspool/testing/life.ts';
import { conditionOf } from '../testenv/testEnv.ts';
import { POOLS } from './action.ts';
import { UNPUBLISHED } from './actions.ts';
import { hasLaunchSettings, hasOtherOwner, leftTemplates } from './launchSettings.ts';
import type { LocalAwsWorld } from './localAwsWorld.ts';

/** States of UpToDate in which a pool may end, because only a user or time can change them. */
const ACCEPTED_STATES: readonly string[] = [
  'False/UpdateAvailable',
  'False/Drifted',
  'False/WaitingForWindow',
  'False/InvalidMaintenanceWindow',
  'False/UnsupportedVersion',
  'False/LaunchTemplateInvalid',
  'False/ReleaseNotVerified',
  'False/RolledBack',
];
/** The errors in the end; none if every pool is as specified or reports why not, and no invariant was violated. */
export function complaintsOf(world: LocalAwsWorld): string[] {
  return [
    ...world.violations,
    ...POOLS.flatMap((name) => complaintsOfPool(world, name).map((text) => `${name}: ${text}`)),
  ];
}

/** Whether a change of a spec has failed. */
export function hasFailed({ pools }: LocalAwsWorld): boolean {
  return POOLS.some((name) => openFailure(pools.get(name)?.status?.nodeGroup) !== undefined);
}

/** Whether something is tried again and again: a failed creation, or a drain that pods block for good. */
export function isRetrying(world: LocalAwsWorld): boolean {
  return hasFailed(world) || POOLS.some((name) => isBlocked(world.pools.get(name)));
}

/** Whether the replacement of the node group, or the end of a canary, waits for pods that nobody may evict, and says so. */
function isBlocked(pool: WindowsPool | undefined): boolean {
  const { replacement, canary } = pool?.status?.nodeGroup ?? {};
  return (replacement ?? canary)?.blocked !== undefined;
}

function complaintsOfPool(world: LocalAwsWorld, name: string): string[] {
  const pool = world.pools.get(name);
  const owned = [...world.groups.values()].filter(({ tags }) => tags['winpool.dev/pool'] === name);
  if (!pool) return owned.length > 0 ? ['the pool is gone and left its group'] : leftTemplates(world, name);
  if (isBlocked(pool)) return owned.length > 2 ? [`it has the groups ${owned.map((each) => each.name)}`] : [];
  const groupName = nodeGroupNameOf(pool);
  const group = world.groups.get(groupName);
  const conditions = pool.status?.conditions ?? [];
  const left = pool.spec.paused ? [] : leftOf(pool, world.nodesOf(groupName));
  if (left.length > 0) return left;
  const pending = pendingRemovals(world, pool, groupName);
  if (pending.length > 0) return pending;
  if (pool.spec.paused)
    return conditions.some(({ type }) => type === 'Paused') ? [] : ['it is paused and does not say so'];
  if (pool.metadata.deletionTimestamp) return ['the pool is still being deleted'];
  if (owned.length > 1) return [`it has the groups ${owned.map((each) => each.name)}`];
  const reconciling = conditions.find(({ type }) => type === 'Reconciling');
  if (reconciling) return [`it is still Reconciling: ${reconciling.message}`];
  // A release that was never published cannot be reached. The pool reports it.
  const failed = openFailure(pool.status?.nodeGroup);
  if (failed) {
    const { releaseVersion, kubernetesVersion } = pool.spec.nodeGroup ?? {};
    // EKS may not change to an older version either.
    const isOlder = (kubernetesVersion ?? releaseVersion)?.startsWith('1.35') && group?.kubernetesVersion === '1.36';
    // EKS creates node groups, and so canaries, only with the version of the cluster.
    const isRejected = failed.message.includes('equal to the current Kubernetes version');
    const impossible = releaseVersion === UNPUBLISHED || isOlder || isRejected;
    return impossible ? [] : [`it gave up: ${failed.message}`];
  }
  // A group with a newer version than the control plane waits for it.
  if (!group) return conditionOf(pool, 'PrerequisitesMet') === 'False/UnsupportedVersion' ? [] : ['it has no group'];
  if (!isOwnedBy(pool, group)) {
    const isReported = conditionOf(pool, 'NodeGroupReady') === 'False/NotOwned';
    return isReported && pool.spec.nodeGroup?.adoption === 'Never' ? [] : ['the group is not its own'];
  }
  // With Report, edits of other users are kept.
  const isKept = pool.spec.nodeGroup?.driftPolicy === 'Correct' || !world.edited.has(name);
  const differing = isKept ? differingFields(world, pool, groupName) : [];
  if (differing.length > 0) return [`the group differs in ${differing}`];
  const upToDate = conditionOf(pool, 'UpToDate');
  if (hasOtherOwner(world, pool)) return upToDate === 'False/ImmutableDifference' ? [] : [`UpToDate=${upToDate}`];
  // A replacement waits for the control plane, too.
  const waits = conditionOf(pool, 'PrerequisitesMet') === 'False/UnsupportedVersion';
  if (upToDate === 'False/ImmutableDifference' && waits) return [];
  return upToDate.startsWith('True/') || ACCEPTED_STATES.includes(upToDate) ? [] : [`UpToDate=${upToDate}`];
}

/** Nodes that should have been removed, and still exist. */
function pendingRemovals(world: LocalAwsWorld, pool: WindowsPool, group: string): string[] {
  const nodes = world.nodesOf(group);
  const { status, scalingConfig } = world.cloud.state.groups.get(group)?.nodegroup ?? {};
  const { name } = pool.metadata;
  const isHeld = POOLS.some((other) => other !== name && world.pools.get(other)?.status?.disruption !== undefined);
  const isWhole = nodes.length === scalingConfig?.desiredSize && nodes.every(isAvailable);
  if (pool.spec.paused || pool.metadata.deletionTimestamp || status !== 'ACTIVE' || isHeld || !isWhole) return [];
  if (!conditionOf(pool, 'NodeGroupReady').startsWith('True/')) return [];
  const failing = nodes.filter(({ verified }) => verified?.status === 'False');
  const { remediation } = pool.spec;
  const isHealing = remediation && failing.length <= most(remediation.maxUnhealthy, nodes.length);
  return [
    ...nodes
      .filter(({ annotations }) => annotations[REPLACE_ANNOTATION] === 'true')
      .map((node) => `node ${node.name} is still to be replaced`),
    ...(isHealing ? failing : [])
      .filter(({ annotations }) => !(REMEDIATION_ANNOTATION in annotations))
      .map((node) => `node ${node.name} fails and is not replaced`),
  ];
}

/** The fields in which the group in EKS differs from the spec. Does not use the operator's own comparison, which may have the bug. */
function differingFields(world: LocalAwsWorld, pool: WindowsPool, group: string): string[] {
  const { spec } = pool;
  const { name } = pool.metadata;
  const {
    labels,
    taints,
    tags,
    scalingConfig,
    releaseVersion,
    version,
    launchTemplate,
    instanceTypes,
    warmPoolConfig,
  } = world.cloud.state.group(group).nodegroup;
  const { enabled, minSize, poolState, reuseOnScaleIn } = warmPoolConfig ?? {};
  const has = (all: Readonly<Record<string, string>> | undefined, expected: Readonly<Record<string, string>> = {}) =>
    Object.entries(expected).every(([key, value]) => all?.[key] === value);
  const isTainted = (key: string, value: string) => taints?.some((taint) => taint.key === key && taint.value === value);
  const {
    releaseVersion: pin,
    kubernetesVersion: minor,
    launchTemplate: specTemplate,
    warmPool,
  } = spec.nodeGroup ?? {};
  const template = /^\d+$/.test(String(specTemplate?.version)) ? String(specTemplate?.version) : undefined;
  // Waiting for the control plane, or for a version of the template, is reported.
  const isWaiting =
    /UnsupportedVersion|LaunchTemplateInvalid/.test(conditionOf(pool, 'UpToDate')) ||
    conditionOf(pool, 'PrerequisitesMet') === 'False/UnsupportedVersion';
  const isOther = hasOtherOwner(world, pool);
  const checks: readonly (readonly [string, boolean | undefined])[] = [
    ['labels', has(labels, { ...spec.labels, 'winpool.dev/pool': name })],
    [
      'taints',
      isTainted('os', 'windows') && spec.taints?.every(({ key, value = '' }) => isTainted(key, value)) !== false,
    ],
    ['tags', has(tags, { ...spec.nodeGroup?.tags, 'winpool.dev/pool': name })],
    ['min', scalingConfig?.minSize === spec.nodeGroup?.scaling.minSize],
    ['max', scalingConfig?.maxSize === spec.nodeGroup?.scaling.maxSize],
    ['whether it has a warm pool', (enabled === true) === (warmPool !== undefined)],
    ['warm pool', !warmPool || [minSize, poolState, reuseOnScaleIn].join() === warmPoolText(warmPool)],
    ['release', pin === undefined || releaseVersion === pin],
    ['version', minor === undefined || version === minor || isWaiting],
    ['template', template === undefined || launchTemplate?.version === template || isWaiting || isOther],
    ['launchSettings', hasLaunchSettings(world, pool) || isOther],
    [
      'instance types',
      spec.nodeGroup?.immutableChangePolicy !== 'Replace' ||
        JSON.stringify(instanceTypes) === JSON.stringify(spec.nodeGroup.instanceTypes) ||
        isWaiting,
    ],
    ['gate', (spec.verification.policy === 'Gate') === (taints?.some(({ key }) => key === GATE_TAINT_KEY) ?? false)],
  ];
  return checks.filter(([, isRight]) => isRight !== true).map(([what]) => what);
}

function isAvailable({ ready, unschedulable }: NodeRecord): boolean {
  return ready === 'True' && !unschedulable;
}

/** `2`, or `40%` of a number, rounded down. */
function most(limit: number | string, all: number): number {
  const number = Number.parseInt(String(limit), 10);
  return String(limit).endsWith('%') ? Math.floor((number * all) / 100) : number;
}

/** Marks of the operator on nodes or in status that remain without an operation. */
function leftOf({ status }: WindowsPool, nodes: readonly NodeRecord[]): string[] {
  const cordoned = nodes.filter(({ annotations }) => CORDONED_ANNOTATION in annotations);
  return [
    ...cordoned.map(({ name }) => `node ${name} keeps the operator's cordon`),
    ...(status?.disruption ? [`it keeps its share of the budget: ${JSON.stringify(status.disruption)}`] : []),
  ];
}

function warmPoolText({ minSize, poolState, reuseOnScaleIn }: WarmPoolSpec): string {
  return [minSize, poolState.toUpperCase(), reuseOnScaleIn].join();
}
