/** What an upgrade of the operator promises, for processes and for pods: it takes over the pools of the previous version in every state, and an update in progress. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { isWrite } from '../awsCalls.ts';
import { nodeGroupIn } from '../fakes/localaws/wire/callLog.ts';
import { existingNode } from '../fakes/testenv/existingNode.ts';
import { conditionOf, hasConditions, READY, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { existingPool, poolManifest } from '../pools.ts';

const OLD = '1.36-2026.02.17';
const NEW = '1.36-2026.03.17';

/** Pools, and the state that each reaches before the old operator stops. */
const pools: readonly (readonly [manifest: object, isReached: (pool: WindowsPool) => boolean])[] = [
  [
    poolManifest('settled', { nodeGroup: { scaling: { desiredSize: 2 } }, labels: { team: 'a' } }),
    ({ status }) => status?.nodes?.verified === 2,
  ],
  [poolManifest('gated', { verification: { policy: 'Gate' } }), has('Ready', 'True/EnoughNodesVerified')],
  [
    poolManifest('failing', { verification: { policy: 'Quarantine' } }),
    ({ status }) => status?.nodes?.quarantined === 1,
  ],
  [poolManifest('refused'), ({ status }) => status?.nodeGroup?.status === 'CREATE_FAILED'],
  [poolManifest('paused', { paused: true }), ({ status }) => (status?.pendingSteps?.length ?? 0) > 0],
  [poolManifest('edited', { nodeGroup: { driftPolicy: 'Report' } }), has('UpToDate', 'False/Drifted')],
  [poolManifest('updating', { nodeGroup: { releaseVersion: OLD } }), has('Ready', 'True/EnoughNodesVerified')],
  [
    // The operator writes the user data of this pool: if it wrote another one for the same spec, it would replace the nodes.
    poolManifest('custom', { nodeGroup: { kubelet: { maxPods: 30, evictionHard: { 'memory.available': '1Gi' } } } }),
    has('Ready', 'True/EnoughNodesVerified'),
  ],
  [existingPool('existing', { matchLabels: { team: 'b' } }), has('Ready', 'True/EnoughNodesVerified')],
];
const names = pools.map(([manifest]) => (manifest as WindowsPool).metadata.name);

function has(type: string, state: string): (pool: WindowsPool) => boolean {
  return (pool) => conditionOf(pool, type) === state;
}

interface Event {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly series?: { readonly count: number };
}

export type Version = 'previous' | 'current';

/** How the operator runs. */
export interface Installation {
  readonly world: TestEnv;
  /** Installs a version with its CRD and its permissions, instead of the one that runs, and resolves when it leads. */
  install(version: Version): Promise<void>;
  /** Stops the one that runs. */
  uninstall(): Promise<void>;
  /** The last lines of its log. */
  log(): string | Promise<string>;
}

/** The tests of a suite. `start` prepares an environment without an operator. */
export function describeUpgrade(title: string, start: () => Promise<Installation>): void {
  describe(title, () => upgradeTests(start));
}

function upgradeTests(start: () => Promise<Installation>): void {
  let operator: Installation;
  let world: TestEnv;
  let poolsBefore: readonly WindowsPool[];
  let eventsBefore: readonly string[];
  let callsBefore: number;

  before(async () => {
    operator = await start();
    world = operator.world;
  });

  const read = async (name: string) => (await world.pool(name)) ?? assert.fail(`pool ${name} is gone`);
  const all = () => Promise.all(names.map(read));
  /** The changes that were sent to AWS of the new version, and of those after it, except those for the pool that was created later. */
  const writesToAws = () =>
    world.cloud
      .calls()
      .slice(callsBefore)
      .filter(isWrite)
      .map(({ operation, input }) => `${operation} ${JSON.stringify(input)}`)
      .filter((call) => !call.includes('newcomer'));
  /** The events about the pools, each with its count. */
  const countedEvents = async (): Promise<string[]> => {
    return (await world.list<Event>('events.events.k8s.io', '-A'))
      .filter(({ regarding }) => regarding.kind === 'WindowsPool' && names.includes(regarding.name))
      .map(({ reason, note, regarding, series }) => `${regarding.name} ${reason} ${series?.count ?? 1} ${note}`)
      .sort();
  };

  async function untilQuiet(): Promise<void> {
    let last = '';
    const quiet = async () => {
      const now = (await all()).map(({ metadata }) => metadata.resourceVersion).join();
      const same = now === last;
      last = now;
      return same;
    };
    await waitFor(quiet, { what: 'the pools to be stable', intervalMs: 1_500 });
  }

  it('starts with the previous operator and pools in every state', async () => {
    await operator.install('previous');
    world.cloud.faults.nextNode({ group: 'failing', build: '10.0.17763' });
    const issues = [{ code: 'NodeCreationFailure' as const, message: 'Unhealthy nodes', resourceIds: ['i-1'] }];
    world.cloud.faults.createFailure({ group: 'refused', issues });
    await world.apply(existingNode({ name: 'rack-1', labels: { team: 'b' } }));
    for (const [manifest] of pools) await world.apply(manifest);
    await world.waitForReady('edited');
    world.cloud.faults.edit({ group: 'edited', scalingConfig: { maxSize: 5 } });
    for (const [index, [, isReached]] of pools.entries()) {
      const name = names[index] ?? '';
      await world.waitForPool(
        name,
        'to reach its state with the old operator',
        (pool) => pool !== undefined && isReached(pool),
      );
    }
    await untilQuiet();
    world.cloud.faults.speed({ speed: 0.01 });
    await world.patchPool('updating', { nodeGroup: { releaseVersion: NEW } });
    await world.waitForPool(
      'updating',
      'to be updating',
      (pool) => pool?.status?.nodeGroup?.update?.status === 'InProgress',
    );
    await untilQuiet();
  });

  it('continues with the new CRD and permissions: every pool is reconciled again', async () => {
    poolsBefore = await all();
    eventsBefore = await countedEvents();
    callsBefore = world.cloud.calls().length;
    await operator.install('current');
    const groups = names.filter((name) => name !== 'existing');
    const describedGroups = () =>
      new Set(
        world.cloud
          .calls()
          .slice(callsBefore)
          .filter(({ operation }) => operation === 'DescribeNodegroup')
          .map(nodeGroupIn),
      );
    await waitFor(() => groups.every((name) => describedGroups().has(name)), {
      what: 'the new operator to read every group',
      explain: () => operator.log(),
    });
    // Reconciled after the existing ones.
    await world.apply(poolManifest('newcomer'));
    await world.waitForPool('newcomer', 'to be creating', (pool) => pool?.status?.nodeGroup?.status === 'CREATING');
    await untilQuiet();
  });

  it('changes nothing in AWS for them', () => assert.deepEqual(writesToAws(), []));

  it('keeps every condition and its lastTransitionTime', async () => {
    const facts = ({ metadata, status }: WindowsPool) =>
      (status?.conditions ?? []).map(({ type, status: is, lastTransitionTime }) =>
        [metadata.name, type, is, lastTransitionTime].join(' '),
      );
    const after = (await all()).flatMap(facts);
    assert.notEqual(after.length, 0);
    assert.deepEqual(
      poolsBefore.flatMap(facts).filter((fact) => !after.includes(fact)),
      [],
    );
  });

  it('does not change the specs and the groups', async () => {
    const facts = ({ metadata, spec, status }: WindowsPool) => [metadata.generation, spec, status?.nodeGroup?.arn];
    assert.deepEqual((await all()).map(facts), poolsBefore.map(facts));
  });

  it('publishes no event again', async () => assert.deepEqual(await countedEvents(), eventsBefore));

  it('can be rolled back and applied again, and changes nothing', async () => {
    for (const version of ['previous', 'current'] as const) {
      await operator.install(version);
      await untilQuiet();
    }
    assert.deepEqual(writesToAws(), []);
    assert.deepEqual(await countedEvents(), eventsBefore);
  });

  it('finishes the update that the old one started, without another one', async () => {
    world.cloud.faults.speed({ speed: 4 });
    await world.waitForPool(
      'updating',
      'to have the new release',
      (pool) =>
        pool?.status?.nodeGroup?.releaseVersion === NEW &&
        pool.status.nodeGroup.update?.status !== 'InProgress' &&
        hasConditions(pool, READY),
    );
    assert.deepEqual(writesToAws(), []);
  });

  it('deletes every pool', async () => {
    await world.patchPool('paused', { paused: false });
    await world.kubectl('delete', 'windowspools', '--all', '--timeout=120s');
    assert.deepEqual([...world.cloud.state.groups.keys()], []);
    await world.kubectl('delete', 'node', 'rack-1');
    await operator.uninstall();
  });
}
