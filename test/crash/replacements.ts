/** The replacements of a node group by a new one, during which the operator is killed in memory. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { hasConditions, READY, UP_TO_DATE } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import type { MemoryFixture } from './memoryFixture.ts';

/** The number of nodes. */
export const SIZE = 2;
/** The instance types of the pool before the replacement, after it, and of a third configuration. */
const [OLD, NEW, THIRD] = ['m5.large', 'm5.xlarge', 'm5.2xlarge'];

/** A way in which a replacement goes. */
export interface Replacement {
  readonly name: string;
  /** Brings the pool to where the operator is killed. */
  readonly prepare: (fixture: MemoryFixture) => Promise<void>;
  readonly act: (fixture: MemoryFixture) => Promise<void>;
  readonly end: (fixture: MemoryFixture) => Promise<void>;
  /** The most node groups that ever were. Default: 2. */
  readonly groupsEver?: number;
  readonly includes: readonly string[];
}

const apply = (fixture: MemoryFixture, type: string, rest: Record<string, unknown> = {}) =>
  fixture.apply(
    poolManifest(fixture.name, {
      runtimeClass: { name: fixture.name },
      ...rest,
      nodeGroup: { immutableChangePolicy: 'Replace', instanceTypes: [type], scaling: { minSize: SIZE, maxSize: 5 } },
    }),
  );

/** Whether the pool has one group that matches the spec. */
function isSettled(pool: WindowsPool | undefined): boolean {
  const { nodeGroup, observedGeneration, disruption } = pool?.status ?? {};
  const isCurrent = observedGeneration === pool?.metadata.generation && nodeGroup?.replacement === undefined;
  const isDone = disruption === undefined && nodeGroup?.update?.status !== 'InProgress';
  return isCurrent && isDone && hasConditions(pool, UP_TO_DATE, READY);
}

async function makeReady(fixture: MemoryFixture): Promise<void> {
  fixture.mostGroups = 2;
  await fixture.ready();
  await apply(fixture, OLD);
  await fixture.until('to be as specified', isSettled);
  await fixture.quiet();
  // From here on, the pool always has enough nodes that accept pods.
  fixture.check = () => {
    const { nodes, pools } = fixture.world;
    const pool = pools.get(fixture.name);
    if (!pool || pool.metadata.deletionTimestamp !== undefined) return [];
    const open = nodes.filter(({ ready, unschedulable }) => ready === 'True' && !unschedulable);
    return open.length < SIZE ? [`only ${open.length} nodes accepted pods`] : [];
  };
}

/** Brings a replacement to a stage. */
const replacing =
  (what: string, isThere: (pool: WindowsPool | undefined) => boolean) =>
  async (fixture: MemoryFixture): Promise<void> => {
    await makeReady(fixture);
    await apply(fixture, NEW);
    await fixture.until(what, isThere);
  };

const whileCreating = replacing('to create the new group', (pool) => {
  const { replacement, status } = pool?.status?.nodeGroup ?? {};
  return replacement !== undefined && status === 'CREATING';
});
const whileDraining = replacing(
  'to drain the second node',
  (pool) => pool?.status?.nodeGroup?.replacement?.nodes === SIZE - 1,
);

/** One group as specified, without a trace of the other. */
const endWith =
  (type: string) =>
  async (fixture: MemoryFixture): Promise<void> => {
    const pool = await fixture.until('to be as specified', isSettled);
    assert.deepEqual(theOnlyGroup(fixture, pool).instanceTypes, [type]);
  };

/** The only node group of the pool, as it was before: of the same size, and with nodes that are not cordoned. */
export function theOnlyGroup(fixture: MemoryFixture, pool: WindowsPool | undefined) {
  const [group = assert.fail('there is no group'), ...others] = fixture.groups();
  assert.deepEqual(others, []);
  assert.equal(group.status, 'ACTIVE');
  assert.equal(pool?.status?.nodeGroup?.arn, group.nodegroupArn);
  assert.deepEqual(group.scalingConfig, { minSize: SIZE, maxSize: 5, desiredSize: SIZE });
  assert.deepEqual(
    fixture.world.nodes.map(({ unschedulable, annotations }) => [unschedulable, 'winpool.dev/cordoned' in annotations]),
    Array.from({ length: SIZE }, () => [false, false]),
  );
  return group;
}

export async function endWithNothing(fixture: MemoryFixture): Promise<void> {
  await fixture.until('to be gone', (pool) => pool === undefined);
  assert.deepEqual(fixture.groups(), []);
}

export const replacements: readonly Replacement[] = [
  {
    name: 'another instance type',
    prepare: makeReady,
    act: (fixture) => apply(fixture, NEW),
    end: endWith(NEW),
    includes: ['CreateNodegroup', 'UpdateNodegroupConfig', 'TerminateInstanceInAutoScalingGroup', 'DeleteNodegroup'],
  },
  {
    name: 'reversed while the new group is created',
    prepare: whileCreating,
    act: (fixture) => apply(fixture, OLD),
    end: endWith(OLD),
    includes: ['PUT windowspools/status', 'DeleteNodegroup'],
  },
  {
    name: 'reversed while the old group is drained',
    prepare: whileDraining,
    act: (fixture) => apply(fixture, OLD),
    end: endWith(OLD),
    includes: ['UpdateNodegroupConfig', 'TerminateInstanceInAutoScalingGroup', 'DeleteNodegroup'],
  },
  {
    name: 'a third configuration while the new group is created',
    prepare: whileCreating,
    act: (fixture) => apply(fixture, THIRD),
    end: endWith(THIRD),
    groupsEver: 3,
    includes: ['CreateNodegroup', 'TerminateInstanceInAutoScalingGroup', 'DeleteNodegroup'],
  },
  {
    name: 'a third configuration while the old group is drained',
    prepare: whileDraining,
    act: (fixture) => apply(fixture, THIRD),
    end: endWith(THIRD),
    groupsEver: 3,
    includes: ['CreateNodegroup', 'TerminateInstanceInAutoScalingGroup', 'DeleteNodegroup'],
  },
  {
    name: 'the pool is deleted meanwhile',
    prepare: whileDraining,
    act: (fixture) => fixture.delete(),
    end: endWithNothing,
    includes: ['DeleteNodegroup', 'PATCH windowspools'],
  },
  {
    name: 'the pool is deleted meanwhile, and retains both groups',
    prepare: async (fixture) => {
      fixture.retained = true;
      await whileDraining(fixture);
      await apply(fixture, NEW, { deletionPolicy: 'Retain' });
    },
    act: (fixture) => fixture.delete(),
    end: async (fixture) => {
      await fixture.until('to be gone', (pool) => pool === undefined);
      const groups = [...fixture.world.cloud.state.groups.values()].map(({ nodegroup }) => nodegroup);
      assert.deepEqual(
        groups.map(({ status, tags }) => [status, tags]),
        [
          ['ACTIVE', {}],
          ['ACTIVE', {}],
        ],
      );
      assert.ok(fixture.world.nodes.every(({ annotations }) => !('winpool.dev/cordoned' in annotations)));
    },
    includes: ['UpdateNodegroupConfig', 'UntagResource', 'PATCH windowspools'],
  },
];
