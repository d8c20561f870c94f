/** The ways in which single nodes of a pool are removed, during which the crash tests kill the operator. */
import assert from 'node:assert/strict';
import type { LocalAws } from '../fakes/localaws/localAws.ts';
import { nodeRoleArn, subnetIds } from '../fakes/localaws/network.ts';

/** How many nodes the node group has before each operation. */
export const SIZE = 3;
/** A node group of another owner, whose nodes the operator must not touch. */
const BYSTANDER = 'bystander';

const MINUTE = 60_000;
const LONG_AGO = 20 * MINUTE;
/** The kernel of another Windows version than the pool's. */
const WRONG_KERNEL = '10.0.17763.5329';

/** A node of the pool, and its EC2 instance. */
export interface PoolNode {
  readonly name: string;
  readonly instance: string;
}

/** What users, AWS and other controllers do to nodes. */
export interface NodeFixture {
  readonly cloud: Pick<LocalAws, 'state' | 'faults'>;
  /** The name of the pool and of its node group. */
  readonly pool: string;
  /** The time of the world, in epoch milliseconds. */
  now(): number;
  /** Sets an annotation of a node to `true`. */
  annotate(node: string, key: string): Promise<void>;
  /** Makes a node report a kernel, and its condition winpool.dev/Verified False with the reason WrongBuild since a time. */
  failVerification(node: string, kernelVersion: string, since: number): Promise<void>;
}

/** Starts the removal of a node, and returns the instance that must be terminated. */
type Begin = (fixture: NodeFixture, node: PoolNode) => Promise<string>;

/** One way to remove nodes. */
export interface Operation {
  readonly name: string;
  /** One for each node; the nodes are removed one after the other. */
  readonly begin: readonly Begin[];
  /** Requests that it must contain, or it is another operation. */
  readonly includes: readonly string[];
  /** How many nodes the group has afterwards. */
  readonly size: number;
}

const annotate =
  (key: string): Begin =>
  async (fixture, { name, instance }) => {
    await fixture.annotate(name, key);
    return instance;
  };

/** The node has failed its verification for a long time. */
const failVerification: Begin = async (fixture, { name, instance }) => {
  await fixture.failVerification(name, WRONG_KERNEL, fixture.now() - LONG_AGO);
  return instance;
};

/** In place of the node, an instance has been running for a long time that does not register as a node. */
const failToRegister: Begin = async (fixture, { instance }) => {
  const { state, faults } = fixture.cloud;
  faults.nextNode({ group: fixture.pool, neverJoins: true });
  const known = new Set(state.instances.keys());
  faults.terminateInstance({ node: instance });
  const late = [...state.instances.values()].find(({ id }) => !known.has(id));
  assert.ok(late, 'the scaling group has started no other instance');
  Object.assign(late, { launchedAt: new Date(fixture.now() - LONG_AGO) });
  return late.id;
};

const RESERVE = 'PUT windowspools/status #1';
const TERMINATE = 'TerminateInstanceInAutoScalingGroup #1';
const DRAIN = [RESERVE, 'PATCH nodes #1', 'GET pods #1', 'POST pods/eviction #1', TERMINATE];

/** All of them. */
export const operations: readonly Operation[] = [
  {
    name: 'replaces a node and removes another',
    begin: [annotate('winpool.dev/replace'), annotate('winpool.dev/remove')],
    includes: DRAIN,
    size: SIZE - 1,
  },
  { name: 'replaces a node that has failed for long', begin: [failVerification], includes: DRAIN, size: SIZE },
  {
    name: 'replaces an instance that never joined',
    begin: [failToRegister],
    includes: [RESERVE, 'DescribeInstances #1', TERMINATE],
    size: SIZE,
  },
];

/**
 * Whether the request of an operation changes something. An event that was sent before is updated only if it comes again within its time: no state
 * is made of that.
 */
export function isWrite(request: string): boolean {
  return /^(PATCH (?!events)|POST|PUT|Terminate)/.test(request);
}

/** The spec of the pool whose nodes are replaced; `budget` is its disruption.maxUnavailable, `name` that of its RuntimeClass. */
export function specFor(budget: number, name: string) {
  return {
    runtimeClass: { name },
    nodeGroup: { scaling: { minSize: 1, maxSize: 5 } },
    disruption: { maxUnavailable: budget },
    remediation: { policy: 'Replace' as const, unhealthyAfter: '1m', maxUnhealthy: 1 },
  };
}

/** A node as the assertions read it. */
export interface NodeSeen {
  readonly uid: string;
  /** Whether it is Ready and not cordoned. */
  readonly available: boolean;
}

/** What an operation has left. */
export interface Result {
  /** The instances that had to be terminated. */
  readonly expected: readonly string[];
  /** The instances that the operator has terminated, once for each call that succeeded. */
  readonly terminated: readonly string[];
  readonly before: readonly NodeSeen[];
  readonly after: readonly NodeSeen[];
  /** The desired size of the node group. */
  readonly desired: number;
}

/** Fails unless each of the nodes was terminated once, no other was, and nothing is left cordoned. */
export function assertDone({ begin, size }: Operation, { expected, terminated, before, after, desired }: Result): void {
  assert.deepEqual([...terminated].sort(), [...expected].sort(), 'instances that were terminated');
  assert.equal(desired, size, 'the desired size');
  assert.equal(after.length, size, 'nodes');
  const stayed = after.filter(({ uid }) => before.some((node) => node.uid === uid));
  assert.equal(stayed.length, SIZE - begin.length, 'nodes that stayed');
  assert.ok(
    after.every(({ available }) => available),
    'a node is left cordoned or not Ready',
  );
}

/** The instances of a node group that are not terminated. */
export function instancesOf({ state }: Pick<LocalAws, 'state'>, group: string): string[] {
  const all = [...state.instances.values()];
  return all.filter((instance) => instance.group === group && instance.state !== 'terminated').map(({ id }) => id);
}

/** The request for the node group of another owner. */
export const bystander = {
  nodegroupName: BYSTANDER,
  nodeRole: nodeRoleArn,
  subnets: [subnetIds[0], subnetIds[1]],
  amiType: 'WINDOWS_CORE_2022_x86_64' as const,
  instanceTypes: ['m5.large'],
  scalingConfig: { minSize: 1, maxSize: 1, desiredSize: 1 },
};
