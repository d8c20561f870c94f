/**
 * AWS is eventually consistent and throttles, and there are many pools: reads return what was true seconds ago, and each service accepts few calls.
 * Each node is terminated once, each group is created once, and all pools are Ready in the end.
 */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf } from '../awsCalls.ts';
import { type CallEntry, nodeGroupIn } from '../fakes/localaws/wire/callLog.ts';
import { instanceOf } from '../nodeOperations/terminatingNodesFixture.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { isSettled } from './pausedWrites.ts';

/** EKS has a quota of 30 node groups for each cluster. */
const POOLS = 20;
/** The local AWS is about 240 times as fast as EKS: a group is created in less than a second. */
const STALE_SECONDS = 5;
/** Of each service. */
const CALLS_PER_SECOND = 5;
const SIZE = 2;
const TIMEOUT_MS = 100_000;
/** Every other pool shrinks by the node. */
const OPERATIONS = ['replace', 'remove'] as const;

interface Member {
  readonly name: string;
  readonly operation: (typeof OPERATIONS)[number];
  /** How many nodes it has in the end. */
  readonly size: number;
}

const members: readonly Member[] = Array.from({ length: POOLS }, (_, index) => {
  const operation = index % 2 === 0 ? 'replace' : 'remove';
  return { name: `lag-${index}`, operation, size: operation === 'remove' ? SIZE - 1 : SIZE };
});

describe(`${POOLS} pools with reads of AWS that are ${STALE_SECONDS} s old, and ${CALLS_PER_SECOND} calls a second`, function () {
  this.timeout(3 * TIMEOUT_MS);
  const fixture = withOperator(
    '--poll-interval=5s',
    '--resync-interval=10s',
    `--max-pools-updating=${POOLS}`,
    '--workers=30',
  );

  /** The calls that AWS accepted. */
  const calls = (operation: string): CallEntry[] =>
    callsOf(fixture.world, operation).filter(({ result }) => result === 'ok');
  /** The client request tokens of the accepted calls about a group: EKS carries out those with the same token once. */
  const tokensOf = (group: string, operation: string): Set<unknown> =>
    new Set(
      calls(operation)
        .filter((call) => nodeGroupIn(call) === group)
        .map(({ input }) => (input as { clientRequestToken?: string }).clientRequestToken),
    );
  const nodesOf = (pool: string) => fixture.world.nodesOf(pool);
  const settled = (name: string, size: number) =>
    fixture.world.waitForPool(
      name,
      `to be settled with ${size} nodes`,
      (pool) => isSettled(pool) && pool?.status?.nodes?.verified === size && pool.status.nodes.total === size,
      TIMEOUT_MS,
    );

  before(() => {
    const { faults } = fixture.world.cloud;
    fixture.world.cloud.resetCalls();
    faults.staleReads({ seconds: STALE_SECONDS });
    faults.calls.quota({ perSecond: CALLS_PER_SECOND });
  });
  after(() => {
    const { faults } = fixture.world.cloud;
    faults.staleReads({ seconds: 0 });
    faults.calls.clear();
  });

  it('all become Ready, and each group is created by one request', async () => {
    const { state, faults } = fixture.world.cloud;
    const items = members.map(({ name, size }) => poolManifest(name, { nodeGroup: { scaling: { minSize: size } } }));
    await fixture.world.apply({ apiVersion: 'v1', kind: 'List', items });
    const areCreated = () => members.every(({ name }) => state.groups.has(name));
    await waitFor(areCreated, { what: 'all groups', timeoutMs: TIMEOUT_MS, explain: () => fixture.operator.tail() });
    // As an autoscaler does.
    for (const { name } of members) faults.edit({ group: name, scalingConfig: { desiredSize: SIZE } });
    for (const { name } of members) await settled(name, SIZE);
    // A stale read that does not have the group can cause another request, which EKS rejects by the name of the group.
    assert.deepEqual(
      members.map(({ name }) => tokensOf(name, 'CreateNodegroup').size),
      members.map(() => 1),
    );
    assert.ok(fixture.world.cloud.calls().some(({ result }) => /Throttling|RequestLimitExceeded/.test(result)));
  });

  it('replace or remove one node each, and terminate it once', async () => {
    const expected: string[] = [];
    const annotated: (readonly [pool: string, uid: string])[] = [];
    for (const { name, operation } of members) {
      const [node] = await nodesOf(name);
      assert.ok(node);
      expected.push(`${instanceOf(node)} ${operation === 'remove'}`);
      annotated.push([name, node.metadata.uid]);
      await fixture.world.kubectl('annotate', 'node', node.metadata.name, `winpool.dev/${operation}=true`);
    }
    // By UID: another node may get the name of one that is gone.
    const uids = ['get', 'nodes', '-o', 'jsonpath={.items[*].metadata.uid}'] as const;
    let left = annotated;
    const areGone = async () => {
      const found = new Set((await fixture.world.kubectl(...uids)).split(' '));
      left = annotated.filter(([, uid]) => found.has(uid));
      return left.length === 0;
    };
    const explain = () => `${left.join('\n')}\n${fixture.operator.tail()}`;
    await waitFor(areGone, { what: 'the annotated nodes to go', timeoutMs: TIMEOUT_MS, explain });
    for (const { name, size } of members) await settled(name, size);
    const terminated = calls('TerminateInstanceInAutoScalingGroup').map(({ input }) => {
      const { InstanceId, ShouldDecrementDesiredCapacity } = input as Record<string, unknown>;
      return `${InstanceId} ${ShouldDecrementDesiredCapacity}`;
    });
    assert.deepEqual(terminated.sort(), expected.sort());
    assert.deepEqual(
      members.map(({ name }) => fixture.world.cloud.state.group(name).nodegroup.scalingConfig?.desiredSize),
      members.map(({ size }) => size),
    );
  });

  it('change their labels, and are deleted with their groups', async () => {
    const { world } = fixture;
    await Promise.all(members.map(({ name }) => world.patchPool(name, { labels: { tier: 'web' } })));
    for (const { name, size } of members) await settled(name, size);
    assert.deepEqual(
      members.map(({ name }) => world.cloud.state.group(name).nodegroup.labels?.tier),
      members.map(() => 'web'),
    );
    await world.kubectl('delete', 'windowspools', '--all', '--wait=false');
    const arePoolsGone = async () => (await world.kubectl('get', 'windowspools', '-o', 'name')) === '';
    // A group is asked for until its end is older than stale reads, and all pools share the calls.
    await waitFor(arePoolsGone, {
      what: 'all pools to be deleted',
      timeoutMs: TIMEOUT_MS,
      explain: () => fixture.operator.tail(),
    });
    assert.deepEqual([...world.cloud.state.groups.keys()], []);
  });
});
