/** Updates that are tried on a canary, during which the operator is killed in memory. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { NODE_GROUP_LABEL } from '../../controllers/windowspool/api/labels.ts';
import { conditionOf, hasConditions, READY, UP_TO_DATE } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import type { MemoryFixture } from './memoryFixture.ts';
import { endWithNothing, type Replacement, SIZE, theOnlyGroup } from './replacements.ts';

/** The releases of the pool before the update, and after it. */
const [OLD, NEW] = ['1.36-2026.02.17', '1.36-2026.03.17'];
const CANARY = { policy: 'Manual', force: false, canary: { nodes: 1, soakDuration: '10m' } };

const apply = (fixture: MemoryFixture, releaseVersion: string | undefined, rest: Record<string, unknown> = {}) =>
  fixture.apply(
    poolManifest(fixture.name, {
      runtimeClass: { name: fixture.name },
      ...rest,
      nodeGroup: { update: CANARY, releaseVersion, scaling: { minSize: SIZE, maxSize: 5 } },
    }),
  );

const canaryIn = (pool: WindowsPool | undefined) => pool?.status?.nodeGroup?.canary;

/** Whether nothing is left to do. */
function isAtRest(pool: WindowsPool | undefined): boolean {
  const { nodeGroup, observedGeneration, disruption } = pool?.status ?? {};
  const isCurrent = observedGeneration === pool?.metadata.generation && nodeGroup?.canary === undefined;
  return isCurrent && disruption === undefined && nodeGroup?.update?.status !== 'InProgress';
}

/** The newest release is another one. */
const isSettled = (pool: WindowsPool | undefined) =>
  isAtRest(pool) && hasConditions(pool, 'UpToDate=False/UpdateAvailable', READY);

const hasFailed = (pool: WindowsPool | undefined) =>
  isAtRest(pool) && conditionOf(pool, 'UpToDate') === 'False/CanaryFailed';

async function makeReady(fixture: MemoryFixture): Promise<void> {
  fixture.mostGroups = 2;
  await fixture.ready();
  await apply(fixture, OLD);
  await fixture.until('to have the old release', (pool) => isAtRest(pool) && hasConditions(pool, READY));
  await fixture.quiet();
}

/** Brings a canary to a stage. */
const trying =
  (
    what: string,
    isThere: (pool: WindowsPool | undefined) => boolean,
    spoil: (fixture: MemoryFixture) => void = () => undefined,
  ) =>
  async (fixture: MemoryFixture): Promise<void> => {
    await makeReady(fixture);
    spoil(fixture);
    await apply(fixture, NEW);
    await fixture.until(what, isThere);
  };

/** The node that is launched next, that of the canary, has the wrong build. */
const spoilNext = ({ world }: MemoryFixture) => world.cloud.faults.nextNode({ build: '10.0.17763' });

const whileCreating = trying('to create the canary', (pool) => canaryIn(pool)?.status === 'CREATING');
const whileVerified = trying('to verify the canary', (pool) => canaryIn(pool)?.phase === 'Soaking');
const whileDraining = trying('to drain the canary', (pool) => canaryIn(pool)?.phase === 'Draining', spoilNext);

const endWith =
  (release: string | undefined, isOver: (pool: WindowsPool | undefined) => boolean = isSettled) =>
  async (fixture: MemoryFixture): Promise<void> => {
    const pool = await fixture.until(`to have release ${release}`, isOver);
    assert.equal(theOnlyGroup(fixture, pool).releaseVersion, release);
  };

/** The custom AMIs of the pool before the update, and after it. */
const [OLD_IMAGE, NEW_IMAGE] = ['ami-0a000001', 'ami-0a000002'];

const applyCustom = (fixture: MemoryFixture, id: string) =>
  fixture.apply(
    poolManifest(fixture.name, {
      runtimeClass: { name: fixture.name },
      nodeGroup: { diskSizeGiB: undefined, ami: { id }, update: CANARY, scaling: { minSize: SIZE, maxSize: 5 } },
    }),
  );

/** The versions of the launch templates of the pool. */
const versionsOf = ({ world, name }: MemoryFixture) =>
  [...world.cloud.state.launchTemplates.values()]
    .filter(({ tags }) => tags?.['winpool.dev/pool'] === name)
    .flatMap(({ versions }) => versions.map(({ number }) => number));

const matchesSpec = (pool: WindowsPool | undefined) => isAtRest(pool) && hasConditions(pool, UP_TO_DATE, READY);

async function makeCustom(fixture: MemoryFixture): Promise<void> {
  fixture.mostGroups = 2;
  for (const id of [OLD_IMAGE, NEW_IMAGE]) fixture.world.cloud.faults.image({ id });
  await fixture.ready();
  await applyCustom(fixture, OLD_IMAGE);
  await fixture.until('to have the first AMI', matchesSpec);
  await fixture.quiet();
  // A node with the label of another group would count as one of its nodes.
  fixture.check = () =>
    [...fixture.world.cloud.state.instances.values()].flatMap(({ group, nodeLabels }) =>
      nodeLabels[NODE_GROUP_LABEL] === group
        ? []
        : [`a node of ${group} had the label ${nodeLabels[NODE_GROUP_LABEL]}`],
    );
}

const endWithImage = (id: string, versions: string) => async (fixture: MemoryFixture) => {
  const isPruned = () => versionsOf(fixture).join() === versions;
  const pool = await fixture.until(`to have ${id}`, (found) => matchesSpec(found) && isPruned());
  assert.equal(theOnlyGroup(fixture, pool).releaseVersion, id);
};

export const canaries: readonly Replacement[] = [
  {
    name: 'a canary that passes',
    prepare: makeReady,
    act: (fixture) => apply(fixture, NEW),
    end: endWith(NEW),
    includes: ['CreateNodegroup', 'UpdateNodegroupVersion', 'TerminateInstanceInAutoScalingGroup', 'DeleteNodegroup'],
  },
  {
    name: 'a canary that fails',
    prepare: async (fixture) => {
      await makeReady(fixture);
      spoilNext(fixture);
    },
    act: (fixture) => apply(fixture, NEW),
    end: endWith(OLD, hasFailed),
    includes: ['CreateNodegroup', 'TerminateInstanceInAutoScalingGroup', 'DeleteNodegroup'],
  },
  {
    name: 'a canary of which the spec goes back while it is created',
    prepare: whileCreating,
    act: (fixture) => apply(fixture, OLD),
    end: endWith(OLD),
    includes: ['PUT windowspools/status', 'DeleteNodegroup'],
  },
  {
    name: 'a canary of which the spec goes back when it is verified',
    prepare: whileVerified,
    act: (fixture) => apply(fixture, OLD),
    end: endWith(OLD),
    includes: ['TerminateInstanceInAutoScalingGroup', 'DeleteNodegroup'],
  },
  {
    name: 'a canary whose pool is deleted',
    prepare: whileDraining,
    act: (fixture) => fixture.delete(),
    end: endWithNothing,
    includes: ['DeleteNodegroup', 'PATCH windowspools'],
  },
  {
    name: 'a canary with a custom AMI that passes',
    prepare: (fixture) => makeCustom(fixture),
    act: (fixture) => applyCustom(fixture, NEW_IMAGE),
    end: endWithImage(NEW_IMAGE, '1,2,3'),
    includes: ['CreateLaunchTemplateVersion', 'CreateNodegroup', 'UpdateNodegroupVersion', 'DeleteNodegroup'],
  },
  {
    name: 'a canary with a custom AMI of which the spec goes back when it is verified',
    prepare: async (fixture) => {
      await makeCustom(fixture);
      await applyCustom(fixture, NEW_IMAGE);
      await fixture.until('to verify the canary', (pool) => canaryIn(pool)?.phase === 'Soaking');
    },
    act: (fixture) => applyCustom(fixture, OLD_IMAGE),
    end: endWithImage(OLD_IMAGE, '1,3'),
    includes: ['TerminateInstanceInAutoScalingGroup', 'DeleteNodegroup', 'DeleteLaunchTemplateVersions'],
  },
  {
    name: 'a canary with a custom AMI whose pool is deleted',
    prepare: async (fixture) => {
      await makeCustom(fixture);
      await applyCustom(fixture, NEW_IMAGE);
      await fixture.until('to create the canary', (pool) => canaryIn(pool)?.status === 'CREATING');
    },
    act: (fixture) => fixture.delete(),
    end: async (fixture) => {
      await endWithNothing(fixture);
      assert.deepEqual(versionsOf(fixture), []);
    },
    includes: ['DeleteNodegroup', 'DeleteLaunchTemplate', 'PATCH windowspools'],
  },
];
