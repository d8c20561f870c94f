import assert from 'node:assert/strict';
import { AwsCache } from './awsCache.ts';
import { preview, previewText } from './preview.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import { sampleError, sampleGroup, samplePool, settings } from './testing/fixtures.ts';
import { assertMentions } from './testing/goldenTexts.ts';
import { fresh, readyWorld, signal } from './testing/life.ts';

const { nodeGroup } = fresh().spec;

/** The text of the preview; fails when anything is written. */
async function previewOf(world: FakeWorld): Promise<{ text: string[]; isComplete: boolean }> {
  const pool = world.pools.get('web') ?? assert.fail('there is no pool');
  world.calls.splice(0);
  const shown = await preview(pool, {
    awsCache: new AwsCache(),
    sources: world.start(),
    settings,
    now: world.now,
    signal,
  });
  assert.deepEqual(
    world.calls.filter((call) => !/^(Describe|Get|List|get|list)/.test(call)),
    [],
  );
  return { text: previewText(shown).split('\n'), isComplete: shown.isComplete };
}

function legacyWorld(spec: Parameters<typeof fresh>[0], change = {}): FakeWorld {
  const world = new FakeWorld();
  world.makeGroup(
    sampleGroup(samplePool(), { tags: { 'winpool.dev/adoptable-by': 'web' }, labels: { tier: 'old' }, ...change }),
  );
  const adopting = { ...nodeGroup, adoption: 'IfUnowned', ...spec?.nodeGroup } as const;
  world.apply(fresh({ labels: { tier: 'web' }, ...spec, nodeGroup: adopting }));
  return world;
}

const UPDATE = '    update node group web: labels set tier, winpool.dev/pool, winpool.dev/windows-build.';
const DIFFERS = [
  '  the node group differs:',
  '    label tier is old (expected web).',
  '    label winpool.dev/pool is missing (expected web).',
  '    label winpool.dev/windows-build is missing (expected 10.0.20348).',
  '    tag winpool.dev/pool is missing (expected web).',
];
const ADOPT = [
  '  now:',
  '    adopt node group web: set the tag winpool.dev/pool=web.',
  '    create RuntimeClass windows-2022.',
];

describe('the preview of a pool', () => {
  it('that is up to date has nothing to do', async () => {
    const { world } = await readyWorld();
    assert.deepEqual(await previewOf(world), { text: ['WindowsPool web: nothing to do'], isComplete: true });
  });

  it('that is new shows what is created', async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    const { text } = await previewOf(world);
    assert.deepEqual(text, [
      'WindowsPool web: 2 steps',
      '  now:',
      '    create node group web (WINDOWS_CORE_2022_x86_64, m5.large, 3 nodes, 3 to 5).',
      '    create RuntimeClass windows-2022.',
    ]);
  });

  const adoptions: readonly (readonly [string, Parameters<typeof fresh>[0], readonly string[]])[] = [
    ['shows what follows the tag', {}, [...ADOPT, '  then:', UPDATE]],
    [
      'shows what is not corrected',
      { nodeGroup: { driftPolicy: 'Report' } },
      [...ADOPT, '  not corrected, because nodeGroup.driftPolicy is Report:', UPDATE],
    ],
    [
      'shows what waits while the pool is paused',
      { paused: true },
      ['  when the pool is resumed:', ...ADOPT.slice(1), UPDATE],
    ],
  ];
  for (const [name, spec, lines] of adoptions) {
    it(`that adopts a group ${name}, and both values of each difference`, async () => {
      assert.deepEqual((await previewOf(legacyWorld(spec))).text, ['WindowsPool web: 3 steps', ...lines, ...DIFFERS]);
    });
  }

  it('that cannot adopt a group shows the cause', async () => {
    const { text, isComplete } = await previewOf(legacyWorld({}, { amiType: 'AL2023_x86_64_STANDARD' }));
    assert.deepEqual(text.slice(-2), [
      '  messages:',
      '    Node group web exists but cannot be adopted: its AMI type is AL2023_x86_64_STANDARD, but windowsVersion Windows2022 requires WINDOWS_CORE_2022_x86_64 or WINDOWS_FULL_2022_x86_64. Set nodeGroup.name to another name.',
    ]);
    assert.equal(isComplete, true);
  });

  it('that adopts a group shows what EKS cannot change', async () => {
    const { text } = await previewOf(legacyWorld({}, { instanceTypes: ['m5.4xlarge'] }));
    assert.deepEqual(text.slice(-2), [
      DIFFERS.at(-1),
      '    instance types are m5.4xlarge (expected m5.large); EKS cannot change it.',
    ]);
  });

  it('that has its group shows an unmet prerequisite', async () => {
    const { world } = await readyWorld();
    world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    const { text, isComplete } = await previewOf(world);
    assertMentions(text.join('\n'), 'prod', 'EC2_LINUX');
    assert.equal(isComplete, true);
  });

  it('is not complete when a prerequisite could not be checked', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'DescribeSubnets' ? sampleError('denied') : undefined);
    world.apply(fresh());
    const { text, isComplete } = await previewOf(world);
    assert.match(text.join('\n'), /messages:\n {4}3 prerequisites could not be checked: the subnets/);
    assert.equal(isComplete, false);
  });

  it('is not complete when a prerequisite is also not met, or the newest release is unknown', async () => {
    const unmet = new FakeWorld();
    unmet.apply(fresh());
    unmet.kubeSystem.cniConfig = {};
    unmet.fails = (call) => (call === 'DescribeSubnets' ? sampleError('denied') : undefined);
    const first = await previewOf(unmet);
    assertMentions(first.text.join('\n'), 'ec2:DescribeSubnets');
    const { world } = await readyWorld();
    world.fails = (call) => (call === 'GetParameter' ? sampleError('denied') : undefined);
    const second = await previewOf(world);
    assertMentions(second.text.join('\n'), 'GetParameter');
    assert.deepEqual([first.isComplete, second.isComplete], [false, false]);
  });

  it('that waits for a maintenance window shows the release and the window', async () => {
    const maintenanceWindows = [{ schedule: '0 2 * * SAT', duration: '4h', timeZone: 'Etc/UTC' }];
    const { world } = await readyWorld({
      nodeGroup: { ...nodeGroup, update: { policy: 'Automatic', force: false, maintenanceWindows } },
    });
    world.publish('1.36-2026.03.17');
    assert.deepEqual((await previewOf(world)).text, [
      'WindowsPool web: nothing to do',
      '  messages:',
      '    Node group web has AMI release 1.36-2026.02.11 (newest: 1.36-2026.03.17). The update starts at 2026-03-07T02:00Z, in a maintenance window. To update now, set nodeGroup.releaseVersion: 1.36-2026.03.17.',
    ]);
  });

  it('that is being deleted shows what happens to the group', async () => {
    const { world } = await readyWorld({ deletionPolicy: 'Retain' });
    world.remove('web');
    assert.deepEqual((await previewOf(world)).text, [
      'WindowsPool web: 5 steps',
      '  now:',
      '    update node group web: labels remove winpool.dev/pool, winpool.dev/windows-build.',
      `    remove the tags for the cluster-autoscaler from Auto Scaling group ${world.groups.get('web')?.autoScalingGroups}.`,
      '    correct the tags of node group web: remove winpool.dev/pool, winpool.dev/created-from.',
      '    give up ownership of RuntimeClass windows-2022.',
      '    remove the finalizer of the pool.',
    ]);
  });

  it('is not complete when AWS cannot be read', async () => {
    const world = legacyWorld({});
    world.fails = () => sampleError('denied');
    const { text, isComplete } = await previewOf(world);
    assert.equal(isComplete, false);
    assertMentions(text.join('\n'), 'web', 'DescribeNodegroup');
  });
});
