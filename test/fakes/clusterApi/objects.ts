/** The objects of Cluster API that tests create, in v1beta2, and the fields that they read. */
import type { NodeTaint } from '../../../controllers/kubernetes/testing/nodeJson.ts';
import { EXISTING_KUBELET } from '../testenv/existingNode.ts';
import { INFRASTRUCTURE_GROUP, INFRASTRUCTURE_VERSION } from './crds.ts';

export const CLUSTER_API_GROUP = 'cluster.x-k8s.io';
/** Has the name of the cluster, on everything that belongs to it. */
export const CLUSTER_LABEL = 'cluster.x-k8s.io/cluster-name';
/** Has the name of the MachineDeployment, on its MachineSets and Machines. */
export const DEPLOYMENT_LABEL = 'cluster.x-k8s.io/deployment-name';

const V1BETA2 = `${CLUSTER_API_GROUP}/v1beta2`;
const INFRASTRUCTURE = `${INFRASTRUCTURE_GROUP}/${INFRASTRUCTURE_VERSION}`;

/** An object as tests write it; the API server checks its other fields. */
export interface ClusterObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
  readonly lastTransitionTime: string;
}

/** An object as the API server sends it. */
export interface StoredObject extends ClusterObject {
  readonly metadata: ClusterObject['metadata'] & {
    readonly uid: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface Machine extends StoredObject {
  readonly spec: { readonly providerID?: string; readonly infrastructureRef: { readonly name: string } };
  readonly status?: StoredObject['status'] & { readonly phase?: string; readonly nodeRef?: { readonly name: string } };
}

export interface MachineDeployment extends StoredObject {
  readonly status?: StoredObject['status'] & {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly upToDateReplicas?: number;
  };
}

/** What the double does with a machine: the spec of a SimMachine, or of the template of a SimMachineTemplate. */
export interface SimMachineSpec {
  /** The kernel version of its node. Default: a Windows Server 2022. */
  readonly windowsBuild?: string;
  /** The version of its kubelet. Default: that of the machines below. */
  readonly kubeletVersion?: string;
  /** The taints and labels with which its kubelet registers, as its bootstrap data would set them. */
  readonly taints?: readonly NodeTaint[];
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: Ready. A machine with None runs, but its node never joins; it joins when that is changed. */
  readonly node?: 'Ready' | 'NotReady' | 'None';
  /** How long it takes until the machine runs and its node joins. Default: 0. */
  readonly provisionSeconds?: number;
}

export interface SimMachine extends StoredObject {
  readonly spec: SimMachineSpec & { readonly providerID?: string };
  readonly status?: StoredObject['status'] & { readonly initialization?: { readonly provisioned?: boolean } };
}

/** Has the name of the MachinePool, on its Machines and their SimMachines. */
export const POOL_LABEL = 'cluster.x-k8s.io/pool-name';

/** What the double does with each instance. */
export interface SimMachinePoolSpec extends SimMachineSpec {
  /** Whether there is a Machine for each: the status then has `infrastructureMachineKind`. Default: false, as with most providers. */
  readonly makesMachines?: boolean;
}

/** What the double does with the instances of a MachinePool of the same name. */
export interface SimMachinePool extends StoredObject {
  readonly spec: SimMachinePoolSpec & { readonly providerIDList?: readonly string[] };
  readonly status?: StoredObject['status'] & { readonly ready?: boolean; readonly replicas?: number };
}

export interface MachinePool extends StoredObject {
  readonly spec: {
    readonly replicas?: number;
    readonly providerIDList?: readonly string[];
  };
  readonly status?: StoredObject['status'] & {
    readonly replicas?: number;
    readonly nodeRefs?: readonly { readonly name: string }[];
  };
}

/** A taint of a Machine. `Always` is restored whenever it is missing, `OnInitialization` is only added to a new node. */
export interface MachineTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly propagation: 'Always' | 'OnInitialization';
}

/** A SimMachineTemplate. Real ones are immutable: another image is another template. */
export function machineTemplate(name: string, spec: SimMachineSpec = {}) {
  return {
    apiVersion: INFRASTRUCTURE,
    kind: 'SimMachineTemplate',
    metadata: { name, namespace: 'default' },
    spec: { template: { spec } },
  };
}

export interface MachineSetParts {
  readonly cluster: string;
  /** Default: 1. */
  readonly replicas?: number;
  /** The name of the SimMachineTemplate. Default: the name of the object. */
  readonly template?: string;
  /** Labels and annotations of the Machines. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** More fields of the spec of the Machines. */
  readonly machine?: {
    readonly readinessGates?: readonly { readonly conditionType: string }[];
    readonly taints?: readonly MachineTaint[];
    readonly deletion?: { readonly nodeDrainTimeoutSeconds?: number };
    readonly version?: string;
  };
  /** More fields of its own spec, such as `rollout` of a MachineDeployment, or `deletion.order`. */
  readonly spec?: object;
}

/** A MachineDeployment of Windows machines. Its default strategy is a rolling update with one machine more. */
export const machineDeployment = (name: string, parts: MachineSetParts) =>
  machines('MachineDeployment', DEPLOYMENT_LABEL, name, parts);

/** A MachineSet of Windows machines that no MachineDeployment owns. */
export const machineSet = (name: string, parts: MachineSetParts) => machines('MachineSet', SET_LABEL, name, parts);

/** Has the name of the MachineSet, on its Machines. */
export const SET_LABEL = 'cluster.x-k8s.io/set-name';

function machines(kind: string, label: string, name: string, parts: MachineSetParts) {
  const { cluster, replicas = 1, template = name, labels, annotations, machine, spec } = parts;
  return {
    apiVersion: V1BETA2,
    kind,
    metadata: { name, namespace: 'default', labels: { [CLUSTER_LABEL]: cluster } },
    spec: {
      clusterName: cluster,
      replicas,
      selector: { matchLabels: { [label]: name } },
      template: {
        metadata: { labels: { [label]: name, ...labels }, ...(annotations && { annotations }) },
        spec: {
          clusterName: cluster,
          // Without a version, no machine with a node is UpToDate: the version of its kubelet is not the empty one.
          version: EXISTING_KUBELET,
          // A Secret of the bootstrap provider, which the double does not read.
          bootstrap: { dataSecretName: `${name}-bootstrap` },
          infrastructureRef: { apiGroup: INFRASTRUCTURE_GROUP, kind: 'SimMachineTemplate', name: template },
          ...machine,
        },
      },
      ...spec,
    },
  };
}

/** A MachinePool of Windows instances, and its SimMachinePool. */
export function machinePool(name: string, cluster: string, replicas: number, spec: SimMachinePoolSpec = {}) {
  const metadata = { name, namespace: 'default' };
  const infrastructureRef = { apiGroup: INFRASTRUCTURE_GROUP, kind: 'SimMachinePool', name };
  const bootstrap = { dataSecretName: `${name}-bootstrap` };
  const template = { spec: { clusterName: cluster, version: EXISTING_KUBELET, bootstrap, infrastructureRef } };
  return [
    { apiVersion: INFRASTRUCTURE, kind: 'SimMachinePool', metadata, spec },
    { apiVersion: V1BETA2, kind: 'MachinePool', metadata, spec: { clusterName: cluster, replicas, template } },
  ];
}

/** A MachineHealthCheck that replaces the machines with these labels as soon as their nodes have one of the conditions. */
export function machineHealthCheck(
  name: string,
  cluster: string,
  matchLabels: Readonly<Record<string, string>>,
  unhealthyNodeConditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly timeoutSeconds: number;
  }[],
) {
  return {
    apiVersion: V1BETA2,
    kind: 'MachineHealthCheck',
    metadata: { name, namespace: 'default' },
    spec: { clusterName: cluster, selector: { matchLabels }, checks: { unhealthyNodeConditions } },
  };
}

/** A Cluster with a control plane at the address, whose kubeconfig is in the Secret. */
export function clusterObjects(name: string, server: string, kubeconfig: string): readonly ClusterObject[] {
  const metadata = { name, namespace: 'default' };
  const { hostname: host, port } = new URL(server);
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${name}-kubeconfig`, namespace: 'default', labels: { [CLUSTER_LABEL]: name } },
    type: 'cluster.x-k8s.io/secret',
    data: { value: Buffer.from(kubeconfig).toString('base64') },
  };
  const cluster = {
    apiVersion: V1BETA2,
    kind: 'Cluster',
    metadata,
    spec: {
      controlPlaneEndpoint: { host, port: Number(port) },
      infrastructureRef: { apiGroup: INFRASTRUCTURE_GROUP, kind: 'SimCluster', name },
      controlPlaneRef: { apiGroup: INFRASTRUCTURE_GROUP, kind: 'SimControlPlane', name },
    },
  };
  const infrastructure = ['SimCluster', 'SimControlPlane'].map((kind) => ({
    apiVersion: INFRASTRUCTURE,
    kind,
    metadata,
    spec: {},
  }));
  // The core controllers connect when the Cluster is provisioned, and again 30 s after a failure: the Secret must exist before.
  return [secret, ...infrastructure, cluster];
}

/** A condition as a line of text. */
export const conditionLine = ({ type, status, reason, message = '' }: Condition): string =>
  `${type}=${status} ${reason}: ${message}`;
