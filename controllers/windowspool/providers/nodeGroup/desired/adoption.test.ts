import assert from 'node:assert/strict';
import type { Reason } from '../../../api/reasons.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { reconcile } from '../../../reconcile.ts';
import { Crash, FakeWorld } from '../../../testing/fakeWorld.ts';
import {
  type SpecChange,
  sampleError,
  sampleGroup,
  samplePool,
  sampleRuntimeClass,
  settings,
} from '../../../testing/fixtures.ts';
import { assertBrief, assertBriefs, type Brief } from '../../../testing/goldenTexts.ts';
import {
  fresh,
  pendingIn,
  ready,
  readyWorld,
  conditionOf as shown,
  signal,
  until,
  wake,
} from '../../../testing/life.ts';
import { gaugesOf } from '../../../testing/shownMetrics.ts';

/** The steps that follow the adoption, or are left to the user: the fields of the group, and its tags. */
const later = (reason: Reason): Brief[] => [
  [reason, 'update node group web', 'tier', 'winpool.dev/windows-build', 'os:NoSchedule', 'maxSize 5'],
  [reason, 'tags of node group web', 'cost'],
];

const { nodeGroup } = fresh().spec;
const adopting: SpecChange = {
  nodeGroup: {
    ...nodeGroup,
    adoption: 'IfUnowned',
    tags: { cost: '42' },
    scaling: { minSize: 3, maxSize: 5, desiredSize: 4 },
  },
  labels: { tier: 'web' },
};
const reporting: SpecChange = { ...adopting, nodeGroup: { ...adopting.nodeGroup, driftPolicy: 'Report' } };
const ADOPTABLE = { 'winpool.dev/adoptable-by': 'web' };
const LEGACY: Partial<NodeGroup> = {
  labels: { tier: 'old', team: 'legacy' },
  taints: [{ key: 'dedicated', value: 'windows', effect: 'NoSchedule' }],
  tags: { terraform: 'true', ...ADOPTABLE },
  scaling: { minSize: 0, maxSize: 9, desiredSize: 3 },
};

function legacyWorld(spec: SpecChange = adopting, change: Partial<NodeGroup> = {}): FakeWorld {
  const world = new FakeWorld();
  world.makeGroup(sampleGroup(samplePool(), { ...LEGACY, ...change }));
  world.apply(fresh(spec));
  return world;
}

const conditionOf = (world: FakeWorld, type: string) => {
  const found = world.pools.get('web')?.status?.conditions?.find((condition) => condition.type === type);
  return `${found?.status}/${found?.reason}`;
};
const isUpToDate = (world: FakeWorld) => () => conditionOf(world, 'UpToDate') === 'True/MatchesSpec';
const CORRECTED = {
  labels: { tier: 'web', team: 'legacy', 'winpool.dev/pool': 'web', 'winpool.dev/windows-build': '10.0.20348' },
  taints: [
    { key: 'dedicated', value: 'windows', effect: 'NoSchedule' },
    { key: 'os', value: 'windows', effect: 'NoSchedule' },
  ],
  tags: { terraform: 'true', cost: '42', ...ADOPTABLE, 'winpool.dev/pool': 'web' },
  scaling: { minSize: 3, maxSize: 5, desiredSize: 3 },
};
const partsOf = ({ labels, taints, tags, scaling }: NodeGroup = assert.fail()) => ({ labels, taints, tags, scaling });

describe('a pool that adopts a group', () => {
  it('writes its status, then the tag, and nothing else in that run, and shows the pending steps', async () => {
    const world = legacyWorld();
    const deps = world.start();
    const before = partsOf(world.groups.get('web'));
    world.fails = (call) => (call === 'UpdateNodegroupConfig' ? sampleError('throttled') : undefined);
    await reconcile('web', deps, signal);
    assert.deepEqual(world.calls, [
      'read pool',
      'DescribeNodegroup',
      'DescribeCluster',
      'add finalizer',
      'write status',
      'TagResource',
      'create RuntimeClass',
      'write status',
    ]);
    assert.deepEqual(partsOf(world.groups.get('web')), {
      ...before,
      tags: { ...before.tags, 'winpool.dev/pool': 'web' },
    });
    assertBriefs(pendingIn(world), later('Adopting'));
  });

  it('brings the group to the spec step by step, and keeps its size and what other clients set', async () => {
    const world = legacyWorld();
    await until(world, world.start(), isUpToDate(world), 'UpToDate');
    assert.deepEqual(partsOf(world.groups.get('web')), CORRECTED);
    assert.deepEqual([ready(world), world.created], ['True', 0]);
    assert.equal(world.pools.get('web')?.status?.pendingSteps, undefined);
    const events = world.events.map(({ type, reason }) => `${type} ${reason}`);
    assert.deepEqual(events.slice(0, 2), ['Normal NodeGroupAdopted', 'Normal RuntimeClassCreated']);
    assert.equal(events.filter((each) => each === 'Warning Drifted').length, 2, String(events));
    assert.deepEqual(
      world.corrections.reduce((sum, { label = 0, taint = 0 }) => sum + label + taint, 0),
      4,
    );
  });

  it('only reports differences with driftPolicy Report, until a field of the spec changes', async () => {
    const world = legacyWorld(reporting);
    const deps = world.start();
    const before = partsOf(world.groups.get('web'));
    await until(world, deps, () => conditionOf(world, 'UpToDate') === 'False/Drifted', 'the drift');
    assert.deepEqual(partsOf(world.groups.get('web')), {
      ...before,
      tags: { ...before.tags, 'winpool.dev/pool': 'web' },
    });
    assert.deepEqual(gaugesOf(world.metrics.get('web'), 'windowspool_drift_fields'), {
      'part="label"': 3,
      'part="taint"': 1,
      'part="scaling"': 1,
      'part="tag"': 1,
      'part="version"': 0,
      'part="release"': 0,
      'part="template"': 0,
      'part="update"': 0,
      'part="warmPool"': 0,
    });
    assertBriefs(pendingIn(world), later('Drifted'));
    world.apply(fresh({ ...reporting, labels: { tier: 'web', zone: 'a' } }));
    await until(world, deps, () => world.groups.get('web')?.labels.zone === 'a', 'the change of the spec');
    assert.deepEqual(world.groups.get('web')?.labels, { ...before.labels, zone: 'a' });
  });

  it('changes nothing while it is paused, and shows all pending steps', async () => {
    const world = legacyWorld({ ...adopting, paused: true });
    await wake(world, world.start());
    assertBrief(shown(world, 'NodeGroupReady'), 'False Adopting', 'web', 'resumed');
    assert.deepEqual(partsOf(world.groups.get('web')), partsOf(sampleGroup(samplePool(), LEGACY)));
    assertBriefs(pendingIn(world), [
      ['Paused', 'adopt node group web', 'winpool.dev/pool=web'],
      ['Paused', 'RuntimeClass windows-2022'],
      ...later('Adopting'),
    ]);
  });

  it('is not Ready before it has the group, even if the desired size of that is 0', async () => {
    const world = legacyWorld({ ...adopting, paused: true }, { scaling: { minSize: 0, maxSize: 9, desiredSize: 0 } });
    const existing = sampleRuntimeClass(samplePool(), { managed: false, managedBy: undefined, owners: [] });
    world.runtimeClasses.set(existing.name, existing);
    await wake(world, world.start());
    assert.deepEqual(
      ['Ready', 'RuntimeClassReady'].map((type) => conditionOf(world, type)),
      ['False/Adopting', 'True/Unmanaged'],
    );
  });

  it('is not Ready while its RuntimeClass is missing', async () => {
    const world = legacyWorld({ ...adopting, paused: true });
    await wake(world, world.start());
    assert.deepEqual(
      ['Ready', 'RuntimeClassReady'].map((type) => conditionOf(world, type)),
      ['False/Pending', 'False/Pending'],
    );
    assertBrief(shown(world, 'RuntimeClassReady'), 'False Pending', 'windows-2022', 'resumed');
  });

  it('reports what EKS cannot change, replaces nothing, and still corrects the rest', async () => {
    const world = legacyWorld(adopting, { subnets: ['subnet-0c000000'] });
    const deps = world.start();
    await until(world, deps, () => world.groups.get('web')?.tags.cost === '42', 'the tags');
    assert.deepEqual(
      [conditionOf(world, 'NodeGroupReady'), conditionOf(world, 'Stalled'), world.created, world.groups.size],
      ['False/ImmutableDifference', 'True/ImmutableDifference', 0, 1],
    );
  });

  it('waits for a group that EKS is creating', async () => {
    const world = legacyWorld(adopting, { status: 'CREATING' });
    const deps = world.start();
    const next = await wake(world, deps);
    assert.ok(next.kind === 'requeueAfter' && next.ms <= 25_000, JSON.stringify(next));
    await until(world, deps, isUpToDate(world), 'UpToDate');
    assert.equal(world.created, 0);
  });

  const refusals: readonly (readonly [string, Partial<NodeGroup>, string])[] = [
    ['another Windows version', { amiType: 'WINDOWS_CORE_2019_x86_64' }, 'False/AdoptionRejected'],
    ['Linux', { amiType: 'AL2023_x86_64_STANDARD' }, 'False/AdoptionRejected'],
    ['a creation that failed', { status: 'CREATE_FAILED' }, 'False/AdoptionRejected'],
    ['another pool', { tags: { 'winpool.dev/pool': 'api' } }, 'False/NotOwned'],
    ['no pool in particular', { tags: {} }, 'False/AdoptionRejected'],
  ];
  for (const [what, change, finding] of refusals) {
    it(`rejects a group of ${what}, and changes nothing`, async () => {
      const world = legacyWorld(adopting, change);
      const before = structuredClone(world.groups.get('web'));
      const deps = world.start();
      await wake(world, deps);
      assert.equal(conditionOf(world, 'NodeGroupReady'), finding);
      assert.equal(conditionOf(world, 'Stalled'), finding.replace('False', 'True'));
      world.remove('web');
      await wake(world, deps);
      assert.deepEqual([world.groups.get('web'), world.pools.size], [before, 0]);
    });
  }

  const permissions: readonly (readonly [string, Readonly<Record<string, string>>, boolean, readonly string[]])[] = [
    ['the tag', {}, true, ['winpool.dev/adoptable-by=web', 'nodeGroup.name']],
    [
      'its name in the tag',
      { 'winpool.dev/adoptable-by': 'api' },
      true,
      ['winpool.dev/adoptable-by=api', 'nodeGroup.name', 'web'],
    ],
    ['the flag', ADOPTABLE, false, ['--enable-node-group-adoption', 'nodeGroup.name']],
  ];
  for (const [what, tags, enableNodeGroupAdoption, args] of permissions) {
    it(`tells how to permit the adoption that lacks ${what}`, async () => {
      const world = legacyWorld(adopting, { tags });
      await wake(world, { ...world.start(), settings: { ...settings, enableNodeGroupAdoption } });
      assertBrief(shown(world, 'NodeGroupReady'), 'False AdoptionRejected', 'web', ...args);
      assert.equal(world.groups.get('web')?.tags['winpool.dev/pool'], undefined);
    });
  }

  it('reports a denied tag, and retries', async () => {
    const world = legacyWorld();
    world.fails = (call) => (call === 'TagResource' ? sampleError('denied') : undefined);
    const deps = world.start();
    await wake(world, deps);
    assert.equal(conditionOf(world, 'PrerequisitesMet'), 'False/AccessDenied');
    world.fails = () => undefined;
    await until(world, deps, isUpToDate(world), 'UpToDate');
  });

  for (const when of ['before', 'after'] as const) {
    it(`has the same result after a crash ${when} each of its calls`, async () => {
      const recording = legacyWorld();
      await until(recording, recording.start(), isUpToDate(recording), 'UpToDate');
      const memory = recording.pools.get('web')?.status?.tracking?.applied;
      for (const [at, call] of recording.calls.entries()) {
        const world = legacyWorld();
        world.crash = { at, when };
        await assert.rejects(until(world, world.start(), isUpToDate(world), 'UpToDate'), Crash, call);
        world.crash = undefined;
        await until(world, world.start(), isUpToDate(world), `UpToDate after a crash ${when} ${call}`);
        assert.deepEqual(partsOf(world.groups.get('web')), CORRECTED, `${when} ${call}`);
        assert.deepEqual(world.pools.get('web')?.status?.tracking?.applied, memory, `${when} ${call}`);
        assert.equal(world.created, 0);
      }
    });
  }
});

describe('two pools that want the same group', () => {
  it('do not compete for it: only the one that the group names adopts it', async () => {
    const spec = { nodeGroup: { ...nodeGroup, adoption: 'IfUnowned', name: 'web' } } as const;
    const world = legacyWorld(spec);
    const other = fresh(spec);
    world.apply({ ...other, metadata: { ...other.metadata, name: 'api', uid: 'uid-api' } });
    const deps = world.start();
    await Promise.all(['web', 'api'].map((name) => reconcile(name, deps, signal)));
    assert.equal(world.groups.get('web')?.tags['winpool.dev/pool'], 'web');
    assert.equal(world.calls.filter((call) => call === 'TagResource').length, 1);
    const stalled = world.pools.get('api')?.status?.conditions?.find(({ type }) => type === 'Stalled');
    assert.equal(stalled?.reason, 'AdoptionRejected');
  });
});

describe('a group that loses its tag', () => {
  it('is adopted again with IfUnowned', async () => {
    const { world, deps } = await readyWorld({ nodeGroup: { ...nodeGroup, adoption: 'IfUnowned' } });
    world.cloud.faults.edit({ group: 'web', tags: ADOPTABLE });
    await until(world, deps, () => world.groups.get('web')?.tags['winpool.dev/pool'] === 'web', 'the tag');
    assert.equal(world.created, 0);
  });

  it('is still the recorded one: a change of the spec in the meantime is not drift', async () => {
    const adoption = { ...nodeGroup, adoption: 'IfUnowned' } as const;
    const { world, deps } = await readyWorld({
      nodeGroup: { ...adoption, driftPolicy: 'Report' },
      labels: { tier: 'web' },
    });
    world.cloud.faults.edit({ group: 'web', tags: ADOPTABLE });
    const pool = world.pools.get('web') ?? assert.fail();
    world.apply({ ...pool, spec: { ...pool.spec, labels: { tier: 'db' } } });
    await until(world, deps, () => world.groups.get('web')?.labels.tier === 'db', 'the label');
  });
});

describe('a group that lost its tag when its pool is deleted', () => {
  it('is not deleted, which an event reports', async () => {
    const { world, deps } = await readyWorld();
    world.cloud.faults.edit({ group: 'web', tags: {} });
    world.remove('web');
    await until(world, deps, () => world.pools.size === 0, 'the deletion');
    assert.equal(world.groups.get('web')?.status, 'ACTIVE');
    assertBriefs(
      world.events.map(({ reason, message }) => `${reason}: ${message}`),
      [
        ['Deleting', 'web', 'winpool.dev/pool=web'],
        ['NotOwned', 'web', 'winpool.dev/pool=web', 'aws eks delete-nodegroup'],
      ],
    );
  });

  it('is not reported if the pool never managed it', async () => {
    const world = legacyWorld({ nodeGroup });
    const deps = world.start();
    await wake(world, deps);
    world.remove('web');
    world.events.splice(0);
    await until(world, deps, () => world.pools.size === 0, 'the deletion');
    assert.deepEqual(world.events, []);
  });
});

describe('a group that the pool does not manage and that is being deleted', () => {
  for (const [adoption, reason] of [
    ['IfUnowned', 'Adopting'],
    ['Never', 'NotOwned'],
  ] as const) {
    it(`is reported and followed by the pool's own group with adoption ${adoption}`, async () => {
      const world = legacyWorld({ nodeGroup: { ...nodeGroup, adoption } }, { status: 'DELETING' });
      const deps = world.start();
      const describe = async () => ({ ok: true, value: world.groups.get('web') }) as const;
      const next = await wake(world, { ...deps, nodeGroups: { ...deps.nodeGroups, describe } });
      assertBrief(shown(world, 'NodeGroupReady'), `False ${reason}`, 'web');
      assert.equal(shown(world, 'Stalled'), undefined);
      assert.ok(next.kind === 'requeueAfter' && next.ms < 60_000, JSON.stringify(next));
      await until(world, deps, () => world.created === 1, 'its own group');
    });
  }
});
