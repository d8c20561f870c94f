/**
 * The operator's process is killed at its requests during the life of a pool with machines.template, with the real core controllers of Cluster API: the pool is
 * created, gets another image, and is deleted. In memory, every request is visited: machineSetRules.test.ts and rollout.test.ts beside the code.
 */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { ClusterFixture } from '../crash/clusterFixture.ts';
import { KilledLife } from '../crash/killedLife.ts';
import { type ClusterApi, startClusterApi } from '../fakes/clusterApi/clusterApi.ts';
import { INFRASTRUCTURE } from '../fakes/clusterApi/objectClient.ts';
import { DEPLOYMENT_LABEL } from '../fakes/clusterApi/objects.ts';
import { theWorld } from '../sharedWorld.ts';
import { changeRole, changeTemplatesRole, deploymentPool } from './machinesFixture.ts';

const [BEFORE, AFTER] = ['10.0.20348.5020', '10.0.20348.5139'] as const;

describe('an operator that is killed while it keeps a MachineDeployment', function () {
  this.timeout(900_000);
  let api: ClusterApi;
  let crash: ClusterFixture;
  let life: KilledLife;

  before(async () => {
    const world = await theWorld();
    await changeRole({ world }, 'apply');
    await changeTemplatesRole({ world }, 'apply');
    api = await startClusterApi(world.controlPlane, { log: (line) => console.log(`    ${line}`) });
    await api.createCluster('here', world.controlPlane);
    crash = await ClusterFixture.open(world, '--join-grace=60s');
    life = await KilledLife.record(crash, live);
  });
  after(async () => {
    const { world } = crash;
    await crash[Symbol.asyncDispose]();
    await api.uninstall();
    await changeTemplatesRole({ world }, 'delete');
    await changeRole({ world }, 'delete');
  });

  const has = (build: string) => (pool: WindowsPool | undefined) =>
    pool?.status?.nodes?.verified === 1 &&
    pool.status.summary?.build === build &&
    pool.status.disruption === undefined &&
    pool.status.machines?.outdated === 0;
  const machines = () => api.machines(`${DEPLOYMENT_LABEL}=${crash.name}`);
  const templates = () => api.client.list(INFRASTRUCTURE, 'SimMachineTemplate', `winpool.dev/pool=${crash.name}`);

  /** The life of a pool. Returns the number of Machines that it had. */
  async function live(): Promise<number> {
    const { name } = crash;
    const seen = new Set<string>();
    const see = async () => {
      for (const { metadata } of await machines()) seen.add(metadata.name);
    };
    await crash.apply(deploymentPool(name, BEFORE));
    await crash.until(`to have a node of ${BEFORE}`, has(BEFORE));
    await see();
    await api.untilCounted(name, 1);
    await crash.apply(deploymentPool(name, AFTER));
    await crash.until(`to have a node of ${AFTER}`, has(AFTER));
    await see();
    await api.until('the template of the first image to be deleted', async () => (await templates()).length === 1);
    await crash.delete();
    await crash.until('to be deleted', (pool) => pool === undefined);
    assert.deepEqual(
      [await api.get('MachineDeployment', name), await machines(), await templates()],
      [undefined, [], []],
    );
    return seen.size;
  }

  it('replaces its Machine once and leaves nothing, killed at one request of each kind', () => life.killAtEach(15, 2));
});
