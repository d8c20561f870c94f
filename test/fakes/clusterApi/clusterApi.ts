/** The core controllers of Cluster API as a process of this machine, with an infrastructure provider whose machines are nodes of kwok. */

import { readFile } from 'node:fs/promises';
import { clusterApiManifests, clusterApiPath } from '../../../hack/clusterApi/clusterApi.ts';
import type { ControlPlane } from '../../../hack/controlplane/controlplane.ts';
import { LOOPBACK } from '../../../hack/controlplane/layout.ts';
import type { Processes } from '../../../hack/controlplane/processes.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { isHealthy, startProcesses } from '../../../hack/gitops/processes.ts';
import type { Log } from '../../../hack/gobuild/find.ts';
import { simCrds } from './crds.ts';
import { SimInfrastructure } from './infrastructure.ts';
import { CLUSTER_API, ObjectClient } from './objectClient.ts';
import {
  CLUSTER_LABEL,
  type ClusterObject,
  clusterObjects,
  conditionLine,
  type Machine,
  type StoredObject,
} from './objects.ts';
import { webhookServer } from './webhookServer.ts';

const START_TIMEOUT_MS = 60_000;
const CORE = 'cluster-api-core';

export interface ClusterApiOptions {
  /** Whether `spec.taints` of Machines reach their nodes: the feature gate MachineTaintPropagation, which is off by default in Cluster API. Default: true. */
  readonly taintPropagation?: boolean;
  readonly log?: Log;
  readonly signal?: AbortSignal;
}

/**
 * Installs the CRDs and webhooks of Cluster API and of the infrastructure provider in the management cluster, and starts both. They stop with this process
 * at the latest.
 */
export async function startClusterApi(plane: ControlPlane, options: ClusterApiOptions = {}): Promise<ClusterApi> {
  const { taintPropagation = true, log = () => undefined, signal } = options;
  const file = await clusterApiPath(log, signal);
  const ending = new AbortController();
  const client = await ObjectClient.connect(plane.adminKubeconfig, 'cluster-api-user', ending.signal);
  const { port: webhookPort, cert, environment } = await webhookServer(plane);
  const installed = await install(plane, client, webhookPort, cert, signal);
  const start = async (processes: Processes, folder: string) => {
    await processes.start({
      name: CORE,
      layer: 0,
      file,
      args: (port) => [
        `--health-addr=${LOOPBACK}:${port}`,
        `--webhook-port=${webhookPort}`,
        `--webhook-cert-dir=${folder}`,
        ...['--diagnostics-address=0', '--insecure-diagnostics'],
        // Without rate limiting, which only delays: one reconciliation a second for each object.
        `--feature-gates=MachineTaintPropagation=${taintPropagation},ReconcilerRateLimiting=false`,
      ],
      healthy: (port) => isHealthy(`http://${LOOPBACK}:${port}/readyz`),
      timeoutMs: START_TIMEOUT_MS,
    });
    const infrastructure = await SimInfrastructure.start(plane, log);
    return new ClusterApi({ processes, infrastructure, client, ending, installed });
  };
  return startProcesses('cluster-api', environment, start, log, signal);
}

interface Parts {
  readonly processes: Processes;
  readonly infrastructure: SimInfrastructure;
  readonly client: ObjectClient;
  readonly ending: AbortController;
  /** The CRDs and the configurations of webhooks. */
  readonly installed: readonly ClusterObject[];
}

/** A running Cluster API. */
export class ClusterApi {
  /** Reads and writes objects of the management cluster. */
  readonly client: ObjectClient;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.client = parts.client;
    this.#parts = parts;
  }

  /** Creates a Cluster whose nodes join this control plane, which can be that of the management cluster. */
  async createCluster(name: string, workload: ControlPlane): Promise<void> {
    await this.#parts.infrastructure.addCluster(name, workload);
    await this.apply(...clusterObjects(name, workload.url, await readFile(workload.adminKubeconfig, 'utf8')));
  }

  /** Creates objects in this order, or sets the fields that they name. */
  async apply(...objects: readonly ClusterObject[]): Promise<void> {
    for (const object of objects) await this.client.apply(object);
  }

  /** The Machines with a label, by their names. */
  machines(labelSelector: string): Promise<Machine[]> {
    return this.client.list<Machine>(CLUSTER_API, 'Machine', labelSelector);
  }

  /** An object of Cluster API, or undefined if it does not exist. */
  get<T extends StoredObject>(kind: string, name: string): Promise<T | undefined> {
    return this.client.get<T>(CLUSTER_API, kind, name);
  }

  /**
   * Waits until a MachineDeployment counts its Machines. If its template changes before, its controller takes them for Machines that do not exist, and replaces them
   * whatever its strategy is: reconcileOldMachineSetsOnDelete in Cluster API.
   */
  async untilCounted(name: string, replicas: number): Promise<void> {
    const counted = () => this.get<StoredObject & { status?: { replicas?: number } }>('MachineDeployment', name);
    const what = `MachineDeployment ${name} to count ${replicas} Machines`;
    await this.until(what, async () => (await counted())?.status?.replicas === replicas);
  }

  /** Waits until the probe returns a value other than undefined or false, and returns that. The error has the conditions of all Machines and the log. */
  async until<T>(what: string, probe: Parameters<typeof waitFor<T>>[0], timeoutMs = 30_000): Promise<T> {
    const explain = async () => {
      const machines = await this.client.list<Machine>(CLUSTER_API, 'Machine');
      const lines = machines.flatMap(({ metadata, status }) => [
        `${metadata.name}: ${status?.phase}, node ${status?.nodeRef?.name}`,
        ...(status?.conditions ?? []).map((condition) => `  ${conditionLine(condition)}`),
      ]);
      return [...lines, this.#parts.processes.logTail(CORE)].join('\n');
    };
    return waitFor(probe, { what, timeoutMs, intervalMs: 100, explain });
  }

  /** Stops the processes. Objects remain, but without the webhooks the API server rejects writes of them. */
  stop(): Promise<void> {
    return this.#stop(async () => undefined);
  }

  /** Deletes all Clusters with their machines and everything that was installed, and stops. For a control plane that other tests use afterwards. */
  async uninstall(): Promise<void> {
    const { client, installed } = this.#parts;
    const clusters = () => client.list(CLUSTER_API, 'Cluster');
    for (const { metadata } of await clusters()) await client.delete(CLUSTER_API, 'Cluster', metadata.name);
    await this.until('all Clusters to be deleted', async () => (await clusters()).length === 0);
    for (const { metadata } of await client.list('v1', 'Secret', CLUSTER_LABEL))
      await client.delete('v1', 'Secret', metadata.name);
    await this.#stop(() => client.deleteAll(installed, 'the CRDs of Cluster API', 30_000));
  }

  /** Stops the provider, calls `meanwhile` while the core controllers still run, and stops them. */
  async #stop(meanwhile: () => Promise<void>): Promise<void> {
    const { infrastructure, processes, ending, client } = this.#parts;
    try {
      await infrastructure.stop();
      await meanwhile();
    } finally {
      await processes.end();
      ending.abort();
      client.close();
    }
  }
}

/** Creates the CRDs, waits for them, and then creates the configurations of webhooks. */
async function install(
  plane: ControlPlane,
  client: ObjectClient,
  port: number,
  cert: string,
  signal: AbortSignal | undefined,
): Promise<ClusterObject[]> {
  const caBundle = Buffer.from(cert).toString('base64');
  const clientConfig = (path: string) => ({ url: `https://${LOOPBACK}:${port}${path}`, caBundle });
  const manifests = await clusterApiManifests(signal);
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: clientConfig('/convert') };
  const crds = [
    ...manifests.crds.map((crd) => ({ ...crd, spec: { ...crd.spec, conversion: { strategy: 'Webhook', webhook } } })),
    ...simCrds,
  ];
  const webhooks = manifests.webhooks.map((configuration) => ({
    ...configuration,
    webhooks: configuration.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: clientConfig(webhook.clientConfig.service.path),
    })),
  }));
  await Promise.all(crds.map((crd) => client.apply(crd)));
  await plane.waitForCrds(
    crds.map(({ metadata }) => `crd/${metadata.name}`),
    signal,
  );
  for (const configuration of webhooks) await client.apply(configuration);
  return [...crds, ...webhooks];
}
