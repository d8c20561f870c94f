import assert from 'node:assert/strict';
import { clusterSecurityGroupId } from '../../test/fakes/localaws/network.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from './api/labels.ts';
import { adviceReasonsIn } from './testing/adviceStates.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import { type SpecChange, SUBNETS, settings } from './testing/fixtures.ts';
import { DISK_100 } from './testing/launchSettingsScenes.ts';
import { fresh, ready, until, wake } from './testing/life.ts';
import { gaugesOf } from './testing/shownMetrics.ts';
import { wholeCondition } from './testing/wholeCondition.ts';

const advice = (world: FakeWorld) => adviceReasonsIn(world.pools.get('web'));
const gauges = (world: FakeWorld) => gaugesOf(world.metrics.get('web'), 'windowspool_advice');
const prerequisites = (world: FakeWorld) => wholeCondition(world.pools.get('web'), 'PrerequisitesMet');

/** A rule that opens the port of the kubelet. */
const OPEN = { IpProtocol: 'tcp', FromPort: 1025, ToPort: 65535, IpRanges: [{ CidrIp: '10.0.0.0/16' }] };

/** A pool without advice, and its changes. */
const poolWith = (nodeGroup: SpecChange['nodeGroup'] = {}) => fresh({ nodeGroup: { diskSizeGiB: 100, ...nodeGroup } });

/** A Ready pool whose subnets are in one zone. */
async function inOneZone() {
  const world = new FakeWorld();
  world.apply(poolWith({ subnets: [{ id: SUBNETS[0] }] }));
  const deps = world.start();
  await until(world, deps, () => ready(world) === 'True', 'Ready');
  return { world, deps };
}

describe('advice for a pool', () => {
  it('is in its status and a metric, and in no condition and no event', async () => {
    const { world } = await inOneZone();
    assert.deepEqual(advice(world), ['SubnetsInOneZone']);
    assert.deepEqual(gauges(world), { 'reason="SubnetsInOneZone"': 1 });
    assert.deepEqual(
      [prerequisites(world)?.reason, prerequisites(world)?.message],
      ['Met', 'All prerequisites in EKS cluster prod are met.'],
    );
    assert.deepEqual(
      world.events.filter(({ type }) => type === 'Warning'),
      [],
    );
  });

  it('is checked again once an hour, and causes no other reads of prerequisites', async () => {
    const { world, deps } = await inOneZone();
    world.calls.splice(0);
    const end = world.now + 4 * 3_600_000;
    while (world.now < end) {
      world.now = deps.readCache.dueAt('web');
      await wake(world, deps);
    }
    const count = (call: string) => world.calls.filter((each) => each === call).length;
    assert.ok(count('DescribeSubnets') >= 3 && count('DescribeSubnets') <= 5, `${count('DescribeSubnets')} reads`);
    assert.equal(count('DescribeInstanceTypeOfferings'), 0);
    assert.deepEqual(advice(world), ['SubnetsInOneZone']);
  });

  /** What each of these depends on, good or not. */
  const causes: Readonly<Record<string, (world: FakeWorld, isGood: boolean) => void>> = {
    DnsOnOneNode: ({ kubeSystem }, isGood) => {
      kubeSystem.dnsNodes = isGood ? ['linux-1', 'linux-2'] : ['linux-1'];
    },
    KubeletPortClosed: ({ cloud }, isGood) => {
      cloud.faults.securityGroup({ id: clusterSecurityGroupId, inbound: isGood ? [OPEN] : [] });
    },
    RootVolumeNotEncrypted: ({ cloud }, enabled) => cloud.faults.volumeEncryption({ enabled }),
  };
  for (const [reason, make] of Object.entries(causes)) {
    it(`disappears within an hour after its cause is fixed: ${reason}`, async () => {
      const world = new FakeWorld();
      make(world, false);
      world.apply(poolWith());
      const deps = world.start();
      await until(world, deps, () => ready(world) === 'True', 'Ready');
      assert.deepEqual(advice(world), [reason]);
      make(world, true);
      const end = world.now + 3_600_000 + settings.resyncMs * 1.25;
      while (advice(world).length > 0 && world.now < end) {
        world.now = deps.readCache.dueAt('web');
        await wake(world, deps);
      }
      assert.deepEqual([advice(world), gauges(world)], [[], {}]);
    });
  }

  const tags = { tier: 'windows' };
  for (const [by, term] of [
    ['ID', { id: 'sg-0b000000' }],
    ['tags', { tags }],
  ] as const) {
    it(`reads the rules of security groups that the spec selects by ${by}`, async () => {
      const world = new FakeWorld();
      world.cloud.faults.securityGroup({ id: clusterSecurityGroupId, inbound: [] });
      world.cloud.faults.securityGroup({ id: 'sg-0b000000', tags });
      world.apply(poolWith({ ...DISK_100, diskSizeGiB: undefined, securityGroups: [term] }));
      const deps = world.start();
      await until(world, deps, () => ready(world) === 'True', 'Ready');
      assert.deepEqual(advice(world), ['KubeletPortClosed']);
      world.cloud.faults.securityGroup({ id: 'sg-0b000000', inbound: [OPEN] });
      await until(world, deps, () => advice(world).length === 0, 'no advice');
    });
  }

  it('disappears when the user ignores it, without another call', async () => {
    const { world, deps } = await inOneZone();
    world.calls.splice(0);
    const pool = world.pools.get('web') ?? assert.fail();
    const annotations = { [IGNORE_PREREQUISITES_ANNOTATION]: 'SubnetsInOneZone' };
    world.pools.set('web', { ...pool, metadata: { ...pool.metadata, annotations } });
    await wake(world, deps);
    assert.deepEqual([advice(world), gauges(world)], [[], {}]);
    assert.equal(prerequisites(world)?.reason, 'Met');
    assert.equal(world.calls.includes('DescribeSubnets'), false);
  });

  it('costs a healthy pool without advice no call', async () => {
    const world = new FakeWorld();
    world.apply(poolWith());
    const deps = world.start();
    await until(world, deps, () => ready(world) === 'True', 'Ready');
    assert.deepEqual(advice(world), []);
    world.calls.splice(0);
    world.now += 10 * settings.resyncMs;
    await wake(world, deps);
    assert.equal(world.calls.includes('DescribeSubnets'), false);
  });
});
