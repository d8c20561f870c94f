/** The phases of a pool's life in which the crash suite kills the operator. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { nodeRoleArn, subnetIds } from '../../hack/localaws/network.ts';
import { conditionOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import type { CrashFixture } from './fixture.ts';

/** One of them. */
export interface Phase {
  readonly name: string;
  /** Brings the pool to where the phase begins. */
  readonly prepare?: (stage: CrashFixture) => Promise<void>;
  /** What a user does. */
  readonly act: (stage: CrashFixture) => Promise<void>;
  /** Waits for the end of it and says what must be true then. */
  readonly end: (stage: CrashFixture) => Promise<void>;
  /** Which requests are of this phase and not of another phase that it contains. Default: all. */
  readonly own?: (request: string) => boolean;
  /** Which requests a process makes equally often each time. Default: all but those of an operator's start. */
  readonly numbers?: (request: string, index: number, all: readonly string[]) => boolean;
  /** Requests that must be among them, or the phase is not what it says. */
  readonly includes: readonly string[];
}

const START = /^(WATCH|GET \/version|DescribeCluster)/;
/** Looks at the prerequisites are shared by pools and kept for a while: whether one is made depends on what was asked before, and when. */
const SHARED =
  /^(DescribeAddon|DescribeAccessEntry|DescribeImages|GetParameter|DescribeInstanceType|DescribeSubnets|GET configmaps|GET deployments|GET nodes)/;
/** Whether the request is none of an operator's start, and the pool's own. */
export const isOfTheRun = (request: string): boolean => !START.test(request) && !SHARED.test(request);
/** Once the finalizer is away, the pool may be read once more or not: that depends on which of two watch events comes first. */
const isBeforeTheEnd = (request: string, index: number, all: readonly string[]): boolean =>
  isOfTheRun(request) && (!request.startsWith('GET') || index < all.indexOf('PATCH windowspools #1'));

const manifest = (stage: CrashFixture, spec: Parameters<typeof poolManifest>[1] = {}) =>
  poolManifest(stage.name, { runtimeClass: { scope: 'Pool' }, ...spec });
const isReady = (pool: WindowsPool | undefined) => conditionOf(pool, 'Ready') === 'True/Verified';
/** Whether there is no such pool. */
export const isGone = (pool: WindowsPool | undefined) => pool === undefined;

/** One group as the spec wants it, one owner of the RuntimeClass, and nothing that happened twice. */
async function assertOneGroup(stage: CrashFixture, groupsEver: number, pool: WindowsPool | undefined): Promise<void> {
  const [group, ...others] = stage.groups();
  assert.deepEqual(others, []);
  assert.equal(group?.nodegroupName, stage.name);
  assert.equal(group?.status, 'ACTIVE');
  assert.equal(pool?.status?.nodeGroup?.arn, group?.nodegroupArn);
  assert.equal(stage.history.groups.size, groupsEver, 'groups that ever were');
  assert.equal(stage.history.creationTokens.size, groupsEver, 'client request tokens of creations');
  const owners = (await stage.runtimeClass())?.metadata?.ownerReferences?.map(({ uid }) => uid);
  assert.deepEqual(owners, [pool?.metadata.uid]);
}

/** The group is gone, and so is what Kubernetes' garbage collector ends. */
async function assertNothingLeft(stage: CrashFixture): Promise<void> {
  assert.deepEqual(stage.groups(), []);
  const instances = [...stage.world.cloud.state.instances.values()].filter(({ group }) => group === stage.name);
  assert.deepEqual(
    instances.filter(({ state }) => state !== 'terminated'),
    [],
  );
  assert.equal(stage.history.groups.size, 1, 'groups that ever were');
  await waitFor(async () => (await stage.runtimeClass()) === undefined, {
    what: `RuntimeClass ${stage.name} to be collected`,
    timeoutMs: 60_000,
  });
}

async function makeReady(stage: CrashFixture): Promise<void> {
  await stage.ready();
  await stage.apply(manifest(stage));
  await stage.until('to be Ready', isReady);
}

/** Leaves no operator: one that runs would ask again and again, and the requests could not be numbered. */
async function makeCreating(stage: CrashFixture): Promise<void> {
  await stage.ready();
  stage.held = true;
  await stage.apply(manifest(stage));
  await stage.until('to be CREATING', (pool) => pool?.status?.nodeGroup?.status === 'CREATING');
  await stage.kill();
  stage.held = false;
  assert.equal(stage.groups()[0]?.status, 'CREATING');
}

/** Without nodes: at the speed of this AWS, pods would have no time to leave them. */
const release = (stage: CrashFixture, releaseVersion: string) =>
  manifest(stage, { scaling: { min: 0 }, nodeGroup: { releaseVersion } });
const isEmpty = (pool: WindowsPool | undefined) => conditionOf(pool, 'Ready') === 'True/NoNodes';
const changed = { labels: { tier: 'web' }, nodeGroup: { tags: { cost: '42' } }, scaling: { desired: 2 } };
/** A group as somebody else makes it. */
const legacyGroup = (nodegroupName: string) => ({
  nodegroupName,
  nodeRole: nodeRoleArn,
  subnets: [subnetIds[0], subnetIds[1]],
  amiType: 'WINDOWS_CORE_2022_x86_64' as const,
  instanceTypes: ['m5.large'],
  scalingConfig: { minSize: 0, maxSize: 6, desiredSize: 1 },
  labels: { team: 'legacy' },
});
const otherSubnet = { nodeGroup: { subnets: [{ id: 'subnet-0a3000000000000cc' }] } };

/** All of them. */
export const phases: readonly Phase[] = [
  {
    name: 'create',
    prepare: (stage) => stage.ready(),
    act: (stage) => stage.apply(manifest(stage)),
    end: async (stage) => assertOneGroup(stage, 1, await stage.until('to be Ready', isReady)),
    includes: [
      'GET windowspools #1',
      'PATCH windowspools #1',
      'PUT windowspools/status #3',
      'DescribeNodegroup #3',
      'CreateNodegroup #1',
      'POST runtimeclasses #1',
      'POST events #2',
    ],
  },
  {
    name: 'create with the access entry of the node role',
    prepare: async (stage) => {
      stage.world.cloud.faults.accessEntry({ exists: false });
      await stage.ready();
    },
    act: (stage) => stage.apply(manifest(stage, { nodeGroup: { manageAccessEntry: true } })),
    end: async (stage) => {
      await assertOneGroup(stage, 1, await stage.until('to be Ready', isReady));
      assert.equal(stage.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
    },
    // The rest is the creation again.
    own: (request) => request.startsWith('Create'),
    includes: ['CreateAccessEntry #1', 'CreateNodegroup #1'],
  },
  {
    name: 'the start of an operator',
    prepare: async (stage) => {
      await stage.kill();
      await stage.apply(manifest(stage));
    },
    act: async (stage) => stage.start(),
    end: async (stage) => assertOneGroup(stage, 1, await stage.until('to be Ready', isReady)),
    // The rest is the creation again.
    own: (request) => START.test(request),
    numbers: () => true,
    includes: ['WATCH windowspools #1', 'WATCH nodes #1', 'WATCH runtimeclasses #1', 'DescribeCluster #1'],
  },
  {
    name: 'update of labels, tags and size',
    prepare: makeReady,
    act: (stage) => stage.apply(manifest(stage, changed)),
    end: async (stage) => {
      const pool = await stage.until(
        'to be updated',
        (found) =>
          isReady(found) &&
          conditionOf(found, 'UpToDate') === 'True/AsSpecified' &&
          found?.status?.observedGeneration === found?.metadata.generation &&
          found?.status?.nodeGroup?.update?.status !== 'InProgress' &&
          found?.status?.nodes?.verified === 2,
      );
      await assertOneGroup(stage, 1, pool);
      const [group] = stage.groups();
      assert.equal(group?.labels?.tier, 'web');
      assert.equal(group?.tags?.cost, '42');
      assert.equal(group?.scalingConfig?.desiredSize, 2);
      assert.equal(pool?.status?.nodeGroup?.lastAppliedDesired, 2, JSON.stringify(pool?.status));
      assert.equal(stage.history.resizes.size, 1, 'updates that carried the desired size');
    },
    includes: ['TagResource #1', 'UpdateNodegroupConfig #1', 'DescribeUpdate #1', 'PUT windowspools/status #2'],
  },
  {
    name: 'upgrade',
    prepare: async (stage) => {
      await stage.ready();
      await stage.apply(release(stage, '1.36-2026.02.17'));
      await stage.until('to be Ready', isEmpty);
    },
    act: (stage) => stage.apply(release(stage, '1.36-2026.03.17')),
    end: async (stage) => {
      const pool = await stage.until(
        'to have the release, and no share of the disruption budget',
        (found) =>
          isEmpty(found) &&
          found?.status?.nodeGroup?.releaseVersion === '1.36-2026.03.17' &&
          found.status.nodeGroup.update?.status !== 'InProgress' &&
          found.status.disruption === undefined,
      );
      await assertOneGroup(stage, 1, pool);
      const updates = [...stage.world.cloud.state.updates.values()].filter(({ group }) => group === stage.name);
      assert.equal(updates.length, 1, 'updates that ever were');
    },
    includes: ['GET windowspools #1', 'PUT windowspools/status #1', 'UpdateNodegroupVersion #1', 'DescribeUpdate #1'],
  },
  {
    name: 'deletion',
    prepare: makeReady,
    act: (stage) => stage.delete(),
    end: async (stage) => {
      await stage.until('to be gone', isGone);
      await assertNothingLeft(stage);
    },
    numbers: isBeforeTheEnd,
    includes: ['DeleteNodegroup #1', 'DescribeNodegroup #3', 'PATCH windowspools #1', 'PUT windowspools/status #1'],
  },
  {
    name: 'deletion while EKS creates',
    prepare: makeCreating,
    act: async (stage) => {
      await stage.delete();
      stage.start();
    },
    end: async (stage) => {
      await stage.until('to be gone', isGone);
      await assertNothingLeft(stage);
    },
    numbers: isBeforeTheEnd,
    includes: ['DeleteNodegroup #1', 'PATCH windowspools #1'],
  },
  {
    name: 'replacement of a failed group',
    prepare: async (stage) => {
      const issues = [{ code: 'Ec2SubnetInvalidConfiguration' as const, message: 'No route', resourceIds: [] }];
      stage.world.cloud.faults.createFailure({ group: stage.name, issues });
      await stage.ready();
      await stage.apply(manifest(stage));
      await stage.until('to tell the failure', (pool) => conditionOf(pool, 'Ready') === 'False/CreateFailed');
    },
    act: (stage) => stage.apply(manifest(stage, otherSubnet)),
    end: async (stage) => {
      await assertOneGroup(stage, 2, await stage.until('to be Ready', isReady));
      assert.deepEqual(stage.groups()[0]?.subnets, ['subnet-0a3000000000000cc']);
    },
    includes: ['DeleteNodegroup #1', 'CreateNodegroup #1', 'PUT windowspools/status #3'],
  },
  {
    name: 'adoption',
    prepare: async (stage) => {
      // It is there before the pool, and so before the finalizer.
      stage.retained = true;
      await stage.ready();
      stage.world.cloud.faults.consoleCreate(legacyGroup(stage.name));
      await stage.settle();
    },
    act: (stage) =>
      stage.apply(manifest(stage, { ...changed, nodeGroup: { ...changed.nodeGroup, adoption: 'IfUnowned' } })),
    end: async (stage) => {
      const pool = await stage.until(
        'to be Ready and as specified',
        (found) =>
          isReady(found) &&
          conditionOf(found, 'UpToDate') === 'True/AsSpecified' &&
          found?.status?.nodeGroup?.update?.status !== 'InProgress',
      );
      const [group, ...others] = stage.groups();
      assert.deepEqual(others, []);
      assert.equal(pool?.status?.nodeGroup?.arn, group?.nodegroupArn);
      assert.deepEqual([stage.history.groups.size, stage.history.creationTokens.size], [1, 0], 'groups, creations');
      assert.equal(stage.history.resizes.size, 0, 'updates that carried the desired size');
      assert.deepEqual(group?.labels, {
        team: 'legacy',
        tier: 'web',
        'winpool.dev/pool': stage.name,
        'winpool.dev/windows-build': '10.0.20348',
      });
      assert.deepEqual(group?.tags, { cost: '42', 'winpool.dev/pool': stage.name });
      assert.deepEqual(group?.scalingConfig, { minSize: 1, maxSize: 3, desiredSize: 1 });
    },
    includes: ['PUT windowspools/status #1', 'TagResource #1', 'UpdateNodegroupConfig #1', 'TagResource #2'],
  },
  {
    name: 'deletion with Retain',
    prepare: async (stage) => {
      stage.retained = true;
      await stage.ready();
      await stage.apply(manifest(stage, { deletionPolicy: 'Retain' }));
      await stage.until('to be Ready', isReady);
    },
    act: (stage) => stage.delete(),
    end: async (stage) => {
      await stage.until('to be gone', isGone);
      assert.deepEqual(
        stage.groups().map(({ status, scalingConfig, tags }) => [status, scalingConfig?.desiredSize, tags]),
        [['ACTIVE', 1, {}]],
      );
      // The RuntimeClass stays and selects the pool's label.
      assert.deepEqual(stage.groups()[0]?.labels, { 'winpool.dev/pool': stage.name });
      assert.equal(stage.history.groups.size, 1, 'groups that ever were');
      assert.deepEqual((await stage.runtimeClass())?.metadata?.ownerReferences ?? [], []);
    },
    numbers: isBeforeTheEnd,
    includes: ['UpdateNodegroupConfig #1', 'UntagResource #1', 'PATCH runtimeclasses #1', 'PATCH windowspools #1'],
  },
];
