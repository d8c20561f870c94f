/** The cluster of the benchmarks: a real API server and etcd, a local AWS, and any number of nodes. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createKubernetesClient, type KubernetesClient, PATCH } from '../../controllers/kubernetes/client.ts';
import { instanceId, nodeName, privateIp } from '../../controllers/kubernetes/testing/nodes.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import { addMember, removeMember } from '../../test/fakes/localaws/ec2/members.ts';
import { startLocalAws } from '../../test/fakes/localaws/localAws.ts';
import { subnetIds } from '../../test/fakes/localaws/network.ts';
import { CLUSTER_NAME, REGION, TestEnv } from '../../test/fakes/testenv/testEnv.ts';
import { type ControlPlane, startControlPlane } from '../controlplane/controlplane.ts';
import { waitFor } from '../controlplane/wait.ts';
import { operatorBundle } from '../operatorBundle.ts';
import { type Extras, groupName, nodeObject } from './nodeObject.ts';
import { forEachOf } from './workers.ts';

const CRD = join(fileURLToPath(new URL('../../', import.meta.url)), 'crds/windowspools.yaml');
const NODES = '/api/v1/nodes';
const WRITERS = 24;
/** The largest size of a node group that a pool can have. */
export const MOST_NODES = 10_000;
/** Enough for a request that waits behind thousands of others. */
const TIMEOUT_MS = 60_000;

/** Components that are not measured and would use the processors, because they also watch every node. */
const BYSTANDERS = ['kube-controller-manager', 'kube-scheduler'];

const NO_AUDIT = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'None' }] };

/** No instance of the local AWS has a name like that of this node or a later one. */
const BEYOND_INSTANCES = 64 * 256 * 256;

export interface BenchClusterOptions {
  /** The groups over which the nodes are spread evenly. */
  readonly groups: number;
  /** Whether the instances of the local AWS join as nodes, which kwok then keeps alive. Default: no. */
  readonly instancesJoin?: boolean;
  /** An audit.k8s.io/v1 Policy. Default: no audit log. */
  readonly auditPolicy?: object;
  /** The speed of the local AWS. Default: 10. */
  readonly speed?: number;
}

export class BenchCluster {
  readonly world: TestEnv;
  /** As a member of system:masters, which the API server never throttles. */
  readonly admin: KubernetesClient;
  readonly groups: number;
  readonly #signal: AbortSignal;
  /** The number of the first node. */
  readonly #first: number;
  #nodes = 0;
  /** Whether the nodes are on instances of the node groups. */
  #hasGroups = false;

  private constructor(world: TestEnv, options: BenchClusterOptions, admin: KubernetesClient, signal: AbortSignal) {
    this.world = world;
    this.groups = options.groups;
    this.#first = options.instancesJoin ? BEYOND_INSTANCES : 0;
    this.#signal = signal;
    this.admin = admin;
  }

  /** Starts one without nodes. It ends with `stop`. */
  static async start(
    options: BenchClusterOptions,
    say: (line: string) => void,
    signal: AbortSignal,
  ): Promise<BenchCluster> {
    const { instancesJoin = false, auditPolicy = NO_AUDIT, speed = 10 } = options;
    const entry = await operatorBundle();
    const controlPlane = await startControlPlane({ crds: [CRD], auditPolicy, signal });
    const cloud = await startLocalAws({
      cluster: clusterOf(controlPlane),
      speed,
      nodegroupLimit: 1_100,
      nodeLimit: MOST_NODES,
      ...(instancesJoin && { kubeconfig: await controlPlane.kubeconfigForUser('cloud') }),
    });
    const world = new TestEnv(controlPlane, cloud, entry);
    const cluster = new BenchCluster(world, options, await adminClient(controlPlane), signal);
    try {
      await cluster.world.prepare();
      await cluster.world.install();
      // The nodes of the benches are more than the pools' instances, and have no addresses of their own.
      for (const id of subnetIds) cloud.faults.subnet({ id, freeAddresses: 1_000_000 });
      await endBystanders(controlPlane, instancesJoin ? BYSTANDERS : [...BYSTANDERS, 'kwok']);
      say('A Kubernetes API server, etcd and a local AWS run.');
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get nodes(): number {
    return this.#nodes;
  }

  /** The names of the nodes. */
  names(): string[] {
    return Array.from({ length: this.#nodes }, (_, index) => nodeName(this.#first + index));
  }

  /** The number of nodes of a pool; undefined for a pool without nodes. */
  nodesOf(pool: string): number | undefined {
    const index = Array.from({ length: this.groups }, (_, group) => groupName(group, this.groups)).indexOf(pool);
    return index < 0 ? undefined : Math.floor(this.#nodes / this.groups) + (index < this.#nodes % this.groups ? 1 : 0);
  }

  /** Adds nodes until there are `count`. */
  async grow(count: number, say: (line: string) => void): Promise<void> {
    const before = this.#nodes;
    if (count <= before) return;
    const started = performance.now();
    await forEachOf(count - before, WRITERS, async (offset) => this.createNode(before + offset));
    this.#nodes = count;
    say(`${count} nodes; adding ${count - before} took ${Math.round((performance.now() - started) / 1000)} s.`);
  }

  /** The node groups exist. From now on, each node is on an instance of its group: the operator counts no other node. */
  joinGroups(): void {
    if (this.#hasGroups) return;
    this.#hasGroups = true;
    for (let index = 0; index < this.#nodes; index++) this.#addInstance(index);
  }

  /** Nodes from number `nodes` on are additional to the even spread. */
  async createNode(index: number, extras: Extras = {}): Promise<void> {
    if (this.#hasGroups) this.#addInstance(index);
    const body = nodeObject(this.#first + index, groupName(index, this.groups), extras);
    await this.admin.request('POST', NODES, { body, signal: this.#signal, timeoutMs: TIMEOUT_MS });
  }

  async deleteNode(index: number): Promise<void> {
    await this.admin.request('DELETE', this.#pathOf(index), { signal: this.#signal, timeoutMs: TIMEOUT_MS });
    const member = { group: groupName(index, this.groups), id: instanceId(this.#first + index) };
    if (this.#hasGroups) removeMember(this.world.cloud.state, member);
  }

  /** Changes a node's metadata or spec. */
  async patch(index: number, body: object): Promise<void> {
    const options = { body, contentType: PATCH.merge, signal: this.#signal, timeoutMs: TIMEOUT_MS };
    await this.admin.request('PATCH', this.#pathOf(index), options);
  }

  /** Patches a node's status. */
  async patchStatus(index: number, status: object): Promise<void> {
    const contentType = 'application/strategic-merge-patch+json';
    const options = { body: { status }, contentType, signal: this.#signal, timeoutMs: TIMEOUT_MS };
    await this.admin.request('PATCH', `${this.#pathOf(index)}/status`, options);
  }

  /** The newest resourceVersion of the nodes, which is a revision of etcd. */
  async version(): Promise<number> {
    const options = { query: { limit: 1 }, signal: this.#signal };
    const list = await this.admin.request<{ metadata: { resourceVersion: string } }>('GET', NODES, options);
    return Number(list.metadata.resourceVersion);
  }

  /** The process id of a component; throws when it does not run. */
  pidOf(name: 'kube-apiserver' | 'etcd'): number {
    const pid = this.world.controlPlane.pids[name];
    if (pid === undefined) throw new Error(`${name} does not run.`);
    return pid;
  }

  async stop(): Promise<void> {
    this.admin.close();
    await this.world.stop();
  }

  #addInstance(index: number): void {
    const number = this.#first + index;
    const [id, name, ip] = [instanceId(number), nodeName(number), privateIp(number)];
    addMember(this.world.cloud.state, { group: groupName(index, this.groups), id, nodeName: name, privateIp: ip });
  }

  #pathOf(index: number): string {
    return `${NODES}/${nodeName(this.#first + index)}`;
  }
}

function adminClient({ adminKubeconfig: kubeconfigPath }: ControlPlane): Promise<KubernetesClient> {
  return createKubernetesClient({ kubeconfigPath, log: silentLog, version: 'bench' });
}

function clusterOf({ caData, url }: ControlPlane) {
  return { name: CLUSTER_NAME, region: REGION, caData, endpoint: url, kubernetesVersion: '1.36' };
}

async function endBystanders(controlPlane: ControlPlane, names: readonly string[]): Promise<void> {
  const running = () => names.map((name) => controlPlane.pids[name]).filter((pid) => pid !== undefined);
  for (const pid of running()) process.kill(pid, 'SIGTERM');
  await waitFor(() => running().length === 0, { what: `${names.join(', ')} to end`, timeoutMs: 20_000 });
}
