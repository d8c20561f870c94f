/** One odd answer of EKS about a node group, at each read of what a pool goes through. */
import assert from 'node:assert/strict';
import { NODE_GROUP_LABEL, OWN_PREFIX, REPLACE_ANNOTATION } from './api/labels.ts';
import { type Deps, reconcile } from './reconcile.ts';
import type { FakeWorld } from './testing/fakeWorld.ts';
import { type SpecChange, sampleNode, settings } from './testing/fixtures.ts';
import { conditionOf, fresh, isReplaced, ready, readyWorld, signal, until, wake } from './testing/life.ts';
import { annotate, hasEnded, pass } from './testing/nodeLife.ts';
import { pulling } from './testing/nodePodScenes.ts';
import { HASHED } from './testing/replacementScenes.ts';

type Alter = FakeWorld['alter'];
type Group = Readonly<Record<string, unknown>>;

const rejected = (name: string, httpStatusCode: number, message: string) => () => {
  throw Object.assign(new Error(message), { name, $metadata: { httpStatusCode } });
};
const absent = rejected('ResourceNotFoundException', 404, 'No node group found for name: web.');
const noCluster = rejected('ResourceNotFoundException', 404, 'No cluster found for name: prod.');
const throttled = rejected('ThrottlingException', 429, 'Rate exceeded');

/** What EKS answers instead of a group. */
const ODD: Readonly<Record<string, (group: Group) => Group>> = {
  'that the group does not exist': absent,
  'that the cluster does not exist': noCluster,
  'without tags': (group) => ({ ...group, tags: {} }),
};

/** Makes the answer of one DescribeNodegroup odd, counted from 0. Returns the number of reads so far. */
function makeOdd(world: FakeWorld, at: number, odd: (group: Group) => Group): () => number {
  let reads = 0;
  const alter: Alter = (operation, output) => {
    if (operation !== 'DescribeNodegroup') return output;
    reads += 1;
    return reads - 1 === at ? { nodegroup: odd((output as { readonly nodegroup: Group }).nodegroup) } : output;
  };
  world.alter = alter;
  return () => reads;
}

function spec(change: NonNullable<SpecChange['nodeGroup']>, others: SpecChange = {}) {
  const scaling = { minSize: 2, maxSize: 4, ...change.scaling };
  return fresh({
    ...others,
    nodeGroup: { immutableChangePolicy: 'Replace', instanceTypes: ['m5.large'], ...change, scaling },
  });
}

interface Path {
  readonly before: SpecChange;
  readonly run: (world: FakeWorld, deps: Deps) => Promise<void>;
  readonly check: (world: FakeWorld) => void;
}

const { spec: plain } = spec({});

async function deletes(world: FakeWorld, deps: Deps): Promise<void> {
  world.remove('web');
  await until(world, deps, () => world.pools.size === 0, 'the deletion', 200);
}

const isUpToDate = (world: FakeWorld) => () => conditionOf(world, 'UpToDate')?.startsWith('True') === true;

/** Applies a change and lets two resyncs pass. */
async function applied(world: FakeWorld, deps: Deps, pool: ReturnType<typeof fresh>): Promise<void> {
  world.apply(pool);
  await pass(world, deps, 1);
  await until(world, deps, isUpToDate(world), 'the change');
  world.now += 2 * settings.resyncMs;
  await wake(world, deps);
}

const groupIn = (world: FakeWorld) => world.groups.get('web') ?? assert.fail('the group is gone');

const paths: Readonly<Record<string, Path>> = {
  'a replacement of the group': {
    before: plain,
    run: async (world, deps) => {
      world.apply(spec({ instanceTypes: ['m5.xlarge'] }));
      await until(world, deps, isReplaced(world), 'the replacement', 200);
    },
    check: (world) => assert.deepEqual([[...world.groups.keys()], ready(world)], [[HASHED], 'True']),
  },
  'a replacement of the group, and a deletion of the pool while both exist': {
    before: plain,
    run: async (world, deps) => {
      world.apply(spec({ instanceTypes: ['m5.xlarge'] }));
      await until(world, deps, () => world.groups.has(HASHED), 'the new group', 200);
      await deletes(world, deps);
    },
    check: ({ groups }) => assert.equal(groups.size, 0),
  },
  'a replacement of the group whose status is lost': {
    before: plain,
    run: async (world, deps) => {
      world.apply(spec({ instanceTypes: ['m5.xlarge'] }));
      await until(world, deps, () => world.groups.has(HASHED), 'the new group', 200);
      const later = withoutStatus(world);
      await pass(world, later, 1);
      await until(world, later, isReplaced(world), 'the replacement', 200);
    },
    check: (world) => assert.deepEqual([[...world.groups.keys()], ready(world)], [[HASHED], 'True']),
  },
  'the deletion of a pool without nodes whose status is lost': {
    before: spec({ scaling: { minSize: 0, desiredSize: 0 } }).spec,
    run: (world) => deletes(world, withoutStatus(world)),
    check: ({ groups }) => assert.equal(groups.size, 0),
  },
  'another desired size': {
    before: plain,
    run: (world, deps) => applied(world, deps, spec({ scaling: { desiredSize: 3 } })),
    check: (world) => assert.equal(groupIn(world).scaling.desiredSize, 3),
  },
  'a label that the spec drops': {
    before: { ...plain, labels: { team: 'shop' } },
    run: (world, deps) => applied(world, deps, spec({})),
    check: (world) => assert.equal('team' in groupIn(world).labels, false),
  },
  'a taint that the spec drops': {
    before: { ...plain, taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
    run: (world, deps) => applied(world, deps, spec({})),
    check: (world) =>
      assert.equal(
        groupIn(world).taints.some(({ key }) => key === 'gpu'),
        false,
      ),
  },
  'the replacement of a node': {
    before: plain,
    run: async (world, deps) => {
      const [node = assert.fail()] = world.nodes;
      annotate(world, node.name, { [REPLACE_ANNOTATION]: 'true' });
      await until(world, deps, () => hasEnded(world, 1), 'the replacement', 200);
    },
    check: (world) => assert.deepEqual([world.ended.length, world.nodes.length, ready(world)], [1, 2, 'True']),
  },
  'the deletion of the pool': {
    before: plain,
    run: deletes,
    check: ({ groups }) => assert.equal(groups.size, 0),
  },
  'the deletion of a pool that retains its group': {
    before: { ...plain, deletionPolicy: 'Retain' },
    run: deletes,
    check: (world) => {
      const own = Object.keys(groupIn(world).tags).filter((key) => key.startsWith(OWN_PREFIX));
      assert.deepEqual(own, []);
    },
  },
};

it('one odd answer about a node group keeps the pending steps of a paused pool', async () => {
  const { world, deps } = await readyWorld(plain);
  world.apply(spec({}, { paused: true, labels: { team: 'shop' } }));
  await wake(world, deps);
  const before = world.pools.get('web')?.status?.pendingSteps;
  assert.equal(before?.[0]?.reason, 'Paused');
  world.now += 2 * settings.resyncMs;
  const reads = makeOdd(world, 0, absent);
  await wake(world, deps);
  assert.equal(reads(), 1);
  assert.deepEqual(world.pools.get('web')?.status?.pendingSteps, before);
});

it('three answers in a row that the group does not exist, when it does, lose no change of the spec', async () => {
  const { world, deps } = await readyWorld({ ...plain, labels: { team: 'shop' } });
  world.apply(spec({ scaling: { desiredSize: 3 } }));
  let odd = 3;
  world.alter = (operation, output) => (operation === 'DescribeNodegroup' && odd-- > 0 ? absent() : output);
  await until(world, deps, () => odd <= 0 && isUpToDate(world)(), 'the change', 200);
  const { labels, scaling } = groupIn(world);
  assert.deepEqual([scaling.desiredSize, 'team' in labels, world.groups.size], [3, false, 1]);
});

it('three answers in a row that the group does not exist, when it does, leave the size to the autoscaler', async () => {
  const { spec: sized } = spec({ scaling: { desiredSize: 2 } });
  const { world, deps } = await readyWorld(sized);
  world.cloud.faults.edit({ group: 'web', scalingConfig: { desiredSize: 4 } });
  await until(world, deps, () => world.nodes.length === 4, 'the nodes', 200);
  let odd = 3;
  world.alter = (operation, output) => (operation === 'DescribeNodegroup' && odd-- > 0 ? absent() : output);
  await until(world, deps, () => odd <= 0 && isUpToDate(world)(), 'an answer that has the group', 200);
  await pass(world, deps, 3);
  assert.equal(groupIn(world).scaling.desiredSize, 4);
});

it('an update that fails while an old group shrinks is sent again', async () => {
  const { world, deps } = await readyWorld(plain);
  world.pods = [];
  world.apply(spec({ instanceTypes: ['m5.xlarge'] }));
  await until(world, deps, () => world.groups.has(HASHED), 'the new group', 200);
  world.cloud.faults.updateFailure({ group: 'web', errors: [{ errorCode: 'Unknown', errorMessage: 'Try again.' }] });
  await until(world, deps, isReplaced(world), 'the replacement', 400);
});

it('a Ready node with the label of an old group, which is not in its list, keeps the group, and the pool has the remedy', async () => {
  const { world, deps } = await readyWorld(plain);
  world.pods = [];
  const forged = sampleNode({ name: 'other', providerID: 'aws:///eu-west-1a/i-0999' });
  world.nodes = [...world.nodes, forged];
  world.apply(spec({ instanceTypes: ['m5.xlarge'] }));
  const message = () => conditionOf(world, 'UpToDate') ?? '';
  await until(
    world,
    deps,
    () => message().includes('kubectl label node other eks.amazonaws.com/nodegroup-'),
    'the remedy',
    300,
  );
  await pass(world, deps, 60);
  assert.equal(groupIn(world).status, 'ACTIVE');
  const { [NODE_GROUP_LABEL]: _label, ...labels } = forged.labels;
  world.setNode({ ...forged, labels });
  await until(world, deps, isReplaced(world), 'the replacement', 200);
});

/** Removes the status, as a backup that is restored does, and starts a new process. */
function withoutStatus(world: FakeWorld): Deps {
  const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail('the pool is gone');
  world.pools.set('web', pool);
  return world.start();
}

describe('one odd answer about a node group', () => {
  for (const [answer, odd] of Object.entries(ODD)) {
    for (const [path, { before, run, check }] of Object.entries(paths)) {
      it(`${answer}, at any read, changes nothing in ${path}`, async () => {
        for (let at = 0; ; at++) {
          const { world, deps } = await readyWorld(before);
          world.pods = [];
          const reads = makeOdd(world, at, odd);
          await run(world, deps);
          check(world);
          if (reads() <= at) break;
        }
      });
    }
  }
});

describe('one odd or failed answer about one of two node groups', () => {
  for (const [answer, odd] of Object.entries({ ...ODD, 'with an error': throttled })) {
    for (const after of ['', ', the first one after a restart']) {
      it(`${answer}, at any read${after}, leaves the pool Ready`, async () => {
        for (let at = 0; ; at++) {
          const { world, deps } = await readyWorld(plain);
          world.pods = [];
          const reads = makeOdd(world, at, odd);
          world.apply(spec({ instanceTypes: ['m5.xlarge'] }));
          const restarted = () => (after && reads() === at ? world.start() : deps);
          for (let run = 0; run === 0 || !isReplaced(world)(); run++) {
            const next = await reconcile('web', restarted(), signal);
            assert.deepEqual([at, run, ready(world)], [at, run, 'True']);
            assert.ok(run < 200, `the group is not replaced with an odd answer at read ${at}`);
            world.now += next.kind === 'requeueAfter' ? next.ms : 2_000;
          }
          if (reads() <= at) break;
        }
      });
    }
  }

  it('deletes no pod of the operator on a new node', async () => {
    const { world, deps } = await readyWorld(plain);
    world.pods = [];
    world.apply(spec({ instanceTypes: ['m5.xlarge'] }, pulling));
    await until(world, deps, () => world.nodePods.length === 2, 'the pods');
    const before = world.nodePods.map(({ name }) => name);
    let isOdd = false;
    world.alter = (operation, output) => {
      const { nodegroup } = output as { readonly nodegroup?: Group };
      if (isOdd || operation !== 'DescribeNodegroup' || nodegroup?.nodegroupName !== HASHED) return output;
      isOdd = true;
      return absent();
    };
    await until(world, deps, () => isOdd, 'the odd answer');
    assert.deepEqual(
      world.nodePods.map(({ name }) => name),
      before,
    );
  });
});
