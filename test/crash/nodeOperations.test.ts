/**
 * The operator's process is killed before and after its requests while nodes are removed, and started again: each of these nodes is terminated once, no other is,
 * and a watch of the test never sees more nodes unavailable than disruption.maxUnavailable. At all of them with `make crash`, else at a sample;
 * nodeOperationsInMemory.test.ts visits all of them each time.
 */
import assert from 'node:assert/strict';
import { startTestEnv, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { theWorld } from '../sharedWorld.ts';
import { ClusterFixture } from './clusterFixture.ts';
import { MOMENTS, type Recording, samplePoints, visitsAll } from './crashPoints.ts';
import { killAtEach, shareAmong } from './killAtEach.ts';
import { NodeOperationsFixture, poolNodeOf, seenOf } from './nodeOperationsFixture.ts';
import { assertDone, bystander, instancesOf, isWrite, type Operation, operations } from './operations.ts';
import type { Moment } from './requestGate.ts';

/** What is read before the last instance is terminated; then the pool only waits. Reads of prerequisites, which pools share, are left out. */
function isCounted(request: string, index: number, all: readonly string[]): boolean {
  const isRead = /^(GET (windowspools|nodes|pods)|DescribeNodegroup|DescribeInstances|DescribeAutoScalingGroups) /.test(
    request,
  );
  const lastEnd = all.findLastIndex((each) => each.startsWith('TerminateInstance'));
  return isWrite(request) || (isRead && index < lastEnd);
}

/**
 * How often a node, the pool's status and events are written depends on which events of nodes come together, and so does how often these are
 * read; how often a pod is evicted, on when its budget allows it. Nothing else may differ.
 */
function isRepeated(request: string): boolean {
  return /^(GET|Describe|PATCH nodes|PUT windowspools\/status|POST events|POST pods\/eviction)/.test(request);
}

describe('an operator that is killed at any of its requests while nodes are removed', function () {
  this.timeout(900_000);
  /** Two fixtures, so that one computes while the other waits. */
  const fixtures: NodeOperationsFixture[] = [];
  const crashes: ClusterFixture[] = [];
  let second: TestEnv | undefined;
  let sample: ReturnType<typeof samplePoints> = new Map();
  before(async () => {
    second = await startTestEnv();
    for (const world of [await theWorld(), second]) {
      const crash = await ClusterFixture.open(world, '--join-grace=2s');
      crashes.push(crash);
      world.cloud.faults.consoleCreate(bystander);
      fixtures.push(await NodeOperationsFixture.open(crash, 'going'));
    }
    if (visitsAll) return;
    const recordings = await shareAmong(
      fixtures,
      operations,
      async (fixture, operation): Promise<Recording> => ({
        phase: operation.name,
        requests: await pointsOf(operation, fixture),
      }),
    );
    sample = samplePoints(recordings, isRepeated);
  });
  after(async () => {
    try {
      for (const fixture of fixtures) await fixture[Symbol.asyncDispose]();
    } finally {
      for (const crash of crashes) {
        crash.world.cloud.faults.consoleDelete({ group: bystander.nodegroupName });
        await crash[Symbol.asyncDispose]();
      }
      await second?.stop();
    }
  });

  /** Removes nodes while `run` kills the operator, and asserts the result. */
  async function perform(
    operation: Operation,
    fixture: NodeOperationsFixture,
    run: (act: () => Promise<void>, end: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    await fixture.reset();
    const before = await fixture.nodes();
    const others = instancesOf(fixture.cloud, bystander.nodegroupName);
    assert.equal(others.length, 1, 'instances of another group');
    const removed = before.slice(0, operation.begin.length).map(poolNodeOf);
    const expected: string[] = [];
    const act = async () => {
      for (const [index, node] of removed.entries())
        expected.push((await operation.begin[index]?.(fixture, node)) ?? '');
    };
    const end = async () => {
      await fixture.crash.until('to have no such nodes any more', () => {
        const terminated = fixture.terminated();
        return expected.every((instance) => terminated.includes(instance));
      });
      await fixture.crash.settle();
      await fixture.settled();
    };
    await run(act, end);
    assertDone(operation, {
      expected,
      terminated: fixture.terminated(),
      before: before.map(seenOf),
      after: (await fixture.nodes()).map(seenOf),
      desired: fixture.size,
    });
    assert.deepEqual(instancesOf(fixture.cloud, bystander.nodegroupName), others, 'instances of another group');
    fixture.assertClean();
  }

  /** The names of the requests without a kill. */
  async function recordRequests(operation: Operation, fixture: NodeOperationsFixture): Promise<readonly string[]> {
    let requests: readonly string[] = [];
    await perform(operation, fixture, async (act, end) => {
      requests = await fixture.crash.recordRequests(act, end);
    });
    const counted = requests.filter(isCounted);
    for (const request of operation.includes) assert.ok(counted.includes(request), `${request} is not in ${counted}`);
    return counted;
  }

  async function killAtAll(operation: Operation, moment: Moment, requests: readonly string[]): Promise<void> {
    const runKilled = async (fixture: NodeOperationsFixture, request: string): Promise<boolean> => {
      let wasSent = false;
      try {
        await perform(operation, fixture, async (act, end) => {
          wasSent = await fixture.crash.crash({ request, moment }, act);
          await end();
        });
      } catch (cause) {
        throw new Error(`killed ${moment} ${request}: ${(cause as Error).message}`, { cause });
      }
      return wasSent;
    };
    await killAtEach({ fixtures, requests, isRepeated, run: runKilled });
  }

  /** The requests at which the operator is killed. After a read all is as it is before the next request. */
  async function pointsOf(operation: Operation, fixture: NodeOperationsFixture): Promise<Recording['requests']> {
    const requests = await recordRequests(operation, fixture);
    return { before: requests, after: requests.filter(isWrite) };
  }

  if (visitsAll)
    for (const operation of operations)
      for (const moment of MOMENTS)
        it(`${operation.name}, killed ${moment} each ${moment === 'before' ? 'request' : 'write'}`, async () => {
          const [first] = fixtures;
          assert.ok(first);
          await killAtAll(operation, moment, (await pointsOf(operation, first))[moment]);
        });
  else
    for (const operation of operations) {
      it(`${operation.name}, killed at one request of each kind`, async () => {
        const points = sample.get(operation.name) ?? [];
        assert.ok(points.length > 0, 'the sample has no point of the operation');
        for (const moment of MOMENTS) {
          const requests = points.filter((point) => point.moment === moment).map(({ request }) => request);
          await killAtAll(operation, moment, requests);
        }
      });
    }
});
