/** One kubelet reports as much as the API server and etcd accept, 1.5 MiB. The leader must keep its lease, and its event loop must not block. */
import assert from 'node:assert/strict';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';
import { acceptedFrom, nodeOf, reportStatus } from './kubelet.ts';
import { LEASE, REPLICA_FLAGS, untilLeads } from './replicas.ts';

const MOST_DELAY_SECONDS = 0.2;
/** A block by the node itself is in each measurement. */
const MEASUREMENTS = 5;
const MEGABYTE = 1_000_000;

const many = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));

interface Fat {
  readonly what: string;
  /** The fields of a status, and those of its nodeInfo. */
  readonly status?: object;
  readonly nodeInfo?: object;
}

const fat: readonly Fat[] = [
  ...['containerRuntimeVersion', 'osImage', 'kubeletVersion', 'architecture'].map((field) => ({
    what: `1 MB of dots as ${field}`,
    nodeInfo: { [field]: '.'.repeat(MEGABYTE) },
  })),
  {
    what: '1 MB of digits and dots as containerRuntimeVersion',
    nodeInfo: { containerRuntimeVersion: '1.'.repeat(MEGABYTE / 2) },
  },
  // Without types: with them, 100,000 are more than etcd accepts.
  { what: '100,000 addresses', status: { addresses: many(100_000, (index) => ({ address: index.toString(36) })) } },
  {
    what: '8,000 runtime handlers',
    status: { runtimeHandlers: many(8_000, (index) => ({ name: `handler-${index}` })) },
  },
];

describe('a node whose kubelet reports', function () {
  this.timeout(120_000);
  let world: TestEnv;
  let leader: OperatorProcess;
  let standby: OperatorProcess;
  let node: string;
  let holder: string;
  let small: object;
  let reports = 0;

  const lease = () => world.kubectl('get', ...LEASE, '-o', 'jsonpath={.spec.holderIdentity} {.spec.leaseTransitions}');
  /** The longest delay of the leader's event loop since the last call, and the CPU time that it has used. */
  async function eventLoop(): Promise<{ delay: number; cpu: number }> {
    const { body } = await leader.get('/metrics');
    const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1]);
    return { delay: metric('nodejs_eventloop_lag_max_seconds'), cpu: metric('process_cpu_seconds_total') };
  }

  before(async () => {
    world = await theWorld();
    await world.kubectl('delete', ...LEASE, '--ignore-not-found');
    leader = await world.operator(REPLICA_FLAGS).ready();
    await untilLeads(leader);
    await world.apply(poolManifest('fat'));
    await world.waitForReady('fat');
    standby = await world.operator(REPLICA_FLAGS).ready();
    node = await nodeOf(world, 'fat');
    holder = await lease();
    const { status } = JSON.parse(await world.kubectl('get', 'node', node, '-o', 'json'));
    small = status;
  });
  after(async () => {
    await world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
    await Promise.all([leader.stop(), standby.stop()]);
  });

  /**
   * Reports a status with another kernel, and returns for how many seconds at most the leader blocked its event loop until the pool shows that
   * kernel: not longer than the delay, and, if other processes had the CPU, not longer than the CPU time that it used.
   */
  async function measure({ status = {}, nodeInfo = {} }: Omit<Fat, 'what'>): Promise<number> {
    reports += 1;
    const kernelVersion = `10.0.20348.${9_000 + reports}`;
    const { nodeInfo: smallInfo } = small as { nodeInfo: object };
    const report = { ...small, ...status, nodeInfo: { ...smallInfo, ...nodeInfo, kernelVersion } };
    const before = await eventLoop();
    assert.equal(await reportStatus(world, node, JSON.stringify(report)), undefined);
    await world.waitForPool('fat', `to have its node with kernel ${kernelVersion}`, (pool) =>
      (pool?.status?.builds ?? []).some((build) => build.kernelVersion === kernelVersion),
    );
    const { delay, cpu } = await eventLoop();
    return Math.min(delay, cpu - before.cpu);
  }

  for (const { what, ...report } of fat)
    it(`${what} blocks the event loop of the leader for less than ${MOST_DELAY_SECONDS * 1_000} ms`, async () => {
      const delays: number[] = [];
      do delays.push(await measure(report));
      while (Math.min(...delays) >= MOST_DELAY_SECONDS && delays.length < MEASUREMENTS);
      assert.ok(Math.min(...delays) < MOST_DELAY_SECONDS, `delays of ${delays.join(' s, ')} s`);
      assert.equal(await lease(), holder);
    });

  it('all of that was accepted by the API server, and the leader is the same', async () => {
    assert.equal(await acceptedFrom(world, node), reports);
    assert.ok(leader.running);
    assert.equal(await lease(), holder);
  });
});
