/** The phases in which the operator has a launch template for the pool, besides its group. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { hasConditions, UP_TO_DATE } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import type { CrashFixture } from './fixture.ts';
import { isGone, type Phase } from './phases.ts';

/** Without nodes: at the speed of this AWS, pods would have no time to leave them. */
const manifest = ({ name }: CrashFixture, sizeGiB: number) =>
  poolManifest(name, {
    runtimeClass: { name },
    nodeGroup: {
      diskSizeGiB: undefined,
      disk: { sizeGiB, type: 'gp3', encrypted: true },
      scaling: { minSize: 0 },
    },
  });

/** The pool's launch templates, with the numbers of their versions and the disk of the newest. */
function templates({ world, name }: CrashFixture) {
  return [...world.cloud.state.launchTemplates.values()]
    .filter(({ tags }) => tags?.['winpool.dev/pool'] === name)
    .map(({ versions }) => ({
      versions: versions.map(({ number }) => number),
      sizeGiB: versions.at(-1)?.data.BlockDeviceMappings?.[0]?.Ebs?.VolumeSize,
    }));
}

/** Whether the group has a version, nothing is due, and no share of the disruption budget is left. */
const hasVersion = (version: string) => (pool: WindowsPool | undefined) =>
  hasConditions(pool, 'Ready=True/NoNodes', UP_TO_DATE) &&
  pool?.status?.nodeGroup?.status === 'ACTIVE' &&
  pool.status.nodeGroup.launchTemplate?.version === version &&
  pool.status.nodeGroup.update?.status !== 'InProgress' &&
  pool.status.disruption === undefined &&
  (pool.status.pendingSteps ?? []).length === 0;

async function become(fixture: CrashFixture, sizeGiB: number, version: string): Promise<void> {
  await fixture.apply(manifest(fixture, sizeGiB));
  await fixture.until(`to have version ${version}`, hasVersion(version));
}

function assertOneGroup(fixture: CrashFixture): void {
  const [group, ...others] = fixture.groups();
  assert.deepEqual([group?.status, others], ['ACTIVE', []]);
  assert.equal(fixture.history.groups.size, 1, 'groups that ever were');
  assert.equal(fixture.history.creationTokens.size, 1, 'client request tokens of creations');
}

const isOfTemplate = (request: string) => /LaunchTemplate|Nodegroup|^P\w+ windowspools/.test(request);

/** They are only visited in memory. */
export const launchSettingsPhases: readonly Phase[] = [
  {
    name: 'create with a launch template',
    prepare: (fixture) => fixture.ready(),
    act: (fixture) => fixture.apply(manifest(fixture, 100)),
    end: async (fixture) => {
      await fixture.until('to have its first version', hasVersion('1'));
      assertOneGroup(fixture);
      assert.deepEqual(templates(fixture), [{ versions: [1], sizeGiB: 100 }]);
    },
    own: isOfTemplate,
    includes: ['DescribeLaunchTemplates #1', 'CreateLaunchTemplate #1', 'CreateNodegroup #1'],
  },
  {
    name: 'change of the launch settings after another',
    prepare: async (fixture) => {
      await fixture.ready();
      await become(fixture, 100, '1');
      await become(fixture, 200, '2');
    },
    act: (fixture) => fixture.apply(manifest(fixture, 300)),
    end: async (fixture) => {
      const isPruned = () => templates(fixture)[0]?.versions.join() === '1,3';
      await fixture.until('to have its third version, not the second', (pool) => hasVersion('3')(pool) && isPruned());
      assertOneGroup(fixture);
      assert.deepEqual(templates(fixture), [{ versions: [1, 3], sizeGiB: 300 }]);
      const updates = [...fixture.world.cloud.state.updates.values()].filter(({ group }) => group === fixture.name);
      assert.equal(updates.length, 2, 'updates that ever were');
    },
    own: isOfTemplate,
    includes: ['CreateLaunchTemplateVersion #1', 'UpdateNodegroupVersion #1', 'DeleteLaunchTemplateVersions #1'],
  },
  {
    name: 'deletion with a launch template',
    prepare: async (fixture) => {
      await fixture.ready();
      await become(fixture, 100, '1');
    },
    act: (fixture) => fixture.delete(),
    end: async (fixture) => {
      await fixture.until('to be gone', isGone);
      assert.deepEqual([fixture.groups(), templates(fixture)], [[], []]);
      assert.equal(fixture.history.groups.size, 1, 'groups that ever were');
    },
    own: isOfTemplate,
    includes: ['DeleteNodegroup #1', 'DeleteLaunchTemplate #1', 'PATCH windowspools #1'],
  },
];
