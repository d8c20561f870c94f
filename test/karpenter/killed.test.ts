/**
 * The operator's process is killed at its requests during the life of a pool of Karpenter, with its real core: a pod gets a node through the gate, the node is replaced,
 * and the pool is deleted. In memory, every request is visited: karpenterLife.test.ts beside the code.
 */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { ClusterFixture } from '../crash/clusterFixture.ts';
import { KilledLife } from '../crash/killedLife.ts';
import { type Karpenter, startKarpenter } from '../fakes/karpenter/karpenter.ts';
import { theWorld } from '../sharedWorld.ts';
import { changeRole, deployment, onDemandPool } from './karpenterFixture.ts';

const hasOneNode = (pool: WindowsPool | undefined) =>
  pool?.status?.nodes?.verified === 1 &&
  pool.status.nodes.total === 1 &&
  pool.status.karpenter?.nodeClaims === 1 &&
  pool.status.disruption === undefined;

describe('an operator that is killed while it keeps a pool of Karpenter', function () {
  this.timeout(900_000);
  let karpenter: Karpenter;
  let crash: ClusterFixture;
  let life: KilledLife;

  before(async () => {
    const world = await theWorld();
    await changeRole(world, 'apply');
    karpenter = await startKarpenter(world.controlPlane, (line) => console.log(`    ${line}`));
    crash = await ClusterFixture.open(world, '--join-grace=60s');
    life = await KilledLife.record(crash, live);
  });
  after(async () => {
    const { world } = crash;
    await crash[Symbol.asyncDispose]();
    await karpenter.uninstall();
    await changeRole(world, 'delete');
  });

  /** The life of a pool. Returns the number of NodeClaims that it had. */
  async function live(): Promise<number> {
    const { name, world } = crash;
    const seen = new Set<string>();
    const see = async () => {
      for (const { metadata, status } of await karpenter.claims(name)) {
        seen.add(metadata.name);
        if (status?.nodeName) return status.nodeName;
      }
      return assert.fail('no NodeClaim has a node');
    };
    await crash.apply(onDemandPool(name, { verification: { policy: 'Gate' } }));
    await world.apply(deployment(name, 1));
    await crash.until('to have a verified node', hasOneNode);
    await world.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=60s');
    const first = await see();
    await world.kubectl('annotate', 'node', first, 'winpool.dev/replace=true');
    const isGone = async () => (await karpenter.claims(name)).every(({ status }) => status?.nodeName !== first);
    await karpenter.until('the node to be replaced', isGone);
    await crash.until('to have a verified node again', hasOneNode);
    await world.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=60s');
    await see();
    await world.kubectl('delete', 'deployment', name);
    await crash.delete();
    await crash.until('to be deleted', (pool) => pool === undefined);
    assert.deepEqual(await karpenter.claims(name), []);
    await assert.rejects(world.kubectl('get', 'nodepool', name), /NotFound/);
    return seen.size;
  }

  it('replaces its node once and leaves nothing, killed at one request of each kind', () => life.killAtEach(10, 2));
});
