/** How machines of the real Cluster API are replaced and removed. The machines are doubles, and their nodes run on kwok. */
import assert from 'node:assert/strict';
import { VERIFIED_CONDITION } from '../../controllers/windowspool/api/labels.ts';
import { CLUSTER_API, INFRASTRUCTURE } from '../fakes/clusterApi/objectClient.ts';
import {
  DEPLOYMENT_LABEL,
  type Machine,
  type MachineDeployment,
  machineHealthCheck,
  machineSet,
  machineTemplate,
  SET_LABEL,
  type StoredObject,
} from '../fakes/clusterApi/objects.ts';
import { BUILD, CLUSTER, conditionOf, GATES, names, verified, withClusterApi } from './clusterApiFixture.ts';

const NEXT_BUILD = '10.0.20348.5139';
/** The condition of nodes that a MachineHealthCheck does not accept. */
const UNVERIFIED = { type: VERIFIED_CONDITION, status: 'False', timeoutSeconds: 0 } as const;
/** A label that reaches nodes. */
const SEEN = 'node.cluster.x-k8s.io/seen';

describe('machines of Cluster API', function () {
  this.timeout(120_000);
  const fixture = withClusterApi();

  /** Rolls out another template. */
  async function roll(name: string): Promise<void> {
    const template = `${name}-next`;
    await fixture.api.apply(machineTemplate(template, { windowsBuild: NEXT_BUILD }));
    const change = { infrastructureRef: { name: template } };
    await fixture.patch('MachineDeployment', name, { spec: { template: { spec: change } } });
  }
  const buildOf = async (machine: Machine) => (await fixture.node(machine))?.status?.nodeInfo?.kernelVersion;
  const deployment = (name: string) => fixture.api.get<MachineDeployment>('MachineDeployment', name);
  const untilReplaced = (name: string, { metadata }: Machine) =>
    fixture.api.until('the machine to be replaced', async () => {
      const found = await fixture.machinesOf(name);
      return found.length === 1 && !names(found).includes(metadata.name);
    });

  it('keeps old machines of a rolling update until the readiness gate of a new one is true', async () => {
    const name = 'rolling';
    const old = await fixture.deploy(name, { replicas: 2, machine: { readinessGates: GATES } });
    for (const machine of old) await fixture.verify(machine);
    await fixture.api.until(
      '2 available machines',
      async () => (await deployment(name))?.status?.availableReplicas === 2,
    );
    await roll(name);
    for (const left of [2, 1]) {
      const [added] = await fixture.api.until('a new machine with a node', async () => {
        const found = (await fixture.machinesOf(name)).filter(
          (machine) => conditionOf(machine, VERIFIED_CONDITION) === 'absent',
        );
        return found.length === 1 && conditionOf(found[0], 'NodeHealthy').startsWith('True') && found;
      });
      assert.ok(added);
      const isOld = ({ metadata }: Machine) => names(old).includes(metadata.name) && !metadata.deletionTimestamp;
      assert.equal((await fixture.machinesOf(name)).filter(isOld).length, left);
      await fixture.verify(added);
      await fixture.api.until(
        'an old machine to leave',
        async () => (await fixture.machinesOf(name)).filter(isOld).length === left - 1,
      );
    }
    const machines = await fixture.untilNodes(name, 2);
    assert.deepEqual(await Promise.all(machines.map(buildOf)), [NEXT_BUILD, NEXT_BUILD]);
  });

  it('replaces only the machines that are deleted with the strategy OnDelete', async () => {
    const name = 'on-delete';
    const spec = { rollout: { strategy: { type: 'OnDelete' } } };
    const [first, second] = await fixture.deploy(name, { replicas: 2, spec });
    assert.ok(first && second);
    await roll(name);
    await fixture.api.until('both machines to be out of date', async () =>
      (await fixture.machinesOf(name)).every((machine) => conditionOf(machine, 'UpToDate').startsWith('False')),
    );
    assert.deepEqual(names(await fixture.machinesOf(name)), names([first, second]));
    await fixture.api.client.delete(CLUSTER_API, 'Machine', first.metadata.name);
    const builds = await fixture.api.until('the replacement of the deleted machine', async () => {
      const machines = await fixture.machinesOf(name);
      const found = await Promise.all(machines.map(buildOf));
      return machines.length === 2 && !names(machines).includes(first.metadata.name) && found.every(Boolean) && found;
    });
    assert.deepEqual(builds.sort(), [BUILD, NEXT_BUILD]);
    assert.ok(names(await fixture.machinesOf(name)).includes(second.metadata.name));
  });

  it('removes the machine with the annotation delete-machine when it is scaled down', async () => {
    const name = 'alone';
    await fixture.api.apply(machineTemplate(name), machineSet(name, { cluster: CLUSTER, replicas: 3 }));
    const ofSet = () => fixture.api.machines(`${SET_LABEL}=${name}`);
    const machines = await fixture.api.until('3 machines with nodes', async () => {
      const found = await ofSet();
      return found.length === 3 && found.every(({ status }) => status?.nodeRef) && found;
    });
    const [first, second, third] = machines;
    assert.ok(first && second && third);
    const annotations = { 'cluster.x-k8s.io/delete-machine': 'true' };
    await fixture.patch('Machine', second.metadata.name, { metadata: { annotations } });
    await fixture.patch('MachineSet', name, { spec: { replicas: 2 } });
    await fixture.api.until('2 machines', async () => (await ofSet()).length === 2);
    assert.deepEqual(names(await ofSet()), names([first, third]));
    await fixture.api.until('the node to be gone', async () => (await fixture.node(second)) === undefined);
  });

  it('deletes a MachineDeployment with its machines and nodes', async () => {
    const name = 'deleted';
    const machine = await fixture.deployOne(name);
    await fixture.api.client.delete(CLUSTER_API, 'MachineDeployment', name);
    await fixture.api.until('everything to be deleted', async () => {
      const sims = await fixture.api.client.list(INFRASTRUCTURE, 'SimMachine', `${DEPLOYMENT_LABEL}=${name}`);
      return [...(await fixture.machinesOf(name)), ...sims].length === 0 && (await fixture.node(machine)) === undefined;
    });
  });

  it('drains a node before its machine leaves, until the annotation exclude-node-draining is set', async () => {
    const name = 'drained';
    const machine = await fixture.deployOne(name, { machine: { deletion: { nodeDrainTimeoutSeconds: 600 } } });
    const nodeName = machine.status?.nodeRef?.name ?? '';
    await fixture.api.apply(...blockedPod(nodeName));
    await fixture.api.until('the pod to run', async () => {
      const pod = await fixture.api.client.get<PodObject>('v1', 'Pod', 'blocked');
      return pod?.status?.phase === 'Running';
    });
    await fixture.api.client.delete(CLUSTER_API, 'Machine', machine.metadata.name);
    await fixture.api.until('the drain to be reported', async () => {
      const found = await fixture.api.get<Machine>('Machine', machine.metadata.name);
      return conditionOf(found, 'Deleting') === 'True/DrainingNode';
    });
    assert.equal((await fixture.node(machine))?.spec?.unschedulable, true);
    const annotations = { 'machine.cluster.x-k8s.io/exclude-node-draining': '' };
    await fixture.patch('Machine', machine.metadata.name, { metadata: { annotations } });
    await fixture.api.until('the node to be deleted', async () => (await fixture.node(machine)) === undefined);
  });

  it('replaces a machine whose node has a condition of a MachineHealthCheck', async () => {
    const name = 'checked';
    const machines = await fixture.deploy(name, { replicas: 2 });
    const [bad, good] = machines;
    assert.ok(bad && good);
    await fixture.api.apply(machineHealthCheck(name, CLUSTER, { [DEPLOYMENT_LABEL]: name }, [UNVERIFIED]));
    await fixture.api.until('the health check to have seen both', async () =>
      (await fixture.machinesOf(name)).every((machine) =>
        conditionOf(machine, 'HealthCheckSucceeded').startsWith('True'),
      ),
    );
    const nodeName = bad.status?.nodeRef?.name ?? '';
    const status = { conditions: [verified('False')] };
    await fixture.api.client.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName }, status }, 'status');
    await fixture.api.until('the machine to be replaced', async () => {
      const found = await fixture.machinesOf(name);
      return found.length === 2 && !names(found).includes(bad.metadata.name);
    });
    assert.ok(names(await fixture.machinesOf(name)).includes(good.metadata.name));
  });

  it('replaces a machine with the annotation remediate-machine only if a MachineHealthCheck selects it', async () => {
    const name = 'annotated';
    const machine = await fixture.deployOne(name);
    const annotations = { 'cluster.x-k8s.io/remediate-machine': '' };
    const labels = { [SEEN]: 'true' };
    await fixture.patch('Machine', machine.metadata.name, { metadata: { annotations, labels } });
    await fixture.api.until(
      'the machine to be reconciled',
      async () => (await fixture.node(machine))?.metadata.labels?.[SEEN] === 'true',
    );
    assert.deepEqual(names(await fixture.machinesOf(name)), names([machine]));
    await fixture.api.apply(machineHealthCheck(name, CLUSTER, { [DEPLOYMENT_LABEL]: name }, [UNVERIFIED]));
    await untilReplaced(name, machine);
  });

  it('reports a node that is deleted, and replaces its machine only if a MachineHealthCheck selects it', async () => {
    const name = 'lost';
    const machine = await fixture.deployOne(name);
    await fixture.api.client.delete('v1', 'Node', machine.status?.nodeRef?.name ?? '');
    await fixture.api.until('the deleted node to be reported', async () => {
      const [found] = await fixture.machinesOf(name);
      return conditionOf(found, 'NodeHealthy') === 'False/NodeDeleted';
    });
    const [found] = await fixture.machinesOf(name);
    assert.deepEqual([found?.status?.phase, found?.status?.nodeRef], ['Running', machine.status?.nodeRef]);
    await fixture.api.apply(machineHealthCheck(name, CLUSTER, { [DEPLOYMENT_LABEL]: name }, [UNVERIFIED]));
    await untilReplaced(name, machine);
  });
});

interface PodObject extends StoredObject {
  readonly status?: StoredObject['status'] & { readonly phase?: string };
}

/** A pod on the node, and a PodDisruptionBudget that does not allow its eviction. */
function blockedPod(nodeName: string) {
  const metadata = { name: 'blocked', namespace: 'default', labels: { app: 'blocked' } };
  const containers = [{ name: 'main', image: 'example.com/app' }];
  const pod = { nodeName, containers, tolerations: [{ operator: 'Exists' }] };
  const budget = { minAvailable: 1, selector: { matchLabels: metadata.labels } };
  return [
    { apiVersion: 'v1', kind: 'Pod', metadata, spec: pod },
    { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: budget },
  ];
}
