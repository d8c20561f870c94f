/** Pools of machines with the real core controllers of Cluster API. The machines are doubles, and their nodes run on kwok. */
import assert from 'node:assert/strict';
import type { MachinesSpec, WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { GATE_TAINT_KEY, POOL_KEY } from '../../controllers/windowspool/api/labels.ts';
import { type ClusterApi, startClusterApi } from '../fakes/clusterApi/clusterApi.ts';
import { CLUSTER_API, INFRASTRUCTURE } from '../fakes/clusterApi/objectClient.ts';
import {
  DEPLOYMENT_LABEL,
  type Machine,
  type MachinePool,
  type MachineSetParts,
  machineDeployment,
  machineHealthCheck,
  machinePool,
  machineSet,
  machineTemplate,
  POOL_LABEL,
  SET_LABEL,
  type StoredObject,
} from '../fakes/clusterApi/objects.ts';
import { messageOf, READY } from '../fakes/testenv/testEnv.ts';
import { withOperator } from '../sharedWorld.ts';
import {
  changeRole,
  changeTemplatesRole,
  deploymentPool,
  namesOf,
  settled,
  specOf,
  templatePool,
} from './machinesFixture.ts';
import { onOldApiServer } from './onOldApiServer.ts';

const BUILD = '10.0.20348.5020';

describe('a pool of machines of Cluster API', function () {
  this.timeout(120_000);
  const fixture = withOperator('--resync-interval=2s', '--join-grace=5s');
  let api: ClusterApi;

  before(async function () {
    this.timeout(900_000);
    await changeRole(fixture, 'apply');
    await changeTemplatesRole(fixture, 'apply');
    const { controlPlane } = fixture.world;
    api = await startClusterApi(controlPlane, { log: (line) => console.log(`    ${line}`) });
    await api.createCluster('here', controlPlane);
  });
  after(async () => {
    await fixture.world.kubectl('delete', 'windowspools', '--all', '--timeout=50s');
    await api?.uninstall();
    await changeTemplatesRole(fixture, 'delete');
    await changeRole(fixture, 'delete');
  });

  const poolOf = (name: string, machines: Partial<MachinesSpec> = {}, spec: object = {}) => ({
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name },
    spec: {
      windowsVersion: 'Windows2022',
      machines: {
        ref: { apiVersion: CLUSTER_API, kind: 'MachineDeployment', namespace: 'default', name },
        ...machines,
      },
      ...spec,
    },
  });

  /** Creates a MachineDeployment that a pool may use, and the pool. */
  async function create(
    name: string,
    parts: Partial<MachineSetParts> = {},
    spec: object = {},
    machines: Partial<MachinesSpec> = {},
  ): Promise<void> {
    await api.apply(
      machineTemplate(name, { windowsBuild: BUILD }),
      machineDeployment(name, { cluster: 'here', ...parts }),
    );
    await allow(name);
    await fixture.world.apply(poolOf(name, machines, spec));
  }
  const allow = (name: string) =>
    fixture.world.kubectl('annotate', 'machinedeployments.cluster.x-k8s.io', name, `winpool.dev/usable-by=${name}`);
  const machinesOf = (name: string) => api.machines(`${DEPLOYMENT_LABEL}=${name}`);
  const nodesOf = async (name: string) => (await machinesOf(name)).map(({ status }) => status?.nodeRef?.name ?? '');

  it('becomes Ready: its nodes have its labels and taints, and are verified', async () => {
    const { world } = fixture;
    await create('web', { replicas: 3 });
    await world.waitForConditions('web', READY);
    const pool = await settled(fixture, 'web', 3);
    assert.deepEqual(pool?.status?.machines, {
      replicas: 3,
      total: 3,
      withoutNode: 0,
      deleting: 0,
      outdated: 0,
      infrastructureTemplate: 'SimMachineTemplate/web',
    });
    for (const name of await nodesOf('web')) {
      const node = JSON.parse(await world.kubectl('get', 'node', name, '-o', 'json'));
      assert.equal(node.metadata.labels[POOL_KEY], 'web');
      assert.ok(node.spec.taints.some(({ key }: { key: string }) => key === 'os'));
    }
    await world.kubectl('get', 'runtimeclass', 'windows-2022');
  });

  it('replaces a node with the annotation by deleting its Machine, after a drain', async () => {
    const before = await machinesOf('web');
    const old = before[0] ?? assert.fail('no machine');
    const node = old.status?.nodeRef?.name ?? '';
    await fixture.world.kubectl('annotate', 'node', node, 'winpool.dev/replace=true');
    await fixture.until(
      'the Machine to be gone',
      async () => !namesOf(await machinesOf('web')).includes(old.metadata.name),
    );
    await settled(fixture, 'web', 3);
    const after = namesOf(await machinesOf('web'));
    assert.deepEqual(
      namesOf(before.slice(1)).filter((name) => !after.includes(name)),
      [],
    );
  });

  it('removes a node with the annotation, and exactly this one', async () => {
    const before = await machinesOf('web');
    const middle = before[1] ?? assert.fail('no machine');
    await fixture.world.kubectl('annotate', 'node', middle.status?.nodeRef?.name ?? '', 'winpool.dev/remove=true');
    await settled(fixture, 'web', 2);
    assert.deepEqual(
      namesOf(await machinesOf('web')),
      namesOf(before).filter((name) => name !== middle.metadata.name),
    );
  });

  it('sets the size once, and keeps what others set later', async () => {
    const { world } = fixture;
    await world.kubectl('patch', 'windowspool', 'web', '--type=merge', '-p', '{"spec":{"machines":{"desiredSize":4}}}');
    await settled(fixture, 'web', 4);
    await world.kubectl('scale', 'machinedeployments.cluster.x-k8s.io', 'web', '--replicas=1');
    await settled(fixture, 'web', 1);
  });

  it('reads the same object in v1beta1', async () => {
    const ref = { machines: { ref: { apiVersion: 'cluster.x-k8s.io/v1beta1' } } };
    await fixture.world.patchPool('web', ref);
    await settled(fixture, 'web', 1);
    await fixture.world.patchPool('web', { machines: { desiredSize: 2 } });
    await settled(fixture, 'web', 2);
  });

  it('waits while the controller of the Machines rolls out another template', async () => {
    await create('rolling', {
      replicas: 2,
      spec: { rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } } },
    });
    await settled(fixture, 'rolling', 2);
    await api.apply(machineTemplate('rolling-slow', { windowsBuild: '10.0.20348.5139', provisionSeconds: 2 }));
    const template = { spec: { template: { spec: { infrastructureRef: { name: 'rolling-slow' } } } } };
    await api.client.patch(CLUSTER_API, 'MachineDeployment', 'rolling', template);
    const rolling = await fixture.world.waitForConditions('rolling', 'MachinesReady=False/MachinesRollingOut');
    assert.match(messageOf(rolling, 'MachinesReady'), /MachineDeployment default\/rolling replaces its Machines/);
    const pool = await settled(fixture, 'rolling', 2);
    assert.equal(pool?.status?.summary?.build, '10.0.20348.5139');
  });

  it('opens the gate of nodes that get it from their Machines, which have the taint of Windows, too', async () => {
    const { world } = fixture;
    const taints = [
      { key: 'os', value: 'windows', effect: 'NoSchedule', propagation: 'Always' },
      { key: GATE_TAINT_KEY, effect: 'NoSchedule', propagation: 'OnInitialization' },
    ] as const;
    await create('gated', { replicas: 2, machine: { taints } }, { verification: { policy: 'Gate' } });
    await settled(fixture, 'gated', 2);
    const pool = await world.waitForPool('gated', 'to have no gated node', (one) => one?.status?.nodes?.gated === 0);
    assert.doesNotMatch(messageOf(pool, 'NodesVerified'), /warning/);
    for (const name of await nodesOf('gated')) {
      const node = JSON.parse(await world.kubectl('get', 'node', name, '-o', 'json'));
      assert.deepEqual(
        (node.spec.taints ?? []).map(({ key }: { key: string }) => key),
        ['os'],
      );
    }
  });

  it('lets a rollout go on only when the new node is verified', async () => {
    const machine = { readinessGates: [{ conditionType: 'winpool.dev/Verified' }] };
    await create('trusted', { replicas: 1, machine });
    await settled(fixture, 'trusted', 1);
    // The conditions of v1beta2 have another place in v1beta1.
    await fixture.world.patchPool('trusted', { machines: { ref: { apiVersion: 'cluster.x-k8s.io/v1beta1' } } });
    const [old] = await machinesOf('trusted');
    const isReady = ({ status }: Machine) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
    await api.until('the Machine to be Ready', async () => (await machinesOf('trusted')).every(isReady));
    const roll = (template: string) =>
      api.client.patch(CLUSTER_API, 'MachineDeployment', 'trusted', {
        spec: { template: { spec: { infrastructureRef: { name: template } } } },
      });
    await api.apply(machineTemplate('trusted-wrong', { windowsBuild: '10.0.17763.5000' }));
    await roll('trusted-wrong');
    await fixture.world.waitForConditions('trusted', 'NodesVerified=False/WrongBuild');
    const failing = await api.until('the new Machine to have the result', async () =>
      (await machinesOf('trusted')).find(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === 'winpool.dev/Verified' && is === 'False'),
      ),
    );
    const names = namesOf(await machinesOf('trusted'));
    assert.deepEqual(names.toSorted(), [old?.metadata.name ?? '', failing.metadata.name].toSorted());
    await api.apply(machineTemplate('trusted-right', { windowsBuild: '10.0.20348.5139' }));
    await roll('trusted-right');
    const pool = await settled(fixture, 'trusted', 1);
    assert.equal(pool?.status?.summary?.build, '10.0.20348.5139');
  });

  it('replaces the Machines of an earlier template one by one, after each new node is verified', async () => {
    const { world } = fixture;
    const spec = { rollout: { strategy: { type: 'OnDelete' } } };
    await create('renewed', { replicas: 2, spec }, {}, { update: { policy: 'Automatic' } });
    await settled(fixture, 'renewed', 2);
    await api.untilCounted('renewed', 2);
    const before = namesOf(await machinesOf('renewed'));
    const roll = async (windowsBuild: string) => {
      const name = `renewed-${windowsBuild.replaceAll('.', '-')}`;
      await api.apply(machineTemplate(name, { windowsBuild }));
      const template = { spec: { template: { spec: { infrastructureRef: { name } } } } };
      await api.client.patch(CLUSTER_API, 'MachineDeployment', 'renewed', template);
    };
    await roll('10.0.17763.5000');
    const halted = await world.waitForConditions('renewed', 'MachinesReady=False/RolloutHalted');
    assert.match(
      messageOf(halted, 'MachinesReady'),
      /runs .*10\.0\.17763.* 1 Machine of an earlier template is not replaced/,
    );
    const kept = namesOf(await machinesOf('renewed')).filter((name) => before.includes(name));
    assert.equal(kept.length, 1, 'another node was replaced');
    await roll('10.0.20348.5139');
    await world.waitForPool(
      'renewed',
      'to have two verified nodes of the current template',
      ({ status } = {} as WindowsPool) => status?.nodes?.verified === 2 && status.summary?.build === '10.0.20348.5139',
    );
    await settled(fixture, 'renewed', 2);
  });

  it('changes nothing without permission, and shows the command that gives it', async () => {
    const { world } = fixture;
    await api.apply(
      machineTemplate('foreign', { windowsBuild: BUILD }),
      machineDeployment('foreign', { cluster: 'here' }),
    );
    await world.apply(poolOf('foreign', { desiredSize: 2 }));
    const pool = await world.waitForConditions('foreign', 'MachinesReady=False/MachineSetNotUsable');
    const [, command = ''] = /Allow it: kubectl (.*)$/.exec(messageOf(pool, 'MachinesReady')) ?? [];
    const found = await world.waitForPool('foreign', 'to have a node', (one) => one?.status?.nodes?.verified === 1);
    assert.equal(found?.status?.machines?.replicas, 1);
    await world.kubectl(...command.split(' '));
    await settled(fixture, 'foreign', 2);
  });

  it('replaces a node that fails for too long', async () => {
    const remediation = { policy: 'Replace', unhealthyAfter: '1m', maxUnhealthy: 1 };
    await create(
      'remedied',
      { replicas: 2 },
      { remediation, verification: { unhealthyConditions: [{ type: 'Broken', status: 'True' }] } },
    );
    await settled(fixture, 'remedied', 2);
    const bad = (await machinesOf('remedied'))[0] ?? assert.fail('no machine');
    const lastTransitionTime = new Date().toISOString();
    const broken = { type: 'Broken', status: 'True', reason: 'Test', message: 'It is broken.', lastTransitionTime };
    const patch = JSON.stringify({ status: { conditions: [broken] } });
    const node = bad.status?.nodeRef?.name ?? '';
    await fixture.world.kubectl('patch', 'node', node, '--subresource=status', '-p', patch);
    const isReplaced = async () => !namesOf(await machinesOf('remedied')).includes(bad.metadata.name);
    // Two controllers must not replace the same nodes.
    const conditions = [{ type: 'Broken', status: 'True', timeoutSeconds: 3_600 }];
    await api.apply(machineHealthCheck('remedied', 'here', { [DEPLOYMENT_LABEL]: 'remedied' }, conditions));
    await fixture.world.waitForConditions('remedied', 'RemediationAllowed=False/RemediatedByHealthCheck');
    assert.ok(!(await isReplaced()));
    await api.client.delete(CLUSTER_API, 'MachineHealthCheck', 'remedied');
    await api.until('its Machine to be replaced', isReplaced, 100_000);
    await settled(fixture, 'remedied', 2);
  });

  it('reports Machines that get no node', async () => {
    await api.apply(machineTemplate('late', { node: 'None' }), machineDeployment('late', { cluster: 'here' }));
    await fixture.world.apply(poolOf('late'));
    const pool = await fixture.world.waitForConditions('late', 'MachinesReady=False/MachinesWithoutNode');
    assert.match(messageOf(pool, 'MachinesReady'), /kubectl -n default describe machines\.cluster\.x-k8s\.io late-/);
  });

  it('takes the Machines of a MachineSet of its own', async () => {
    const ref = { apiVersion: CLUSTER_API, kind: 'MachineSet', namespace: 'default', name: 'alone' } as const;
    await api.apply(
      machineTemplate('alone', { windowsBuild: BUILD }),
      machineSet('alone', { cluster: 'here', replicas: 2 }),
    );
    await fixture.world.apply(poolOf('alone', { ref }));
    await settled(fixture, 'alone', 2);
    const [first] = await api.machines(`${SET_LABEL}=alone`);
    await fixture.world.kubectl('annotate', 'machinesets.cluster.x-k8s.io', 'alone', 'winpool.dev/usable-by=alone');
    await fixture.world.kubectl('annotate', 'node', first?.status?.nodeRef?.name ?? '', 'winpool.dev/remove=true');
    await settled(fixture, 'alone', 1);
    const left = namesOf(await api.machines(`${SET_LABEL}=alone`));
    assert.deepEqual([left.length, left.includes(first?.metadata.name ?? '')], [1, false]);
  });

  it('takes the instances of a MachinePool without Machines, and replaces none of them', async () => {
    const { world } = fixture;
    const ref = { apiVersion: CLUSTER_API, kind: 'MachinePool', namespace: 'default', name: 'scaleset' } as const;
    await api.apply(...machinePool('scaleset', 'here', 2, { windowsBuild: BUILD }));
    await world.kubectl('annotate', 'machinepools.cluster.x-k8s.io', 'scaleset', 'winpool.dev/usable-by=scaleset');
    await world.apply(poolOf('scaleset', { ref, desiredSize: 3 }));
    await settled(fixture, 'scaleset', 3);
    const found = await api.get<MachinePool>('MachinePool', 'scaleset');
    const [first] = found?.status?.nodeRefs ?? [];
    await world.kubectl('annotate', 'node', first?.name ?? '', 'winpool.dev/replace=true');
    await world.waitForConditions('scaleset', 'Disrupting=True/MachinePoolWithoutMachines');
    await world.kubectl('annotate', 'node', first?.name ?? '', 'winpool.dev/replace-');
    await world.patchPool('scaleset', {
      machines: { desiredSize: 1, ref: { apiVersion: 'cluster.x-k8s.io/v1beta1' } },
    });
    await settled(fixture, 'scaleset', 1);
  });

  it('replaces and removes a node of a MachinePool whose provider makes Machines', async () => {
    const { world } = fixture;
    const ref = { apiVersion: CLUSTER_API, kind: 'MachinePool', namespace: 'default', name: 'group' } as const;
    await api.apply(...machinePool('group', 'here', 3, { windowsBuild: BUILD, makesMachines: true }));
    await world.kubectl('annotate', 'machinepools.cluster.x-k8s.io', 'group', 'winpool.dev/usable-by=group');
    await world.apply(poolOf('group', { ref }));
    await settled(fixture, 'group', 3);
    for (const [operation, size] of [
      ['replace', 3],
      ['remove', 2],
    ] as const) {
      const before = await api.machines(`${POOL_LABEL}=group`);
      const [, leaving = assert.fail('no Machine'), ...others] = before;
      const node = leaving.status?.nodeRef?.name ?? '';
      await world.kubectl('annotate', 'node', node, `winpool.dev/${operation}=true`);
      const isGone = async () => !namesOf(await api.machines(`${POOL_LABEL}=group`)).includes(leaving.metadata.name);
      await fixture.until(`Machine ${leaving.metadata.name} to be gone`, isGone);
      await settled(fixture, 'group', size);
      const after = namesOf(await api.machines(`${POOL_LABEL}=group`));
      assert.ok(
        namesOf(others).every((name) => after.includes(name)),
        `${after} of ${namesOf(before)}`,
      );
    }
  });

  describe('from a template', () => {
    const templates = () => api.client.list(INFRASTRUCTURE, 'SimMachineTemplate', `${POOL_KEY}=made`);
    const made = (windowsBuild: string, more: object = {}) => deploymentPool('made', windowsBuild, 2, more);

    it('creates a MachineDeployment and its infrastructure template', async () => {
      await fixture.world.apply(made(BUILD));
      const pool = await settled(fixture, 'made', 2);
      assert.equal(pool?.status?.summary?.build, BUILD);
      assert.equal((await templates()).length, 1);
    });

    it('rolls out another image within the budget, keeps the size that others set, and deletes the old template', async () => {
      const { world } = fixture;
      await api.untilCounted('made', 2);
      await world.kubectl('scale', 'machinedeployments.cluster.x-k8s.io', 'made', '--replicas=1');
      await settled(fixture, 'made', 1);
      await api.untilCounted('made', 1);
      await world.apply(made('10.0.20348.5139'));
      await world.waitForPool(
        'made',
        'to have a node of the new image',
        ({ status } = {} as WindowsPool) =>
          status?.nodes?.verified === 1 && status.summary?.build === '10.0.20348.5139',
      );
      await settled(fixture, 'made', 1);
      await fixture.until('the old template to be deleted', async () => (await templates()).length === 1);
    });

    it('shows why the API server rejects a template', async () => {
      const { world } = fixture;
      await world.apply(made('10.0.20348.5139', { machineNaming: { template: 'no-random' } }));
      const pool = await world.waitForConditions('made', 'MachinesReady=False/MachineSetRejected');
      assert.match(messageOf(pool, 'MachinesReady'), /machineNaming/);
      await world.apply(made('10.0.20348.5139'));
      await settled(fixture, 'made', 1);
    });

    it('deletes the MachineDeployment, its Machines and its template with the pool', async () => {
      const { world } = fixture;
      await world.kubectl('delete', 'windowspool', 'made', '--timeout=60s');
      assert.deepEqual(
        [await api.get('MachineDeployment', 'made'), await machinesOf('made'), await templates()],
        [undefined, [], []],
      );
    });

    it('leaves an object of another owner', async () => {
      const { world } = fixture;
      const metadata = { namespace: 'default', name: 'foreign' };
      await world.apply(templatePool('made', 'MachineDeployment', { clusterName: 'here' }, { metadata }));
      await world.waitForConditions('made', 'MachinesReady=False/MachineSetNotOwned');
      await world.kubectl('delete', 'windowspool', 'made', '--timeout=60s');
      assert.ok(await api.get('MachineDeployment', 'foreign'));
    });

    it('keeps MachineSets and MachinePools, too', async () => {
      const { world } = fixture;
      const set = specOf(machineSet('made-set', { cluster: 'here', template: 'alone' }));
      const [infra = assert.fail(), group = assert.fail()] = machinePool('made-group', 'here', 1, {
        windowsBuild: BUILD,
      });
      await api.apply(infra);
      for (const [name, kind, spec] of [
        ['made-set', 'MachineSet', set],
        ['made-group', 'MachinePool', specOf(group as { spec: object })],
      ] as const) {
        await world.apply(templatePool(name, kind, spec));
        await settled(fixture, name, 2);
        const metadata = { namespace: 'default', name, labels: { team: 'web' } };
        await world.apply(templatePool(name, kind, spec, { metadata }, { desiredSize: 1 }));
        await settled(fixture, name, 1);
        await fixture.until('the label', async () => {
          const found = await api.get<StoredObject>(kind, name);
          return found?.metadata.labels?.team === 'web';
        });
        await world.kubectl('delete', 'windowspool', name, '--timeout=60s');
        assert.equal(await api.get(kind, name), undefined);
      }
    });
  });

  it('reports an object that does not exist, and one that is paused', async () => {
    const { world } = fixture;
    await world.apply(poolOf('nothing'));
    await world.waitForConditions('nothing', 'Ready=False/MachineSetMissing');
    await world.kubectl('annotate', 'machinesets.cluster.x-k8s.io', 'alone', 'cluster.x-k8s.io/paused=');
    await world.waitForConditions('alone', 'MachinesReady=False/MachineSetPaused');
    await world.kubectl('annotate', 'machinesets.cluster.x-k8s.io', 'alone', 'cluster.x-k8s.io/paused-');
    await world.waitForConditions('alone', 'MachinesReady=True/MachinesReady');
  });

  it('takes its Machines from an API server without watch lists', async () => {
    await fixture.world.patchPool('web', { machines: { desiredSize: 3 } });
    await onOldApiServer(fixture, () => settled(fixture, 'web', 3));
  });

  it('restores its nodes when it is deleted, and keeps the Machines', async () => {
    const { world } = fixture;
    const nodes = await nodesOf('web');
    await world.kubectl('delete', 'windowspool', 'web', '--timeout=30s');
    for (const name of nodes) {
      const { metadata, spec } = JSON.parse(await world.kubectl('get', 'node', name, '-o', 'json'));
      assert.equal(metadata.labels[POOL_KEY], undefined);
      assert.deepEqual(
        (spec.taints ?? []).filter(({ key }: { key: string }) => key === 'os'),
        [],
      );
    }
    assert.equal((await machinesOf('web')).length, nodes.length);
  });
});
