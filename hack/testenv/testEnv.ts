/** A test environment on this machine: a real Kubernetes, a local AWS whose instances join it, and the installed manifests. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubernetesObject } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { type ControlPlane, type PodCredentials, startControlPlane } from '../controlplane/controlplane.ts';
import { waitFor } from '../controlplane/wait.ts';
import { type LocalAws, startLocalAws } from '../localaws/localAws.ts';
import type { Switches } from '../localaws/switches.ts';
import { operatorEntry } from '../operatorBundle.ts';
import { linuxNode } from './linuxNode.ts';
import { type OperatorOptions, OperatorProcess } from './operatorProcess.ts';
import { WatchEnded, watchEvents } from './watchEvents.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CRD = join(ROOT, 'crds/windowspools.yaml');
export const CLUSTER_NAME = 'demo';
export const REGION = 'eu-west-1';
/** Namespace and name in config/rbac. */
const ACCOUNT = ['winpool-system', 'windowspool-operator'] as const;

export interface TestEnvOptions {
  /** Where the control plane keeps its data. Default: a temporary folder that goes at the end. */
  readonly dir?: string;
  readonly log?: (line: string) => void;
  /** How many times faster than the defaults the local AWS runs. */
  readonly speed?: number;
  readonly switches?: Partial<Switches>;
  /** Without the CRD and the operator's RBAC, for callers that install them in another way. */
  readonly bare?: boolean;
  readonly signal?: AbortSignal;
}

/** Starts the environment without an operator. The CRD and the operator's RBAC are installed, unless it is bare. */
export async function startTestEnv(options: TestEnvOptions = {}): Promise<TestEnv> {
  const { dir, log, signal, speed, switches, bare = false } = options;
  const entry = await operatorEntry();
  const controlPlane = await startControlPlane({
    crds: bare ? [] : [CRD],
    ...(dir && { dir }),
    ...(log && { log }),
    ...(signal && { signal }),
  });
  const cloud = await startLocalAws({
    cluster: {
      name: CLUSTER_NAME,
      region: REGION,
      caData: controlPlane.caData,
      endpoint: controlPlane.url,
      kubernetesVersion: '1.36',
    },
    kubeconfig: await controlPlane.kubeconfigForUser('cloud'),
    ...(speed && { speed }),
    ...(switches && { switches }),
  });
  const world = new TestEnv(controlPlane, cloud, entry);
  try {
    await world.prepare();
    if (!bare) await world.install();
    return world;
  } catch (error) {
    await world.stop();
    throw error;
  }
}

export class TestEnv {
  readonly controlPlane: ControlPlane;
  readonly cloud: LocalAws;
  /** The program of its operators, unless another is asked for. */
  readonly entry: string;
  readonly operators: OperatorProcess[] = [];
  #operatorKubeconfig = '';

  constructor(controlPlane: ControlPlane, cloud: LocalAws, entry: string) {
    this.controlPlane = controlPlane;
    this.cloud = cloud;
    this.entry = entry;
  }

  /** Gives the cluster what Windows nodes need. */
  async prepare(): Promise<void> {
    await this.apply(windowsIpam(true));
    await this.apply(podWebhook);
    await this.apply(linuxNode());
  }

  /** Applies config/default without the Deployment, for which there is no image: the operator runs as a process under its ServiceAccount. */
  async install(): Promise<void> {
    await this.kubectl('apply', '-f', join(ROOT, 'config/manager/namespace.yaml'));
    await this.kubectl('apply', '-k', join(ROOT, 'config/rbac'));
    await this.login();
  }

  /** Gets the kubeconfig of the operator's ServiceAccount, which must exist. Call it again after the ServiceAccount was recreated. */
  async login(): Promise<void> {
    this.#operatorKubeconfig = await this.controlPlane.serviceAccountKubeconfig(...ACCOUNT);
  }

  /** The operator's ServiceAccount as its pod has it. */
  podCredentials(): Promise<PodCredentials> {
    return this.controlPlane.podCredentials(...ACCOUNT);
  }

  /** The kubeconfig of the operator's ServiceAccount. */
  get operatorKubeconfig(): string {
    return this.#operatorKubeconfig;
  }

  /** Starts an operator under its ServiceAccount; it may not be ready yet. */
  operator(
    flags: readonly string[] = [],
    at: Partial<Omit<OperatorOptions, 'clusterName' | 'region' | 'flags'>> = {},
  ): OperatorProcess {
    const operator = new OperatorProcess({
      credentials: this.#operatorKubeconfig,
      awsUrl: this.cloud.url,
      entry: this.entry,
      ...at,
      clusterName: CLUSTER_NAME,
      region: REGION,
      flags,
    });
    this.operators.push(operator);
    return operator;
  }

  /** Runs kubectl as admin and gives what it prints. Throws what it complains about. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, code } = await this.controlPlane.kubectl(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }

  /** Applies an object. Throws the API server's words when it is refused. */
  async apply(object: object, ...flags: readonly string[]): Promise<string> {
    const { stdout, stderr, code } = await this.controlPlane.kubectl(['apply', '-f', '-', ...flags], {
      stdin: JSON.stringify(object),
    });
    if (code !== 0) throw new Error(stderr.trim());
    return stdout;
  }

  /** Changes the spec of a pool as kubectl patch does: what is not named stays. Throws the API server's words when it is refused. */
  patchPool(name: string, spec: object): Promise<string> {
    return this.kubectl('patch', 'windowspool', name, '--type=merge', '-p', JSON.stringify({ spec }));
  }

  /** An object, or undefined when there is none. */
  async get<T extends Wire<KubernetesObject>>(
    kind: string,
    name: string,
    ...flags: readonly string[]
  ): Promise<T | undefined> {
    const text = await this.kubectl('get', kind, name, '-o', 'json', '--ignore-not-found', ...flags);
    return text === '' ? undefined : JSON.parse(text);
  }

  pool(name: string): Promise<WindowsPool | undefined> {
    return this.get<WindowsPool>('windowspools', name);
  }

  /**
   * Waits for a state of the pool, undefined when it is gone, and returns the pool in that state: each change is checked, so nothing is
   * too short to be seen. A status that does not answer the pool's spec yet is not shown to `isSo`: its conditions are those of an earlier
   * spec. Explains with its conditions and the operator's log.
   */
  async waitForPool(
    name: string,
    what: string,
    isSo: (pool: WindowsPool | undefined) => boolean,
    timeoutMs = 60_000,
  ): Promise<WindowsPool | undefined> {
    let last: WindowsPool | undefined;
    let found: { readonly pool: WindowsPool | undefined } | undefined;
    const look = (pool: WindowsPool | undefined) => {
      last = pool;
      if (!found && (!pool || isObserved(pool)) && isSo(pool)) found = { pool };
    };
    const path = `/apis/winpool.dev/v1alpha1/windowspools?fieldSelector=metadata.name%3D${name}`;
    const follow = () => {
      last = undefined;
      return watchEvents<WindowsPool>(this.controlPlane.adminKubeconfig, path, ({ type, object }) =>
        look(type === 'DELETED' ? undefined : object),
      );
    };
    let watch = await follow();
    const probe = async () => {
      if (found) return found;
      try {
        watch.check();
      } catch (error) {
        // The API server restarts.
        if (!(error instanceof WatchEnded)) throw error;
        await watch.stop().catch(() => undefined);
        watch = await follow();
        return undefined;
      }
      // What a test waits for may depend on more than the pool, so the last one is checked again.
      look(last);
      return found;
    };
    const explain = () => `${conditionLines(last)}\n${this.operators.map((operator) => operator.tail()).join('\n')}`;
    try {
      return (await waitFor(probe, { what: `pool ${name} ${what}`, timeoutMs, explain })).pool;
    } finally {
      await watch.stop().catch(() => undefined);
    }
  }

  /** Ends the operators and everything else. */
  async stop(): Promise<void> {
    await Promise.all(this.operators.map((operator) => operator.kill()));
    await this.cloud.stop();
    await this.controlPlane.stop();
  }
}

/** The ConfigMap by which the VPC CNI gives Windows nodes pod addresses, or does not. */
export const windowsIpam = (on: boolean, more: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'amazon-vpc-cni', namespace: 'kube-system' },
  data: { 'enable-windows-ipam': String(on), ...more },
});

/** Whether the status is about the spec that the pool has, as `kubectl wait` and kstatus ask before they believe a condition. */
function isObserved({ metadata, status }: WindowsPool): boolean {
  return status?.observedGeneration === metadata.generation;
}

/** Whether the operator has answered the spec and has nothing to do or to learn: no change that it sent waits for its end. */
export function isReconciled(pool: WindowsPool | undefined): boolean {
  if (!pool || !isObserved(pool) || conditionOf(pool, 'Reconciling') !== 'absent') return false;
  // `scaling=?` is a field whose change was sent and is not seen yet: see nodeGroup/applied.ts of the domain.
  return !pool.status?.nodeGroup?.applied?.some((field) => field.endsWith('=?'));
}

/** The webhook that EKS creates in every cluster, without its rules: no pod asks for an address here. */
export const podWebhook: object = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'vpc-resource-mutating-webhook' },
  webhooks: [],
};

/** A pool's conditions, a line each. */
export function conditionLines(pool: WindowsPool | undefined): string {
  if (!pool) return 'there is no such pool';
  const { generation } = pool.metadata;
  const stale = isObserved(pool)
    ? []
    : [`The status is of generation ${pool.status?.observedGeneration}, the spec of ${generation}.`];
  const conditions = (pool.status?.conditions ?? []).map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );
  return [...stale, ...conditions].join('\n');
}

/** The status and reason of one condition, such as `False/WrongBuild`; `absent` when there is none. */
export function conditionOf(pool: WindowsPool | undefined, type: string): string {
  const found = pool?.status?.conditions?.find((condition) => condition.type === type);
  return found ? `${found.status}/${found.reason}` : 'absent';
}

/** The message of one condition; empty when there is none. */
export function messageOf(pool: WindowsPool | undefined, type: string): string {
  return pool?.status?.conditions?.find((condition) => condition.type === type)?.message ?? '';
}
