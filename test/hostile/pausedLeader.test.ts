/**
 * The leader is stopped (SIGSTOP) right before its writes, another replica leads and completes the work, and the first one continues. A pause stands
 * for a process without CPU time, or a virtual machine that is suspended.
 */
import assert from 'node:assert/strict';
import type { CreateNodegroupRequest } from '@aws-sdk/client-eks';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { callsOf, terminatedBy } from '../awsCalls.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';
import { countRequests, describeCall, HeldReplica, isMarked, sentSince, textOf } from './heldReplica.ts';
import type { Moment } from './markingProxy.ts';
import { isSettled, type PausedWrite, pausedWrites, type Target } from './pausedWrites.ts';
import { LEASE, REPLICA_FLAGS, untilLeads } from './replicas.ts';

/** So many that each pool that is held has a worker, and each its share of the disruption budget. */
const FLAGS = [...REPLICA_FLAGS, '--workers=30', '--max-pools-updating=20'];
const EVENTS = 'POST /apis/events.k8s.io/v1/namespaces/default/events';

type Group = 'unsent' | 'sent';
const nameOf = (group: Group, { name }: Pick<PausedWrite, 'name'>) => `${group}-${name}`;

describe('a leader that is paused', function () {
  this.timeout(180_000);
  let world: TestEnv;
  let paused: HeldReplica;
  let other: OperatorProcess;

  before(async () => {
    world = await theWorld();
    await world.kubectl('delete', ...LEASE, '--ignore-not-found');
  });
  afterEach(() => paused[Symbol.asyncDispose]());
  after(async () => {
    if (other?.running) await world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
    await other?.stop();
    await world.kubectl('delete', 'pods,configmaps', '-n', 'default', '-l', 'suite=paused-leader');
  });

  /** Creates the pools of a group that exist before the pause, and returns the target of each write. */
  async function prepare(group: Group): Promise<Map<PausedWrite, Target>> {
    const items = pausedWrites.flatMap((write) => (write.spec ? [poolManifest(nameOf(group, write), write.spec)] : []));
    await world.apply({ apiVersion: 'v1', kind: 'List', items });
    const targets = new Map<PausedWrite, Target>();
    for (const write of pausedWrites) {
      const pool = nameOf(group, write);
      if (write.spec) await world.waitForPool(pool, 'to be settled', isSettled);
      const query = ['get', 'nodes', '-l', `eks.amazonaws.com/nodegroup=${pool}`, '-o', 'json'] as const;
      const [node] = (JSON.parse(await world.kubectl(...query)) as { items: Stored<V1Node>[] }).items;
      const instance = node?.spec?.providerID?.split('/').at(-1) ?? '';
      const target = { world, pool, node: node?.metadata.name ?? '', instance };
      if (write.prepare) {
        await write.prepare(target);
        await world.waitForPool(pool, 'to be settled', isSettled);
      }
      targets.set(write, target);
    }
    return targets;
  }

  /** Causes all writes, and stops the leader when it has a request held for each. */
  async function pause(targets: Map<PausedWrite, Target>, moment: Moment): Promise<void> {
    paused.arm({ request: EVENTS, moment });
    for (const isLast of [false, true]) {
      for (const [write, target] of targets)
        if ((write.last ?? false) === isLast) {
          paused.arm({ request: (moment === 'request' ? write.write : write.before)(target), moment });
          await write.begin(target);
        }
      await paused.untilHeld();
    }
    paused.signal('SIGSTOP');
    await paused.untilStopped();
  }

  async function untilDone(targets: Map<PausedWrite, Target>): Promise<void> {
    for (const [{ isDone = isSettled }, { pool }] of targets) await world.waitForPool(pool, 'to be complete', isDone);
  }

  /** The results of the calls to AWS that were on the way when the process was paused. */
  function resultsOf(writes: readonly string[]): string[] {
    const calls = world.cloud.calls().filter(isMarked);
    return writes.flatMap((write) => {
      const call = calls.find((entry) => textOf(entry).startsWith(write));
      return call ? [describeCall(call)] : [];
    });
  }

  /** Each pool has its group, with one node; the removed nodes were terminated once, and each group was created once. */
  function assertDoneOnce(targets: Map<PausedWrite, Target>): void {
    const { cloud } = world;
    const remaining = [...targets].filter(([{ name }]) => name !== 'delete').map(([, { pool }]) => pool);
    const sizes = remaining.map((pool) => [pool, cloud.state.groups.get(pool)?.nodegroup.scalingConfig?.desiredSize]);
    assert.deepEqual(
      sizes,
      remaining.map((pool) => [pool, 1]),
    );
    const removed = [...targets].filter(([{ name }]) => ['remove', 'cordon', 'evict'].includes(name));
    const expected = removed.map(([, { instance }]) => instance).sort();
    const terminated = terminatedBy(cloud.calls());
    assert.deepEqual(terminated.filter((id) => expected.includes(id)).sort(), expected);
    for (const { pool } of targets.values()) assert.equal(creationTokens(world, pool).size, 1, pool);
  }

  it(`sends none of ${pausedWrites.length + 1} kinds of write after another replica led`, async () => {
    paused = await HeldReplica.start(world, FLAGS);
    await paused.process.ready();
    await untilLeads(paused.process);
    const targets = await prepare('unsent');
    other = await world.operator(FLAGS).ready();
    await pause(targets, 'response');
    paused.release();
    await untilLeads(other);
    const before = await countRequests(world);
    await untilDone(targets);
    await paused.resume();
    assert.deepEqual(await sentSince(world, before), []);
    assertDoneOnce(targets);
  });

  it('changes nothing that another replica did by the writes that were already on the way', async () => {
    paused = await HeldReplica.start(world, FLAGS);
    await paused.process.ready();
    const targets = await prepare('sent');
    await other.stop();
    await untilLeads(paused.process);
    other = await world.operator(FLAGS).ready();
    await pause(targets, 'request');
    await untilLeads(other);
    const before = await countRequests(world);
    await untilDone(targets);
    await world.patchPool('sent-config', { labels: { tier: 'api' } });
    await world.waitForPool('sent-config', 'to have other labels', isSettled);
    paused.release();
    await paused.resume();
    const results = resultsOf([...targets].map(([{ write }, target]) => write(target)));
    const late = [...targets].map(([write, target]) => write.late(target));
    // An event is always accepted.
    assert.deepEqual([...(await sentSince(world, before)), ...results].sort(), [...late, 'create events: 201'].sort());
    assertDoneOnce(targets);
    assert.equal(world.cloud.state.group('sent-config').nodegroup.labels?.tier, 'api');
  });
});

/** The client request tokens with which the group of a pool was created. */
function creationTokens(world: TestEnv, pool: string): Set<unknown> {
  const creations = callsOf(world, 'CreateNodegroup', pool);
  return new Set(creations.map(({ input }) => (input as Partial<CreateNodegroupRequest>).clientRequestToken));
}
