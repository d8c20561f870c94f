import assert from 'node:assert/strict';
import { AwsCache } from './awsCache.ts';
import { preview, previewText } from './preview.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import { sampleError, sampleGroup, samplePool, settings } from './testing/fixtures.ts';
import { fresh, readyWorld, signal } from './testing/life.ts';

const { nodeGroup } = fresh().spec;

/** The text of the preview; fails when anything is written. */
async function look(world: FakeWorld): Promise<{ text: string[]; isComplete: boolean }> {
  const pool = world.pools.get('web') ?? assert.fail('there is no pool');
  world.calls.splice(0);
  const shown = await preview(pool, new AwsCache(), world.start(), settings, world.now, signal);
  assert.deepEqual(
    world.calls.filter((call) => !/^(Describe|Get|List|get|list)/.test(call)),
    [],
  );
  return { text: previewText(shown).split('\n'), isComplete: shown.isComplete };
}

function legacyWorld(spec: Parameters<typeof fresh>[0], change = {}): FakeWorld {
  const world = new FakeWorld();
  world.makeGroup(sampleGroup(samplePool(), { tags: {}, labels: { tier: 'old' }, ...change }));
  world.apply(fresh({ nodeGroup: { ...nodeGroup, adoption: 'IfUnowned' }, labels: { tier: 'web' }, ...spec }));
  return world;
}

const UPDATE = '    update node group web: labels set tier, winpool.dev/pool, winpool.dev/windows-build.';
const DIFFERS = [
  '  the node group differs:',
  '    label tier is old and the spec says web.',
  '    label winpool.dev/pool is missing and the spec says web.',
  '    label winpool.dev/windows-build is missing and the spec says 10.0.20348.',
  '    tag winpool.dev/pool is missing and the spec says web.',
];
const ADOPT = [
  '  now:',
  '    adopt node group web: set the tag winpool.dev/pool=web.',
  '    create RuntimeClass windows-2022.',
];

describe('the preview of a pool', () => {
  it('that is as it should be says so', async () => {
    const { world } = await readyWorld();
    assert.deepEqual(await look(world), { text: ['WindowsPool web: nothing to do'], isComplete: true });
  });

  it('that is new names what would be made', async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    const { text } = await look(world);
    assert.deepEqual(text, [
      'WindowsPool web: 2 steps',
      '  now:',
      '    create node group web (WINDOWS_CORE_2022_x86_64, m5.large, 3 nodes, 3 to 5).',
      '    create RuntimeClass windows-2022.',
    ]);
  });

  const adoptions: readonly (readonly [string, Parameters<typeof fresh>[0], readonly string[]])[] = [
    ['names what follows the tag', {}, [...ADOPT, '  then:', UPDATE]],
    [
      'names what is left to people',
      { driftPolicy: 'Report' },
      [...ADOPT, '  left to you, because driftPolicy is Report:', UPDATE],
    ],
    [
      'names what waits while the pool is paused',
      { paused: true },
      ['  when the pool is resumed:', ...ADOPT.slice(1), UPDATE],
    ],
  ];
  for (const [name, spec, lines] of adoptions) {
    it(`that adopts a group ${name}, and both values of each difference`, async () => {
      assert.deepEqual((await look(legacyWorld(spec))).text, ['WindowsPool web: 3 steps', ...lines, ...DIFFERS]);
    });
  }

  it('that cannot adopt a group says why', async () => {
    const { text, isComplete } = await look(legacyWorld({}, { amiType: 'AL2023_x86_64_STANDARD' }));
    assert.deepEqual(text.slice(-2), [
      '  but:',
      '    Node group web is not adopted: its AMI type is AL2023_x86_64_STANDARD and windowsVersion Windows2022 needs WINDOWS_CORE_2022_x86_64 or WINDOWS_FULL_2022_x86_64. It is never changed. Set spec.nodeGroup.name to a name that is free, or delete that group.',
    ]);
    assert.equal(isComplete, true);
  });

  it('that adopts a group names what EKS cannot change, too', async () => {
    const { text } = await look(legacyWorld({}, { instanceTypes: ['m5.4xlarge'] }));
    assert.deepEqual(text.slice(-2), [
      DIFFERS.at(-1),
      '    EKS cannot change this: instance types are m5.4xlarge and the spec says m5.large.',
    ]);
  });

  it('that has its group names a prerequisite that is not met', async () => {
    const { world } = await readyWorld();
    world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    const { text, isComplete } = await look(world);
    assert.match(text.join('\n'), /but:\n {4}The access entry of node role \S+ in cluster prod is of type EC2_LINUX/);
    assert.equal(isComplete, true);
  });

  it('is not complete when a prerequisite could not be checked', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'DescribeSubnets' ? sampleError('denied') : undefined);
    world.apply(fresh());
    const { text, isComplete } = await look(world);
    assert.match(text.join('\n'), /but:\n {4}3 prerequisites could not be checked: the subnets/);
    assert.equal(isComplete, false);
  });

  it('is not complete when another prerequisite is not met, or the newest release is not known', async () => {
    const unmet = new FakeWorld();
    unmet.apply(fresh());
    unmet.kubeSystem.cniConfig = {};
    unmet.fails = (call) => (call === 'DescribeSubnets' ? sampleError('denied') : undefined);
    const first = await look(unmet);
    assert.match(first.text.join('\n'), /but:\n {4}Windows IPAM is off.* \(it needs ec2:DescribeSubnets/s);
    const { world } = await readyWorld();
    world.fails = (call) => (call === 'GetParameter' ? sampleError('denied') : undefined);
    const second = await look(world);
    assert.match(second.text.join('\n'), /but:\n.*The newest AMI release is not known: GetParameter failed/);
    assert.deepEqual([first.isComplete, second.isComplete], [false, false]);
  });

  it('that waits for a maintenance window says which release waits for which', async () => {
    const maintenanceWindows = [{ schedule: '0 2 * * SAT', duration: '4h', timeZone: 'Etc/UTC' }];
    const { world } = await readyWorld({
      nodeGroup: { ...nodeGroup, update: { policy: 'Automatic', force: false, maintenanceWindows } },
    });
    world.publish('1.36-2026.03.17');
    assert.deepEqual((await look(world)).text, [
      'WindowsPool web: nothing to do',
      '  but:',
      '    Node group web has AMI release 1.36-2026.02.11, and 1.36-2026.03.17 is the newest. The update begins at 2026-03-07T02:00Z, in a maintenance window. To have it now, set spec.nodeGroup.releaseVersion: 1.36-2026.03.17.',
    ]);
  });

  it('that goes says what becomes of the group', async () => {
    const { world } = await readyWorld({ deletionPolicy: 'Retain' });
    world.remove('web');
    assert.deepEqual((await look(world)).text, [
      'WindowsPool web: 5 steps',
      '  now:',
      '    update node group web: labels remove winpool.dev/pool, winpool.dev/windows-build.',
      `    take the cluster-autoscaler's tags from scaling group ${world.groups.get('web')?.autoScalingGroups}.`,
      '    correct the tags of node group web: remove winpool.dev/pool, winpool.dev/created-from.',
      '    give up ownership of RuntimeClass windows-2022.',
      '    let the pool go.',
    ]);
  });

  it('is not complete when AWS does not answer', async () => {
    const world = legacyWorld({});
    world.fails = () => sampleError('denied');
    const { text, isComplete } = await look(world);
    assert.equal(isComplete, false);
    assert.match(text.join('\n'), /but:\n {4}Node group web can't be looked at: DescribeNodegroup failed/);
  });
});
