/** The replacement of a node group that EKS cannot change. */

import { known } from '../answers.ts';
import { derive } from '../derived.ts';
import {
  CLUSTER_ARN,
  knownStatus,
  LEAVING,
  MINUTE,
  NEXT,
  NOW,
  sampleError,
  sampleGroup,
  samplePool,
  sampleState,
} from '../fixtures.ts';
import { BY_TAGS, DISK_100, launchSettingsFor, ownTemplate } from '../launchSettingsScenes.ts';
import { terminating } from '../nodeScenes.ts';
import { sampleFacts } from '../prerequisites.ts';
import {
  CORDONED_NODES,
  drainScene,
  HASHED,
  NEW,
  NEW_NODES,
  nodeIn,
  OLD,
  OLD_NODES,
  PLAIN,
  replacementScene,
  replacing,
  SHRUNK,
  THIRD,
} from '../replacementScenes.ts';
import { otherAuthority, unseen } from '../sights.ts';
import { newest, ROLLED_BACK } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';

const BEGIN = `switchNodeGroup ${HASHED} second=web`;
const RETURN = 'switchNodeGroup web second=web-2d044d';
const CREATE = `createNodeGroup ${HASHED} WINDOWS_CORE_2022_x86_64 ${NEW} 2 of 2-5 +winpool.dev/created-from +winpool.dev/pool`;
const SEND_ALL = `record ${HASHED} of ${CLUSTER_ARN}: sending all 5 fields`;
const DRAIN = 'beginDraining web';
const SHRINK = 'shrinkSecondGroup web minSize=0 maxSize=2';
const WARM = { minSize: 1, maxGroupPreparedCapacity: 5, poolState: 'Stopped', reuseOnScaleIn: true } as const;
const DELETE = 'deleteSecondGroup web drained';
const RESERVE_FIRST = 'reserveDisruption for a (DrainNodeGroup)';

/** The pool before a replacement, whose spec has another instance type than its group. */
const due = (spec = replacing(), rest: Parameters<typeof sampleState>[0] = {}) => {
  const pool = samplePool(spec, { status: knownStatus() });
  const group = sampleGroup(samplePool(replacing(OLD)), { scaling: { minSize: 2, maxSize: 5, desiredSize: 2 } });
  const prerequisites = sampleFacts({
    instanceTypes: known([{ name: NEW, architectures: ['x86_64'], addressesPerInterface: 15 }]),
    offerings: known(['eu-west-1a', 'eu-west-1b'].map((zone) => ({ instanceType: NEW, zone }))),
  });
  return sampleState({ pool, group: { kind: 'seen', group }, nodes: OLD_NODES, prerequisites, ...rest });
};

/** The same for a pool whose spec has other launch settings, while its group has no launch template. */
const dueLaunchSettings = (launchSettings: object, rest: Parameters<typeof sampleState>[0]) =>
  due(replacing(OLD, { ...launchSettings, diskSizeGiB: undefined } as never), {
    prerequisites: sampleFacts(),
    ...rest,
  });
const BEGIN_LAUNCH_SETTINGS = `switchNodeGroup ${HASHED} second=web`;
const unread = { ok: false, error: sampleError('unavailable') } as const;

const quotaReached = sampleFacts({ nodeGroups: known(Array.from({ length: 30 }, String)) });
const noAddress = sampleFacts({
  subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 0, tags: {} }]),
});

/** A node that fails its verification. */
const bad = nodeIn(HASHED, 'y', { kernelVersion: '10.0.17763.1' });
const views = [
  { entry: terminating('a', { operation: 'DrainNodeGroup' }), node: known(CORDONED_NODES[0]), pods: known([]) },
];
const retiring = (pods: typeof views = views, operations: object = {}) => ({
  disruption: {
    reason: 'NodeReplacement' as const,
    startTime: '2026-03-01T11:58:00Z',
    nodes: [terminating('a', { operation: 'DrainNodeGroup', ...operations })],
  },
  rest: { operations: { fresh: true, nextAt: NOW, nodes: pods, blocked: [] } },
});

const beginning: readonly PlanCase[] = [
  {
    name: 'a group that EKS cannot change is replaced by a new one when the spec allows it',
    observed: due(),
    want: [BEGIN],
  },
  {
    name: 'a group that EKS cannot change is kept by default',
    observed: due(replacing(NEW, { immutableChangePolicy: 'Reject' })),
    want: [],
    waits: { because: 'NodeGroupReady ImmutableDifference', until: '10m' },
  },
  {
    name: 'a replacement does not begin while a prerequisite of the new group is not met, and other changes are not delayed',
    observed: due(replacing(NEW, { scaling: { maxSize: 9 } }), { prerequisites: noAddress }),
    want: [`record web of ${CLUSTER_ARN}: sending scaling`, 'updateConfig web maxSize=9'],
  },
  {
    name: 'a replacement of a group that was rolled back does not begin: the new group would undo this',
    observed: due(replacing(), {
      pool: samplePool(replacing(), { status: knownStatus(ROLLED_BACK) }),
      ...newest(NEXT),
    }),
    want: [],
    waits: { because: 'UpToDate ImmutableDifference', until: '10m' },
  },
  {
    name: 'a replacement does not begin while the cluster has as many node groups as EKS allows',
    observed: due(replacing(), { prerequisites: quotaReached }),
    want: [],
    waits: { because: 'PrerequisitesMet NodeGroupQuotaReached', until: '20s' },
  },
  {
    name: 'a replacement by a group with a launch template begins once EC2 has answered about the template',
    observed: dueLaunchSettings(DISK_100, { ownTemplate: { kind: 'absent' } }),
    want: [BEGIN_LAUNCH_SETTINGS],
  },
  {
    name: 'a replacement does not begin while the launch template cannot be read',
    observed: dueLaunchSettings(DISK_100, { ownTemplate: undefined }),
    want: [],
    waits: { because: 'UpToDate ImmutableDifference', until: '10m' },
  },
  {
    name: "a replacement does not begin while a template with the name of the pool's has another owner",
    observed: dueLaunchSettings(DISK_100, { ownTemplate: ownTemplate([launchSettingsFor(DISK_100)], { tags: {} }) }),
    want: [],
    waits: { because: 'PrerequisitesMet LaunchTemplateNotOwned', until: '20s' },
  },
  {
    name: 'a replacement does not begin while no security group has the tags in the spec',
    observed: dueLaunchSettings(BY_TAGS, {
      ownTemplate: { kind: 'absent' },
      prerequisites: sampleFacts({ securityGroups: known([]) }),
    }),
    want: [],
    waits: { because: 'PrerequisitesMet SecurityGroupNotFound', until: '20s' },
  },
  {
    name: 'a replacement does not begin while security groups that are selected by tags cannot be read',
    observed: dueLaunchSettings(BY_TAGS, {
      ownTemplate: { kind: 'absent' },
      prerequisites: sampleFacts({ securityGroups: unread }),
    }),
    want: [],
    waits: { because: 'UpToDate ImmutableDifference', until: '20s' },
  },
  {
    name: 'a replacement does not begin while subnets that are selected by tags cannot be read',
    observed: due(replacing(NEW, { subnets: [{ tags: { tier: 'private' } }] }), {
      prerequisites: sampleFacts({ ...due().prerequisites, subnets: unread }),
    }),
    want: [],
    waits: { because: 'UpToDate ImmutableDifference', until: '20s' },
  },
  {
    name: 'a replacement does not begin while EKS works on the group',
    observed: due(replacing(), {
      group: { kind: 'seen', group: sampleGroup(samplePool(replacing(OLD)), { status: 'UPDATING' }) },
    }),
    want: [],
    waits: { because: 'NodeGroupReady Updating', until: '1s' },
  },
  {
    name: 'the new group is created with the size of the old one',
    observed: replacementScene({
      main: 'absent',
      old: { scaling: { minSize: 2, maxSize: 5, desiredSize: 4 } },
      nodes: OLD_NODES,
    }),
    want: [SEND_ALL, CREATE.replace('2 of', '4 of')],
  },
  {
    name: 'the new group is created with the size of the spec',
    observed: replacementScene({
      spec: replacing(NEW, { scaling: { desiredSize: 3 } }),
      main: 'absent',
      nodes: OLD_NODES,
    }),
    want: [SEND_ALL.replace('5', '6'), CREATE.replace('2 of', '3 of')],
  },
  {
    name: 'the new group is not created while the old one cannot be read',
    observed: replacementScene({
      main: 'absent',
      old: { ...unseen(), kind: 'unreachable' } as never,
      nodes: OLD_NODES,
    }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'a new group that failed is deleted and created again later; the old one is not changed',
    observed: replacementScene({
      main: { status: 'CREATE_FAILED', modifiedAt: NOW - 15 * MINUTE },
      nodes: OLD_NODES,
    }),
    want: [`deleteNodeGroup ${HASHED}`],
  },
];

const waiting: readonly PlanCase[] = [
  {
    name: 'the old group is not changed while EKS creates the new one',
    observed: replacementScene({ main: { status: 'CREATING' }, nodes: OLD_NODES }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'the old group is not changed while the new one lacks verified nodes',
    observed: replacementScene({ nodes: [...OLD_NODES, NEW_NODES[0] ?? bad] }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'the old group is not changed while nodes of the new one fail verification',
    observed: replacementScene({ nodes: [...OLD_NODES, NEW_NODES[0] ?? bad, bad] }),
    want: ['labelNode y 10.0.17763'],
  },
  {
    name: 'the new group needs as many verified nodes as the old one has',
    observed: replacementScene({
      nodes: [...OLD_NODES, nodeIn(PLAIN, 'c'), ...NEW_NODES],
      main: { scaling: { minSize: 2, maxSize: 5, desiredSize: 3 } },
    }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'a new group that an autoscaler made too small grows until it can take over',
    observed: replacementScene({ nodes: [...OLD_NODES, nodeIn(PLAIN, 'c'), ...NEW_NODES] }),
    want: [`updateConfig ${HASHED} desiredSize=3`],
  },
  {
    name: 'a new group grows until it can take over also while a rolling update is due, which waits for the old group',
    observed: replacementScene({
      spec: replacing(NEW, { releaseVersion: NEXT }),
      nodes: [...OLD_NODES, nodeIn(PLAIN, 'c'), ...NEW_NODES],
    }),
    want: [`updateConfig ${HASHED} desiredSize=3`],
  },
  {
    name: 'the nodes of the old group are drained when enough nodes of the new one are verified',
    observed: replacementScene(),
    want: [DRAIN],
  },
  {
    name: 'an old group without nodes needs no verified node of the new one',
    observed: replacementScene({
      nodes: [],
      old: { scaling: { minSize: 0, maxSize: 5, desiredSize: 0 } },
      main: { scaling: { minSize: 2, maxSize: 5, desiredSize: 0 } },
    }),
    want: ['beginDraining web'],
  },
  {
    name: 'no rolling update begins during a replacement, and other changes are not delayed',
    observed: replacementScene({
      spec: replacing(NEW, { releaseVersion: NEXT, scaling: { maxSize: 9 } }),
      nodes: OLD_NODES,
    }),
    want: [`record ${HASHED} of ${CLUSTER_ARN}: sending scaling`, `updateConfig ${HASHED} maxSize=9`],
  },
];

const draining: readonly PlanCase[] = [
  {
    name: 'an old group is left alone while EKS updates it',
    observed: drainScene({ old: { ...SHRUNK, status: 'UPDATING' }, nodes: [...OLD_NODES, ...NEW_NODES] }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'an old group is first allowed to shrink to zero',
    observed: drainScene({ old: {}, nodes: [...OLD_NODES, ...NEW_NODES] }),
    want: [SHRINK],
  },
  {
    name: 'the warm pool of the old group is removed with its minimum size',
    observed: drainScene({ old: { warmPool: WARM }, nodes: [...OLD_NODES, ...NEW_NODES] }),
    want: ['shrinkSecondGroup web minSize=0 maxSize=2 warmPool=Removed'],
  },
  {
    name: 'the warm pool of an old group that may shrink is removed before its nodes leave',
    observed: drainScene({ old: { ...SHRUNK, warmPool: WARM }, nodes: [...OLD_NODES, ...NEW_NODES] }),
    want: ['shrinkSecondGroup web warmPool=Removed'],
  },
  {
    name: 'all nodes of an old group are cordoned before the first is drained',
    observed: drainScene({ nodes: [...OLD_NODES, ...NEW_NODES] }),
    want: ['cordonNode a', 'cordonNode b', RESERVE_FIRST],
  },
  {
    name: 'the nodes of an old group leave within disruption.maxUnavailable',
    observed: drainScene({ spec: { ...replacing(), disruption: { maxUnavailable: 2 } } }),
    want: [
      `record ${HASHED} of ${CLUSTER_ARN}: sending update maxUnavailable`,
      `updateConfig ${HASHED} maxUnavailable=2`,
      'reserveDisruption for a (DrainNodeGroup), b (DrainNodeGroup)',
    ],
  },
  {
    name: 'no node of an old group leaves while one of the new group is unavailable',
    observed: drainScene({
      spec: replacing(NEW, { scaling: { minSize: 1 } }),
      main: { scaling: { minSize: 1, maxSize: 5, desiredSize: 2 } },
      nodes: [...CORDONED_NODES, NEW_NODES[0] ?? bad, nodeIn(HASHED, 'y', { unschedulable: true })],
    }),
    want: [],
    waits: { because: 'Disrupting DisruptionPending', until: '20s' },
  },
  {
    name: 'no node of an old group leaves while the new group has too few verified nodes',
    observed: drainScene({ nodes: [...CORDONED_NODES, ...NEW_NODES.slice(1)] }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'no node of an old group leaves while other pools disrupt nodes',
    observed: drainScene({ rest: { otherPools: { disrupted: ['api'], failures: [] } } }),
    want: [],
    waits: { because: 'Disrupting DisruptionPending', until: '20s' },
  },
  {
    name: 'an empty node of an old group is terminated, and the group shrinks',
    observed: drainScene(retiring()),
    want: ['recordTerminations', 'terminateInstance i-a DrainNodeGroup'],
  },
  {
    name: 'a node of an old group stays for now when its drain has timed out',
    observed: drainScene(
      retiring(
        views.map((view) => ({
          ...view,
          entry: { ...view.entry, startTime: '2026-03-01T11:40:00Z' },
          pods: { ok: false, error: { kind: 'unavailable', operation: 'list pods', code: 'x', message: 'x' } } as never,
        })),
        { startTime: '2026-03-01T11:40:00Z' },
      ),
    ),
    want: ['giveUpNode a'],
  },
  {
    name: 'a drain that timed out is tried again later',
    observed: drainScene({
      record: { blocked: { node: 'a', message: 'its drain timed out', time: new Date(NOW - MINUTE).toISOString() } },
    }),
    want: [],
    waits: { because: 'UpToDate ReplacementBlocked', until: '20s' },
  },
  {
    name: 'a drain that timed out is tried again after the interval of failed creations',
    observed: drainScene({
      record: {
        blocked: { node: 'a', message: 'its drain timed out', time: new Date(NOW - 15 * MINUTE).toISOString() },
      },
    }),
    want: [RESERVE_FIRST],
  },
  {
    name: 'a node of an old group that is annotated leaves once',
    observed: drainScene({
      nodes: [
        nodeIn(PLAIN, 'a', {
          ...CORDONED_NODES[0],
          annotations: { ...CORDONED_NODES[0]?.annotations, 'winpool.dev/replace': 'true' },
        }),
        ...NEW_NODES,
      ],
    }),
    want: [RESERVE_FIRST],
  },
  {
    name: 'an old group without nodes shrinks to zero first',
    observed: drainScene({ nodes: NEW_NODES }),
    want: ['shrinkSecondGroup web desiredSize=0'],
  },
  {
    name: 'an old group without nodes that has shrunk to zero is deleted',
    observed: drainScene({ nodes: NEW_NODES, old: { scaling: { minSize: 0, maxSize: 2, desiredSize: 0 } } }),
    want: [DELETE],
  },
  {
    name: 'an old group is left alone in another cluster',
    observed: drainScene({ nodes: NEW_NODES, rest: { cluster: otherAuthority } }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '20s' },
  },
  {
    name: 'an old group is left alone while the new group cannot be read',
    observed: drainScene({ nodes: NEW_NODES, rest: { group: unseen() } }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: 'backoff' },
  },
  {
    name: 'an old group that is being deleted is waited for',
    observed: drainScene({ nodes: NEW_NODES, old: { ...SHRUNK, status: 'DELETING' } }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'the deletion of an old group is tried again after the interval of failed creations',
    observed: drainScene({
      nodes: NEW_NODES,
      old: { ...SHRUNK, status: 'DELETE_FAILED', modifiedAt: NOW - 15 * MINUTE },
    }),
    want: ['deleteSecondGroup web'],
  },
  {
    name: 'the deletion of an old group is not tried again before that',
    observed: drainScene({ nodes: NEW_NODES, old: { ...SHRUNK, status: 'DELETE_FAILED', modifiedAt: NOW - MINUTE } }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'an old group that lost the tag of the pool is not changed',
    observed: drainScene({ old: { ...SHRUNK, tags: {} }, nodes: NEW_NODES }),
    want: [],
    rests: { until: '20s' },
  },
];

const reversed: readonly PlanCase[] = [
  {
    name: 'the old group serves again when the spec goes back while EKS creates the new one',
    observed: replacementScene({ spec: replacing(OLD), main: { status: 'CREATING' }, nodes: OLD_NODES }),
    want: [RETURN],
  },
  {
    name: 'the old group serves again when the spec goes back before the new one exists',
    observed: replacementScene({ spec: replacing(OLD), main: 'absent', nodes: OLD_NODES }),
    want: [RETURN],
  },
  {
    name: 'the old group serves again when the spec goes back while its nodes are drained',
    observed: drainScene({ spec: replacing(OLD) }),
    want: [RETURN],
  },
  {
    name: 'the old group does not come back when it is being deleted',
    observed: drainScene({ spec: replacing(OLD), nodes: NEW_NODES, old: { ...SHRUNK, status: 'DELETING' } }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'a new group that is created and not needed any more is deleted',
    observed: replacementScene({ old: { status: 'CREATING' }, nodes: NEW_NODES }),
    want: ['deleteSecondGroup web'],
  },
  {
    name: 'a group that is created and not needed any more is not deleted while its nodes run pods',
    observed: replacementScene({ old: { status: 'CREATING' } }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'a new group that does not serve yet is deleted when the spec changes once more',
    observed: replacementScene({ spec: replacing(THIRD), nodes: OLD_NODES }),
    want: [`deleteNodeGroup ${HASHED}`],
  },
  {
    name: 'a group that was there first is not deleted, although its record says that it does not serve yet',
    observed: replacementScene({
      spec: replacing(THIRD),
      main: { createdAt: NOW - 70 * MINUTE },
      nodes: OLD_NODES,
    }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'a group that has served is not deleted when the spec changes once more',
    observed: replacementScene({
      spec: replacing(THIRD),
      record: { phase: 'Returning' },
      nodes: NEW_NODES.slice(1),
    }),
    want: [],
    waits: { because: 'UpToDate Replacing', until: '20s' },
  },
  {
    name: 'a group that serves is replaced after the old one is gone',
    observed: drainScene({ spec: replacing(THIRD), nodes: [...CORDONED_NODES, ...NEW_NODES] }),
    want: [RESERVE_FIRST],
  },
  {
    name: 'a cordon that is left on a group that serves again is removed',
    observed: sampleState({
      pool: samplePool(replacing(OLD), { status: knownStatus() }),
      group: { kind: 'seen', group: sampleGroup(samplePool(replacing(OLD))) },
      nodes: CORDONED_NODES,
    }),
    want: ['uncordonNode a', 'uncordonNode b'],
  },
];

const lost = (main: 'absent' | object, type: string) => {
  const scene = replacementScene({ spec: replacing(type), nodes: [...OLD_NODES, ...NEW_NODES] });
  const pool = { ...scene.pool, status: { tracking: {} } };
  const made = scene.group;
  return derive({
    ...scene,
    pool,
    group: main === 'absent' ? { kind: 'absent' as const } : (scene.second ?? made),
    second: made,
  });
};

const recalled: readonly PlanCase[] = [
  {
    name: 'a pool whose status was lost finds its group under its other name',
    observed: lost('absent', NEW),
    want: [`switchNodeGroup ${HASHED}`],
  },
  {
    name: 'a pool whose status was lost continues a replacement',
    observed: lost({}, NEW),
    want: [`switchNodeGroup ${HASHED} second=web`],
  },
  {
    name: 'a pool whose status was lost removes the new group when the old one matches the spec',
    observed: lost({}, OLD),
    want: [`switchNodeGroup web second=${HASHED} keepsMain`],
  },
];

const deleted: readonly PlanCase[] = [
  {
    name: 'both groups of a deleted pool are deleted',
    observed: replacementScene({ metadata: LEAVING }),
    want: ['deleteSecondGroup web'],
  },
  {
    name: 'the new group of a deleted pool is deleted while the old one is being deleted',
    observed: replacementScene({ metadata: LEAVING, old: { status: 'DELETING' } }),
    want: [`deleteNodeGroup ${HASHED}`],
  },
  {
    name: 'a deleted pool keeps its finalizer until EKS has not had the old group for a while',
    observed: replacementScene({
      metadata: LEAVING,
      main: 'absent',
      old: { kind: 'absent' },
      nodes: [],
    }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: '20s' },
  },
  {
    name: 'a deleted pool without either group is finalized',
    observed: replacementScene({
      metadata: LEAVING,
      record: { status: 'DELETING', absenceStartTime: new Date(NOW - MINUTE).toISOString() },
      main: 'absent',
      old: { kind: 'absent' },
      nodes: [],
    }),
    want: ['removeFinalizer'],
  },
  {
    name: 'the old group of a deleted pool with Retain is released first',
    observed: replacementScene({ spec: { ...replacing(), deletionPolicy: 'Retain' }, metadata: LEAVING }),
    want: [
      'updateConfig web -winpool.dev/pool -winpool.dev/windows-build',
      'correctScalingTags eks-web-0a1b retain',
      'correctTags web -winpool.dev/pool -winpool.dev/created-from',
    ],
  },
];

export const replacementCases: readonly PlanCase[] = [
  ...beginning,
  ...waiting,
  ...draining,
  ...reversed,
  ...recalled,
  ...deleted,
];
