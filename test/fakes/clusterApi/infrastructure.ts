/**
 * An infrastructure provider of Cluster API without machines: it keeps the contract for its kinds, and registers the node of each SimMachine as its kubelet
 * would. kwok keeps the nodes alive. https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Node } from '@kubernetes/client-node';
import type { NodeJson } from '../../../controllers/kubernetes/testing/nodeJson.ts';
import type { ControlPlane } from '../../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { ApiServer, unlessRefused } from '../localaws/nodes/apiServer.ts';
import { readyCondition } from '../localaws/nodes/nodeObject.ts';
import { yearOf } from '../localaws/releases.ts';
import { existingNode } from '../testenv/existingNode.ts';
import { type Watched, type WatchedEvent, watchEvents } from '../testenv/watchEvents.ts';
import { INFRASTRUCTURE, ObjectClient, pathOf, unlessNotFound } from './objectClient.ts';
import { CLUSTER_LABEL, type SimMachine, type StoredObject } from './objects.ts';

const FINALIZER = 'simmachine.infrastructure.cluster.x-k8s.io';
const PROGRAM = 'cluster-api-sim';
/** On every node that a bootstrap provider of Cluster API configures, until the core controllers have set its labels. */
const UNINITIALIZED = { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' } as const;

const WATCH_TIMEOUT_MS = 20_000;
const DEFAULT_BUILD = '10.0.20348.2762';

/** The status of the kinds that are provisioned as soon as they exist. */
const PROVISIONED = {
  SimCluster: { initialization: { provisioned: true } },
  SimControlPlane: { initialization: { controlPlaneInitialized: true }, externalManagedControlPlane: true },
} as const;

/** The name of the node of a SimMachine. Not that of the machine: Windows allows 15 characters. */
const nodeNameOf = ({ metadata }: Pick<SimMachine, 'metadata'>): string =>
  `win-${createHash('sha256').update(metadata.uid).digest('hex').slice(0, 10)}`;

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
    const follow = async (kind: string, onObject: (object: StoredObject, isGone: boolean) => void) => {
      const onEvent = ({ type, object }: WatchedEvent<StoredObject>) => onObject(object, type === 'DELETED');
      provider.#watches.push(await watchNewKind(management.adminKubeconfig, pathOf(INFRASTRUCTURE, kind), onEvent));
    };
    await follow('SimMachine', (machine, isGone) => provider.#onMachine(machine as SimMachine, isGone));
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
  }

  #wake(name: string): void {
    this.#run(name, async () => {
      const machine = this.#machines.get(name);
      if (machine) await this.#reconcile(machine);
    });
  }

  /** Runs a step after those that were begun before for the same name. An object that is deleted in the meantime is no error. */
  #run(name: string, step: () => Promise<void>): void {
    const failed = (error: unknown) => {
      if (!this.#ending.signal.aborted) this.#log(`${PROGRAM} ${name}: ${error}`);
    };
    const before = this.#work.get(name) ?? Promise.resolve();
    this.#work.set(name, before.then(step).catch(unlessNotFound).catch(failed));
  }

  async #reconcile(machine: SimMachine): Promise<void> {
    const { name, deletionTimestamp, finalizers = [], labels, creationTimestamp } = machine.metadata;
    const { provisionSeconds = 0, providerID, node = 'Ready' } = machine.spec;
    const workload = this.#workloads.get(labels?.[CLUSTER_LABEL] ?? '');
    const patch = (body: object, subresource?: string) =>
      this.#client.patch(INFRASTRUCTURE, 'SimMachine', name, body, subresource);
    if (deletionTimestamp) {
      if (workload) await this.#deleteNode(workload, machine);
      if (finalizers.includes(FINALIZER))
        await patch({ metadata: { finalizers: finalizers.filter((finalizer) => finalizer !== FINALIZER) } });
      return;
    }
    // Without its label, the machine is not yet known to belong to a cluster.
    if (!workload) return;
    if (!finalizers.includes(FINALIZER)) await patch({ metadata: { finalizers: [...finalizers, FINALIZER] } });
    const waitMs = Date.parse(creationTimestamp) + provisionSeconds * 1000 - Date.now();
    if (waitMs > 0) return this.#wakeLater(name, waitMs);
    const body = nodeOf(machine);
    if (!providerID) await patch({ spec: { providerID: body.spec?.providerID } });
    if (!machine.status?.initialization?.provisioned) {
      const addresses = body.status?.addresses;
      await patch({ status: { initialization: { provisioned: true }, ready: true, addresses } }, 'status');
    }
    if (node !== 'None') await this.#register(workload, machine, body);
  }

  async #register(workload: ApiServer, { metadata: { uid } }: SimMachine, body: NodeJson): Promise<void> {
    if (this.#registered.has(uid)) return;
    const kubelet = workload.as('kubelet', this.#ending.signal, body.metadata.name);
    // Its times are strings, which client-node sends unchanged.
    await kubelet.createNode({ body: body as object as V1Node }).catch(unlessRefused(409));
    this.#registered.add(uid);
  }

  /** As a cloud controller manager does for an instance that is gone. */
  async #deleteNode(workload: ApiServer, machine: SimMachine): Promise<void> {
    const api = workload.as(PROGRAM, this.#ending.signal);
    await api.deleteNode({ name: nodeNameOf(machine) }).catch(unlessRefused(404));
    this.#registered.delete(machine.metadata.uid);
  }

  #wakeLater(name: string, ms: number): void {
    const wake = () => this.#wake(name);
    void sleep(ms, undefined, { signal: this.#ending.signal }).then(wake, () => undefined);
  }
}

/** Watches a kind of a CRD that may be so new that the API server is still preparing it. */
function watchNewKind(
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

/** The Node as the kubelet of the machine registers it. */
function nodeOf(machine: SimMachine): NodeJson {
  const { windowsBuild = DEFAULT_BUILD, kubeletVersion, taints = [], labels = {}, node } = machine.spec;
  const name = nodeNameOf(machine);
  const address = `10.${[...Buffer.from(name.slice(-6), 'hex')].join('.')}`;
  const registered = existingNode({
    name,
    labels,
    taints: [...taints, UNINITIALIZED],
    kernelVersion: windowsBuild,
    nodeInfo: {
      osImage: `Windows Server ${yearOf(windowsBuild) ?? ''} Datacenter`,
      ...(kubeletVersion && { kubeletVersion }),
    },
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
  });
  return node === 'NotReady'
    ? { ...registered, status: { ...registered.status, conditions: [readyCondition(false, new Date())] } }
    : registered;
}
