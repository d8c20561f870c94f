import assert from 'node:assert/strict';
import { nodeGroupIn } from '../../hack/localaws/wire/callLog.ts';
import { isServed, serviceOf } from '../../hack/localaws/wire/calls.ts';
import { conditionOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

/** The local AWS creates a group in a few milliseconds: before the first poll, however slow the machine is. */
const AT_ONCE = 1_000;

describe('the calls of new pools to AWS', () => {
  // Answers are shared for half the interval, and the first poll does not wait for it.
  const stage = withOperator('--poll-interval=10m');
  before(() => stage.world.cloud.faults.speed({ speed: AT_ONCE }));

  const ready = (name: string) =>
    stage.world.waitForPool(name, 'to be Ready', (pool) => conditionOf(pool, 'Ready').startsWith('True/'));

  it('ask once about the cluster, and three times about each node group', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `herd-${i}`);
    stage.world.cloud.resetCalls();
    const items = names.map((name) => poolManifest(name, { scaling: { min: 0 } }));
    await stage.world.apply({ apiVersion: 'v1', kind: 'List', items });
    for (const name of names) await ready(name);
    const calls = stage.world.cloud.calls();
    for (const name of names) {
      const own = calls.filter((call) => nodeGroupIn(call) === name).map(({ operation }) => operation);
      assert.deepEqual(own, ['DescribeNodegroup', 'CreateNodegroup', 'DescribeNodegroup'], name);
    }
    const others = calls
      .filter((call) => isServed(call.operation) && serviceOf(call.operation) === 'eks' && !nodeGroupIn(call))
      .map(({ operation }) => operation);
    assert.deepEqual(others.sort(), [...new Set(others)].sort());
    assert.ok(others.includes('DescribeCluster'), `${others}`);
  });

  it('are as few for a pool with nodes, from apply to Ready', async () => {
    stage.world.cloud.resetCalls();
    await stage.world.apply(poolManifest('frugal', { scaling: { min: 2 } }));
    await ready('frugal');
    const own = stage.world.cloud.calls().filter((call) => nodeGroupIn(call) === 'frugal');
    assert.deepEqual(
      own.map(({ operation }) => operation),
      ['DescribeNodegroup', 'CreateNodegroup', 'DescribeNodegroup'],
    );
  });
});
