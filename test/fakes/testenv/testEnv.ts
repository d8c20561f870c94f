/** A test environment on this machine: a real Kubernetes, a local AWS whose instances join it, and the installed manifests. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubernetesObject, V1Node } from '@kubernetes/client-node';
import type { Stored, Wire } from '../../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { NODE_GROUP_LABEL } from '../../../controllers/windowspool/api/labels.ts';
import { wholeCondition } from '../../../controllers/windowspool/testing/wholeCondition.ts';
import { chosenSeries } from '../../../hack/controlplane/binaries.ts';
import { type ControlPlane, type PodCredentials, startControlPlane } from '../../../hack/controlplane/controlplane.ts';
import { LOOPBACK } from '../../../hack/controlplane/layout.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { operatorEntry } from '../../../hack/operatorBundle.ts';
import { HOST_ADDRESS } from '../../../hack/realnode/isolation.ts';
import { type RealNodes, startRealNodes } from '../../../hack/realnode/realNodes.ts';
import { type LocalAws, startLocalAws } from '../localaws/localAws.ts';
import type { Switches } from '../localaws/switches.ts';
import { linuxNode } from './linuxNode.ts';
import { type OperatorOptions, OperatorProcess } from './operatorProcess.ts';
import { WatchEnded, watchEvents } from './watchEvents.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CRD = join(ROOT, 'crds/windowspools.yaml');
export const CLUSTER_NAME = 'demo';
export const REGION = 'eu-west-1';
/** Namespace and name in config/rbac. */
const ACCOUNT = ['winpool-system', 'windowspool-operator'] as const;

export interface TestEnvOptions {
  readonly log?: (line: string) => void;
  /** The speed of the local AWS, relative to the default. */
  readonly speed?: number;
  readonly switches?: Partial<Switches>;
  /** The name of the EKS cluster. Default: `demo`. */
  readonly clusterName?: string;
  /** Without the CRD and the operator's RBAC, for callers that install them themselves. */
  readonly bare?: boolean;
  /** How many real Linux nodes run pods (hack/realnode). Default: none; one node is then simulated. */
  readonly realNodes?: number;
  readonly signal?: AbortSignal;
}

/** Starts the environment without an operator. The CRD and the operator's RBAC are installed, unless it is bare. */
export async function startTestEnv(options: TestEnvOptions = {}): Promise<TestEnv> {
  const { log, signal, speed, switches, clusterName = CLUSTER_NAME, bare = false, realNodes = 0 } = options;
  const address = realNodes > 0 ? HOST_ADDRESS : LOOPBACK;
  const entry = await operatorEntry();
  const controlPlane = await startControlPlane({
    address,
    crds: bare ? [] : [CRD],
    ...(log && { log }),
    ...(signal && { signal }),
  });
  const cloud = await startLocalAws({
    cluster: {
      name: clusterName,
      region: REGION,
      caData: controlPlane.caData,
      endpoint: controlPlane.url,
      kubernetesVersion: '1.36',
      apiServerVersion: chosenSeries(),
    },
    kubeconfig: await controlPlane.kubeconfigForUser('cloud'),
    address,
    ...(speed && { speed }),
    ...(switches && { switches }),
  });
  const world = new TestEnv(controlPlane, cloud, entry);
  try {
    await world.prepare(realNodes, log, signal);
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
  /** The default program of its operators. */
  readonly entry: string;
  readonly operators: OperatorProcess[] = [];
  /** The real nodes, if it has any. */
  nodes: RealNodes | undefined;
  #operatorKubeconfig = '';

  constructor(controlPlane: ControlPlane, cloud: LocalAws, entry: string) {
    this.controlPlane = controlPlane;
    this.cloud = cloud;
    this.entry = entry;
  }

  /** Creates what Windows nodes need: settings, and Linux nodes, of which one is simulated if none are real. */
  async prepare(realNodes = 0, log?: TestEnvOptions['log'], signal?: AbortSignal): Promise<void> {
    await this.apply(windowsIpam(true));
    await this.apply(podWebhook);
    if (realNodes === 0) await this.apply(linuxNode());
    else this.nodes = await startRealNodes(this.controlPlane, realNodes, log, signal);
  }

  /** Applies config/default without the Deployment, for which there is no image: the operator runs as a process under its ServiceAccount. */
  async install(): Promise<void> {
    await this.kubectl('apply', '-f', join(ROOT, 'config/manager/namespace.yaml'));
    await this.kubectl('apply', '-k', join(ROOT, 'config/rbac'));
    await this.kubectl('apply', '-k', join(ROOT, 'config/admission'));
    await this.login();
  }

  /** Gets the kubeconfig of the operator's ServiceAccount, which must exist. Call it again after the ServiceAccount was recreated. */
  async login(): Promise<void> {
    this.#operatorKubeconfig = await this.controlPlane.serviceAccountKubeconfig(...ACCOUNT);
  }

  /** The operator's ServiceAccount as in its pod. */
  podCredentials(): Promise<PodCredentials> {
    return this.controlPlane.podCredentials(...ACCOUNT);
  }

  /** The kubeconfig of the operator's ServiceAccount. */
  get operatorKubeconfig(): string {
    return this.#operatorKubeconfig;
  }

  /** Starts an operator with its ServiceAccount; it may not be ready yet. */
  operator(flags: readonly string[] = [], at: Partial<Omit<OperatorOptions, 'flags'>> = {}): OperatorProcess {
    const operator = new OperatorProcess({
      credentials: this.#operatorKubeconfig,
      awsUrl: this.cloud.url,
      entry: this.entry,
      clusterName: this.cloud.state.cluster.name,
      region: REGION,
      ...at,
      flags,
    });
    this.operators.push(operator);
    return operator;
  }

  /** Runs kubectl as admin and returns its output. Throws its errors. */
  kubectl(...args: readonly string[]): Promise<string> {
    return this.controlPlane.kubectlOutput(args);
  }

  /** Applies an object. Throws the API server's error if it is rejected. */
  apply(object: object, ...flags: readonly string[]): Promise<string> {
    return this.controlPlane.kubectlOutput(['apply', '-f', '-', ...flags], { stdin: JSON.stringify(object) });
  }

  /** Patches the spec of a pool like kubectl patch. Throws the API server's error if it is rejected. */
  patchPool(name: string, spec: object): Promise<string> {
    return this.kubectl('patch', 'windowspool', name, '--type=merge', '-p', JSON.stringify({ spec }));
  }

  /** Patches what the operator remembers of a pool. */
  patchPoolStatus(name: string, status: object): Promise<string> {
    const flags = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })];
    return this.kubectl('patch', 'windowspool', name, ...flags);
  }

  /** An object, or undefined if it does not exist. */
  async get<T extends Wire<KubernetesObject>>(
    kind: string,
    name: string,
    ...flags: readonly string[]
  ): Promise<T | undefined> {
    const text = await this.kubectl('get', kind, name, '-o', 'json', '--ignore-not-found', ...flags);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** The objects of a kind, such as `nodes`, with more flags for kubectl get. */
  async list<T>(kind: string, ...flags: readonly string[]): Promise<T[]> {
    return JSON.parse(await this.kubectl('get', kind, ...flags, '-o', 'json')).items;
  }

  /** The nodes of a node group. */
  nodesOf<T = Stored<V1Node>>(group: string): Promise<T[]> {
    return this.list('nodes', '-l', `${NODE_GROUP_LABEL}=${group}`);
  }

  /** The names of the nodes of a node group. */
  async nodeNamesOf(group: string): Promise<string[]> {
    return (await this.nodesOf(group)).map(({ metadata }) => metadata.name);
  }

  /** The notes of the events with a reason. */
  async notesOf(reason: string): Promise<string[]> {
    const events = await this.list<{ note: string }>('events.events.k8s.io', '-A', `--field-selector=reason=${reason}`);
    return events.map(({ note }) => note);
  }

  pool(name: string): Promise<WindowsPool | undefined> {
    return this.get<WindowsPool>('windowspools', name);
  }

  /**
   * Waits until the predicate is true for the pool, which is undefined when it is gone, and returns the pool: each change is checked, so
   * that no state is missed. A status of an earlier generation is not passed to `predicate`. The error has its conditions and the
   * operator's log.
   */
  async waitForPool(
    name: string,
    what: string,
    predicate: (pool: WindowsPool | undefined) => boolean,
    timeoutMs = 60_000,
  ): Promise<WindowsPool | undefined> {
    let last: WindowsPool | undefined;
    let found: { readonly pool: WindowsPool | undefined } | undefined;
    const check = (pool: WindowsPool | undefined) => {
      last = pool;
      if (!found && (!pool || isObserved(pool)) && predicate(pool)) found = { pool };
    };
    const path = `/apis/winpool.dev/v1alpha1/windowspools?fieldSelector=metadata.name%3D${name}`;
    const follow = () => {
      last = undefined;
      return watchEvents<WindowsPool>(this.controlPlane.adminKubeconfig, path, ({ type, object }) =>
        check(type === 'DELETED' ? undefined : object),
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
      // The predicate may depend on more than the pool, so the last version is checked again.
      check(last);
      return found;
    };
    const explain = () => `${conditionLines(last)}\n${this.operators.map((operator) => operator.tail()).join('\n')}`;
    try {
      return (await waitFor(probe, { what: `pool ${name} ${what}`, timeoutMs, explain })).pool;
    } finally {
      await watch.stop().catch(() => undefined);
    }
  }

  /** Waits until the pool has each of these conditions, such as `Ready=False/Creating`. */
  waitForConditions(name: string, ...conditions: readonly string[]): Promise<WindowsPool | undefined> {
    return this.waitForPool(name, `to have ${conditions.join(', ')}`, (pool) => hasConditions(pool, ...conditions));
  }

  /** Waits until the pool is Ready, with enough verified nodes. */
  waitForReady(name: string): Promise<WindowsPool | undefined> {
    return this.waitForConditions(name, READY);
  }

  /** Stops the operators and everything else. */
  async stop(): Promise<void> {
    await Promise.all(this.operators.map((operator) => operator.kill()));
    await this.nodes?.stop();
    await this.cloud.stop();
    await this.controlPlane.stop();
  }
}

/** The ConfigMap of the VPC CNI that enables pod addresses of Windows nodes. */
export const windowsIpam = (on: boolean, more: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'amazon-vpc-cni', namespace: 'kube-system' },
  data: { 'enable-windows-ipam': String(on), ...more },
});

/** Whether the status is of the current generation, which `kubectl wait` and kstatus check before they use a condition. */
function isObserved({ metadata, status }: WindowsPool): boolean {
  return status?.observedGeneration === metadata.generation;
}

/** Whether the operator has reconciled the spec and has nothing left to do: no change that it sent has an unknown result. */
export function isReconciled(pool: WindowsPool | undefined): boolean {
  if (!pool || !isObserved(pool) || conditionOf(pool, 'Reconciling') !== 'absent') return false;
  // `scaling=?` is a field whose change was sent and not observed yet: see appliedFields.ts of the domain.
  return !pool.status?.tracking?.applied?.some((field) => field.endsWith('=?'));
}

/** The webhook that EKS creates in every cluster, without its rules: no pod requests an address here. */
export const podWebhook: object = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'vpc-resource-mutating-webhook' },
  webhooks: [],
};

/** A pool's conditions, one per line. */
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

export const READY = 'Ready=True/EnoughNodesVerified';
export const UP_TO_DATE = 'UpToDate=True/MatchesSpec';

/** Whether the pool has each of these conditions, such as `Ready=False/Creating`; `Stalled=absent` is none of that type. */
export function hasConditions(pool: WindowsPool | undefined, ...conditions: readonly string[]): boolean {
  return conditions.every((condition) => {
    const [type = '', state] = condition.split('=');
    return conditionOf(pool, type) === state;
  });
}

/** The message of one condition, with the text to which it refers; empty when there is none. */
export function messageOf(pool: WindowsPool | undefined, type: string): string {
  return wholeCondition(pool, type)?.message ?? '';
}
