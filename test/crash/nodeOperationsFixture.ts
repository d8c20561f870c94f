/** A pool of three nodes with a pod on each and a PodDisruptionBudget, and a watch of its own that counts the available nodes. */
import assert from 'node:assert/strict';
import type { V1Node, V1Pod, V1PodList } from '@kubernetes/client-node';
import type { Stored, Wire } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { terminatedBy } from '../awsCalls.ts';
import { hasConditions, READY } from '../fakes/testenv/testEnv.ts';
import { type Watched, watchEvents } from '../fakes/testenv/watchEvents.ts';
import { poolManifest } from '../pools.ts';
import { budget, deployment, namespaceCalled } from '../userObjects.ts';
import type { ClusterFixture } from './clusterFixture.ts';
import { type NodeFixture, type NodeSeen, type PoolNode, SIZE, specFor } from './operations.ts';

type Node = Stored<V1Node>;

/** `disruption.maxUnavailable`. */
const BUDGET = 1;
const GROUP_LABEL = 'eks.amazonaws.com/nodegroup';
const APPS = 'app-of-the-crash';

export class NodeOperationsFixture implements NodeFixture, AsyncDisposable {
  readonly crash: ClusterFixture;
  /** The nodes as the watch reported them, by name. */
  readonly #seen = new Map<string, Node>();
  readonly #violations: string[] = [];
  #watch: Watched | undefined;

  /** Makes the pool `name`, and waits until it is settled. */
  static async open(crash: ClusterFixture, name: string): Promise<NodeOperationsFixture> {
    crash.next(name);
    const fixture = new NodeOperationsFixture(crash);
    await fixture.#populate();
    return fixture;
  }

  private constructor(crash: ClusterFixture) {
    this.crash = crash;
    crash.explainMore = () =>
      crash.world.kubectl('get', '--namespace', APPS, 'pods,poddisruptionbudgets', '--output', 'yaml');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { crash } = this;
    await this.#watch?.stop();
    await crash.world.kubectl('delete', 'namespace', APPS, '--ignore-not-found', '--timeout=60s');
    crash.start();
    if (await crash.pool()) await crash.delete();
    await crash.until('to be gone', (pool) => pool === undefined);
  }

  /** The group's desired size. */
  get size(): number {
    return this.crash.world.cloud.state.group(this.crash.name).nodegroup.scalingConfig?.desiredSize ?? 0;
  }

  async nodes(): Promise<readonly Node[]> {
    const query = { labelSelector: `${GROUP_LABEL}=${this.crash.name}` };
    const { signal } = new AbortController();
    const list = await this.crash.admin.request<{ items: Node[] }>('GET', '/api/v1/nodes', { query, signal });
    return list.items;
  }

  async #patchNode(name: string, patch: object, subresource = ''): Promise<void> {
    const { signal } = new AbortController();
    const contentType = 'application/strategic-merge-patch+json';
    const path = `/api/v1/nodes/${name}${subresource}`;
    await this.crash.admin.request('PATCH', path, { body: patch, contentType, signal });
  }

  get cloud() {
    return this.crash.world.cloud;
  }

  get pool(): string {
    return this.crash.name;
  }

  now(): number {
    return Date.now();
  }

  async annotate(node: string, key: string): Promise<void> {
    await this.#patchNode(node, { metadata: { annotations: { [key]: 'true' } } });
  }

  async failVerification(node: string, kernelVersion: string, since: number): Promise<void> {
    const condition = {
      type: 'winpool.dev/Verified',
      status: 'False',
      reason: 'WrongBuild',
      message: 'It runs another build.',
      lastTransitionTime: new Date(since).toISOString().replace(/\.\d+/, ''),
    };
    await this.#patchNode(node, { status: { nodeInfo: { kernelVersion }, conditions: [condition] } }, '/status');
  }

  /** The EC2 instances that calls of the operator have terminated. */
  terminated(): string[] {
    return terminatedBy(this.cloud.calls());
  }

  /** Brings the pool back to three nodes with a pod on each, and waits until the operator sends no more requests. */
  async reset(): Promise<void> {
    const { crash } = this;
    crash.start();
    if (this.size !== SIZE) {
      const scalingConfig = { minSize: 1, maxSize: 5, desiredSize: SIZE };
      crash.world.cloud.faults.edit({ group: crash.name, scalingConfig });
    }
    await crash.settle();
    await this.settled();
    await waitFor(async () => (await this.#nodesWithReadyPod()).size === SIZE, {
      what: `a Ready pod on each of ${SIZE} nodes`,
      intervalMs: 20,
    });
    await crash.quiet();
    crash.world.cloud.resetCalls();
    this.assertClean();
  }

  /** Waits until the pool has its nodes and no share of the budget. */
  async settled(): Promise<void> {
    await this.crash.until(
      'to be whole, and no node to go',
      (pool) =>
        hasConditions(pool, READY) &&
        pool?.status?.disruption === undefined &&
        pool?.status?.nodes?.verified === this.size,
    );
  }

  /** Fails when something was wrong at any moment so far. */
  assertClean(): void {
    this.#watch?.check();
    this.crash.assertClean();
    assert.deepEqual(this.#violations.splice(0), []);
  }

  async #populate(): Promise<void> {
    const { crash } = this;
    await crash.ready();
    await crash.apply(poolManifest(crash.name, specFor(BUDGET, crash.name)));
    await crash.until('to be Ready', (pool) => hasConditions(pool, READY));
    for (const object of workload(crash.name)) await crash.world.apply(object);
    await this.reset();
    const { adminKubeconfig } = crash.world.controlPlane;
    this.#watch = await watchEvents<Node>(adminKubeconfig, '/api/v1/nodes', ({ type, object }) => {
      if (object.metadata.labels?.[GROUP_LABEL] !== crash.name) return;
      if (type === 'DELETED') this.#seen.delete(object.metadata.name);
      else this.#seen.set(object.metadata.name, object);
      this.#count();
    });
  }

  /** Nodes that are cordoned, not Ready, or missing. While the watch starts, only some nodes are counted. */
  #count(): void {
    if (!this.#watch) return;
    const available = [...this.#seen.values()].filter(isAvailable).length;
    if (this.size - available <= BUDGET) return;
    const nodes = [...this.#seen.values()].map((node) => `${node.metadata.name}: ${isAvailable(node)}`);
    this.#violations.push(`${this.size - available} of ${this.size} nodes were not available: ${nodes}`);
  }

  /** Counts pods: the status of their Deployment may still count one that has just been deleted. */
  async #nodesWithReadyPod(): Promise<ReadonlySet<string>> {
    const [nodes, found] = await Promise.all([
      this.nodes(),
      this.crash.get<V1PodList>(`/api/v1/namespaces/${APPS}/pods`),
    ]);
    const names = new Set(nodes.map(({ metadata }) => metadata.name));
    return names.intersection(new Set(found?.items.filter(isReadyPod).map(({ spec }) => spec?.nodeName ?? '')));
  }
}

function isAvailable({ spec, status }: Node): boolean {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && spec.unschedulable !== true;
}

function isReadyPod({ metadata, status }: Wire<V1Pod>): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && metadata?.deletionTimestamp === undefined;
}

/** A node as the operations know it. */
export function poolNodeOf({ metadata, spec }: Node): PoolNode {
  return { name: metadata.name, instance: spec.providerID?.split('/').at(-1) ?? '' };
}

/** A node as the assertions read it. */
export function seenOf(node: Node): NodeSeen {
  return { uid: node.metadata.uid, available: isAvailable(node) };
}

/** A pod for each node of the group, of which one may be away. */
function workload(group: string): readonly object[] {
  const labelSelector = { matchLabels: { app: 'cart' } };
  const antiAffinity = [{ topologyKey: 'kubernetes.io/hostname', labelSelector }];
  return [
    namespaceCalled(APPS),
    budget(APPS, 'cart', { maxUnavailable: 1 }),
    deployment(APPS, 'cart', SIZE, {
      nodeSelector: { [GROUP_LABEL]: group, 'kubernetes.io/os': 'windows' },
      tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: antiAffinity } },
      containers: [{ name: 'cart', image: 'cart' }],
    }),
  ];
}
