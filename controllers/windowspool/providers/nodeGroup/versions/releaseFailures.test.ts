import assert from 'node:assert/strict';
import type { NodeCounts, SecondNodeGroup, WindowsPool, WindowsPoolStatus } from '../../../api/api.gen.ts';
import { PoolRegistry } from '../../../disruption/poolRegistry.ts';
import { knownStatus, NEXT, NOW, samplePool } from '../../../testing/fixtures.ts';
import { conditionOf, fresh, readyWorld, until, wake } from '../../../testing/life.ts';
import { releaseFailuresIn } from '../../providers.ts';
import { releaseFailuresOf } from './releaseFailures.ts';

const CORE = 'WINDOWS_CORE_2022_x86_64';
const node = (reason: string, name = 'ip-1') => ({ name, reason, message: 'is wrong' });
type FailingNodes = NonNullable<WindowsPoolStatus['failingNodes']>;

/** Another pool of the same AMI type, with this release. */
function other(
  failingNodes: FailingNodes,
  releaseVersion = NEXT,
  rest: Partial<WindowsPool['metadata']> = {},
  nodes: NodeCounts = {},
): WindowsPool {
  const status = { ...knownStatus({ amiType: CORE, releaseVersion }), failingNodes, nodes };
  return samplePool({}, { metadata: { name: 'api', uid: 'uid-api', ...rest }, status });
}

/** The pool with a canary of another release. */
function withCanary(
  { status, ...pool }: WindowsPool,
  counts: Pick<SecondNodeGroup, 'nodes' | 'verified'>,
): WindowsPool {
  const time = '2026-03-01T12:00:00Z';
  const canary = { name: 'api-2', phase: 'Verifying' as const, startTime: time, lastTransitionTime: time, ...counts };
  return { ...pool, status: { ...status, nodeGroup: { name: 'api', ...status?.nodeGroup, canary } } };
}

describe('a release that fails verification', () => {
  const failure = { pool: 'api', kind: CORE, release: NEXT, node: 'ip-1' };
  const table: readonly (readonly [string, WindowsPool, string | undefined])[] = [
    ['has a node with the wrong build', other([node('WrongBuild')]), 'WrongBuild: is wrong'],
    [
      'has a node with an unsupported kubelet version',
      other([node('KubeletVersionSkew')]),
      'KubeletVersionSkew: is wrong',
    ],
    [
      'is found after nodes that fail for another reason',
      other([node('NotReady', 'ip-0'), node('WrongBuild')]),
      'WrongBuild: is wrong',
    ],
    ['is the same in either spelling', other([node('WrongBuild')], '1.36-2026-03-17'), 'WrongBuild: is wrong'],
    ['is none with a node that is not Ready, which may have any cause', other([node('NotReady')]), undefined],
    ['is none with a node without pod addresses', other([node('NoPodAddresses')]), undefined],
    ['is none with verified nodes', other([]), undefined],
    [
      'is none in a pool that is being deleted',
      other([node('WrongBuild')], NEXT, { deletionTimestamp: '2026-03-01T12:00:00Z' }),
      undefined,
    ],
    ['is none in a pool without a status', samplePool(), undefined],
    [
      'is found if no more nodes are verified',
      other([node('WrongBuild'), node('WrongBuild', 'ip-2')], NEXT, {}, { verified: 2, failing: 2 }),
      'WrongBuild: is wrong',
    ],
    [
      'is none if more nodes are verified: a bad AMI fails them all, and one kubelet can report anything',
      other([node('WrongBuild')], NEXT, {}, { verified: 2, failing: 1 }),
      undefined,
    ],
    [
      'is none of the node group if only a node of its canary fails',
      withCanary(other([node('WrongBuild')], NEXT, {}, { verified: 2, failing: 1 }), { nodes: 2, verified: 1 }),
      undefined,
    ],
    [
      'is found beside a canary that is verified',
      withCanary(other([node('WrongBuild')], NEXT, {}, { verified: 2, failing: 1 }), { nodes: 1, verified: 1 }),
      'WrongBuild: is wrong',
    ],
    [
      'does not count nodes that fail for another reason',
      other([node('WrongBuild'), node('NotReady', 'ip-2')], NEXT, {}, { verified: 2, failing: 2 }),
      undefined,
    ],
    [
      'is found among more nodes than the status lists, in the proportion of the list',
      other(
        Array.from({ length: 20 }, (_, index) => node('WrongBuild', `ip-${index + 1}`)),
        NEXT,
        {},
        { verified: 40, failing: 50 },
      ),
      'WrongBuild: is wrong',
    ],
  ];
  for (const [name, pool, finding] of table) {
    it(name, () => assert.deepEqual(releaseFailuresOf(pool), finding ? [{ ...failure, finding }] : []));
  }

  const failed = { target: 't', reason: 'CanaryFailed', message: 'Canary api-2 failed', time: '2026-03-01T12:00:00Z' };
  const release = { version: '1.36-2026.04.18', node: 'ip-2', finding: 'WrongBuild: is wrong' };
  const onCanary = {
    ...failure,
    release: release.version,
    node: 'ip-2',
    finding: release.finding,
    onCanary: true,
  };
  const recorded = (state: object, failing: FailingNodes = [], rest: Partial<WindowsPool['metadata']> = {}) => {
    const { status, ...pool } = other(failing, NEXT, rest);
    return { ...pool, status: { ...status, nodeGroup: { name: 'api', ...status?.nodeGroup, ...state } } };
  };
  const canaries: readonly (readonly [string, WindowsPool, readonly object[]])[] = [
    ['is one that failed on a canary', recorded({ failedChanges: [{ ...failed, release }] }), [onCanary]],
    [
      'is one that failed on a canary, also after another change failed',
      recorded({ failedChanges: [failed, { ...failed, release }] }),
      [onCanary],
    ],
    ['is none if its canary failed for another reason', recorded({ failedChanges: [failed] }), []],
    [
      'is another one beside that of the node group',
      recorded({ failedChanges: [{ ...failed, release }] }, [node('WrongBuild')]),
      [{ ...failure, finding: 'WrongBuild: is wrong' }, onCanary],
    ],
    [
      'is none of a canary when the pool is being deleted',
      recorded({ failedChanges: [{ ...failed, release }] }, [], { deletionTimestamp: '2026-03-01T12:00:00Z' }),
      [],
    ],
  ];
  for (const [name, pool, expected] of canaries) it(name, () => assert.deepEqual(releaseFailuresOf(pool), expected));

  const ends: readonly (readonly [string, WindowsPool | undefined])[] = [
    ['its node is verified', other([])],
    ['the pool has another release', other([node('WrongBuild')], '1.36-2026.04.18')],
    ['the pool is deleted', undefined],
  ];
  for (const [when, after] of ends) {
    it(`triggers the pools that wait for it when ${when}`, () => {
      const registry = new PoolRegistry(releaseFailuresIn);
      const woken: string[] = [];
      registry.onRelease((name) => woken.push(name));
      const before = other([node('WrongBuild')]);
      registry.follow(undefined, before);
      assert.equal(registry.seenBy('web', NOW).failures.length, 1);
      registry.follow(before, { ...before, metadata: { ...before.metadata, resourceVersion: '8' } });
      assert.deepEqual(woken, []);
      registry.follow(before, after);
      assert.deepEqual(woken, ['web']);
    });
  }

  const updatesIn = (calls: readonly string[]) => calls.filter((call) => call === 'UpdateNodegroupVersion');
  const spec = (nodeGroup: Partial<WindowsPool['spec']['nodeGroup']>) =>
    fresh({ nodeGroup: { ...samplePool().spec.nodeGroup, ...nodeGroup } });
  const automatic = spec({ update: { policy: 'Automatic', force: false } });

  it('is rolled out automatically only when the nodes are verified, without AWS calls in between', async () => {
    const { world, deps } = await readyWorld();
    world.pools.set('api', other([node('WrongBuild')]));
    world.publish(NEXT);
    world.apply(automatic);
    const reason = () => world.pools.get('web')?.status?.conditions?.find(({ type }) => type === 'UpToDate')?.reason;
    await until(world, deps, () => reason() === 'ReleaseNotVerified', 'ReleaseNotVerified');
    assert.deepEqual(updatesIn(world.awsCalls()), []);
    assert.deepEqual(
      world.events.filter(({ type }) => type === 'Warning').map((event) => event.reason),
      ['ReleaseNotVerified'],
    );
    world.awsCalls();
    for (let i = 0; i < 3; i++) await wake(world, deps);
    assert.deepEqual(world.awsCalls(), []);
    world.pools.set('api', other([]));
    await until(world, deps, () => world.groups.get('web')?.releaseVersion === NEXT, 'the release');
    assert.equal(updatesIn(world.awsCalls()).length, 1);
  });

  it('is rolled out with a warning when the spec pins it', async () => {
    const { world, deps } = await readyWorld();
    world.pools.set('api', other([node('WrongBuild')]));
    world.publish(NEXT);
    world.apply(spec({ releaseVersion: NEXT }));
    await wake(world, deps);
    assert.equal(updatesIn(world.awsCalls()).length, 1);
    assert.deepEqual(
      world.events.filter(({ type }) => type === 'Warning').map(({ reason, message }) => `${reason}: ${message}`),
      [
        `ReleaseNotVerified: The update starts because the spec requests it. With release ${NEXT}, node ip-1 of WindowsPool api fails verification: WrongBuild: is wrong.`,
      ],
    );
  });

  it('is not to be retried, as the pool says, after the update to it failed', async () => {
    const { world, deps } = await readyWorld();
    world.pools.set('api', other([node('WrongBuild')]));
    world.publish(NEXT);
    const error = { errorCode: 'PodEvictionFailure' as const, errorMessage: 'Reached max retries', resourceIds: [] };
    world.cloud.faults.updateFailure({ errors: [error] });
    world.apply(spec({ releaseVersion: NEXT }));
    await until(
      world,
      deps,
      () => conditionOf(world, 'NodeGroupReady')?.startsWith('False UpdateFailed') === true,
      'UpdateFailed',
    );
    const shown = conditionOf(world, 'NodeGroupReady') ?? '';
    assert.match(
      shown,
      / failed: .* First fix WindowsPool api, where this release fails verification .* Then .*, and retry: kubectl annotate /,
    );
  });
});
