/** The phases of a pool's life in which the crash suite kills the operator. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { nodeRoleArn, subnetIds } from '../fakes/localaws/network.ts';
import { conditionOf, hasConditions, READY, UP_TO_DATE } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import type { CrashFixture } from './fixture.ts';

/** A phase of a pool's life. */
export interface Phase {
  readonly name: string;
  /** Brings the pool to the start of the phase. */
  readonly prepare?: (fixture: CrashFixture) => Promise<void>;
  /** What a user does. */
  readonly act: (fixture: CrashFixture) => Promise<void>;
  /** Waits for the end of the phase and asserts what must be true then. */
  readonly end: (fixture: CrashFixture) => Promise<void>;
  /** Which requests belong to this phase and not to another phase that it contains. Default: all. */
  readonly own?: (request: string) => boolean;
  /** Which requests an operator sends equally often each time. Default: all but those of its start. */
  readonly numbers?: (request: string, index: number, all: readonly string[]) => boolean;
  /** Requests that must be among them. */
  readonly includes: readonly string[];
}

const START = /^(WATCH|GET \/version|DescribeCluster)/;
/** Reads of prerequisites and advice are shared by pools and cached: whether one is sent depends on earlier ones. Events are read of nodes that are slow to join. */
const SHARED = new RegExp(
  `^(${[
    'DescribeAddon',
    'DescribeAccessEntry',
    'DescribeImages',
    'GetParameter',
    'DescribeInstanceType',
    'DescribeSubnets',
    'DescribeSecurityGroups',
    'ListNodegroups',
    'GetEbsEncryptionByDefault',
    'GetRole',
    'GET configmaps',
    'GET deployments',
    'GET events',
    'GET nodes',
    'GET pods',
  ].join('|')})`,
);
/** Whether the request is none of an operator's start, and the pool's own. */
export const isOfTheRun = (request: string): boolean => !START.test(request) && !SHARED.test(request);
/** Once the finalizer is removed, the pool may be read once more or not: that depends on which of two watch events arrives first. */
const isBeforeTheEnd = (request: string, index: number, all: readonly string[]): boolean =>
  isOfTheRun(request) && (!request.startsWith('GET') || index < all.indexOf('PATCH windowspools #1'));

const manifest = (fixture: CrashFixture, spec: Parameters<typeof poolManifest>[1] = {}) =>
  poolManifest(fixture.name, { runtimeClass: { name: fixture.name }, ...spec });
/** Whether the pool is Ready and its group is ACTIVE: a pool can be Ready while EKS is still creating or updating its group. */
const isReady = (pool: WindowsPool | undefined) =>
  hasConditions(pool, READY) && pool?.status?.nodeGroup?.status === 'ACTIVE';
/** Whether there is no such pool. */
export const isGone = (pool: WindowsPool | undefined) => pool === undefined;

/** One group as specified, one owner of the RuntimeClass, and nothing done twice. */
async function assertOneGroup(fixture: CrashFixture, groupsEver: number, pool: WindowsPool | undefined): Promise<void> {
  const [group, ...others] = fixture.groups();
  assert.deepEqual(others, []);
  assert.equal(group?.nodegroupName, fixture.name);
  assert.equal(group?.status, 'ACTIVE');
  assert.equal(pool?.status?.nodeGroup?.arn, group?.nodegroupArn);
  assert.equal(fixture.history.groups.size, groupsEver, 'groups that ever were');
  assert.equal(fixture.history.creationTokens.size, groupsEver, 'client request tokens of creations');
  const owners = (await fixture.runtimeClass())?.metadata?.ownerReferences?.map(({ uid }) => uid);
  assert.deepEqual(owners, [pool?.metadata.uid]);
}

/** The group is gone, and so is what Kubernetes' garbage collector deletes. */
async function assertNothingLeft(fixture: CrashFixture): Promise<void> {
  assert.deepEqual(fixture.groups(), []);
  const instances = [...fixture.world.cloud.state.instances.values()].filter(({ group }) => group === fixture.name);
  assert.deepEqual(
    instances.filter(({ state }) => state !== 'terminated'),
    [],
  );
  assert.equal(fixture.history.groups.size, 1, 'groups that ever were');
  await waitFor(async () => (await fixture.runtimeClass()) === undefined, {
    what: `RuntimeClass ${fixture.name} to be collected`,
  });
}

async function makeReady(fixture: CrashFixture): Promise<void> {
  await fixture.ready();
  await fixture.apply(manifest(fixture));
  await fixture.until('to be Ready', isReady);
}

/** Leaves no operator running: it would keep polling, and the requests could not be numbered. */
async function makeCreating(fixture: CrashFixture): Promise<void> {
  await fixture.ready();
  fixture.held = true;
  await fixture.apply(manifest(fixture));
  await fixture.until('to be CREATING', (pool) => pool?.status?.nodeGroup?.status === 'CREATING');
  await fixture.kill();
  fixture.held = false;
  assert.equal(fixture.groups()[0]?.status, 'CREATING');
}

/** Without nodes: at the speed of this AWS, pods would have no time to leave them. */
const release = (fixture: CrashFixture, releaseVersion: string) =>
  manifest(fixture, { nodeGroup: { releaseVersion, scaling: { minSize: 0 } } });
const isEmpty = (pool: WindowsPool | undefined) => conditionOf(pool, 'Ready') === 'True/NoNodes';
const changed = { labels: { tier: 'web' }, nodeGroup: { tags: { cost: '42' }, scaling: { desiredSize: 2 } } };
/** A group of another owner. */
const legacyGroup = (nodegroupName: string) => ({
  nodegroupName,
  nodeRole: nodeRoleArn,
  subnets: [subnetIds[0], subnetIds[1]],
  amiType: 'WINDOWS_CORE_2022_x86_64' as const,
  instanceTypes: ['m5.large'],
  scalingConfig: { minSize: 0, maxSize: 6, desiredSize: 1 },
  labels: { team: 'legacy' },
  tags: { 'winpool.dev/adoptable-by': nodegroupName },
});
const otherSubnet = { nodeGroup: { subnets: [{ id: 'subnet-0a3000000000000cc' }] } };

/** Every phase. */
export const phases: readonly Phase[] = [
  {
    name: 'create',
    prepare: (fixture) => fixture.ready(),
    act: (fixture) => fixture.apply(manifest(fixture)),
    end: async (fixture) => assertOneGroup(fixture, 1, await fixture.until('to be Ready', isReady)),
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
    prepare: async (fixture) => {
      fixture.world.cloud.faults.accessEntry({ exists: false });
      await fixture.ready();
    },
    act: (fixture) => fixture.apply(manifest(fixture, { nodeGroup: { accessEntryManagement: 'Operator' } })),
    end: async (fixture) => {
      await assertOneGroup(fixture, 1, await fixture.until('to be Ready', isReady));
      assert.equal(fixture.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
    },
    // The rest is the creation again.
    own: (request) => request.startsWith('Create'),
    includes: ['CreateAccessEntry #1', 'CreateNodegroup #1'],
  },
  {
    name: 'the start of an operator',
    prepare: async (fixture) => {
      await fixture.kill();
      await fixture.apply(manifest(fixture));
    },
    act: async (fixture) => fixture.start(),
    end: async (fixture) => assertOneGroup(fixture, 1, await fixture.until('to be Ready', isReady)),
    // The rest is the creation again.
    own: (request) => START.test(request),
    numbers: () => true,
    includes: ['WATCH windowspools #1', 'WATCH nodes #1', 'WATCH runtimeclasses #1', 'DescribeCluster #1'],
  },
  {
    name: 'update of labels, tags and size',
    prepare: makeReady,
    act: (fixture) => fixture.apply(manifest(fixture, changed)),
    end: async (fixture) => {
      const pool = await fixture.until(
        'to be updated',
        (found) =>
          isReady(found) &&
          hasConditions(found, UP_TO_DATE) &&
          found?.status?.observedGeneration === found?.metadata.generation &&
          found?.status?.nodeGroup?.update?.status !== 'InProgress' &&
          found?.status?.nodes?.verified === 2,
      );
      await assertOneGroup(fixture, 1, pool);
      const [group] = fixture.groups();
      assert.equal(group?.labels?.tier, 'web');
      assert.equal(group?.tags?.cost, '42');
      assert.equal(group?.scalingConfig?.desiredSize, 2);
      assert.equal(pool?.status?.tracking?.lastAppliedDesiredSize, 2, JSON.stringify(pool?.status));
      assert.equal(fixture.history.resizes.size, 1, 'updates that carried the desired size');
    },
    includes: ['TagResource #1', 'UpdateNodegroupConfig #1', 'DescribeUpdate #1', 'PUT windowspools/status #2'],
  },
  {
    name: 'upgrade',
    prepare: async (fixture) => {
      await fixture.ready();
      await fixture.apply(release(fixture, '1.36-2026.02.17'));
      await fixture.until('to be Ready', isEmpty);
    },
    act: (fixture) => fixture.apply(release(fixture, '1.36-2026.03.17')),
    end: async (fixture) => {
      const pool = await fixture.until(
        'to have the release, and no share of the disruption budget',
        (found) =>
          isEmpty(found) &&
          found?.status?.nodeGroup?.releaseVersion === '1.36-2026.03.17' &&
          found.status.nodeGroup.update?.status !== 'InProgress' &&
          found.status.disruption === undefined,
      );
      await assertOneGroup(fixture, 1, pool);
      const updates = [...fixture.world.cloud.state.updates.values()].filter(({ group }) => group === fixture.name);
      assert.equal(updates.length, 1, 'updates that ever were');
    },
    // The tags of the scaling group are part of the creation, and can follow when the pool is already Ready.
    own: (request) => !/^(DescribeAutoScalingGroups|CreateOrUpdateTags) /.test(request),
    includes: ['GET windowspools #1', 'PUT windowspools/status #1', 'UpdateNodegroupVersion #1', 'DescribeUpdate #1'],
  },
  {
    name: 'deletion',
    prepare: makeReady,
    act: (fixture) => fixture.delete(),
    end: async (fixture) => {
      await fixture.until('to be gone', isGone);
      await assertNothingLeft(fixture);
    },
    numbers: isBeforeTheEnd,
    includes: ['DeleteNodegroup #1', 'DescribeNodegroup #3', 'PATCH windowspools #1', 'PUT windowspools/status #1'],
  },
  {
    name: 'deletion while EKS creates',
    prepare: makeCreating,
    act: async (fixture) => {
      await fixture.delete();
      fixture.start();
    },
    end: async (fixture) => {
      await fixture.until('to be gone', isGone);
      await assertNothingLeft(fixture);
    },
    numbers: isBeforeTheEnd,
    includes: ['DeleteNodegroup #1', 'PATCH windowspools #1'],
  },
  {
    name: 'replacement of a failed group',
    prepare: async (fixture) => {
      const issues = [{ code: 'Ec2SubnetInvalidConfiguration' as const, message: 'No route', resourceIds: [] }];
      fixture.world.cloud.faults.createFailure({ group: fixture.name, issues });
      await fixture.ready();
      await fixture.apply(manifest(fixture));
      await fixture.until('to tell the failure', (pool) => conditionOf(pool, 'Ready') === 'False/CreateFailed');
    },
    act: (fixture) => fixture.apply(manifest(fixture, otherSubnet)),
    end: async (fixture) => {
      await assertOneGroup(fixture, 2, await fixture.until('to be Ready', isReady));
      assert.deepEqual(fixture.groups()[0]?.subnets, ['subnet-0a3000000000000cc']);
    },
    includes: ['DeleteNodegroup #1', 'CreateNodegroup #1', 'PUT windowspools/status #3'],
  },
  {
    name: 'adoption',
    prepare: async (fixture) => {
      // The group exists before the pool, and so before the finalizer.
      fixture.retained = true;
      await fixture.ready();
      fixture.world.cloud.faults.consoleCreate(legacyGroup(fixture.name));
      await fixture.settle();
    },
    act: (fixture) =>
      fixture.apply(manifest(fixture, { ...changed, nodeGroup: { ...changed.nodeGroup, adoption: 'IfUnowned' } })),
    end: async (fixture) => {
      const pool = await fixture.until(
        'to be Ready and as specified',
        (found) =>
          isReady(found) &&
          hasConditions(found, UP_TO_DATE) &&
          found?.status?.nodeGroup?.update?.status !== 'InProgress',
      );
      const [group, ...others] = fixture.groups();
      assert.deepEqual(others, []);
      assert.equal(pool?.status?.nodeGroup?.arn, group?.nodegroupArn);
      assert.deepEqual([fixture.history.groups.size, fixture.history.creationTokens.size], [1, 0], 'groups, creations');
      assert.equal(fixture.history.resizes.size, 0, 'updates that carried the desired size');
      assert.deepEqual(group?.labels, {
        team: 'legacy',
        tier: 'web',
        'winpool.dev/pool': fixture.name,
        'winpool.dev/windows-build': '10.0.20348',
      });
      const adopted = { 'winpool.dev/adoptable-by': fixture.name, 'winpool.dev/pool': fixture.name };
      assert.deepEqual(group?.tags, { cost: '42', ...adopted });
      assert.deepEqual(group?.scalingConfig, { minSize: 1, maxSize: 3, desiredSize: 1 });
    },
    includes: ['PUT windowspools/status #1', 'TagResource #1', 'UpdateNodegroupConfig #1', 'TagResource #2'],
  },
  {
    name: 'deletion with Retain',
    prepare: async (fixture) => {
      fixture.retained = true;
      await fixture.ready();
      await fixture.apply(manifest(fixture, { deletionPolicy: 'Retain' }));
      await fixture.until('to be Ready', isReady);
    },
    act: (fixture) => fixture.delete(),
    end: async (fixture) => {
      await fixture.until('to be gone', isGone);
      assert.deepEqual(
        fixture.groups().map(({ status, scalingConfig, tags }) => [status, scalingConfig?.desiredSize, tags]),
        [['ACTIVE', 1, {}]],
      );
      // The RuntimeClass stays and selects the pool's label.
      assert.deepEqual(fixture.groups()[0]?.labels, { 'winpool.dev/pool': fixture.name });
      assert.equal(fixture.history.groups.size, 1, 'groups that ever were');
      assert.deepEqual((await fixture.runtimeClass())?.metadata?.ownerReferences ?? [], []);
    },
    numbers: isBeforeTheEnd,
    includes: ['UpdateNodegroupConfig #1', 'UntagResource #1', 'PATCH runtimeclasses #1', 'PATCH windowspools #1'],
  },
];
