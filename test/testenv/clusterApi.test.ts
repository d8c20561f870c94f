/** What Windows machines of the real Cluster API do, on which a provider of nodes relies. The machines are doubles, and their nodes run on kwok. */
import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import { KubernetesError } from '../../controllers/kubernetes/kubernetesError.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { type ClusterApi, startClusterApi } from '../fakes/clusterApi/clusterApi.ts';
import { CLUSTER_API, INFRASTRUCTURE, ObjectClient } from '../fakes/clusterApi/objectClient.ts';
import {
  DEPLOYMENT_LABEL,
  type Machine,
  type MachineDeployment,
  type MachinePool,
  type MachineSetParts,
  machineDeployment,
  machineHealthCheck,
  machinePool,
  machineSet,
  machineTemplate,
  SET_LABEL,
  type SimMachineSpec,
  type StoredObject,
} from '../fakes/clusterApi/objects.ts';

const VERIFIED = 'winpool.dev/Verified';
const GATES = [{ conditionType: VERIFIED }];
const OS_TAINT = { key: 'os', value: 'windows', effect: 'NoSchedule' } as const;
const GATE_TAINT = { key: 'winpool.dev/gate', effect: 'NoSchedule' } as const;
const TAINTS = [
  { ...OS_TAINT, propagation: 'Always' },
  { ...GATE_TAINT, propagation: 'OnInitialization' },
] as const;
const BUILD = '10.0.20348.5020';
const NEXT_BUILD = '10.0.20348.5139';
const CLUSTER = 'here';
const CLUSTER_APART = 'apart';

type NodeObject = StoredObject & Pick<Wire<V1Node>, 'spec'> & { readonly status: Wire<V1Node>['status'] };

describe('Cluster API', function () {
  this.timeout(120_000);
  let plane: ControlPlane;
  let workload: ControlPlane;
  let api: ClusterApi;
  let elsewhere: ObjectClient;
  const log = (line: string) => console.log(`    ${line}`);

  before(async function () {
    this.timeout(600_000);
    [plane, workload] = await Promise.all([startControlPlane({ log }), startControlPlane({ log })]);
    api = await startClusterApi(plane, { log });
    await Promise.all([api.createCluster(CLUSTER, plane), api.createCluster(CLUSTER_APART, workload)]);
    elsewhere = await ObjectClient.connect(workload.adminKubeconfig, 'test', new AbortController().signal);
  });
  after(async () => {
    elsewhere?.close();
    await api?.stop();
    await Promise.all([plane?.stop(), workload?.stop()]);
  });

  const node = (machine: Machine) => api.client.get<NodeObject>('v1', 'Node', machine.status?.nodeRef?.name ?? '');
  const taintKeys = (found: NodeObject | undefined) => (found?.spec?.taints ?? []).map(({ key }) => key).sort();
  const conditionOf = (object: StoredObject | undefined, type: string) => {
    const found = object?.status?.conditions?.find((condition) => condition.type === type);
    return found ? `${found.status}/${found.reason}` : 'absent';
  };
  const ofDeployment = (name: string) => api.machines(`${DEPLOYMENT_LABEL}=${name}`);
  const names = (objects: readonly StoredObject[]) => objects.map(({ metadata }) => metadata.name);

  /** Creates a template and a MachineDeployment, and waits until its machines have nodes. */
  async function deploy(
    name: string,
    parts: Partial<MachineSetParts> = {},
    template: SimMachineSpec = { windowsBuild: BUILD },
  ): Promise<Machine[]> {
    await api.apply(machineTemplate(name, template), machineDeployment(name, { cluster: CLUSTER, ...parts }));
    return untilNodes(name, parts.replicas ?? 1);
  }
  /** The machines of a MachineDeployment, as soon as there are that many and each has a node. */
  const untilNodes = (name: string, replicas: number) =>
    api.until(`${replicas} machines of ${name} with nodes`, async () => {
      const found = await ofDeployment(name);
      return found.length === replicas && found.every(({ status }) => status?.nodeRef) && found;
    });
  const patch = (kind: string, name: string, body: object) => api.client.patch(CLUSTER_API, kind, name, body);
  /** Rolls out another template. */
  async function roll(name: string): Promise<void> {
    const template = `${name}-next`;
    await api.apply(machineTemplate(template, { windowsBuild: NEXT_BUILD }));
    await patch('MachineDeployment', name, { spec: { template: { spec: { infrastructureRef: { name: template } } } } });
  }
  /** Writes the condition to the Machine, as a controller of the readiness gate does. */
  const verify = (machine: Machine, status = 'True') =>
    api.client.apply({ ...machineStatus(machine), status: { conditions: [verified(status)] } }, 'status');
  const buildOf = async (machine: Machine) => (await node(machine))?.status?.nodeInfo?.kernelVersion;

  it('gives each machine a node, with the build of its template and the taints of its bootstrap', async () => {
    const bootstrap = { key: 'example.com/bootstrap', value: 'x', effect: 'NoSchedule' };
    const machines = await deploy('web', { replicas: 2 }, { windowsBuild: BUILD, taints: [bootstrap] });
    for (const machine of machines) {
      const found = await api.until('the node to be initialized and Ready', async () => {
        const found = await node(machine);
        return conditionOf(found, 'Ready').startsWith('True') && taintKeys(found).length === 1 && found;
      });
      assert.equal(found.spec?.providerID, machine.spec.providerID);
      assert.equal(found.status?.nodeInfo?.kernelVersion, BUILD);
      assert.equal(found.metadata.labels?.['kubernetes.io/os'], 'windows');
      assert.deepEqual(found.spec?.taints, [bootstrap]);
      assert.equal(found.metadata.annotations?.['cluster.x-k8s.io/machine'], machine.metadata.name);
    }
  });

  it('propagates labels of the machine to its node, but only those with certain prefixes', async () => {
    const labels = { 'node.cluster.x-k8s.io/team': 'shop', 'winpool.dev/team': 'shop' };
    const [machine] = await deploy('labels', { labels });
    assert.ok(machine);
    const found = await api.until('the label on the node', async () => {
      const found = await node(machine);
      return found?.metadata.labels?.['node.cluster.x-k8s.io/team'] === 'shop' && found;
    });
    assert.equal(found.metadata.labels?.['winpool.dev/team'], undefined);
  });

  it('restores a taint that is Always propagated, and never one that is propagated OnInitialization', async () => {
    const [machine] = await deploy('taints', { machine: { taints: TAINTS } });
    assert.ok(machine);
    const initial = await api.until('both taints', async () => {
      const found = await node(machine);
      return taintKeys(found).join() === 'os,winpool.dev/gate' && found;
    });
    await api.client.patch('v1', 'Node', initial.metadata.name, { spec: { taints: null } });
    const restored = await api.until('the taint os again', async () => {
      const found = await node(machine);
      return taintKeys(found).includes('os') && found;
    });
    assert.deepEqual(restored.spec?.taints, [OS_TAINT]);
  });

  it('keeps a condition that another controller writes, and its readiness gate makes the machine ready', async () => {
    const [machine] = await deploy('gates', { machine: { readinessGates: GATES } });
    assert.ok(machine);
    const { name } = machine.metadata;
    const has = (ready: string, own: string) => async () => {
      const found = await api.get<Machine>('Machine', name);
      return conditionOf(found, 'Ready').startsWith(ready) && conditionOf(found, VERIFIED).startsWith(own);
    };
    await api.until('the machine to wait for the gate', has('Unknown', 'absent'));
    await verify(machine, 'False');
    await api.until('the machine not to be ready', has('False', 'False'));
    await verify(machine);
    await api.until('the machine to be ready', has('True', 'True'));
  });

  it('keeps old machines of a rolling update until the readiness gate of a new one is true', async () => {
    const name = 'rolling';
    const old = await deploy(name, { replicas: 2, machine: { readinessGates: GATES } });
    for (const machine of old) await verify(machine);
    await api.until('2 available machines', async () => (await deployment(name))?.status?.availableReplicas === 2);
    await roll(name);
    for (const left of [2, 1]) {
      const [added] = await api.until('a new machine with a node', async () => {
        const found = (await ofDeployment(name)).filter((machine) => conditionOf(machine, VERIFIED) === 'absent');
        return found.length === 1 && conditionOf(found[0], 'NodeHealthy').startsWith('True') && found;
      });
      assert.ok(added);
      const isOld = ({ metadata }: Machine) => names(old).includes(metadata.name) && !metadata.deletionTimestamp;
      assert.equal((await ofDeployment(name)).filter(isOld).length, left);
      await verify(added);
      await api.until(
        'an old machine to leave',
        async () => (await ofDeployment(name)).filter(isOld).length === left - 1,
      );
    }
    const machines = await untilNodes(name, 2);
    assert.deepEqual(await Promise.all(machines.map(buildOf)), [NEXT_BUILD, NEXT_BUILD]);
  });

  it('replaces only the machines that are deleted with the strategy OnDelete', async () => {
    const name = 'on-delete';
    const spec = { rollout: { strategy: { type: 'OnDelete' } } };
    const [first, second] = await deploy(name, { replicas: 2, spec });
    assert.ok(first && second);
    await roll(name);
    await api.until('both machines to be out of date', async () =>
      (await ofDeployment(name)).every((machine) => conditionOf(machine, 'UpToDate').startsWith('False')),
    );
    assert.deepEqual(names(await ofDeployment(name)), names([first, second]));
    await api.client.delete(CLUSTER_API, 'Machine', first.metadata.name);
    const builds = await api.until('the replacement of the deleted machine', async () => {
      const machines = await ofDeployment(name);
      const found = await Promise.all(machines.map(buildOf));
      return machines.length === 2 && !names(machines).includes(first.metadata.name) && found.every(Boolean) && found;
    });
    assert.deepEqual(builds.sort(), [BUILD, NEXT_BUILD]);
    assert.ok(names(await ofDeployment(name)).includes(second.metadata.name));
  });

  it('removes the machine with the annotation delete-machine when it is scaled down', async () => {
    const name = 'alone';
    await api.apply(machineTemplate(name), machineSet(name, { cluster: CLUSTER, replicas: 3 }));
    const ofSet = () => api.machines(`${SET_LABEL}=${name}`);
    const machines = await api.until('3 machines with nodes', async () => {
      const found = await ofSet();
      return found.length === 3 && found.every(({ status }) => status?.nodeRef) && found;
    });
    const [first, second, third] = machines;
    assert.ok(first && second && third);
    const annotations = { 'cluster.x-k8s.io/delete-machine': 'true' };
    await patch('Machine', second.metadata.name, { metadata: { annotations } });
    await patch('MachineSet', name, { spec: { replicas: 2 } });
    await api.until('2 machines', async () => (await ofSet()).length === 2);
    assert.deepEqual(names(await ofSet()), names([first, third]));
    await api.until('the node to be gone', async () => (await node(second)) === undefined);
  });

  it('replaces a machine whose node has a condition of a MachineHealthCheck', async () => {
    const name = 'checked';
    const machines = await deploy(name, { replicas: 2 });
    const [bad, good] = machines;
    assert.ok(bad && good);
    const condition = { type: VERIFIED, status: 'False', timeoutSeconds: 0 };
    await api.apply(machineHealthCheck(name, CLUSTER, { [DEPLOYMENT_LABEL]: name }, [condition]));
    await api.until('the health check to have seen both', async () =>
      (await ofDeployment(name)).every((machine) => conditionOf(machine, 'HealthCheckSucceeded').startsWith('True')),
    );
    const nodeName = bad.status?.nodeRef?.name ?? '';
    const status = { conditions: [verified('False')] };
    await api.client.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName }, status }, 'status');
    await api.until('the machine to be replaced', async () => {
      const found = await ofDeployment(name);
      return found.length === 2 && !names(found).includes(bad.metadata.name);
    });
    assert.ok(names(await ofDeployment(name)).includes(good.metadata.name));
  });

  it('reports machines whose nodes never join, are not Ready, or take long', async () => {
    const phaseOf = async (name: string) => (await ofDeployment(name))[0]?.status?.phase;
    for (const [name, template] of [
      ['never', { node: 'None' }],
      ['not-ready', { node: 'NotReady' }],
      ['slow', { provisionSeconds: 3 }],
    ] as const)
      await api.apply(machineTemplate(name, template), machineDeployment(name, { cluster: CLUSTER }));
    // Not Provisioning: these machines have no bootstrap object that is reported to be ready.
    await api.until('the slow machine to exist', async () => (await phaseOf('slow')) === 'Pending');
    await api.until('the machine without a node', async () => (await phaseOf('never')) === 'Provisioned');
    await api.until('the node that is not Ready', async () =>
      conditionOf((await ofDeployment('not-ready'))[0], 'NodeHealthy').startsWith('False'),
    );
    await untilNodes('slow', 1);
    const [never] = await ofDeployment('never');
    assert.ok(never);
    assert.equal(never.status?.nodeRef, undefined);
    await api.client.patch(INFRASTRUCTURE, 'SimMachine', never.spec.infrastructureRef.name, {
      spec: { node: 'Ready' },
    });
    await untilNodes('never', 1);
  });

  it('deletes a MachineDeployment with its machines and nodes', async () => {
    const name = 'deleted';
    const [machine] = await deploy(name);
    assert.ok(machine);
    await api.client.delete(CLUSTER_API, 'MachineDeployment', name);
    await api.until('everything to be deleted', async () => {
      const sims = await api.client.list(INFRASTRUCTURE, 'SimMachine', `${DEPLOYMENT_LABEL}=${name}`);
      return [...(await ofDeployment(name)), ...sims].length === 0 && (await node(machine)) === undefined;
    });
  });

  it('has the nodes of a MachinePool in its status, and no Machines, and the newest leave when it is scaled down', async () => {
    const name = 'pool';
    await api.apply(...machinePool(name, CLUSTER, 2, { windowsBuild: BUILD }));
    const untilNodeRefs = (replicas: number) =>
      api.until(`${replicas} nodes of the MachinePool`, async () => {
        const found = await api.get<MachinePool>('MachinePool', name);
        return found?.status?.nodeRefs?.length === replicas && found;
      });
    const nodeOf = ({ name }: { name: string }) => api.client.get<NodeObject>('v1', 'Node', name);
    const { spec, status } = await untilNodeRefs(2);
    const nodes = await Promise.all((status?.nodeRefs ?? []).map(nodeOf));
    assert.deepEqual(
      nodes.map((found) => found?.spec?.providerID),
      spec.providerIDList,
    );
    assert.deepEqual(await api.machines(`cluster.x-k8s.io/pool-name=${name}`), []);
    await patch('MachinePool', name, { spec: { replicas: 1 } });
    const scaled = await untilNodeRefs(1);
    assert.deepEqual(scaled.spec.providerIDList, spec.providerIDList?.slice(0, 1));
    await api.client.delete(CLUSTER_API, 'MachinePool', name);
    await api.until('its nodes to be deleted', async () => {
      const left = await Promise.all((status?.nodeRefs ?? []).map(nodeOf));
      return left.every((found) => found === undefined);
    });
  });

  it('serves v1beta1, in which other fields have the references and the strategy', async () => {
    const name = 'versions';
    const rollout = { strategy: { type: 'OnDelete' } };
    const [machine] = await deploy(name, { spec: { rollout }, machine: { deletion: { nodeDrainTimeoutSeconds: 60 } } });
    assert.ok(machine);
    const old = 'cluster.x-k8s.io/v1beta1';
    const ref = { apiVersion: INFRASTRUCTURE, kind: 'SimMachine', name: machine.metadata.name, namespace: 'default' };
    const inV1beta1 = await api.client.get<OldMachine>(old, 'Machine', machine.metadata.name);
    assert.deepEqual(inV1beta1?.spec.infrastructureRef, ref);
    assert.equal(inV1beta1?.spec.nodeDrainTimeout, '1m0s');
    assert.deepEqual(inV1beta1?.status?.nodeRef, {
      apiVersion: 'v1',
      kind: 'Node',
      name: machine.status?.nodeRef?.name,
    });
    const oldDeployment = await api.client.get<OldDeployment>(old, 'MachineDeployment', name);
    assert.equal(oldDeployment?.spec.strategy.type, 'OnDelete');
  });

  it('gives machines of a Cluster elsewhere nodes there, and none in the management cluster', async () => {
    const [machine] = await deploy('far', { cluster: CLUSTER_APART, machine: { taints: TAINTS } });
    assert.ok(machine);
    assert.equal(await node(machine), undefined);
    const name = machine.status?.nodeRef?.name ?? '';
    await api.until('the taints there', async () =>
      taintKeys(await elsewhere.get<NodeObject>('v1', 'Node', name)).includes(OS_TAINT.key),
    );
    await api.client.delete(CLUSTER_API, 'MachineDeployment', 'far');
    await api.until('its node to be deleted', async () => (await elsewhere.get('v1', 'Node', name)) === undefined);
  });

  describe('without the feature gate MachineTaintPropagation', () => {
    before(async () => {
      await api.uninstall();
      api = await startClusterApi(plane, { log, taintPropagation: false });
      await api.createCluster(CLUSTER, plane);
    });

    it('rejects taints of machines', async () => {
      await api.apply(machineTemplate('tainted'));
      const tainted = machineDeployment('tainted', { cluster: CLUSTER, machine: { taints: TAINTS } });
      await assert.rejects(api.apply(tainted), (error: unknown) => {
        assert.ok(error instanceof KubernetesError);
        assert.match(error.message, /feature gate MachineTaintPropagation is disabled/);
        return true;
      });
    });
  });

  const deployment = (name: string) => api.get<MachineDeployment>('MachineDeployment', name);
});

/** Fields of v1beta1. */
interface OldMachine extends StoredObject {
  readonly spec: { readonly infrastructureRef: object; readonly nodeDrainTimeout: string };
  readonly status?: StoredObject['status'] & { readonly nodeRef: object };
}
interface OldDeployment extends StoredObject {
  readonly spec: { readonly strategy: { readonly type: string } };
}

const machineStatus = ({ metadata: { name } }: Machine) => ({
  apiVersion: CLUSTER_API,
  kind: 'Machine',
  metadata: { name, namespace: 'default' },
});

const verified = (status: string) => ({
  type: VERIFIED,
  status,
  reason: status === 'True' ? 'Verified' : 'WrongBuild',
  message: '',
  lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z`,
});
