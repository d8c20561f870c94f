import assert from 'node:assert/strict';
import type { NodegroupUpdateConfig } from '@aws-sdk/client-eks';
import fc from 'fast-check';
import type { MemoryCloud } from '../memory.ts';
import { subnetIds } from '../network.ts';
import type { InstanceRecord, NodeEvent } from '../records.ts';
import type { Switches } from '../switches.ts';
import { openPolicy, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud, type TestClock } from '../testing/testClock.ts';
import { errors, group, issues, statusOf } from '../testing/testGroup.ts';

const from = '1.36-2026.03.17';
const to = '1.36-2026.04.18';

interface Moment {
  readonly living: number;
  readonly ready: number;
}

const living = (cloud: MemoryCloud): InstanceRecord[] =>
  [...cloud.state.instances.values()].filter(({ state }) => state !== 'terminated');

/** An ACTIVE group of the older release. */
async function world(
  desiredSize: number,
  updateConfig: NodegroupUpdateConfig = { maxUnavailable: 1 },
  switches: Partial<Switches> = {},
): Promise<{ cloud: MemoryCloud; clock: TestClock }> {
  const { cloud, clock } = memoryCloud({ policy: openPolicy, switches });
  const scalingConfig = { minSize: 0, desiredSize, maxSize: 20 };
  await cloud.send('CreateNodegroup', sampleGroup({ releaseVersion: from, scalingConfig, updateConfig }));
  clock.advance(3);
  assert.equal(await statusOf(cloud), 'ACTIVE');
  return { cloud, clock };
}

const start = async (cloud: MemoryCloud, force = false): Promise<string> =>
  (await cloud.send('UpdateNodegroupVersion', { ...group, releaseVersion: to, force })).update?.id ?? '';

const updateOf = async (cloud: MemoryCloud, updateId: string) =>
  (await cloud.send('DescribeUpdate', { name: 'demo', nodegroupName: 'web', updateId })).update;

/** Records the group every tenth of a second until it is settled; nodes are ready when they have joined. */
async function watch(cloud: MemoryCloud, clock: TestClock, onTick: () => void = () => {}): Promise<Moment[]> {
  const moments: Moment[] = [];
  for (let tenths = 0; (await statusOf(cloud)) === 'UPDATING'; tenths += 1) {
    assert.ok(tenths < 5_000, 'the group is still UPDATING after 500 s');
    const nodes = living(cloud);
    moments.push({ living: nodes.length, ready: nodes.filter(({ joined }) => joined).length });
    onTick();
    clock.advance(0.1);
  }
  return moments;
}

const releasesIn = (cloud: MemoryCloud) =>
  living(cloud)
    .map(({ releaseVersion }) => releaseVersion)
    .sort();
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('the replacement of the nodes of a group', () => {
  it('first launches additional nodes, and ends with the same number', async () => {
    const { cloud, clock } = await world(3);
    const id = await start(cloud);
    const moments = await watch(cloud, clock);
    assert.equal(Math.max(...moments.map((moment) => moment.living)), 3 + 2 * 3);
    assert.ok(Math.min(...moments.map(({ ready }) => ready)) >= 3);
    assert.deepEqual(releasesIn(cloud), times(3, to));
    assert.equal((await updateOf(cloud, id))?.status, 'Successful');
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual([nodegroup?.releaseVersion, nodegroup?.scalingConfig?.desiredSize], [to, 3]);
  });

  it('grows by maxUnavailable if that is more than two for each zone', async () => {
    const { cloud, clock } = await world(10, { maxUnavailable: 8 });
    await start(cloud);
    const moments = await watch(cloud, clock);
    assert.equal(Math.max(...moments.map((moment) => moment.living)), 18);
  });

  it('terminates before it launches with the strategy MINIMAL', async () => {
    const { cloud, clock } = await world(4, { maxUnavailablePercentage: 50, updateStrategy: 'MINIMAL' });
    await start(cloud);
    const moments = await watch(cloud, clock);
    assert.equal(Math.max(...moments.map((moment) => moment.living)), 4);
    assert.equal(Math.min(...moments.map(({ ready }) => ready)), 2);
    assert.deepEqual(releasesIn(cloud), times(4, to));
  });

  it('never makes more nodes unavailable than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.oneof(
          fc.record({ maxUnavailable: fc.integer({ min: 1, max: 12 }) }),
          fc.record({ maxUnavailablePercentage: fc.integer({ min: 1, max: 100 }) }),
        ),
        fc.constantFrom<NodegroupUpdateConfig['updateStrategy']>('DEFAULT', 'MINIMAL'),
        async (size, amount: NodegroupUpdateConfig, updateStrategy) => {
          const { cloud, clock } = await world(size, { ...amount, updateStrategy });
          const share = Math.floor((size * (amount.maxUnavailablePercentage ?? 0)) / 100);
          const allowed = updateStrategy === 'DEFAULT' ? 0 : Math.max(1, amount.maxUnavailable ?? share);
          await start(cloud);
          for (const { ready } of await watch(cloud, clock)) assert.ok(ready >= size - allowed, `${ready} of ${size}`);
          assert.deepEqual(releasesIn(cloud), times(size, to));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('cordons all old nodes when the new ones have joined, and drains each before its termination', async () => {
    const { cloud, clock } = await world(2);
    const events: string[] = [];
    const old = new Set(living(cloud).map(({ id }) => id));
    cloud.state.onNodeEvent((event: NodeEvent) => {
      const age = old.has(event.instance.id) ? 'old' : 'new';
      if (event.kind === 'drain') event.drained();
      if (['join', 'cordon', 'drain', 'leave'].includes(event.kind)) events.push(`${event.kind} ${age}`);
    });
    await start(cloud);
    await watch(cloud, clock);
    const replace = ['drain old', 'leave old', 'join new'];
    assert.deepEqual(events, [
      ...times(6, 'join new'),
      ...times(2, 'cordon old'),
      ...[...replace, ...replace],
      ...times(6, ['cordon new', 'drain new', 'leave new']).flat(),
    ]);
  });

  it('shows its growth in the scaling configuration, depending on the switch', async () => {
    for (const [rolloutGrowth, most] of [
      ['hidden', [2, 20]],
      ['shown', [8, 26]],
    ] as const) {
      const { cloud, clock } = await world(2, {}, { rolloutGrowth });
      await start(cloud);
      clock.advance(1);
      const { nodegroup } = await cloud.send('DescribeNodegroup', group);
      assert.deepEqual([nodegroup?.scalingConfig?.desiredSize, nodegroup?.scalingConfig?.maxSize], most);
    }
  });

  it('follows a change of the size in the meantime', async () => {
    const { cloud, clock } = await world(2);
    await start(cloud);
    clock.advance(1);
    await statusOf(cloud);
    cloud.faults.edit({ group: 'web', scalingConfig: { desiredSize: 4 } });
    await watch(cloud, clock);
    assert.deepEqual(releasesIn(cloud), times(4, to));
  });

  it('makes a DEGRADED group ACTIVE', async () => {
    const { cloud, clock } = await world(2);
    cloud.faults.healthIssue({ group: 'web', issues: [{ code: 'AsgInstanceLaunchFailures', message: 'm' }] });
    await start(cloud);
    await watch(cloud, clock);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual([nodegroup?.status, nodegroup?.health], ['ACTIVE', { issues: [] }]);
  });

  it('stops when the group is deleted', async () => {
    const { cloud, clock } = await world(2);
    await start(cloud);
    clock.advance(1);
    await cloud.send('DeleteNodegroup', group);
    clock.advance(60);
    await cloud.send('DescribeCluster', { name: 'demo' });
    assert.deepEqual([cloud.state.groups.size, living(cloud).length], [0, 0]);
  });
});

describe('a failed change of version', () => {
  it('is cancelled when its group is deleted, and leaves nothing behind when the deletion fails', async () => {
    const { cloud, clock } = await world(2, {}, { rolloutGrowth: 'shown' });
    const id = await start(cloud);
    clock.advance(1);
    cloud.faults.deleteFailure({ issues });
    await cloud.send('DeleteNodegroup', group);
    clock.advance(60);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual(
      [nodegroup?.status, nodegroup?.scalingConfig?.desiredSize, nodegroup?.releaseVersion],
      ['DELETE_FAILED', 2, from],
    );
    assert.equal((await updateOf(cloud, id))?.status, 'Cancelled');
  });

  const fails = async (
    { cloud, clock }: { cloud: MemoryCloud; clock: TestClock },
    id: string,
    status = 'ACTIVE',
  ): Promise<readonly (string | undefined)[]> => {
    await watch(cloud, clock);
    const { nodegroup } = await cloud.send('DescribeNodegroup', group);
    assert.deepEqual([nodegroup?.status, nodegroup?.releaseVersion, nodegroup?.version], [status, from, '1.36']);
    assert.equal(living(cloud).length, nodegroup?.scalingConfig?.desiredSize);
    const update = await updateOf(cloud, id);
    return [update?.status, ...(update?.errors ?? []).map(({ errorCode }) => errorCode)];
  };

  it('keeps the old nodes when a new one never joins', async () => {
    const { cloud, clock } = await world(2);
    cloud.faults.nextNode({ neverJoins: true });
    const id = await start(cloud);
    clock.advance(15);
    assert.equal(await statusOf(cloud), 'UPDATING');
    assert.deepEqual(await fails({ cloud, clock }, id), ['Failed', 'NodeCreationFailure']);
    assert.deepEqual(releasesIn(cloud), times(2, from));
    const [error] = (await updateOf(cloud, id))?.errors ?? [];
    assert.equal(
      error?.errorMessage,
      "Couldn't proceed with upgrade process as new nodes are not joining node group web",
    );
    assert.equal(error?.resourceIds?.length, 1);
  });

  it('keeps the old nodes when a new one is not ready', async () => {
    const { cloud, clock } = await world(1);
    cloud.faults.nextNode({ notReady: true });
    assert.deepEqual(await fails({ cloud, clock }, await start(cloud)), ['Failed', 'NodeCreationFailure']);
    assert.deepEqual(releasesIn(cloud), [from]);
  });

  it('keeps the old nodes when the image is private or no address is free', async () => {
    const { cloud, clock } = await world(2);
    cloud.faults.release({ date: '2026.04.18', public: false });
    assert.deepEqual(await fails({ cloud, clock }, await start(cloud)), ['Failed', 'NodeCreationFailure']);
    cloud.faults.release({ date: '2026.04.18' });
    for (const id of subnetIds) cloud.faults.subnet({ id, freeAddresses: 1 });
    assert.deepEqual(await fails({ cloud, clock }, await start(cloud)), ['Failed', 'InsufficientFreeAddresses']);
    assert.deepEqual(releasesIn(cloud), times(2, from));
  });

  it('names the node after fifteen minutes when pods stay, and keeps the replaced nodes', async () => {
    const { cloud, clock } = await world(2);
    const id = await start(cloud);
    // The first node is drained, the second is not.
    while (releasesIn(cloud).filter((release) => release === from).length === 2) {
      clock.advance(0.1);
      await statusOf(cloud);
    }
    const [stuck] = living(cloud).filter(({ releaseVersion }) => releaseVersion === from);
    cloud.faults.blockDrain({ group: 'web' });
    assert.deepEqual(await fails({ cloud, clock }, id), ['Failed', 'PodEvictionFailure']);
    assert.deepEqual(releasesIn(cloud), [from, to]);
    assert.deepEqual((await updateOf(cloud, id))?.errors, [
      {
        errorCode: 'PodEvictionFailure',
        errorMessage: 'Reached max retries while trying to evict pods from nodes in node group web',
        resourceIds: [stuck?.nodeName],
      },
    ]);
    const again = await start(cloud);
    await watch(cloud, clock);
    assert.equal((await updateOf(cloud, again))?.status, 'Successful');
    assert.deepEqual(releasesIn(cloud), times(2, to));
  });

  it('does not occur because of pods with force', async () => {
    const { cloud, clock } = await world(2);
    cloud.faults.blockDrain();
    const id = await start(cloud, true);
    await watch(cloud, clock);
    assert.equal((await updateOf(cloud, id))?.status, 'Successful');
    assert.deepEqual(releasesIn(cloud), times(2, to));
  });

  it('keeps the nodes after any other error, and can leave the group DEGRADED or be cancelled', async () => {
    const { cloud, clock } = await world(2);
    cloud.faults.updateFailure({ errors });
    assert.deepEqual(await fails({ cloud, clock }, await start(cloud)), ['Failed', 'NodeCreationFailure']);
    cloud.faults.updateFailure({ errors: [], status: 'Cancelled' });
    assert.deepEqual(await fails({ cloud, clock }, await start(cloud)), ['Cancelled']);
    cloud.faults.updateFailure({ errors, degraded: true });
    assert.deepEqual(await fails({ cloud, clock }, await start(cloud), 'DEGRADED'), ['Failed', 'NodeCreationFailure']);
    assert.deepEqual(releasesIn(cloud), times(2, from));
  });

  it('uncordons the old nodes', async () => {
    const { cloud, clock } = await world(1);
    const [old] = living(cloud);
    const cordons: boolean[] = [];
    cloud.state.onNodeEvent((event: NodeEvent) => {
      if (event.kind === 'cordon' && event.instance === old) cordons.push(event.on);
      if (event.kind === 'drain' && event.instance !== old) event.drained();
    });
    assert.deepEqual(await fails({ cloud, clock }, await start(cloud)), ['Failed', 'PodEvictionFailure']);
    assert.equal(cordons.at(-1), false);
  });
});
