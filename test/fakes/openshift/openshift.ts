/** The controllers of OpenShift's Machine API as processes of this machine, with a double of a cloud whose machines are nodes of kwok. */
import type { ControlPlane } from '../../../hack/controlplane/controlplane.ts';
import { LOOPBACK } from '../../../hack/controlplane/layout.ts';
import type { Processes } from '../../../hack/controlplane/processes.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { isHealthy, startProcesses } from '../../../hack/gitops/processes.ts';
import type { Log } from '../../../hack/gobuild/find.ts';
import { openShiftCrds, openShiftPrograms } from '../../../hack/openshift/openshift.ts';
import { ObjectClient } from '../clusterApi/objectClient.ts';
import type { ClusterObject, StoredObject } from '../clusterApi/objects.ts';
import { webhookServer } from '../clusterApi/webhookServer.ts';
import { Kubelets } from './kubelets.ts';
import { NAMESPACE, OPENSHIFT, type OpenShiftMachine, type Platform, SET_LABEL } from './objects.ts';
import { webhookConfigurations } from './webhooks.ts';

const START_TIMEOUT_MS = 60_000;
const CONFIG = 'config.openshift.io/v1';
const MACHINE_SETS = 'machineset';
const NODE_LINKS = 'nodelink-controller';
const MACHINES = 'machinecontroller';
const HEALTH_CHECKS = 'machine-healthcheck';
/** Lets MachineSets be handed over to Cluster API. */
const GATES = '--feature-gates=MachineAPIMigration=true';

export interface OpenShiftOptions {
  readonly log?: Log;
  readonly signal?: AbortSignal;
}

/**
 * Installs the CRDs and the webhooks of the Machine API, and starts its controllers on the platform None. They stop with this process at the latest.
 */
export async function startOpenShift(plane: ControlPlane, options: OpenShiftOptions = {}): Promise<OpenShift> {
  const { log = () => undefined, signal } = options;
  const files = await openShiftPrograms(log, signal);
  const ending = new AbortController();
  const client = await ObjectClient.connect(plane.adminKubeconfig, 'openshift-user', ending.signal, NAMESPACE);
  const { port: webhookPort, cert, environment } = await webhookServer(plane);
  const installed = await install(plane, client, signal);
  const start = async (processes: Processes, folder: string) => {
    const common = { layer: 0, timeoutMs: START_TIMEOUT_MS };
    const namespace = `--namespace=${NAMESPACE}`;
    const startMachineSets = async () => {
      await processes.start({
        ...common,
        name: MACHINE_SETS,
        file: files.machineset,
        args: (port) => [
          namespace,
          `--health-addr=${LOOPBACK}:${port}`,
          '--metrics-bind-address=0',
          `--webhook-port=${webhookPort}`,
          `--webhook-cert-dir=${folder}`,
          GATES,
        ],
        healthy: (port) => isHealthy(`http://${LOOPBACK}:${port}/readyz`),
      });
    };
    await startMachineSets();
    await processes.start({
      ...common,
      name: MACHINES,
      file: files.machinecontroller,
      args: (port) => [namespace, `--health-addr=${LOOPBACK}:${port}`, GATES],
      healthy: (port) => isHealthy(`http://${LOOPBACK}:${port}/healthz`),
    });
    await processes.start({
      ...common,
      name: NODE_LINKS,
      file: files['nodelink-controller'],
      args: () => [namespace],
      // It serves no health.
      healthy: async () => processes.logTail(NODE_LINKS, 100).includes('Starting workers') || undefined,
    });
    await processes.start({
      ...common,
      name: HEALTH_CHECKS,
      file: files[HEALTH_CHECKS],
      args: (port) => [namespace, `--health-addr=${LOOPBACK}:${port}`, '--metrics-bind-address=0'],
      healthy: (port) => isHealthy(`http://${LOOPBACK}:${port}/readyz`),
    });
    const webhooks = webhookConfigurations(webhookPort, cert);
    for (const configuration of webhooks) await client.apply(configuration);
    const kubelets = await Kubelets.start(plane, log);
    return new OpenShift({
      processes,
      startMachineSets,
      kubelets,
      client,
      ending,
      installed: [...installed, ...webhooks],
    });
  };
  return startProcesses('openshift', environment, start, log, signal);
}

interface Parts {
  readonly processes: Processes;
  readonly startMachineSets: () => Promise<void>;
  readonly kubelets: Kubelets;
  readonly client: ObjectClient;
  readonly ending: AbortController;
  readonly installed: readonly ClusterObject[];
}

/** A running Machine API. */
export class OpenShift {
  /** Reads and writes objects in its namespace. */
  readonly client: ObjectClient;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.client = parts.client;
    this.#parts = parts;
  }

  /** Restarts the controller that serves the webhooks: it reads the platform once. */
  async usePlatform(platform: Platform): Promise<void> {
    const { processes, startMachineSets } = this.#parts;
    await setPlatform(this.client, platform);
    await processes.stop(MACHINE_SETS);
    await startMachineSets();
  }

  /** The Machines of a MachineSet, by their names. */
  machines(set: string): Promise<OpenShiftMachine[]> {
    return this.client.list<OpenShiftMachine>(OPENSHIFT, 'Machine', `${SET_LABEL}=${set}`);
  }

  /** Waits until the probe returns a value other than undefined or false, and returns that. The error has all Machines and the logs. */
  async until<T>(what: string, probe: Parameters<typeof waitFor<T>>[0], timeoutMs = 30_000): Promise<T> {
    const { processes } = this.#parts;
    const explain = async () => {
      const machines = await this.client.list<OpenShiftMachine>(OPENSHIFT, 'Machine');
      const lines = machines.map(
        ({ metadata, status }) => `${metadata.name}: ${status?.phase}, node ${status?.nodeRef?.name}`,
      );
      return [
        ...lines,
        ...[MACHINE_SETS, MACHINES, NODE_LINKS, HEALTH_CHECKS].map((name) => processes.logTail(name)),
      ].join('\n');
    };
    return waitFor(probe, { what, timeoutMs, intervalMs: 100, explain });
  }

  /** Deletes all MachineSets with their Machines and everything that was installed, and stops. For a control plane that other tests use afterwards. */
  async uninstall(): Promise<void> {
    const { client, kubelets, processes, ending, installed } = this.#parts;
    try {
      for (const kind of ['MachineSet', 'Machine'])
        for (const { metadata } of await client.list<StoredObject>(OPENSHIFT, kind))
          await client.delete(OPENSHIFT, kind, metadata.name);
      const areGone = async () => (await client.list(OPENSHIFT, 'Machine')).length === 0;
      await this.until('all Machines to be deleted', areGone);
    } finally {
      await kubelets.stop().finally(() => processes.end());
    }
    await client.deleteAll(installed, 'the CRDs of the Machine API', 60_000);
    ending.abort();
    client.close();
  }
}

/** Creates the namespace, the CRDs and the configuration of a cluster. */
async function install(
  plane: ControlPlane,
  client: ObjectClient,
  signal: AbortSignal | undefined,
): Promise<ClusterObject[]> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  const crds = await openShiftCrds(signal);
  for (const object of [namespace, ...crds]) await client.apply(object);
  await plane.waitForCrds(
    crds.map(({ metadata }) => `crd/${metadata.name}`),
    signal,
  );
  for (const kind of ['Infrastructure', 'DNS'])
    await client.apply({ apiVersion: CONFIG, kind, metadata: { name: 'cluster' }, spec: {} } as ClusterObject);
  await setPlatform(client, 'None');
  return [namespace, ...crds];
}

async function setPlatform(client: ObjectClient, type: Platform): Promise<void> {
  const status = { infrastructureName: 'cluster', platform: type, platformStatus: { type } };
  await client.patch(CONFIG, 'Infrastructure', 'cluster', { status }, 'status');
}
