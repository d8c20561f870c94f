import assert from 'node:assert/strict';
import { nodeGroupIn } from '../fakes/localaws/wire/callLog.ts';
import { isServed, serviceOf } from '../fakes/localaws/wire/calls.ts';
import { conditionOf, isReconciled } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

/** The local AWS creates a group in a few milliseconds: before the first poll, even on a slow machine. */
const AT_ONCE = 1_000;

describe('the calls of new pools to AWS', () => {
  // Results are shared for half the interval, and the first poll does not wait for it.
  const fixture = withOperator('--poll-interval=10m');
  before(() => fixture.world.cloud.faults.speed({ speed: AT_ONCE }));

  const ready = (name: string) =>
    fixture.world.waitForPool(
      name,
      'to be Ready and reconciled',
      (pool) => conditionOf(pool, 'Ready').startsWith('True/') && isReconciled(pool),
    );

  it('are made once for the cluster, and three times for each node group', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `herd-${i}`);
    fixture.world.cloud.resetCalls();
    const items = names.map((name) => poolManifest(name, { nodeGroup: { scaling: { minSize: 0 } } }));
    await fixture.world.apply({ apiVersion: 'v1', kind: 'List', items });
    for (const name of names) await ready(name);
    const calls = fixture.world.cloud.calls();
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
    fixture.world.cloud.resetCalls();
    await fixture.world.apply(poolManifest('frugal', { nodeGroup: { scaling: { minSize: 2 } } }));
    await ready('frugal');
    const own = fixture.world.cloud.calls().filter((call) => nodeGroupIn(call) === 'frugal');
    assert.deepEqual(
      own.map(({ operation }) => operation),
      ['DescribeNodegroup', 'CreateNodegroup', 'DescribeNodegroup'],
    );
  });
});
