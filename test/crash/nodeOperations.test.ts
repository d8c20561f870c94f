/**
 * The operator's process is killed before and after its requests while nodes go, and started again: each that was to go goes once, no other ever,
 * and a second watcher never sees more nodes out than disruption.maxUnavailable. At all of them with `make crash`, else at a sample;
 * nodeOperationsInMemory.test.ts visits all of them each time.
 */
import assert from 'node:assert/strict';
import { startTestEnv, type TestEnv } from '../../hack/testenv/testEnv.ts';
import { theWorld } from '../sharedWorld.ts';
import { MOMENTS, type Recording, samplePoints, visitsAll } from './crashPoints.ts';
import { killAtEach, shareOut } from './killAtEach.ts';
import { NodeOperationsStage, poolNodeOf, seenOf } from './nodeOperationsStage.ts';
import { assertDone, bystander, instancesOf, isWrite, type Operation, operations } from './operations.ts';
import { CrashStage } from './stage.ts';
import type { Moment } from './turnstile.ts';

/** What is read before the last instance ends; then the pool only waits. Looks at the prerequisites, which pools share, are none of it. */
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

describe('an operator that is killed at any of its requests while nodes go', function () {
  this.timeout(900_000);
  /** Two worlds, so that one computes while the other waits. */
  const stages: NodeOperationsStage[] = [];
  const crashes: CrashStage[] = [];
  let second: TestEnv | undefined;
  let sample: ReturnType<typeof samplePoints> = new Map();
  before(async () => {
    second = await startTestEnv();
    for (const world of [await theWorld(), second]) {
      const crash = await CrashStage.open(world, '--join-grace=2s');
      crashes.push(crash);
      world.cloud.faults.consoleCreate(bystander);
      stages.push(await NodeOperationsStage.open(crash, 'going'));
    }
    if (visitsAll) return;
    const recordings = await shareOut(
      stages,
      operations,
      async (stage, operation): Promise<Recording> => ({
        phase: operation.name,
        requests: await pointsOf(operation, stage),
      }),
    );
    sample = samplePoints(recordings, isRepeated);
  });
  after(async () => {
    try {
      for (const stage of stages) await stage[Symbol.asyncDispose]();
    } finally {
      for (const crash of crashes) {
        crash.world.cloud.faults.consoleDelete({ group: bystander.nodegroupName });
        await crash[Symbol.asyncDispose]();
      }
      await second?.stop();
    }
  });

  /** Lets nodes go, in whatever way `run` disturbs that, and asserts what became of them. */
  async function enact(
    operation: Operation,
    stage: NodeOperationsStage,
    run: (act: () => Promise<void>, end: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    await stage.reset();
    const before = await stage.nodes();
    const others = instancesOf(stage.cloud, bystander.nodegroupName);
    assert.equal(others.length, 1, 'instances of another group');
    const going = before.slice(0, operation.begin.length).map(poolNodeOf);
    const wanted: string[] = [];
    const act = async () => {
      for (const [index, node] of going.entries()) wanted.push((await operation.begin[index]?.(stage, node)) ?? '');
    };
    const end = async () => {
      await stage.crash.until('to have no such nodes any more', () => {
        const terminated = stage.terminated();
        return wanted.every((instance) => terminated.includes(instance));
      });
      await stage.crash.settle();
      await stage.settled();
    };
    await run(act, end);
    assertDone(operation, {
      wanted,
      terminated: stage.terminated(),
      before: before.map(seenOf),
      after: (await stage.nodes()).map(seenOf),
      desired: stage.size,
    });
    assert.deepEqual(instancesOf(stage.cloud, bystander.nodegroupName), others, 'instances of another group');
    stage.assertClean();
  }

  /** The names of the requests that it takes when nobody is killed. */
  async function rehearse(operation: Operation, stage: NodeOperationsStage): Promise<readonly string[]> {
    let requests: readonly string[] = [];
    await enact(operation, stage, async (act, end) => {
      requests = await stage.crash.rehearse(act, end);
    });
    const counted = requests.filter(isCounted);
    for (const request of operation.includes) assert.ok(counted.includes(request), `${request} is not in ${counted}`);
    return counted;
  }

  async function killAtAll(operation: Operation, moment: Moment, requests: readonly string[]): Promise<void> {
    const enactKilled = async (stage: NodeOperationsStage, request: string): Promise<boolean> => {
      let came = false;
      try {
        await enact(operation, stage, async (act, end) => {
          came = await stage.crash.crash({ request, moment }, act);
          await end();
        });
      } catch (cause) {
        throw new Error(`killed ${moment} ${request}: ${(cause as Error).message}`, { cause });
      }
      return came;
    };
    await killAtEach({ stages, requests, isRepeated, enact: enactKilled });
  }

  /** The requests at which the operator is killed. After a read all is as it is before the next request. */
  async function pointsOf(operation: Operation, stage: NodeOperationsStage): Promise<Recording['requests']> {
    const requests = await rehearse(operation, stage);
    return { before: requests, after: requests.filter(isWrite) };
  }

  if (visitsAll)
    for (const operation of operations)
      for (const moment of MOMENTS)
        it(`${operation.name}, killed ${moment} each ${moment === 'before' ? 'request' : 'write'}`, async () => {
          const [first] = stages;
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
