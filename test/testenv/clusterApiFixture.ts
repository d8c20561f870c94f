/** Shared by the suites about Cluster API: a management cluster with the core controllers, and the steps that their tests have in common. */
import type { V1Node } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { VERIFIED_CONDITION } from '../../controllers/windowspool/api/labels.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { type ClusterApi, startClusterApi } from '../fakes/clusterApi/clusterApi.ts';
import { CLUSTER_API } from '../fakes/clusterApi/objectClient.ts';
import {
  DEPLOYMENT_LABEL,
  type Machine,
  type MachineSetParts,
  machineDeployment,
  machineTemplate,
  type SimMachineSpec,
  type StoredObject,
} from '../fakes/clusterApi/objects.ts';

export const CLUSTER = 'here';
export const BUILD = '10.0.20348.5020';
/** A readiness gate of Machines. */
export const GATES = [{ conditionType: VERIFIED_CONDITION }];

export type NodeObject = StoredObject & Pick<Wire<V1Node>, 'spec'> & { readonly status: Wire<V1Node>['status'] };

/** Runs Cluster API during the suite that calls this, with a Cluster whose nodes are in the management cluster; the result is complete when its tests run. */
export function withClusterApi(): ClusterApiFixture {
  const fixture = new ClusterApiFixture();
  before(async function () {
    this.timeout(600_000);
    await fixture.start();
  });
  after(() => fixture.stop());
  return fixture;
}

export const log = (line: string) => console.log(`    ${line}`);

export class ClusterApiFixture {
  #plane: ControlPlane | undefined;
  #api: ClusterApi | undefined;

  async start(): Promise<void> {
    this.#plane = await startControlPlane({ log });
    await this.startApi();
  }

  async startApi(options: { readonly taintPropagation?: boolean } = {}): Promise<void> {
    this.#api = await startClusterApi(this.plane, { log, ...options });
    await this.#api.createCluster(CLUSTER, this.plane);
  }

  async stop(): Promise<void> {
    await this.#api?.stop();
    await this.#plane?.stop();
  }

  get plane(): ControlPlane {
    if (!this.#plane) throw new Error('The management cluster has not started.');
    return this.#plane;
  }

  get api(): ClusterApi {
    if (!this.#api) throw new Error('Cluster API has not started.');
    return this.#api;
  }

  /** Creates a template and a MachineDeployment, and waits until its machines have nodes. */
  async deploy(
    name: string,
    parts: Partial<MachineSetParts> = {},
    template: SimMachineSpec = { windowsBuild: BUILD },
  ): Promise<Machine[]> {
    await this.api.apply(machineTemplate(name, template), machineDeployment(name, { cluster: CLUSTER, ...parts }));
    const machines = await this.untilNodes(name, parts.replicas ?? 1);
    await this.api.untilCounted(name, parts.replicas ?? 1);
    return machines;
  }

  /** Creates one machine, as `deploy` does. */
  async deployOne(name: string, parts: Partial<MachineSetParts> = {}): Promise<Machine> {
    const [machine] = await this.deploy(name, parts);
    if (!machine) throw new Error(`MachineDeployment ${name} has no machine.`);
    return machine;
  }

  /** The machines of a MachineDeployment. */
  machinesOf(name: string): Promise<Machine[]> {
    return this.api.machines(`${DEPLOYMENT_LABEL}=${name}`);
  }

  /** The machines of a MachineDeployment, as soon as there are that many and each has a node. */
  untilNodes(name: string, replicas: number): Promise<Machine[]> {
    return this.api.until(`${replicas} machines of ${name} with nodes`, async () => {
      const found = await this.machinesOf(name);
      return found.length === replicas && found.every(({ status }) => status?.nodeRef) && found;
    });
  }

  /** The node of a machine in the management cluster. */
  node(machine: Machine): Promise<NodeObject | undefined> {
    return this.api.client.get<NodeObject>('v1', 'Node', machine.status?.nodeRef?.name ?? '');
  }

  patch(kind: string, name: string, body: object): Promise<void> {
    return this.api.client.patch(CLUSTER_API, kind, name, body);
  }

  /** Writes the condition of the readiness gate to the Machine, as its controller does. */
  verify({ metadata: { name } }: Machine, status = 'True'): Promise<void> {
    const machine = { apiVersion: CLUSTER_API, kind: 'Machine', metadata: { name, namespace: 'default' } };
    return this.api.client.apply({ ...machine, status: { conditions: [verified(status)] } }, 'status');
  }
}

/** The condition as it is on nodes and on Machines. */
export const verified = (status: string) => ({
  type: VERIFIED_CONDITION,
  status,
  reason: status === 'True' ? 'Verified' : 'WrongBuild',
  message: '',
  lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z`,
});

/** The status and reason of a condition, such as `False/NodeDeleted`; `absent` when there is none. */
export function conditionOf(object: StoredObject | undefined, type: string): string {
  const found = object?.status?.conditions?.find((condition) => condition.type === type);
  return found ? `${found.status}/${found.reason}` : 'absent';
}

export const taintKeys = (node: NodeObject | undefined): string[] =>
  (node?.spec?.taints ?? []).map(({ key }) => key).sort();

export const names = (objects: readonly StoredObject[]): string[] => objects.map(({ metadata }) => metadata.name);
