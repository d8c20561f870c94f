import assert from 'node:assert/strict';
import type { WindowsPoolSpec } from '../../api.gen.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import { reconcile } from '../../reconcile.ts';
import { Crash, FakeWorld } from '../../testing/fakeWorld.ts';
import { sampleError, sampleGroup, samplePool } from '../../testing/fixtures.ts';
import { fresh, ready, readyWorld, conditionOf as said, signal, until, wake } from '../../testing/life.ts';
import { gaugesOf } from '../../testing/shownMetrics.ts';
import { Adoptions } from './adoption.ts';

const { nodeGroup } = fresh().spec;
const adopting: Partial<WindowsPoolSpec> = {
  nodeGroup: { ...nodeGroup, adoption: 'IfUnowned', tags: { cost: '42' } },
  labels: { tier: 'web' },
  scaling: { min: 3, max: 5, desired: 4 },
};
const LEGACY: Partial<NodeGroup> = {
  labels: { tier: 'old', team: 'legacy' },
  taints: [{ key: 'dedicated', value: 'windows', effect: 'NoSchedule' }],
  tags: { terraform: 'true' },
  scaling: { min: 0, max: 9, desired: 3 },
};

function legacyWorld(spec: Partial<WindowsPoolSpec> = adopting, change: Partial<NodeGroup> = {}): FakeWorld {
  const world = new FakeWorld();
  world.makeGroup(sampleGroup(samplePool(), { ...LEGACY, ...change }));
  world.apply(fresh(spec));
  return world;
}

const conditionOf = (world: FakeWorld, type: string) => {
  const found = world.pools.get('web')?.status?.conditions?.find((condition) => condition.type === type);
  return `${found?.status}/${found?.reason}`;
};
const isUpToDate = (world: FakeWorld) => () => conditionOf(world, 'UpToDate') === 'True/AsSpecified';
const CORRECTED = {
  labels: { tier: 'web', team: 'legacy', 'winpool.dev/pool': 'web', 'winpool.dev/windows-build': '10.0.20348' },
  taints: [
    { key: 'dedicated', value: 'windows', effect: 'NoSchedule' },
    { key: 'os', value: 'windows', effect: 'NoSchedule' },
  ],
  tags: { terraform: 'true', cost: '42', 'winpool.dev/pool': 'web' },
  scaling: { min: 3, max: 5, desired: 3 },
};
const partsOf = ({ labels, taints, tags, scaling }: NodeGroup = assert.fail()) => ({ labels, taints, tags, scaling });

describe('a pool that adopts a group', () => {
  it('writes its memory, then the tag, and nothing else in that run; it shows what comes', async () => {
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
      tags: { terraform: 'true', 'winpool.dev/pool': 'web' },
    });
    assert.deepEqual(world.pools.get('web')?.status?.pendingSteps, [
      'update node group web: labels set tier, winpool.dev/pool, winpool.dev/windows-build; taints set os:NoSchedule; scaling min 3, max 5',
      'correct the tags of node group web: set cost',
    ]);
  });

  it('brings it to the spec step by step, leaves what is of others, and keeps its size', async () => {
    const world = legacyWorld();
    await until(world, world.start(), isUpToDate(world), 'UpToDate');
    assert.deepEqual(partsOf(world.groups.get('web')), CORRECTED);
    assert.deepEqual([ready(world), world.created], ['True', 0]);
    assert.equal(world.pools.get('web')?.status?.pendingSteps, undefined);
    const reported = world.events.map(({ type, reason }) => `${type} ${reason}`);
    assert.deepEqual(reported.slice(0, 2), ['Normal NodeGroupAdopted', 'Normal RuntimeClassCreated']);
    assert.equal(reported.filter((each) => each === 'Warning Drifted').length, 2, String(reported));
    assert.deepEqual(
      world.corrections.reduce((sum, { label = 0, taint = 0 }) => sum + label + taint, 0),
      4,
    );
  });

  it('only says how it differs with driftPolicy Report, until a field of the spec changes', async () => {
    const world = legacyWorld({ ...adopting, driftPolicy: 'Report' });
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
    });
    assert.equal(world.pools.get('web')?.status?.pendingSteps?.length, 2);
    world.apply(fresh({ ...adopting, driftPolicy: 'Report', labels: { tier: 'web', zone: 'a' } }));
    await until(world, deps, () => world.groups.get('web')?.labels.zone === 'a', 'the change of the spec');
    assert.deepEqual(world.groups.get('web')?.labels, { ...before.labels, zone: 'a' });
  });

  it('does nothing while paused, and shows all that it would do', async () => {
    const world = legacyWorld({ ...adopting, paused: true });
    await wake(world, world.start());
    assert.equal(
      world.pools.get('web')?.status?.conditions?.find(({ type }) => type === 'NodeGroupReady')?.message,
      'Node group web belongs to no pool and is adopted when the pool is resumed.',
    );
    assert.deepEqual(partsOf(world.groups.get('web')), partsOf(sampleGroup(samplePool(), LEGACY)));
    assert.deepEqual(world.pools.get('web')?.status?.pendingSteps, [
      'adopt node group web: set the tag winpool.dev/pool=web',
      'create RuntimeClass windows-2022',
      'update node group web: labels set tier, winpool.dev/pool, winpool.dev/windows-build; taints set os:NoSchedule; scaling min 3, max 5',
      'correct the tags of node group web: set cost',
    ]);
  });

  it('is not Ready while it does not have the group, though that wants no nodes', async () => {
    const world = legacyWorld({ ...adopting, paused: true }, { scaling: { min: 0, max: 9, desired: 0 } });
    await wake(world, world.start());
    assert.deepEqual(
      ['Ready', 'RuntimeClassReady'].map((type) => conditionOf(world, type)),
      ['False/Adopting', 'False/Pending'],
    );
    assert.equal(
      world.pools.get('web')?.status?.conditions?.find(({ type }) => type === 'RuntimeClassReady')?.message,
      'RuntimeClass windows-2022 is made when the pool is resumed.',
    );
  });

  it('says what EKS cannot change, replaces nothing, and still brings the rest to the spec', async () => {
    const world = legacyWorld(adopting, { subnets: ['subnet-0c000000'] });
    const deps = world.start();
    await until(world, deps, () => world.groups.get('web')?.tags.cost === '42', 'the tags');
    assert.deepEqual(
      [conditionOf(world, 'NodeGroupReady'), conditionOf(world, 'Stalled'), world.created, world.groups.size],
      ['False/ImmutableDifference', 'True/ImmutableDifference', 0, 1],
    );
  });

  it('waits for a group on which EKS works', async () => {
    const world = legacyWorld(adopting, { status: 'CREATING' });
    const deps = world.start();
    const next = await wake(world, deps);
    assert.ok(next.kind === 'requeueAfter' && next.ms <= 25_000, JSON.stringify(next));
    await until(world, deps, isUpToDate(world), 'UpToDate');
    assert.equal(world.created, 0);
  });

  const refusals: readonly (readonly [string, Partial<NodeGroup>, string])[] = [
    ['another Windows version', { amiType: 'WINDOWS_CORE_2019_x86_64' }, 'False/AdoptionRefused'],
    ['Linux', { amiType: 'AL2023_x86_64_STANDARD' }, 'False/AdoptionRefused'],
    ['a creation that failed', { status: 'CREATE_FAILED' }, 'False/AdoptionRefused'],
    ['another pool', { tags: { 'winpool.dev/pool': 'api' } }, 'False/NotOwned'],
  ];
  for (const [what, change, finding] of refusals) {
    it(`refuses a group of ${what}, and changes nothing`, async () => {
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

  it('tells a denied tag, and tries again', async () => {
    const world = legacyWorld();
    world.fails = (call) => (call === 'TagResource' ? sampleError('denied') : undefined);
    const deps = world.start();
    await wake(world, deps);
    assert.equal(conditionOf(world, 'PrerequisitesMet'), 'False/AccessDenied');
    world.fails = () => undefined;
    await until(world, deps, isUpToDate(world), 'UpToDate');
  });

  for (const when of ['before', 'after'] as const) {
    it(`ends the same, killed ${when} each of its calls`, async () => {
      const rehearsal = legacyWorld();
      await until(rehearsal, rehearsal.start(), isUpToDate(rehearsal), 'UpToDate');
      const memory = rehearsal.pools.get('web')?.status?.nodeGroup?.applied;
      for (const [at, call] of rehearsal.calls.entries()) {
        const world = legacyWorld();
        world.crash = { at, when };
        await assert.rejects(until(world, world.start(), isUpToDate(world), 'UpToDate'), Crash, call);
        world.crash = undefined;
        await until(world, world.start(), isUpToDate(world), `UpToDate after a crash ${when} ${call}`);
        assert.deepEqual(partsOf(world.groups.get('web')), CORRECTED, `${when} ${call}`);
        assert.deepEqual(world.pools.get('web')?.status?.nodeGroup?.applied, memory, `${when} ${call}`);
        assert.equal(world.created, 0);
      }
    });
  }
});

describe('two pools that would adopt the same group', () => {
  for (const gap of [0, 1]) {
    it(`beside each other: one has it, and only that one says so (${gap} ms apart)`, async () => {
      const spec = { nodeGroup: { ...nodeGroup, adoption: 'IfUnowned', name: 'web' } } as const;
      const world = legacyWorld(spec);
      const other = fresh(spec);
      world.apply({ ...other, metadata: { ...other.metadata, name: 'api', uid: 'uid-api' } });
      const deps = world.start();
      const runs = ['web', 'api'].map((name) => {
        world.now += gap;
        return reconcile(name, deps, signal);
      });
      const next = await Promise.all(runs);
      assert.deepEqual(next[1], { kind: 'requeue' });
      world.now += 50;
      for (const name of ['web', 'api']) await reconcile(name, deps, signal);
      assert.equal(world.groups.get('web')?.tags['winpool.dev/pool'], 'web');
      assert.equal(world.events.filter(({ reason }) => reason === 'NodeGroupAdopted').length, 1);
      assert.equal(world.calls.filter((call) => call === 'TagResource').length, 1);
      const stalled = world.pools.get('api')?.status?.conditions?.find(({ type }) => type === 'Stalled');
      assert.equal(stalled?.reason, 'NotOwned');
    });
  }

  it('one after the other: the second may, once the first has lost it', () => {
    const adoptions = new Adoptions();
    assert.equal(adoptions.begin('arn', 'web', 10), true);
    assert.equal(adoptions.begin('arn', 'api', 20), false, 'while the tag is written');
    assert.equal(adoptions.begin('another', 'api', 20), true);
    adoptions.end('arn', 'web', 30);
    assert.equal(adoptions.begin('arn', 'api', 30), false, 'with a look from before');
    assert.equal(adoptions.begin('arn', 'web', 20), true, 'the same pool, again');
    adoptions.end('arn', 'web', 40);
    assert.equal(adoptions.begin('arn', 'api', 41), true, 'with a look from after');
  });
});

describe('a group that loses its tag', () => {
  it('is taken back with IfUnowned', async () => {
    const { world, deps } = await readyWorld({ nodeGroup: { ...nodeGroup, adoption: 'IfUnowned' } });
    world.cloud.faults.edit({ group: 'web', tags: {} });
    await until(world, deps, () => world.groups.get('web')?.tags['winpool.dev/pool'] === 'web', 'the tag');
    assert.equal(world.created, 0);
  });

  it('is still what was remembered: what the spec changes meanwhile is no drift', async () => {
    const adoption = { ...nodeGroup, adoption: 'IfUnowned' } as const;
    const { world, deps } = await readyWorld({
      nodeGroup: adoption,
      driftPolicy: 'Report',
      labels: { tier: 'web' },
    });
    world.cloud.faults.edit({ group: 'web', tags: {} });
    const pool = world.pools.get('web') ?? assert.fail();
    world.apply({ ...pool, spec: { ...pool.spec, labels: { tier: 'db' } } });
    await until(world, deps, () => world.groups.get('web')?.labels.tier === 'db', 'the label');
  });
});

describe('a group that lost its tag when its pool is deleted', () => {
  it('stays, and an event says so', async () => {
    const { world, deps } = await readyWorld();
    world.cloud.faults.edit({ group: 'web', tags: {} });
    world.remove('web');
    await until(world, deps, () => world.pools.size === 0, 'the end');
    assert.deepEqual(
      [world.groups.get('web')?.status, ...world.events.map(({ reason, message }) => `${reason}: ${message}`)],
      [
        'ACTIVE',
        'NotOwned: Node group web and its nodes stay, because it lost the tag winpool.dev/pool=web. Delete it yourself if nobody needs it.',
      ],
    );
  });

  it('is not spoken of where it never was the pool’s', async () => {
    const world = legacyWorld({ nodeGroup });
    const deps = world.start();
    await wake(world, deps);
    world.remove('web');
    world.events.splice(0);
    await until(world, deps, () => world.pools.size === 0, 'the end');
    assert.deepEqual(world.events, []);
  });
});

describe('a group of others that goes', () => {
  for (const [adoption, reason] of [
    ['IfUnowned', 'Adopting'],
    ['Never', 'NotOwned'],
  ] as const) {
    it(`makes room for the pool's own with adoption ${adoption}, and says so`, async () => {
      const world = legacyWorld({ nodeGroup: { ...nodeGroup, adoption } }, { status: 'DELETING' });
      const deps = world.start();
      const describe = async () => ({ ok: true, value: world.groups.get('web') }) as const;
      const next = await wake(world, { ...deps, nodeGroups: { ...deps.nodeGroups, describe } });
      assert.equal(
        said(world, 'NodeGroupReady'),
        `False ${reason}: A node group web that is not the pool's is being deleted. The pool makes its own when it is gone.`,
      );
      assert.equal(said(world, 'Stalled'), undefined);
      assert.ok(next.kind === 'requeueAfter' && next.ms < 60_000, JSON.stringify(next));
      await until(world, deps, () => world.created === 1, 'its own group');
    });
  }
});
