/** EKS contradicts itself while pools are deleted. A pool must exist until its node group is gone, and delete its group once. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf, creationsOf } from '../awsCalls.ts';
import type { LocalAws } from '../fakes/localaws/localAws.ts';
import { nodeGroupIn } from '../fakes/localaws/wire/callLog.ts';
import { type Watched, watchEvents } from '../fakes/testenv/watchEvents.ts';
import { poolManifest } from '../pools.ts';
import { freezeAws, withOperator } from '../sharedWorld.ts';

interface Lie {
  readonly pool: string;
  readonly what: string;
  /** Makes the next responses about the node group wrong. */
  readonly tell: (cloud: LocalAws, group: string) => void;
  /** How many calls get a wrong response. */
  readonly count: number;
  /** Default: a user causes a read for each, within the time that the operator takes to confirm a response. True: the operator reads when it is due. */
  readonly isPatient?: boolean;
}

/** The operator reads EKS again when this changes: otherwise it would only do so when the response could be confirmed. */
const RETRY = 'winpool.dev/retry';
const NOT_FOUND = 'ResourceNotFoundException';

const describe404 = (message: string, count: number) => (cloud: LocalAws, group: string) =>
  cloud.faults.calls.error({ operation: 'DescribeNodegroup', group, name: NOT_FOUND, message, count });

const lies: readonly Lie[] = [
  { pool: 'not-found', what: 'NotFound once', tell: describe404('No node group found for name: x.', 1), count: 1 },
  {
    pool: 'not-found-thrice',
    what: 'NotFound 3 times',
    tell: describe404('No node group found for name: x.', 3),
    count: 3,
  },
  {
    pool: 'no-cluster',
    what: 'that there is no cluster',
    tell: describe404('No cluster found for name: demo.', 1),
    count: 1,
  },
  {
    pool: 'empty',
    what: 'an empty response with status 200',
    tell: (cloud, group) => cloud.faults.calls.empty({ operation: 'DescribeNodegroup', group, status: 200, count: 3 }),
    count: 3,
  },
  {
    pool: 'html',
    what: 'a page of HTML with status 200',
    tell: (cloud, group) => cloud.faults.calls.html({ operation: 'DescribeNodegroup', group, status: 200 }),
    count: 1,
  },
  {
    pool: 'deletion-not-found',
    what: 'NotFound for DeleteNodegroup',
    tell: (cloud, group) =>
      cloud.faults.calls.error({
        operation: 'DeleteNodegroup',
        group,
        name: NOT_FOUND,
        message: 'No node group found.',
      }),
    count: 1,
  },
  {
    pool: 'deletion-empty',
    what: 'an empty response with status 200 for DeleteNodegroup, which had no effect',
    tell: (cloud, group) => cloud.faults.calls.empty({ operation: 'DeleteNodegroup', group, status: 200 }),
    count: 1,
  },
  {
    pool: 'persistent',
    what: 'NotFound for longer than the operator waits, while its nodes are Ready',
    tell: describe404('No node group found for name: x.', 3),
    count: 3,
    isPatient: true,
  },
];
/** Others, for which there is no fault. */
const UNTAGGED = 'untagged';
const CREATING = 'creating';

describe('while a pool is deleted and EKS reports', () => {
  // The operator believes EKS after the poll interval, at most 10 s.
  const fixture = withOperator('--poll-interval=10s', '--denied-retry-interval=2s');
  let watch: Watched;
  /** The pools that were deleted, and whether their group existed then. */
  const deleted = new Map<string, boolean>();
  const deletions = new Map<string, Promise<unknown>>();

  const group = (pool: string) => fixture.world.cloud.state.groups.get(pool);
  const remove = (pool: string) => fixture.world.kubectl('delete', 'windowspool', pool, '--wait=false');
  const callsAbout = (pool: string, operation: string) => callsOf(fixture.world, operation, pool);
  const untilGone = (pool: string) => fixture.until(`pool ${pool} to be deleted`, () => deleted.has(pool));

  /** Asserts that the pool existed until its group was gone, and that one call deleted the group. */
  async function assertDeletedOnce(pool: string): Promise<void> {
    await untilGone(pool);
    const effective = callsAbout(pool, 'DeleteNodegroup').filter(({ result }) => result === 'ok').length;
    assert.deepEqual(
      [deleted.get(pool), group(pool), effective, creationsOf(fixture.world, pool)],
      [false, undefined, 1, 1],
    );
  }

  /** Deletes a pool of which EKS is wrong, and causes enough reads for all wrong responses. */
  async function removeAmid({ pool, tell, count, isPatient }: Lie): Promise<void> {
    const { cloud } = fixture.world;
    const wrong = () =>
      [...callsAbout(pool, 'DescribeNodegroup'), ...callsAbout(pool, 'DeleteNodegroup')].filter(
        ({ result }) => result !== 'ok',
      ).length;
    const before = wrong();
    tell(cloud, pool);
    await remove(pool);
    for (let told = 1; told <= count; told += 1) {
      await fixture.until(`wrong response ${told} about group ${pool}`, () => wrong() >= before + told);
      if (told < count && !isPatient)
        await fixture.world.kubectl('annotate', 'windowspool', pool, `${RETRY}=${told}`, '--overwrite');
    }
  }

  /** While EKS is wrong about the tags, the group looks like one of another owner. */
  async function removeUntagged(): Promise<void> {
    const { cloud } = fixture.world;
    let isTold = false;
    cloud.setGate((entry, phase) => {
      if (entry.operation !== 'DescribeNodegroup' || nodeGroupIn(entry) !== UNTAGGED) return;
      const { nodegroup } = cloud.state.group(UNTAGGED);
      if (phase === 'before' && !isTold) [tags, nodegroup.tags] = [nodegroup.tags, {}];
      else if (phase === 'after' && tags) {
        [tags, nodegroup.tags] = [undefined, tags];
        isTold = true;
      }
    });
    let tags: Record<string, string> | undefined;
    await remove(UNTAGGED);
    await waitFor(() => isTold, { what: 'the response without tags' });
  }

  /** EKS does not know the group that it creates: reads lag behind writes. */
  async function removeCreating(): Promise<void> {
    const { world } = fixture;
    const restoreSpeed = freezeAws(world);
    try {
      await world.apply(poolManifest(CREATING));
      await waitFor(() => group(CREATING)?.nodegroup.status === 'CREATING', { what: 'the group to be created' });
      describe404('No node group found for name: x.', 1)(world.cloud, CREATING);
      await remove(CREATING);
      await waitFor(() => callsAbout(CREATING, 'DescribeNodegroup').some(({ result }) => result === NOT_FOUND), {
        what: 'the wrong response',
      });
    } finally {
      restoreSpeed();
    }
  }

  before(async function () {
    this.timeout(120_000);
    const { world } = fixture;
    world.cloud.resetCalls();
    const path = '/apis/winpool.dev/v1alpha1/windowspools';
    watch = await watchEvents<WindowsPool>(world.controlPlane.adminKubeconfig, path, ({ type, object }) => {
      const { name } = object.metadata;
      if (type === 'DELETED') deleted.set(name, world.cloud.state.groups.has(name));
    });
    const pools = [...lies.map(({ pool }) => pool), UNTAGGED];
    await world.apply({ apiVersion: 'v1', kind: 'List', items: pools.map((pool) => poolManifest(pool)) });
    for (const pool of pools) await world.waitForReady(pool);
    await removeCreating();
    const begun: readonly (readonly [string, Promise<unknown>])[] = [
      ...lies.map((lie) => [lie.pool, removeAmid(lie)] as const),
      [UNTAGGED, removeUntagged()],
    ];
    for (const [pool, deletion] of begun) deletions.set(pool, deletion);
    await Promise.allSettled(deletions.values());
  });
  after(async () => {
    fixture.world.cloud.setGate(() => {});
    fixture.world.cloud.faults.calls.clear();
    await watch.stop();
  });

  for (const { pool, what } of lies)
    it(`${what}, the pool exists until its group is gone`, async () => {
      await deletions.get(pool);
      await assertDeletedOnce(pool);
    });

  it('a group without tags, the pool exists until its group is gone', async () => {
    await deletions.get(UNTAGGED);
    await assertDeletedOnce(UNTAGGED);
  });

  it('NotFound of a group that is CREATING, the pool exists until its group is gone', async () => {
    await assertDeletedOnce(CREATING);
  });
});
