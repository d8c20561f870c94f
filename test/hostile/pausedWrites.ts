/** The kinds of write before which a leader is paused: what causes each, and the request that precedes it. */
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { conditionOf, hasConditions, isReconciled, READY, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { controllerOf, podOn } from '../userObjects.ts';

const POOLS = '/apis/winpool.dev/v1alpha1/windowspools';
const OLD_RELEASE = '1.36-2026.02.17';
const NEW_RELEASE = '1.36-2026.03.17';
/** Of no pool in this suite. */
const OTHER_BUILD = '10.0.17763';

/** A pool, and one of its nodes if it exists before the pause. */
export interface Target {
  readonly world: TestEnv;
  readonly pool: string;
  readonly node: string;
  readonly instance: string;
}

export interface PausedWrite {
  /** Also the suffix of the pool's name. */
  readonly name: string;
  /** The spec of a pool that is Ready before; undefined: `begin` creates the pool. */
  readonly spec?: Parameters<typeof poolManifest>[1];
  /** Runs when the pool is Ready, before the pause. */
  readonly prepare?: (target: Target) => Promise<unknown>;
  readonly begin: (target: Target) => Promise<unknown>;
  /** The request right before the write. */
  readonly before: (target: Target) => string;
  readonly write: (target: Target) => string;
  /** The result of the write if it arrives after another replica has completed the work: of the audit log, or of AWS. */
  readonly late: (target: Target) => string;
  /** Whether the work is complete. Default: `isSettled`. */
  readonly isDone?: (pool: WindowsPool | undefined) => boolean;
  /** Begins when the others are held: its hold would block theirs. */
  readonly last?: boolean;
}

/** Whether a pool is Ready, its spec is reconciled, and none of its nodes is being replaced. */
export function isSettled(pool: WindowsPool | undefined): boolean {
  return (
    hasConditions(pool, READY) &&
    isReconciled(pool) &&
    pool?.status?.disruption === undefined &&
    conditionOf(pool, 'Disrupting') === 'absent'
  );
}

const create = ({ world, pool }: Target) => world.apply(poolManifest(pool));
const annotate =
  (operation: string) =>
  ({ world, node }: Target) =>
    world.kubectl('annotate', 'node', node, `winpool.dev/${operation}=true`);
const statusOf = ({ pool }: Target) => `PUT ${POOLS}/${pool}/status`;

/** A pod on the node that has a controller, so that a drain evicts it. */
async function makePod({ world, pool, node }: Target): Promise<void> {
  const labels = { suite: 'paused-leader' };
  await world.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: pool, namespace: 'default', labels } });
  const { metadata, ...pod } = podOn(node, 'default', pool, await controllerOf(world, 'default', pool));
  await world.apply({ ...pod, metadata: { ...metadata, labels } });
}

export const pausedWrites: readonly PausedWrite[] = [
  {
    name: 'create',
    begin: create,
    before: statusOf,
    write: ({ pool }) => `CreateNodegroup {"nodegroupName":"${pool}"`,
    // The same client request token, so it is the same call for EKS. The same is true of both updates.
    late: () => 'CreateNodegroup: ok',
  },
  {
    name: 'finalizer',
    begin: create,
    before: ({ pool }) => `DescribeNodegroup {"clusterName":"demo","nodegroupName":"${pool}"`,
    write: ({ pool }) => `PATCH ${POOLS}/${pool}`,
    late: ({ pool }) => `patch windowspools ${pool}: 409`,
  },
  {
    name: 'status',
    begin: create,
    before: ({ pool }) => `PATCH ${POOLS}/${pool}`,
    write: statusOf,
    late: ({ pool }) => `update windowspools/status ${pool}: 409`,
  },
  {
    name: 'class',
    begin: ({ world, pool }) => world.apply(poolManifest(pool, { runtimeClass: { name: pool } })),
    before: ({ pool }) => `CreateNodegroup {"nodegroupName":"${pool}"`,
    write: () => 'POST /apis/node.k8s.io/v1/runtimeclasses',
    late: ({ pool }) => `create runtimeclasses ${pool}: 409`,
  },
  {
    name: 'config',
    spec: {},
    begin: ({ world, pool }) => world.patchPool(pool, { labels: { tier: 'web' } }),
    before: statusOf,
    write: ({ pool }) =>
      `UpdateNodegroupConfig {"labels":{"addOrUpdateLabels":{"tier":"web"}},"clientRequestToken":"${pool}-`,
    late: () => 'UpdateNodegroupConfig: ok',
  },
  {
    name: 'scaling-tags',
    spec: {},
    begin: ({ world, pool }) => world.patchPool(pool, { labels: { tier: 'web' } }),
    before: ({ pool }) =>
      `UpdateNodegroupConfig {"labels":{"addOrUpdateLabels":{"tier":"web"}},"clientRequestToken":"${pool}-`,
    write: ({ pool }) =>
      `CreateOrUpdateTags {"Tags":[{"Key":"k8s.io/cluster-autoscaler/node-template/label/tier","ResourceId":"eks-${pool}-`,
    // The same tags again.
    late: () => 'CreateOrUpdateTags: ok',
  },
  {
    name: 'tags',
    spec: {},
    begin: ({ world, pool }) => world.patchPool(pool, { nodeGroup: { tags: { cost: '42' } } }),
    before: statusOf,
    write: ({ pool }) =>
      `TagResource {"tags":{"cost":"42"},"resourceArn":"arn:aws:eks:eu-west-1:111122223333:nodegroup/demo/${pool}/`,
    // The same tags again.
    late: () => 'TagResource: ok',
  },
  {
    name: 'version',
    spec: { nodeGroup: { releaseVersion: OLD_RELEASE } },
    begin: ({ world, pool }) => world.patchPool(pool, { nodeGroup: { releaseVersion: NEW_RELEASE } }),
    before: statusOf,
    write: ({ pool }) =>
      `UpdateNodegroupVersion {"version":"1.36","releaseVersion":"${NEW_RELEASE}","force":false,"clientRequestToken":"${pool}-`,
    last: true,
    late: () => 'UpdateNodegroupVersion: ok',
  },
  {
    name: 'delete',
    spec: {},
    begin: ({ world, pool }) => world.kubectl('delete', 'windowspool', pool, '--wait=false'),
    before: ({ pool }) => `DescribeNodegroup {"clusterName":"demo","nodegroupName":"${pool}"`,
    write: ({ pool }) => `DeleteNodegroup {"clusterName":"demo","nodegroupName":"${pool}"`,
    isDone: (pool) => pool === undefined,
    late: () => 'DeleteNodegroup: ResourceNotFoundException',
  },
  {
    name: 'remove',
    spec: { nodeGroup: { scaling: { minSize: 2 } } },
    prepare: ({ world, pool }) => world.patchPool(pool, { nodeGroup: { scaling: { minSize: 1 } } }),
    begin: annotate('remove'),
    before: ({ pool }) => `DescribeAutoScalingGroups {"AutoScalingGroupNames":["eks-${pool}-`,
    write: ({ instance }) =>
      `TerminateInstanceInAutoScalingGroup {"ShouldDecrementDesiredCapacity":true,"InstanceId":"${instance}"`,
    late: () => 'TerminateInstanceInAutoScalingGroup: ValidationError',
  },
  {
    name: 'cordon',
    spec: {},
    begin: annotate('replace'),
    before: ({ instance }) => `DescribeInstances {"Filters":[{"Name":"instance-id","Values":["${instance}"]`,
    write: ({ node }) => `PATCH /api/v1/nodes/${node}`,
    late: ({ node }) => `patch nodes ${node}: 404`,
  },
  {
    name: 'evict',
    spec: {},
    begin: async (target) => {
      await makePod(target);
      await annotate('replace')(target);
    },
    before: ({ node }) => `GET /api/v1/pods?fieldSelector=spec.nodeName%3D${node}`,
    write: ({ pool }) => `POST /api/v1/namespaces/default/pods/${pool}/eviction`,
    late: ({ pool }) => `create pods/eviction ${pool}: 404`,
  },
  {
    name: 'condition',
    spec: { verification: { policy: 'Quarantine' } },
    begin: async ({ world, node }) => world.cloud.faults.patchKernel({ node, build: OTHER_BUILD }),
    // The quarantine taint.
    before: ({ node }) => `PATCH /api/v1/nodes/${node}`,
    write: ({ node }) => `PATCH /api/v1/nodes/${node}/status`,
    isDone: (pool) =>
      pool?.status?.nodes?.quarantined === 1 && conditionOf(pool, 'Ready') !== 'True/EnoughNodesVerified',
    // The same condition again, with the UID of the node as the precondition.
    late: ({ node }) => `patch nodes/status ${node}: 200`,
  },
];
