import assert from 'node:assert/strict';
import { ReadCache } from './observation/readCache.ts';
import { preview, previewText } from './preview.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import { MINUTE, sampleError, sampleGroup, samplePool, settings } from './testing/fixtures.ts';
import { assertMentions, textTable } from './testing/goldenTexts.ts';
import { DISK_100 } from './testing/launchSettingsScenes.ts';
import { fresh, readyWorld, signal } from './testing/life.ts';

const { nodeGroup } = fresh().spec;

/** The text of the preview; fails when anything is written. */
async function previewOf(world: FakeWorld): Promise<{ text: string[]; isComplete: boolean }> {
  const pool = world.pools.get('web') ?? assert.fail('there is no pool');
  world.calls.splice(0);
  const shown = await preview(pool, {
    readCache: new ReadCache(),
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

const check = textTable('previews');

/** The preview as one text. */
const shownIn = async (world: FakeWorld) => [`preview: ${(await previewOf(world)).text.join('\n')}`];

const ADOPT = ['adopt node group web', 'RuntimeClass windows-2022', 'update node group web'];
const DIFFERENCES = ['label tier is old (expected web)', 'winpool.dev/pool', 'winpool.dev/windows-build'];

describe('the preview of a pool', () => {
  it('that is up to date has nothing to do', async () => {
    const { world } = await readyWorld();
    assert.deepEqual(await previewOf(world), { text: ['WindowsPool web: nothing to do'], isComplete: true });
  });

  it('whose node group was deleted by another client shows that it is created again', async () => {
    const { world } = await readyWorld();
    world.cloud.faults.consoleDelete({ group: 'web' });
    world.now += 60 * MINUTE;
    const { text, isComplete } = await previewOf(world);
    assertMentions(text.join('\n'), '1 step', 'create node group web');
    assert.ok(isComplete);
  });

  const newPool = async () => {
    const world = new FakeWorld();
    world.apply(fresh());
    return shownIn(world);
  };
  check('that is new shows what is created', newPool, [
    ['preview', '2 steps', 'now:', 'node group web', 'windows-2022'],
  ]);

  const adoptions: readonly (readonly [string, Parameters<typeof fresh>[0], readonly string[]])[] = [
    ['shows what follows the tag', {}, ['now:', 'after the node group is adopted:']],
    [
      'shows what is not corrected',
      { nodeGroup: { driftPolicy: 'Report' } },
      ['now:', 'nodeGroup.driftPolicy is Report:'],
    ],
    [
      'shows what waits while the pool is paused',
      { paused: true },
      ['when the pool is resumed:', 'after the node group is adopted:'],
    ],
    [
      'shows what is not corrected, although the pool is paused',
      { paused: true, nodeGroup: { driftPolicy: 'Report' } },
      ['when the pool is resumed:', 'nodeGroup.driftPolicy is Report:'],
    ],
  ];
  for (const [name, spec, args] of adoptions)
    check(`that adopts a group ${name}, and both values of each difference`, () => shownIn(legacyWorld(spec)), [
      ['preview', '3 steps', ...args, ...ADOPT, 'the node group differs:', ...DIFFERENCES],
    ]);

  const newTemplate = async () => {
    const world = new FakeWorld();
    world.apply(fresh({ nodeGroup: { ...nodeGroup, ...DISK_100 } }));
    return shownIn(world);
  };
  check('that needs a launch template shows what follows it', newTemplate, [
    ['preview', '3 steps', 'now:', 'launch template', 'after the launch template is written:', 'node group web'],
  ]);

  check(
    'that cannot adopt a group shows the cause',
    () => shownIn(legacyWorld({}, { amiType: 'AL2023_x86_64_STANDARD' })),
    [['preview', 'messages:', 'web', 'AL2023_x86_64_STANDARD', 'WINDOWS_CORE_2022_x86_64', 'nodeGroup.name']],
  );

  check(
    'that adopts a group shows what EKS cannot change',
    () => shownIn(legacyWorld({}, { instanceTypes: ['m5.4xlarge'] })),
    [['preview', 'm5.4xlarge', 'm5.large', 'EKS cannot change it']],
  );

  it('that has its group shows an unmet prerequisite', async () => {
    const { world } = await readyWorld();
    world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    const { text, isComplete } = await previewOf(world);
    assertMentions(text.join('\n'), 'messages:', 'prod', 'EC2_LINUX');
    assert.equal(isComplete, true);
  });

  it('is not complete when a prerequisite could not be checked', async () => {
    const world = new FakeWorld();
    world.fails = (call) => (call === 'DescribeSubnets' ? sampleError('denied') : undefined);
    world.apply(fresh());
    const { text, isComplete } = await previewOf(world);
    assertMentions(text.join('\n'), 'messages:', '3 prerequisites', 'the subnets');
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

  const waiting = async () => {
    const maintenanceWindows = [{ schedule: '0 2 * * SAT', duration: '4h', timeZone: 'Etc/UTC' }];
    const { world } = await readyWorld({
      nodeGroup: { ...nodeGroup, update: { policy: 'Automatic', force: false, maintenanceWindows } },
    });
    world.publish('1.36-2026.03.17');
    return shownIn(world);
  };
  check('that waits for a maintenance window shows the release and the window', waiting, [
    ['preview', 'nothing to do', '1.36-2026.03.17', '2026-03-07T02:00Z'],
  ]);

  const deleted = async () => {
    const { world } = await readyWorld({ deletionPolicy: 'Retain' });
    world.remove('web');
    return shownIn(world);
  };
  check('that is being deleted shows what happens to the group', deleted, [
    ['preview', '5 steps', 'now:', 'winpool.dev/pool', 'winpool.dev/created-from', 'windows-2022', 'finalizer'],
  ]);

  it('is not complete when AWS cannot be read', async () => {
    const world = legacyWorld({});
    world.fails = () => sampleError('denied');
    const { text, isComplete } = await previewOf(world);
    assert.equal(isComplete, false);
    assertMentions(text.join('\n'), 'web', 'DescribeNodegroup');
  });
});
