/** A real Flux on this machine: its controllers run as processes, with the ServiceAccounts, permissions and CRDs of its release. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { watchEvents } from '../../test/fakes/testenv/watchEvents.ts';
import type { ControlPlane } from '../controlplane/controlplane.ts';
import type { Processes } from '../controlplane/processes.ts';
import { waitFor } from '../controlplane/wait.ts';
import type { Log } from '../gobuild/find.ts';
import { moduleFolder } from '../gobuild/moduleFolder.ts';
import { ArtifactServer } from './artifactServer.ts';
import { isHealthy, startProcesses } from './processes.ts';
import { FLUX, type FluxProgram, fluxModule, fluxPrograms } from './programs.ts';

/** Flux's own namespace, in which its objects also are. */
export const FLUX_NAMESPACE = 'flux-system';

/** Modules of which only the manifests are used, with their digests as in go.sum: the CRDs of sources, and the permissions of a release of Flux. */
const SOURCES = [
  'github.com/fluxcd/source-controller@v1.9.5',
  'h1:MFPyCodUi9hZIMaKDsC/rYbNoyzpvrAdrPVixj7W9F0=',
] as const;
const RELEASE = ['github.com/fluxcd/flux2/v2@v2.9.5', 'h1:jwCccxvkD+2QnsjN+pl5QqM8KnFUwA8pIoQ1Lf0avkA='] as const;

const START_TIMEOUT_MS = 60_000;
const RECONCILE_TIMEOUT_MS = 60_000;

/** The group, version and resource of the kinds that the controllers reconcile. */
const KINDS = {
  Kustomization: ['kustomize.toolkit.fluxcd.io/v1', 'kustomizations'],
  HelmRelease: ['helm.toolkit.fluxcd.io/v2', 'helmreleases'],
} as const;

/** A kind that the controllers reconcile. */
export type FluxKind = keyof typeof KINDS;

/** The fields of a Kustomization or a HelmRelease that callers read. */
export interface FluxObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly status?: {
    readonly lastHandledReconcileAt?: string;
    /** Of a Kustomization: the last revision that it applied successfully. */
    readonly lastAppliedRevision?: string;
    readonly conditions?: readonly FluxCondition[];
    /** Of a HelmRelease: its releases, the newest one first. */
    readonly history?: readonly { readonly version?: number; readonly status?: string }[];
  };
}

/** A condition of a Kustomization or a HelmRelease. */
interface FluxCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

interface FluxOptions {
  readonly log?: Log;
  readonly signal?: AbortSignal;
}

/**
 * Installs the CRDs and permissions of Flux in the cluster, and starts its kustomize-controller, its helm-controller and an artifact server.
 * They stop with this process at the latest.
 */
export async function startFlux(plane: ControlPlane, options: FluxOptions = {}): Promise<Flux> {
  const { log = () => undefined, signal } = options;
  const programs = await fluxPrograms(log, signal);
  await install(plane, signal);
  const environment = async (folder: string) => ({
    PATH: process.env.PATH ?? '',
    HOME: folder,
    TMPDIR: folder,
    RUNTIME_NAMESPACE: FLUX_NAMESPACE,
  });
  const start = async (processes: Processes) => {
    await Promise.all(names.map((name) => startController(name, programs[name], plane, processes)));
    return new Flux(plane, processes, await ArtifactServer.start(plane, FLUX_NAMESPACE));
  };
  return startProcesses('flux', environment, start, log, signal);
}

/** A running Flux. */
export class Flux {
  readonly #plane: ControlPlane;
  readonly #processes: Processes;
  /** Publishes the commits that Flux applies. */
  readonly artifacts: ArtifactServer;

  constructor(plane: ControlPlane, processes: Processes, artifacts: ArtifactServer) {
    this.#plane = plane;
    this.#processes = processes;
    this.artifacts = artifacts;
  }

  /**
   * Waits until the predicate is true for an object, and returns the object: each change is checked, so that no state is missed. The error
   * has its conditions and the logs of the controllers.
   */
  async waitFor(
    kind: FluxKind,
    name: string,
    what: string,
    predicate: (object: FluxObject) => boolean,
    timeoutMs = RECONCILE_TIMEOUT_MS,
  ): Promise<FluxObject> {
    const [group, resource] = KINDS[kind];
    const path = `/apis/${group}/namespaces/${FLUX_NAMESPACE}/${resource}?fieldSelector=metadata.name%3D${name}`;
    let last: FluxObject | undefined;
    let found: FluxObject | undefined;
    const watch = await watchEvents<FluxObject>(this.#plane.adminKubeconfig, path, ({ type, object }) => {
      last = type === 'DELETED' ? undefined : object;
      if (last && !found && predicate(last)) found = last;
    });
    const probe = () => {
      watch.check();
      return found;
    };
    const explain = () =>
      [
        ...(last?.status?.conditions ?? []).map(
          ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
        ),
        ...names.map((controller) => this.#processes.logTail(controller, 5)),
      ].join('\n');
    try {
      return await waitFor(probe, { what: `${kind} ${name} ${what}`, timeoutMs, explain });
    } finally {
      await watch.stop();
    }
  }

  /** Requests a reconciliation, like `flux reconcile`, and returns the object afterwards. */
  async reconcile(kind: FluxKind, name: string): Promise<FluxObject> {
    const at = new Date().toISOString();
    const args = ['annotate', '--overwrite', kind, name, '--namespace', FLUX_NAMESPACE];
    await this.#plane.kubectlOutput([...args, `reconcile.fluxcd.io/requestedAt=${at}`]);
    return this.waitFor(
      kind,
      name,
      'to be reconciled',
      (object) =>
        object.status?.lastHandledReconcileAt === at && fluxConditionOf(object, 'Reconciling') !== 'True/Progressing',
    );
  }

  /** Stops all processes. */
  async stop(): Promise<void> {
    try {
      await this.#processes.end();
    } finally {
      await this.artifacts.stop();
    }
  }
}

/** The status and reason of a condition, such as `False/HealthCheckFailed`; `absent` when there is none. */
export function fluxConditionOf(object: FluxObject | undefined, type: string): string {
  const condition = object?.status?.conditions?.find((condition) => condition.type === type);
  return condition ? `${condition.status}/${condition.reason}` : 'absent';
}

const names = Object.keys(FLUX) as FluxProgram[];

async function startController(
  name: FluxProgram,
  file: string,
  plane: ControlPlane,
  processes: Processes,
): Promise<void> {
  const kubeconfig = await plane.serviceAccountKubeconfig(FLUX_NAMESPACE, name);
  await processes.start({
    name,
    layer: 0,
    file,
    args: (port) => [
      ...['--watch-all-namespaces', '--log-level=info', '--log-encoding=json'],
      ...[`--health-addr=127.0.0.1:${port}`, '--metrics-addr=0'],
      '--feature-gates=ExternalArtifact=true',
      // The default is 30 s.
      '--requeue-dependency=500ms',
    ],
    env: { KUBECONFIG: kubeconfig },
    healthy: (port) => isHealthy(`http://127.0.0.1:${port}/readyz`),
    timeoutMs: START_TIMEOUT_MS,
  });
}

async function install(plane: ControlPlane, signal: AbortSignal | undefined): Promise<void> {
  const withCrds = Promise.all([
    ...Object.values(FLUX).map((module) => moduleFolder(fluxModule, module, { signal })),
    moduleFolder(fluxModule, SOURCES[0], { sum: SOURCES[1], signal }),
  ]);
  const [folders, release] = await Promise.all([
    withCrds,
    moduleFolder(fluxModule, RELEASE[0], { sum: RELEASE[1], signal }),
  ]);
  const crds = (await Promise.all(folders.map((folder) => filesOf(join(folder, 'config/crd/bases'))))).flat();
  const rbac = ['controller', 'reconciler'].map((name) => join(release, `manifests/rbac/${name}.yaml`));
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: FLUX_NAMESPACE } };
  const accounts = names.map((name) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: FLUX_NAMESPACE },
  }));
  const manifests = await Promise.all([...crds, ...rbac].map((file) => readFile(file, 'utf8')));
  const stdin = [...[namespace, ...accounts].map((object) => JSON.stringify(object)), ...manifests].join('\n---\n');
  await plane.kubectlOutput(['apply', '--server-side', '-f', '-'], { stdin });
  const selection = crds.flatMap((file) => ['-f', file]);
  await plane.waitForCrds(selection, signal);
}

async function filesOf(folder: string): Promise<string[]> {
  return (await readdir(folder)).map((name) => join(folder, name));
}
