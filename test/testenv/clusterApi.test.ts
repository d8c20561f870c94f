/** What Windows machines of the real Cluster API do, on which a provider of nodes relies. The machines are doubles, and their nodes run on kwok. */
import assert from 'node:assert/strict';
import { KubernetesError } from '../../controllers/kubernetes/kubernetesError.ts';
import { VERIFIED_CONDITION } from '../../controllers/windowspool/api/labels.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { CLUSTER_API, INFRASTRUCTURE, ObjectClient } from '../fakes/clusterApi/objectClient.ts';
import {
  type Machine,
  type MachinePool,
  machineDeployment,
  machinePool,
  machineTemplate,
  type StoredObject,
} from '../fakes/clusterApi/objects.ts';
import {
  BUILD,
  CLUSTER,
  conditionOf,
  GATES,
  log,
  type NodeObject,
  names,
  taintKeys,
  withClusterApi,
} from './clusterApiFixture.ts';

const OS_TAINT = { key: 'os', value: 'windows', effect: 'NoSchedule' } as const;
const GATE_TAINT = { key: 'winpool.dev/gate', effect: 'NoSchedule' } as const;
const TAINTS = [
  { ...OS_TAINT, propagation: 'Always' },
  { ...GATE_TAINT, propagation: 'OnInitialization' },
] as const;
/** A label that reaches nodes. */
const SEEN = 'node.cluster.x-k8s.io/seen';

describe('Cluster API', function () {
  this.timeout(120_000);
  const fixture = withClusterApi();

  it('gives each machine a node, with the build of its template and the taints of its bootstrap', async () => {
    const bootstrap = { key: 'example.com/bootstrap', value: 'x', effect: 'NoSchedule' };
    const machines = await fixture.deploy('web', { replicas: 2 }, { windowsBuild: BUILD, taints: [bootstrap] });
    for (const machine of machines) {
      const found = await fixture.api.until('the node to be initialized and Ready', async () => {
        const found = await fixture.node(machine);
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
    const machine = await fixture.deployOne('labels', { labels });
    const found = await fixture.api.until('the label on the node', async () => {
      const found = await fixture.node(machine);
      return found?.metadata.labels?.['node.cluster.x-k8s.io/team'] === 'shop' && found;
    });
    assert.equal(found.metadata.labels?.['winpool.dev/team'], undefined);
  });

  it('restores a taint that is Always propagated, and never one that is propagated OnInitialization', async () => {
    const machine = await fixture.deployOne('taints', { machine: { taints: TAINTS } });
    const initial = await fixture.api.until('both taints', async () => {
      const found = await fixture.node(machine);
      return taintKeys(found).join() === 'os,winpool.dev/gate' && found;
    });
    await fixture.api.client.patch('v1', 'Node', initial.metadata.name, { spec: { taints: null } });
    const restored = await fixture.api.until('the taint os again', async () => {
      const found = await fixture.node(machine);
      return taintKeys(found).includes('os') && found;
    });
    assert.deepEqual(restored.spec?.taints, [OS_TAINT]);
  });

  it('keeps a condition that another controller writes, and its readiness gate makes the machine ready', async () => {
    const machine = await fixture.deployOne('gates', { machine: { readinessGates: GATES } });
    const { name } = machine.metadata;
    const has = (ready: string, own: string) => async () => {
      const found = await fixture.api.get<Machine>('Machine', name);
      return conditionOf(found, 'Ready').startsWith(ready) && conditionOf(found, VERIFIED_CONDITION).startsWith(own);
    };
    await fixture.api.until('the machine to wait for the gate', has('Unknown', 'absent'));
    await fixture.verify(machine, 'False');
    await fixture.api.until('the machine not to be ready', has('False', 'False'));
    await fixture.verify(machine);
    await fixture.api.until('the machine to be ready', has('True', 'True'));
  });

  it('changes taints, readiness gates and labels of existing machines in place', async () => {
    const name = 'in-place';
    const machine = await fixture.deployOne(name);
    const template = { metadata: { labels: { [SEEN]: 'true' } }, spec: { taints: TAINTS, readinessGates: GATES } };
    await fixture.patch('MachineDeployment', name, { spec: { template } });
    await fixture.api.until('the label and the taint on the node', async () => {
      const found = await fixture.node(machine);
      return found?.metadata.labels?.[SEEN] === 'true' && taintKeys(found).includes(OS_TAINT.key);
    });
    // Its node was initialized before.
    assert.deepEqual(taintKeys(await fixture.node(machine)), [OS_TAINT.key]);
    await fixture.api.until('the machine to wait for the gate', async () => {
      const [found] = await fixture.machinesOf(name);
      return found?.metadata.name === machine.metadata.name && conditionOf(found, 'Ready').startsWith('Unknown');
    });
    assert.deepEqual(names(await fixture.machinesOf(name)), names([machine]));
  });

  it('reports machines whose nodes never join, are not Ready, or take long', async () => {
    const phaseOf = async (name: string) => (await fixture.machinesOf(name))[0]?.status?.phase;
    for (const [name, template] of [
      ['never', { node: 'None' }],
      ['not-ready', { node: 'NotReady' }],
      ['slow', { provisionSeconds: 3 }],
    ] as const)
      await fixture.api.apply(machineTemplate(name, template), machineDeployment(name, { cluster: CLUSTER }));
    // Not Provisioning: these machines have no bootstrap object that is reported to be ready.
    await fixture.api.until('the slow machine to exist', async () => (await phaseOf('slow')) === 'Pending');
    await fixture.api.until('the machine without a node', async () => (await phaseOf('never')) === 'Provisioned');
    await fixture.api.until('the node that is not Ready', async () =>
      conditionOf((await fixture.machinesOf('not-ready'))[0], 'NodeHealthy').startsWith('False'),
    );
    await fixture.untilNodes('slow', 1);
    const [never] = await fixture.machinesOf('never');
    assert.ok(never);
    assert.equal(never.status?.nodeRef, undefined);
    await fixture.api.client.patch(INFRASTRUCTURE, 'SimMachine', never.spec.infrastructureRef.name, {
      spec: { node: 'Ready' },
    });
    await fixture.untilNodes('never', 1);
  });

  it('has the nodes of a MachinePool in its status, and no Machines, and the newest leave when it is scaled down', async () => {
    const name = 'pool';
    await fixture.api.apply(...machinePool(name, CLUSTER, 2, { windowsBuild: BUILD }));
    const untilNodeRefs = (replicas: number) =>
      fixture.api.until(`${replicas} nodes of the MachinePool`, async () => {
        const found = await fixture.api.get<MachinePool>('MachinePool', name);
        return found?.status?.nodeRefs?.length === replicas && found;
      });
    const nodeOf = ({ name }: { name: string }) => fixture.api.client.get<NodeObject>('v1', 'Node', name);
    const { spec, status } = await untilNodeRefs(2);
    const nodes = await Promise.all((status?.nodeRefs ?? []).map(nodeOf));
    assert.deepEqual(
      nodes.map((found) => found?.spec?.providerID),
      spec.providerIDList,
    );
    assert.deepEqual(await fixture.api.machines(`cluster.x-k8s.io/pool-name=${name}`), []);
    await fixture.patch('MachinePool', name, { spec: { replicas: 1 } });
    const scaled = await untilNodeRefs(1);
    assert.deepEqual(scaled.spec.providerIDList, spec.providerIDList?.slice(0, 1));
    await fixture.api.client.delete(CLUSTER_API, 'MachinePool', name);
    await fixture.api.until('its nodes to be deleted', async () => {
      const left = await Promise.all((status?.nodeRefs ?? []).map(nodeOf));
      return left.every((found) => found === undefined);
    });
  });

  it('serves v1beta1, in which other fields have the references and the strategy', async () => {
    const name = 'versions';
    const rollout = { strategy: { type: 'OnDelete' } };
    const machine = await fixture.deployOne(name, {
      spec: { rollout },
      machine: { deletion: { nodeDrainTimeoutSeconds: 60 } },
    });
    const old = 'cluster.x-k8s.io/v1beta1';
    const ref = { apiVersion: INFRASTRUCTURE, kind: 'SimMachine', name: machine.metadata.name, namespace: 'default' };
    const inV1beta1 = await fixture.api.client.get<OldMachine>(old, 'Machine', machine.metadata.name);
    assert.deepEqual(inV1beta1?.spec.infrastructureRef, ref);
    assert.equal(inV1beta1?.spec.nodeDrainTimeout, '1m0s');
    assert.deepEqual(inV1beta1?.status?.nodeRef, {
      apiVersion: 'v1',
      kind: 'Node',
      name: machine.status?.nodeRef?.name,
    });
    const oldDeployment = await fixture.api.client.get<OldDeployment>(old, 'MachineDeployment', name);
    assert.equal(oldDeployment?.spec.strategy.type, 'OnDelete');
  });

  describe('with another cluster', () => {
    let workload: ControlPlane;
    let elsewhere: ObjectClient;
    before(async () => {
      workload = await startControlPlane({ log });
      await fixture.api.createCluster('elsewhere', workload);
      elsewhere = await ObjectClient.connect(workload.adminKubeconfig, 'test', new AbortController().signal);
    });
    after(async () => {
      elsewhere?.close();
      await workload?.stop();
    });

    it('gives machines nodes there, and none in the management cluster', async () => {
      const machine = await fixture.deployOne('far', { cluster: 'elsewhere', machine: { taints: TAINTS } });
      assert.equal(await fixture.node(machine), undefined);
      const name = machine.status?.nodeRef?.name ?? '';
      await fixture.api.until('the taints there', async () =>
        taintKeys(await elsewhere.get<NodeObject>('v1', 'Node', name)).includes(OS_TAINT.key),
      );
      await fixture.api.client.delete(CLUSTER_API, 'MachineDeployment', 'far');
      await fixture.api.until(
        'its node to be deleted',
        async () => (await elsewhere.get('v1', 'Node', name)) === undefined,
      );
    });
  });

  describe('without the feature gate MachineTaintPropagation', () => {
    before(async () => {
      await fixture.api.uninstall();
      await fixture.startApi({ taintPropagation: false });
    });

    it('rejects taints of machines', async () => {
      await fixture.api.apply(machineTemplate('tainted'));
      const tainted = machineDeployment('tainted', { cluster: CLUSTER, machine: { taints: TAINTS } });
      await assert.rejects(fixture.api.apply(tainted), (error: unknown) => {
        assert.ok(error instanceof KubernetesError);
        assert.match(error.message, /feature gate MachineTaintPropagation is disabled/);
        return true;
      });
    });
  });
});

/** Fields of v1beta1. */
interface OldMachine extends StoredObject {
  readonly spec: { readonly infrastructureRef: object; readonly nodeDrainTimeout: string };
  readonly status?: StoredObject['status'] & { readonly nodeRef: object };
}
interface OldDeployment extends StoredObject {
  readonly spec: { readonly strategy: { readonly type: string } };
}
