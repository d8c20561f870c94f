/**
 * The operator is killed before and after each of its requests while nodes go, and started again: each that was to go goes once, no other ever, and a
 * second watcher never sees more nodes out than disruption.maxUnavailable.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodeRoleArn, subnetIds } from '../../hack/cloud/network.ts';
import { startWorld, type World } from '../../hack/world/world.ts';
import { theWorld } from '../sharedWorld.ts';
import { killAtEach } from './killAtEach.ts';
import { instanceOf, isAvailable, type NodeJson, NodeOperationsStage, SIZE } from './nodeOperationsStage.ts';
import { CrashStage } from './stage.ts';
import type { Moment } from './turnstile.ts';

const BUILD = fileURLToPath(new URL('../../hack/build.ts', import.meta.url));
const BYSTANDER = 'bystander';
const MINUTE = 60_000;

/** Without these it would be another operation. */
const CLAIM = 'PUT windowspools/status #1';
const END = 'TerminateInstanceInAutoScalingGroup #1';
const DRAIN = [CLAIM, 'PATCH nodes #1', 'GET pods #1', 'POST pods/eviction #1', END];

/** An event that was told before is counted only where it came again within its time: no state is made of that. */
const isWrite = (request: string) => /^(PATCH (?!events)|POST|PUT|Terminate)/.test(request);

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

/** Has a node go, and gives the instance that is to be ended. */
type Ask = (stage: NodeOperationsStage, node: NodeJson) => Promise<string>;

interface Operation {
  readonly name: string;
  /** What is asked for, of a node each; they go one after the other. */
  readonly asks: readonly Ask[];
  /** Requests that must be among its own. */
  readonly includes: readonly string[];
  /** How many nodes there are afterwards. */
  readonly size: number;
}

const annotate =
  (key: string): Ask =>
  async (stage, node) => {
    await stage.patchNode(node.metadata.name, { metadata: { annotations: { [key]: 'true' } } });
    return instanceOf(node);
  };

const operations: readonly Operation[] = [
  {
    name: 'replaces a node and removes another',
    asks: [annotate('winpool.dev/replace'), annotate('winpool.dev/remove')],
    includes: DRAIN,
    size: SIZE - 1,
  },
  { name: 'replaces a node that has failed for long', asks: [spoil], includes: DRAIN, size: SIZE },
  {
    name: 'replaces an instance that never joined',
    asks: [strand],
    includes: [CLAIM, 'DescribeInstances #1', END],
    size: SIZE,
  },
];

/** The node has run another build for ten minutes, and its condition says so. */
async function spoil(stage: NodeOperationsStage, node: NodeJson): Promise<string> {
  const condition = {
    type: 'winpool.dev/Verified',
    status: 'False',
    reason: 'WrongBuild',
    message: 'It runs another build.',
    lastTransitionTime: new Date(Date.now() - 10 * MINUTE).toISOString().replace(/\.\d+/, ''),
  };
  const status = { nodeInfo: { kernelVersion: '10.0.17763.5329' }, conditions: [condition] };
  await stage.patchNode(node.metadata.name, { status }, '/status');
  return instanceOf(node);
}

/** In place of the node an instance has run for ten minutes that does not become one. */
async function strand({ crash }: NodeOperationsStage, { metadata }: NodeJson): Promise<string> {
  const { faults, state } = crash.world.cloud;
  faults.nextNode({ group: crash.name, neverJoins: true });
  const known = new Set(state.instances.keys());
  faults.endInstance({ node: metadata.name });
  const late = [...state.instances.values()].find(({ id }) => !known.has(id));
  assert.ok(late, 'the scaling group has started no other instance');
  Object.assign(late, { launchedAt: new Date(Date.now() - 10 * MINUTE) });
  return late.id;
}

describe('an operator that is killed at any of its requests while nodes go', function () {
  this.timeout(900_000);
  /** Two worlds, so that one computes while the other waits. */
  const stages: NodeOperationsStage[] = [];
  const crashes: CrashStage[] = [];
  let second: World | undefined;
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-crash-'));
    await promisify(execFile)(process.execPath, [BUILD, folder]);
    second = await startWorld();
    for (const world of [await theWorld(), second]) {
      const crash = await CrashStage.open(world, join(folder, 'operator.mjs'), '--join-grace=2s');
      crashes.push(crash);
      world.cloud.faults.consoleCreate(bystander);
      stages.push(await NodeOperationsStage.open(crash, 'going'));
    }
  });
  after(async () => {
    try {
      for (const stage of stages) await stage[Symbol.asyncDispose]();
    } finally {
      for (const crash of crashes) {
        crash.world.cloud.faults.consoleDelete({ group: BYSTANDER });
        await crash[Symbol.asyncDispose]();
      }
      await second?.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  /** Has nodes go, in whatever way `run` disturbs that, and looks at what became of them. */
  async function enact(
    { asks, size }: Operation,
    stage: NodeOperationsStage,
    run: (act: () => Promise<void>, end: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    await stage.reset();
    const before = await stage.nodes();
    const others = instancesOf(stage, BYSTANDER);
    assert.equal(others.length, 1, `instances of ${BYSTANDER}`);
    const going = before.slice(0, asks.length);
    const wanted: string[] = [];
    const act = async () => {
      for (const [index, node] of going.entries()) wanted.push((await asks[index]?.(stage, node)) ?? '');
    };
    const end = async () => {
      await stage.crash.until('to have no such nodes any more', () => {
        const ended = stage.ended();
        return wanted.every((instance) => ended.includes(instance));
      });
      await stage.crash.settle();
      await stage.settled();
    };
    await run(act, end);
    const after = await stage.nodes();
    assert.deepEqual(stage.ended().sort(), wanted.sort(), 'instances that were ended');
    assert.deepEqual(instancesOf(stage, BYSTANDER), others, 'instances of another group');
    assert.equal(stage.size, size, 'the desired size');
    assert.equal(after.length, size, 'nodes');
    const stayed = after.filter(({ metadata }) => before.some((node) => node.metadata.uid === metadata.uid));
    assert.equal(stayed.length, SIZE - asks.length, 'nodes that stayed');
    assert.ok(after.every(isAvailable), 'a node is left cordoned');
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

  async function killEverywhere(operation: Operation, moment: Moment): Promise<void> {
    const [first] = stages;
    assert.ok(first);
    const requests = await rehearse(operation, first);
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
    // After a read all is as it is before the next request.
    const points = moment === 'after' ? requests.filter(isWrite) : requests;
    await killAtEach({ stages, requests: points, isRepeated, enact: enactKilled });
  }

  for (const operation of operations) {
    it(`${operation.name}, killed before each request`, () => killEverywhere(operation, 'before'));
    it(`${operation.name}, killed after each write`, () => killEverywhere(operation, 'after'));
  }
});

/** The instances of a group that have not ended. */
function instancesOf({ crash }: NodeOperationsStage, group: string): string[] {
  const all = [...crash.world.cloud.state.instances.values()];
  return all.filter((instance) => instance.group === group && instance.state !== 'terminated').map(({ id }) => id);
}

/** A group of somebody else, whose nodes nobody may touch. */
const bystander = {
  nodegroupName: BYSTANDER,
  nodeRole: nodeRoleArn,
  subnets: [subnetIds[0], subnetIds[1]],
  amiType: 'WINDOWS_CORE_2022_x86_64' as const,
  instanceTypes: ['m5.large'],
  scalingConfig: { minSize: 1, maxSize: 1, desiredSize: 1 },
};
