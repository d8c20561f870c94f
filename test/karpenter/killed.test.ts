/**
 * The operator's process is killed at its requests during the life of a pool of Karpenter, with its real core: a pod gets a node through the gate, the node is replaced,
 * and the pool is deleted. In memory, every request is visited: karpenterLife.test.ts beside the code.
 */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { ClusterFixture } from '../crash/clusterFixture.ts';
import { samplePoints } from '../crash/crashPoints.ts';
import type { CrashPoint } from '../crash/requestGate.ts';
import { type Karpenter, startKarpenter } from '../fakes/karpenter/karpenter.ts';
import { theWorld } from '../sharedWorld.ts';
import { changeRole, deployment, onDemandPool } from './karpenterFixture.ts';

/** How often these are sent depends on which changes of nodes and NodeClaims one reconcile sees together. */
const isRepeated = (request: string) => /^(PUT windowspools\/status|PATCH nodes(\/status)?|POST events)/.test(request);
const isWrite = (request: string) => /^(PATCH|POST|PUT|DELETE) (?!events)/.test(request);

const hasOneNode = (pool: WindowsPool | undefined) =>
  pool?.status?.nodes?.verified === 1 &&
  pool.status.nodes.total === 1 &&
  pool.status.karpenter?.nodeClaims === 1 &&
  pool.status.disruption === undefined;

describe('an operator that is killed while it keeps a pool of Karpenter', function () {
  this.timeout(900_000);
  let karpenter: Karpenter;
  let crash: ClusterFixture;
  let pools = 0;
  let sample: readonly CrashPoint[] = [];

  before(async () => {
    const world = await theWorld();
    await changeRole(world, 'apply');
    karpenter = await startKarpenter(world.controlPlane, (line) => console.log(`    ${line}`));
    crash = await ClusterFixture.open(world, '--join-grace=60s');
    crash.start();
    crash.gate.begin();
    await live();
    const requests = crash.gate.end().filter(isWrite);
    const points = samplePoints([{ phase: 'life', requests: { before: requests, after: requests } }], isRepeated);
    sample = points.get('life') ?? [];
  });
  after(async () => {
    const { world } = crash;
    await crash[Symbol.asyncDispose]();
    await karpenter.uninstall();
    await changeRole(world, 'delete');
  });

  /** The life of a pool. Returns the number of NodeClaims that it had. */
  async function live(): Promise<number> {
    pools += 1;
    crash.next(`killed-${pools}`);
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

  it('replaces its node once and leaves nothing, killed at one request of each kind', async () => {
    assert.ok(sample.length > 10, `only ${sample.length} requests`);
    for (const point of sample) {
      const restart = async () => {
        await crash.kill();
        crash.start();
      };
      const wasKilled = crash.gate.killAt(point, restart);
      const where = `killed ${point.moment} ${point.request}`;
      const count = await live().catch((cause: Error) => {
        throw new Error(`${where}: ${cause.message}`, { cause });
      });
      assert.equal(count, 2, where);
      assert.ok((await wasKilled()) || isRepeated(point.request), `${point.request} did not come`);
    }
    console.log(`    killed at ${sample.map(({ request, moment }) => `${moment} ${request}`).join(', ')}`);
  });
});
