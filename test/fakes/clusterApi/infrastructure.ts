/**
 * An infrastructure provider of Cluster API without machines: it keeps the contract for its kinds, and registers the node of each SimMachine as its kubelet
 * would. kwok keeps the nodes alive. https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview
 */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ignoreNotFound } from '../../../controllers/kubernetes/errors.ts';
import type { ControlPlane } from '../../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { ApiServer } from '../localaws/nodes/apiServer.ts';
import { type Watched, type WatchedEvent, watchEvents } from '../testenv/watchEvents.ts';
import { deleteNode, nodeOf, registerNode } from './nodes.ts';
import { CLUSTER_API, INFRASTRUCTURE, ObjectClient, pathOf } from './objectClient.ts';
import {
  CLUSTER_LABEL,
  type ClusterObject,
  type Machine,
  type MachinePool,
  POOL_LABEL,
  type SimMachine,
  type SimMachinePool,
  type StoredObject,
} from './objects.ts';

const FINALIZER = 'simmachine.infrastructure.cluster.x-k8s.io';
/** The annotation of a Machine that leaves first. */
const DELETE_FIRST = 'cluster.x-k8s.io/delete-machine';
const PROGRAM = 'cluster-api-sim';
const WATCH_TIMEOUT_MS = 20_000;
const RETRY_MS = 200;

/** The status of the kinds that are provisioned as soon as they exist. */
const PROVISIONED = {
  SimCluster: { initialization: { provisioned: true } },
  SimControlPlane: { initialization: { controlPlaneInitialized: true }, externalManagedControlPlane: true },
} as const;

/** The name of a node. Not that of the machine: Windows allows 15 characters. */
const nodeNameOf = (uid: string): string => `win-${createHash('sha256').update(uid).digest('hex').slice(0, 10)}`;

/** The running provider. */
export class SimInfrastructure {
  readonly #client: ObjectClient;
  readonly #log: (line: string) => void;
  readonly #ending: AbortController;
  readonly #watches: Watched[] = [];
  /** The API servers of the clusters, by the name of the Cluster. */
  readonly #workloads = new Map<string, ApiServer>();
  readonly #machines = new Map<string, SimMachine>();
  /** The work on each machine, one step after the other. */
  readonly #work = new Map<string, Promise<void>>();
  /** The UIDs of the machines whose nodes have registered; a kubelet does so once. */
  readonly #registered = new Set<string>();

  /** Starts it in the management cluster. */
  static async start(management: ControlPlane, log: (line: string) => void): Promise<SimInfrastructure> {
    const ending = new AbortController();
    const client = await ObjectClient.connect(management.adminKubeconfig, PROGRAM, ending.signal);
    const provider = new SimInfrastructure(client, log, ending);
    const follow = async (
      kind: string,
      onObject: (object: StoredObject, isGone: boolean) => void,
      version = INFRASTRUCTURE,
    ) => {
      const onEvent = ({ type, object }: WatchedEvent<StoredObject>) => onObject(object, type === 'DELETED');
      provider.#watches.push(await watchNewKind(management.adminKubeconfig, pathOf(version, kind), onEvent));
    };
    await follow('SimMachine', (machine, isGone) => provider.#onMachine(machine as SimMachine, isGone));
    const onPool = ({ metadata }: StoredObject) =>
      provider.#run(metadata.name, () => provider.#reconcilePool(metadata.name));
    await follow('MachinePool', onPool, CLUSTER_API);
    await follow('SimMachinePool', onPool);
    for (const kind of ['SimCluster', 'SimControlPlane'] as const)
      await follow(kind, ({ metadata, status }, isGone) => {
        if (status === undefined && !isGone)
          provider.#run(metadata.name, () =>
            client.patch(INFRASTRUCTURE, kind, metadata.name, { status: PROVISIONED[kind] }, 'status'),
          );
      });
    return provider;
  }

  private constructor(client: ObjectClient, log: (line: string) => void, ending: AbortController) {
    this.#client = client;
    this.#log = log;
    this.#ending = ending;
  }

  /** Registers the nodes of the cluster at this control plane. */
  async addCluster(name: string, workload: ControlPlane): Promise<void> {
    this.#workloads.set(name, new ApiServer(await workload.kubeconfigForUser('cloud')));
  }

  /** Stops it. Machines and nodes remain. Rejects if a watch had ended before. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#work.values());
    this.#client.close();
    for (const workload of this.#workloads.values()) await workload.close();
    for (const watch of this.#watches) await watch.stop();
  }

  #onMachine(machine: SimMachine, isGone: boolean): void {
    const { name } = machine.metadata;
    if (isGone) this.#machines.delete(name);
    else this.#machines.set(name, machine);
    this.#wake(name);
    const pool = machine.metadata.labels?.[POOL_LABEL];
    if (pool) this.#run(pool, () => this.#reconcilePool(pool));
  }

  #wake(name: string): void {
    this.#run(name, async () => {
      const machine = this.#machines.get(name);
      if (machine) await this.#reconcile(machine);
    });
  }

  /** Runs a step after those that were begun before for the same name, until it succeeds. An object that is deleted in the meantime is no error. */
  #run(name: string, step: () => Promise<void>): void {
    const failed = (error: unknown) => {
      if (this.#ending.signal.aborted) return;
      this.#log(`${PROGRAM} ${name}: ${error}`);
      this.#later(RETRY_MS, () => this.#run(name, step));
    };
    const before = this.#work.get(name) ?? Promise.resolve();
    this.#work.set(name, ignoreNotFound(before.then(step)).catch(failed));
  }

  async #reconcile(machine: SimMachine): Promise<void> {
    const { name, uid, deletionTimestamp, finalizers = [], labels, creationTimestamp } = machine.metadata;
    const { provisionSeconds = 0, providerID, node = 'Ready' } = machine.spec;
    const { signal } = this.#ending;
    const workload = this.#workloads.get(labels?.[CLUSTER_LABEL] ?? '');
    const patch = (body: object, subresource?: string) =>
      this.#client.patch(INFRASTRUCTURE, 'SimMachine', name, body, subresource);
    if (deletionTimestamp) {
      if (workload) await deleteNode(workload, nodeNameOf(uid), signal);
      this.#registered.delete(uid);
      if (finalizers.includes(FINALIZER)) await patch({ metadata: { finalizers: without(finalizers, FINALIZER) } });
      return;
    }
    // Without its label, the machine is not yet known to belong to a cluster.
    if (!workload) return;
    if (!finalizers.includes(FINALIZER)) await patch({ metadata: { finalizers: [...finalizers, FINALIZER] } });
    const waitMs = Date.parse(creationTimestamp) + provisionSeconds * 1000 - Date.now();
    if (waitMs > 0) return this.#later(waitMs, () => this.#wake(name));
    const body = nodeOf(nodeNameOf(uid), machine.spec);
    if (!providerID) await patch({ spec: { providerID: body.spec?.providerID } });
    if (!machine.status?.initialization?.provisioned) {
      const addresses = body.status?.addresses;
      await patch({ status: { initialization: { provisioned: true }, ready: true, addresses } }, 'status');
    }
    if (node === 'None' || this.#registered.has(uid)) return;
    await registerNode(workload, body, signal);
    this.#registered.add(uid);
  }

  /** Gives the MachinePool of this name as many instances as it has replicas; the newest ones leave first. */
  async #reconcilePool(name: string): Promise<void> {
    const pool = await this.#client.get<MachinePool>(CLUSTER_API, 'MachinePool', name);
    const sim = await this.#client.get<SimMachinePool>(INFRASTRUCTURE, 'SimMachinePool', name);
    const workload = this.#workloads.get(sim?.metadata.labels?.[CLUSTER_LABEL] ?? '');
    if (!sim || !workload) return;
    const { providerIDList = [], makesMachines = false, ...machine } = sim.spec;
    if (makesMachines) return this.#reconcilePoolOfMachines(sim, pool?.spec.replicas ?? 1);
    const { uid, deletionTimestamp, finalizers = [] } = sim.metadata;
    const { signal } = this.#ending;
    const patch = (body: object, subresource?: string) =>
      this.#client.patch(INFRASTRUCTURE, 'SimMachinePool', name, body, subresource);
    if (!deletionTimestamp && !finalizers.includes(FINALIZER))
      await patch({ metadata: { finalizers: [...finalizers, FINALIZER] } });
    const replicas = deletionTimestamp ? 0 : (pool?.spec.replicas ?? 1);
    const bodies = Array.from({ length: replicas }, (_, index) => nodeOf(nodeNameOf(`${uid}/${index}`), machine));
    const wanted = bodies.map(({ spec }) => spec?.providerID ?? '');
    if (providerIDList.join() !== wanted.join() || !sim.status?.ready) {
      await patch({ spec: { providerIDList: wanted } });
      await patch({ status: { initialization: { provisioned: true }, ready: true, replicas } }, 'status');
    }
    for (const id of providerIDList.filter((id) => !wanted.includes(id)))
      await deleteNode(workload, id.replace('vsphere://', ''), signal);
    for (const body of bodies.slice(providerIDList.length)) await registerNode(workload, body, signal);
    if (deletionTimestamp) await patch({ metadata: { finalizers: without(finalizers, FINALIZER) } });
  }

  /** The same with a SimMachine for each instance, for which the core controllers create a Machine. The marked Machines leave first. */
  async #reconcilePoolOfMachines({ metadata, spec, status }: SimMachinePool, wanted: number): Promise<void> {
    const { name, labels = {}, deletionTimestamp, finalizers = [], namespace } = metadata;
    const { providerIDList = [], makesMachines: _, ...machine } = spec;
    const patch = (body: object, subresource?: string) =>
      this.#client.patch(INFRASTRUCTURE, 'SimMachinePool', name, body, subresource);
    const replicas = deletionTimestamp ? 0 : wanted;
    const selector = `${POOL_LABEL}=${name}`;
    const instances = await this.#client.list<SimMachine>(INFRASTRUCTURE, 'SimMachine', selector);
    const live = instances.filter((one) => !one.metadata.deletionTimestamp);
    if (deletionTimestamp) {
      if (instances.length === 0) await patch({ metadata: { finalizers: without(finalizers, FINALIZER) } });
    } else if (!finalizers.includes(FINALIZER)) await patch({ metadata: { finalizers: [...finalizers, FINALIZER] } });
    for (let index = live.length; index < replicas; index += 1)
      await this.#client.apply({
        apiVersion: INFRASTRUCTURE,
        kind: 'SimMachine',
        metadata: {
          name: `${name}-${randomUUID().slice(0, 8)}`,
          ...(namespace && { namespace }),
          labels: { [CLUSTER_LABEL]: labels[CLUSTER_LABEL] ?? '', [POOL_LABEL]: name },
        },
        spec: machine,
      } as ClusterObject);
    const machines = await this.#client.list<Machine>(CLUSTER_API, 'Machine', selector);
    const leaving = machines
      .filter((one) => !one.metadata.deletionTimestamp)
      .sort(
        (a, b) =>
          Number(DELETE_FIRST in (b.metadata.annotations ?? {})) -
          Number(DELETE_FIRST in (a.metadata.annotations ?? {})),
      )
      .slice(0, Math.max(0, live.length - replicas));
    for (const one of leaving) await this.#client.delete(CLUSTER_API, 'Machine', one.metadata.name);
    const ids = live.flatMap((one) => one.spec.providerID ?? []).sort();
    if (ids.join() !== providerIDList.join()) await patch({ spec: { providerIDList: ids } });
    if (status?.ready && status.replicas === live.length) return;
    const provisioned = { initialization: { provisioned: true }, ready: true, replicas: live.length };
    await patch({ status: { ...provisioned, infrastructureMachineKind: 'SimMachine' } }, 'status');
  }

  #later(ms: number, wake: () => void): void {
    void sleep(ms, undefined, { signal: this.#ending.signal }).then(wake, () => undefined);
  }
}

const without = (list: readonly string[], item: string): string[] => list.filter((each) => each !== item);

/** Watches a kind of a CRD that may be so new that the API server is still preparing it. */
export function watchNewKind(
  kubeconfig: string,
  path: string,
  onEvent: (event: WatchedEvent<StoredObject>) => void,
): Promise<Watched> {
  let lastError = '';
  const probe = async () => {
    const watch = await watchEvents(kubeconfig, path, onEvent);
    try {
      watch.check();
      return watch;
    } catch (error) {
      lastError = String(error);
      await watch.stop().catch(() => undefined);
      return undefined;
    }
  };
  return waitFor(probe, { what: `a watch of ${path}`, timeoutMs: WATCH_TIMEOUT_MS, explain: () => lastError });
}
