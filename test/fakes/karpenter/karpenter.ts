/** Karpenter as a process of this machine: its core with its simulated provider, whose nodes kwok keeps alive. A double adds what their kubelets report. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ControlPlane } from '../../../hack/controlplane/controlplane.ts';
import { LOOPBACK } from '../../../hack/controlplane/layout.ts';
import type { Processes } from '../../../hack/controlplane/processes.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { isHealthy, startProcesses } from '../../../hack/gitops/processes.ts';
import type { Log } from '../../../hack/gobuild/find.ts';
import { ensureKarpenter, nodeClassCrd } from '../../../hack/karpenter/karpenter.ts';
import { ObjectClient } from '../clusterApi/objectClient.ts';
import { type ClusterObject, conditionLine, type StoredObject } from '../clusterApi/objects.ts';
import { WindowsKubelets } from './windowsKubelets.ts';

export const KARPENTER = 'karpenter.sh/v1';
const KWOK = 'karpenter.kwok.sh/v1alpha1';
const PROGRAM = 'karpenter';
const NAMESPACE = 'karpenter';
const START_TIMEOUT_MS = 60_000;

/** The node class of its nodes. */
export const NODE_CLASS = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'windows' } as const;

export interface NodeClaim extends StoredObject {
  readonly spec: { readonly startupTaints?: readonly { readonly key: string }[] };
  readonly status?: StoredObject['status'] & { readonly nodeName?: string; readonly providerID?: string };
}

/** Installs the CRDs, also that of EC2NodeClasses, and a node class of the simulated provider in the cluster, and starts Karpenter. It stops with this process at the latest. */
export async function startKarpenter(plane: ControlPlane, log: Log, signal?: AbortSignal): Promise<Karpenter> {
  const { program, crds } = await ensureKarpenter(log, signal);
  const ending = new AbortController();
  const client = await ObjectClient.connect(plane.adminKubeconfig, 'karpenter-user', ending.signal);
  const installed = await installKarpenter(plane, client, crds, signal);
  const start = async (processes: Processes) => {
    await startProcess(processes, program);
    const kubelets = await WindowsKubelets.start(plane, log);
    return new Karpenter({ program, processes, kubelets, client, ending, installed });
  };
  const environment = async () => ({
    ...process.env,
    KUBECONFIG: plane.adminKubeconfig,
    CLUSTER_NAME: 'kwok',
    SYSTEM_NAMESPACE: NAMESPACE,
    DISABLE_LEADER_ELECTION: 'true',
  });
  return startProcesses('karpenter', environment as () => Promise<Record<string, string>>, start, log, signal);
}

async function startProcess(processes: Processes, file: string): Promise<void> {
  await processes.start({
    name: PROGRAM,
    layer: 0,
    file,
    args: (port) => [`--health-probe-port=${port}`, '--metrics-port=0'],
    healthy: (port) => isHealthy(`http://${LOOPBACK}:${port}/healthz`),
    timeoutMs: START_TIMEOUT_MS,
  });
}

interface Parts {
  readonly program: string;
  readonly processes: Processes;
  readonly kubelets: WindowsKubelets;
  readonly client: ObjectClient;
  readonly ending: AbortController;
  readonly installed: readonly ClusterObject[];
}

/** A running Karpenter. */
export class Karpenter {
  readonly client: ObjectClient;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.client = parts.client;
    this.#parts = parts;
  }

  /** What the kubelets of nodes that join from now on report. */
  set windowsBuild(kernelVersion: string) {
    this.#parts.kubelets.kernelVersion = kernelVersion;
  }

  /** The NodeClaims of a NodePool, by their names. */
  claims(nodePool: string): Promise<NodeClaim[]> {
    return this.client.list<NodeClaim>(KARPENTER, 'NodeClaim', `karpenter.sh/nodepool=${nodePool}`);
  }

  /** Ends the process. */
  stop(): Promise<void> {
    return this.#parts.processes.stop(PROGRAM);
  }

  /** Starts it again. */
  async restart(): Promise<void> {
    await startProcess(this.#parts.processes, this.#parts.program);
  }

  /** Waits until the probe returns a value other than undefined or false, and returns that. The error has the conditions of all objects and the log. */
  async until<T>(what: string, probe: Parameters<typeof waitFor<T>>[0], timeoutMs = 60_000): Promise<T> {
    const explain = async () => {
      const lists = await Promise.all(
        ['NodePool', 'NodeClaim'].map((kind) => this.client.list<NodeClaim>(KARPENTER, kind)),
      );
      const lines = lists
        .flat()
        .flatMap(({ metadata, status }) => [
          `${metadata.name}: node ${status?.nodeName}`,
          ...(status?.conditions ?? []).map((condition) => `  ${conditionLine(condition)}`),
        ]);
      return [...lines, this.#parts.processes.logTail(PROGRAM)].join('\n');
    };
    return waitFor(probe, { what, timeoutMs, intervalMs: 100, explain });
  }

  /** Deletes all NodePools with their nodes and everything that was installed, and stops. For a control plane that other tests use afterwards. */
  async uninstall(): Promise<void> {
    const { client, installed } = this.#parts;
    try {
      for (const kind of ['NodePool', 'NodeClaim'])
        for (const { metadata } of await client.list<StoredObject>(KARPENTER, kind))
          await client.delete(KARPENTER, kind, metadata.name);
      await this.until(
        'all NodeClaims to be deleted',
        async () => (await client.list(KARPENTER, 'NodeClaim')).length === 0,
      );
    } finally {
      await this.#stopAll();
    }
    await client.deleteAll(installed, 'the CRDs of Karpenter', 60_000);
    this.#close();
  }

  /** Stops, and deletes nothing. For a control plane that ends, too. */
  async end(): Promise<void> {
    await this.#stopAll();
    this.#close();
  }

  #stopAll(): Promise<void> {
    const { kubelets, processes } = this.#parts;
    return kubelets.stop().finally(() => processes.end());
  }

  #close(): void {
    this.#parts.ending.abort();
    this.client.close();
  }
}

/** Installs the CRDs, also that of EC2NodeClasses, and a node class of the simulated provider. Returns what it has installed. */
export async function installKarpenter(
  plane: ControlPlane,
  client: ObjectClient,
  folders: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ClusterObject[]> {
  const files = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder)).filter((file) => file.endsWith('.yaml')).map((file) => join(folder, file)),
    ),
  );
  const crds = await Promise.all(
    [...files.flat(), await nodeClassCrd(signal)].map(
      async (file) => parse(await readFile(file, 'utf8')) as ClusterObject,
    ),
  );
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  for (const object of [namespace, ...crds]) await client.apply(object);
  await plane.waitForCrds(
    crds.map(({ metadata }) => `crd/${metadata.name}`),
    signal,
  );
  const { kind, name } = NODE_CLASS;
  await client.apply({ apiVersion: KWOK, kind, metadata: { name }, spec: {} } as ClusterObject);
  return [namespace, ...crds];
}
