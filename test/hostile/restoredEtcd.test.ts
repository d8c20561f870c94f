/**
 * etcd is restored from a backup while the operator runs: pools, their status and RuntimeClasses are as they were, also the pools that were deleted since, and AWS
 * is as it is. Every pool has one node group in the end, as its spec says now, and no instance is terminated twice.
 */
import assert from 'node:assert/strict';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf } from '../awsCalls.ts';
import { nodeGroupIn } from '../fakes/localaws/wire/callLog.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { conditionLines, startTestEnv, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { isSettled } from './pausedWrites.ts';
import { REPLICA_FLAGS, untilLeads } from './replicas.ts';

const SIZE = { scaling: { minSize: 2, maxSize: 4 } };
const LATE = poolManifest('late');

describe('etcd that is restored from a backup', function () {
  this.timeout(400_000);
  let world: TestEnv;
  let operator: OperatorProcess;

  before(async () => {
    world = await startTestEnv({ speed: 4, log: (line) => console.log(`    ${line}`) });
    operator = await start();
  });
  after(async () => {
    await operator?.stop();
    await world?.stop();
  });

  async function start(): Promise<OperatorProcess> {
    const started = await world.operator([...REPLICA_FLAGS, '--resync-interval=2s']).ready();
    await untilLeads(started);
    return started;
  }
  const groupsOf = (pool: string) =>
    [...world.cloud.state.groups.values()]
      .map(({ nodegroup }) => nodegroup)
      .filter(({ tags }) => tags?.['winpool.dev/pool'] === pool);
  const settled = (pool: string) => world.waitForPool(pool, 'to be settled', isSettled, 120_000);
  const creationsOf = (pool: string) =>
    callsOf(world, 'CreateNodegroup').filter((call) => nodeGroupIn(call)?.startsWith(pool)).length;

  /** What kubelets and the cloud controller manager do about Nodes that the backup lacks, or that are gone. */
  async function correctNodes(): Promise<void> {
    const instances = [...world.cloud.state.instances.values()].filter(
      ({ state, joined }) => state === 'running' && joined,
    );
    const nodes = await world.list<Stored<V1Node>>('nodes');
    const names = new Set(instances.map(({ nodeName }) => nodeName));
    for (const { metadata } of nodes)
      if (metadata.labels?.['kubernetes.io/os'] === 'windows' && !names.has(metadata.name))
        await world.kubectl('delete', 'node', metadata.name);
    for (const instance of instances) {
      world.cloud.state.emit({ kind: 'restart', instance });
      world.cloud.state.emit({ kind: 'podAddresses', instance });
    }
  }

  it('gives every pool one node group, as its spec is again', async () => {
    await world.apply(poolManifest('changed', { nodeGroup: SIZE }));
    await world.apply(poolManifest('replaced', { nodeGroup: { ...SIZE, immutableChangePolicy: 'Replace' } }));
    await world.apply(poolManifest('gone'));
    for (const pool of ['changed', 'replaced', 'gone']) await settled(pool);

    const backup = join(world.controlPlane.dir, 'backup');
    await world.controlPlane.withoutEtcd((data) => cp(data, backup, { recursive: true }));
    await world.patchPool('changed', { nodeGroup: { scaling: { maxSize: 5 } } });
    await world.patchPool('replaced', { nodeGroup: { instanceTypes: ['m5.xlarge'] } });
    await world.kubectl('delete', 'windowspool', 'gone', '--timeout=60s');
    await world.apply(LATE);
    for (const pool of ['changed', 'late', 'replaced']) await settled(pool);
    assert.deepEqual(
      groupsOf('replaced').map(({ instanceTypes }) => instanceTypes),
      [['m5.xlarge']],
    );
    assert.equal(groupsOf('changed')[0]?.scalingConfig?.maxSize, 5);
    const creations = creationsOf('late');

    await world.controlPlane.withoutEtcd(async (data) => {
      await rm(data, { recursive: true });
      await cp(backup, data, { recursive: true });
    });
    await correctNodes();
    const what = 'the operator to notice it';
    await waitFor(() => !operator.running, { what, timeoutMs: 60_000, explain: () => operator.tail() });
    assert.equal(await operator.stop(), 1);
    assert.match(operator.tail(), /the API server has an earlier state of \w+ than before/);
    operator = await start();

    const isAsBefore = () => {
      const [changed, ...others] = groupsOf('changed');
      const replaced = groupsOf('replaced');
      return (
        others.length === 0 &&
        changed?.scalingConfig?.maxSize === 4 &&
        replaced.length === 1 &&
        replaced[0]?.instanceTypes?.join() === 'm5.large' &&
        groupsOf('gone').length === 1
      );
    };
    await waitFor(isAsBefore, {
      what: 'the node groups to be as the specs say again',
      timeoutMs: 120_000,
      explain: async () => {
        const groups = [...world.cloud.state.groups.values()].map(({ nodegroup }) => nodegroup);
        const pools = await world.list<WindowsPool>('windowspools');
        const lines = pools.map((pool) => `${pool.metadata.name}:\n${conditionLines(pool)}`);
        return [JSON.stringify(groups), ...lines, operator.tail()].join('\n');
      },
    });
    for (const pool of ['changed', 'replaced', 'gone']) await settled(pool);

    // A pool that was created after the backup has left its group. Applied again, it finds it.
    assert.equal(groupsOf('late').length, 1);
    await world.apply(LATE);
    await settled('late');
    assert.equal(creationsOf('late'), creations);
    const ended = callsOf(world, 'TerminateInstanceInAutoScalingGroup').filter(({ result }) => result === 'ok');
    const instances = ended.map(({ input }) => (input as { InstanceId?: string }).InstanceId);
    assert.deepEqual(instances, [...new Set(instances)]);
    assert.ok(operator.running, operator.tail());
  });
});
