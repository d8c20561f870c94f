/**
 * The operator is killed, in memory, before and after each of its requests while nodes are removed: each of these is terminated once, no other is, and no
 * more nodes are unavailable at any moment than disruption.maxUnavailable.
 */
import assert from 'node:assert/strict';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { terminatedBy } from '../awsCalls.ts';
import type { Switches } from '../fakes/localaws/switches.ts';
import { hasConditions, READY } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { distinctPoints, type TimedRequest } from './crashPoints.ts';
import { MemoryFixture } from './memoryFixture.ts';
import {
  assertDone,
  bystander,
  instancesOf,
  type NodeFixture,
  type NodeSeen,
  type Operation,
  operations,
  SIZE,
  specFor,
} from './operations.ts';
import type { CrashPoint } from './requestGate.ts';

const BUDGET = 1;

/** Both answers to the open question about EKS that decides what a restarted operator meets. */
const ANSWERS: readonly Partial<Switches>[] = [{ repeatedTermination: 'accept' }, { repeatedTermination: 'refuse' }];

const seen = ({ uid, ready, unschedulable }: NodeRecord): NodeSeen => ({
  uid,
  available: ready === 'True' && !unschedulable,
});

/** A pool of SIZE nodes beside a node group of another owner. */
class NodeOperationsInMemory implements NodeFixture {
  readonly fixture: MemoryFixture;

  constructor(answers: Partial<Switches>) {
    this.fixture = new MemoryFixture('going', answers);
  }

  get cloud() {
    return this.fixture.world.cloud;
  }

  get pool(): string {
    return this.fixture.name;
  }

  get nodes(): readonly NodeRecord[] {
    return this.fixture.world.nodesOf(this.pool);
  }

  get desired(): number {
    return this.cloud.state.group(this.pool).nodegroup.scalingConfig?.desiredSize ?? 0;
  }

  async prepare(): Promise<void> {
    const { fixture } = this;
    this.cloud.faults.consoleCreate(bystander);
    await fixture.ready();
    await fixture.apply(poolManifest(this.pool, specFor(BUDGET, this.pool)));
    await fixture.until('to be Ready', (pool) => hasConditions(pool, READY));
    const scalingConfig = { minSize: 1, maxSize: 5, desiredSize: SIZE };
    this.cloud.faults.edit({ group: this.pool, scalingConfig });
    await this.settled();
    await fixture.quiet();
    this.cloud.front.log.reset();
    fixture.check = () => this.#overBudget();
  }

  /** Lets the operator work until the pool has its nodes and no share of the disruption budget. */
  async settled(): Promise<void> {
    await this.fixture.until(
      'to be whole, and no node to go',
      (pool) =>
        hasConditions(pool, READY) &&
        pool?.status?.disruption === undefined &&
        pool?.status?.nodes?.verified === this.desired &&
        this.nodes.length === this.desired,
    );
  }

  now(): number {
    return this.fixture.world.now;
  }

  async annotate(name: string, key: string): Promise<void> {
    this.#change(name, (node) => ({ ...node, annotations: { ...node.annotations, [key]: 'true' } }));
  }

  async failVerification(name: string, kernelVersion: string, verifiedSince: number): Promise<void> {
    const verified = { status: 'False' as const, reason: 'WrongBuild', message: 'It runs another build.' };
    this.#change(name, (node) => ({ ...node, kernelVersion, verified, verifiedSince }));
  }

  #change(name: string, how: (node: NodeRecord) => NodeRecord): void {
    const node = this.nodes.find((each) => each.name === name);
    assert.ok(node, `node ${name} does not exist`);
    this.fixture.world.setNode(how(node));
  }

  #overBudget(): string[] {
    const available = this.nodes.map(seen).filter((node) => node.available).length;
    const out = this.desired - available;
    return out <= BUDGET ? [] : [`${out} of ${this.desired} nodes were not available`];
  }
}

/** Removes nodes while `run` kills the operator, and asserts the result. */
async function perform(
  operation: Operation,
  answers: Partial<Switches>,
  run: (fixture: MemoryFixture, act: () => Promise<void>, end: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const scene = new NodeOperationsInMemory(answers);
  const { fixture, cloud } = scene;
  await scene.prepare();
  const [before, others] = [scene.nodes.map(seen), instancesOf(cloud, bystander.nodegroupName)];
  assert.equal(others.length, 1, 'instances of another group');
  const removed = scene.nodes.slice(0, operation.begin.length);
  const expected: string[] = [];
  const terminated = () => terminatedBy(cloud.front.log.entries());
  const act = async () => {
    for (const [index, { name, providerID }] of removed.entries()) {
      const node = { name, instance: providerID.split('/').at(-1) ?? '' };
      expected.push((await operation.begin[index]?.(scene, node)) ?? '');
    }
  };
  const end = async () => {
    await fixture.until('to have no such nodes any more', () => {
      const gone = terminated();
      return expected.every((instance) => gone.includes(instance));
    });
    await scene.settled();
  };
  await run(fixture, act, end);
  await fixture.quiet();
  const after = scene.nodes.map(seen);
  assertDone(operation, { expected, terminated: terminated(), before, after, desired: scene.desired });
  assert.deepEqual(instancesOf(cloud, bystander.nodegroupName), others, 'instances of another group');
  fixture.assertClean();
}

async function recordRequests(operation: Operation, answers: Partial<Switches>): Promise<readonly TimedRequest[]> {
  let requests: readonly TimedRequest[] = [];
  await perform(operation, answers, async (fixture, act, end) => {
    requests = await fixture.recordRequests(act, end);
  });
  const names = requests.map(({ request }) => request);
  for (const request of operation.includes) assert.ok(names.includes(request), `${request} is not in ${names}`);
  return requests;
}

async function killAt(operation: Operation, answers: Partial<Switches>, point: CrashPoint): Promise<void> {
  await perform(operation, answers, async (fixture, act, end) => {
    assert.ok(await fixture.crash(point, act), 'the request did not come');
    await end();
  });
}

describe('an operator in memory that is killed at any of its requests while nodes are removed', function () {
  this.timeout(300_000);
  for (const operation of operations) {
    for (const moment of ['before', 'after'] as const) {
      it(`${operation.name}, killed ${moment} each request`, async () => {
        for (const answers of ANSWERS) {
          for (const request of distinctPoints(await recordRequests(operation, answers), moment)) {
            await killAt(operation, answers, { request, moment }).catch((cause: Error) => {
              throw new Error(`${operation.name}, killed ${moment} ${request}: ${cause.message}`, { cause });
            });
          }
        }
      });
    }
  }
});
