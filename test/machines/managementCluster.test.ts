/** Pools of machines whose objects are in another cluster: the management cluster of Cluster API, with its real core controllers. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { Cable } from '../engine/detour.ts';
import { type ClusterApi, startClusterApi } from '../fakes/clusterApi/clusterApi.ts';
import { CLUSTER_API } from '../fakes/clusterApi/objectClient.ts';
import { DEPLOYMENT_LABEL, machineDeployment, machineTemplate } from '../fakes/clusterApi/objects.ts';
import { messageOf, READY } from '../fakes/testenv/testEnv.ts';
import { KubectlPlugin } from '../plugin/kubectlPlugin.ts';
import { machinesPool } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { namesOf, settled } from './machinesFixture.ts';

const ROLE = fileURLToPath(new URL('../../config/machines/role.yaml', import.meta.url));
const ACCOUNT = ['default', 'windowspool-operator'] as const;

describe('a pool of machines in a management cluster', function () {
  this.timeout(120_000);
  const fixture = withOperator('--resync-interval=2s', '--join-grace=5s');
  let management: ControlPlane;
  let api: ClusterApi;
  let cable: Cable;
  let plugin: KubectlPlugin | undefined;

  before(async function () {
    this.timeout(900_000);
    const log = (line: string) => console.log(`    ${line}`);
    management = await startControlPlane({ log });
    api = await startClusterApi(management, { log });
    await api.createCluster('there', fixture.world.controlPlane);
    const [namespace, name] = ACCOUNT;
    await management.kubectl(['apply', '-f', ROLE]);
    await management.kubectl(['-n', namespace, 'create', 'serviceaccount', name]);
    const role = ['--clusterrole=windowspool-operator-machines', `--serviceaccount=${namespace}:${name}`];
    await management.kubectl(['-n', namespace, 'create', 'rolebinding', name, ...role]);
    cable = await Cable.start(management, await management.serviceAccountKubeconfig(...ACCOUNT));
    await restart();
  });
  after(async () => {
    await plugin?.remove();
    await cable?.[Symbol.asyncDispose]();
    // Its nodes are in the cluster that other suites use, too.
    await api?.uninstall();
    await management?.stop();
  });

  async function restart(): Promise<void> {
    await fixture.operator.stop();
    await fixture.restart(`--machines-kubeconfig=${cable.kubeconfig}`);
  }
  const allow = (name: string) =>
    management.kubectl(['annotate', 'machinedeployments', name, `winpool.dev/usable-by=${name}`, '--overwrite']);
  const machinesOf = (name: string) => api.machines(`${DEPLOYMENT_LABEL}=${name}`);
  const pool = (name: string, machines: object = {}) => {
    const ref = { apiVersion: CLUSTER_API, kind: 'MachineDeployment', namespace: 'default', name };
    return machinesPool(name, {}, { machines: { ref, ...machines } });
  };

  it('becomes Ready: its nodes join the cluster of the operator', async () => {
    await api.apply(
      machineTemplate('web', { windowsBuild: '10.0.20348.5020' }),
      machineDeployment('web', { cluster: 'there', replicas: 2 }),
    );
    await fixture.world.apply(pool('web'));
    await fixture.world.waitForConditions('web', READY);
    const found = await settled(fixture, 'web', 2);
    assert.match(messageOf(found, 'MachinesReady'), /MachineDeployment default\/web in the management cluster/);
  });

  it('changes nothing without permission, and says where to give it', async () => {
    await fixture.world.apply(pool('web', { desiredSize: 3 }));
    const refused = await fixture.world.waitForConditions('web', 'MachinesReady=False/MachineSetNotUsable');
    assert.match(
      messageOf(refused, 'MachinesReady'),
      /kubectl --context MANAGEMENT -n default annotate machinedeployment/,
    );
    await allow('web');
    await settled(fixture, 'web', 3);
  });

  it('shows with kubectl windowspool plan what a manifest would change there', async () => {
    const plugin = await KubectlPlugin.install(fixture.world);
    const file = join(plugin.folder, 'pool.yaml');
    await writeFile(file, stringify(pool('web', { desiredSize: 2 })));
    const { code, stdout, stderr } = await plugin.run([
      'plan',
      '--filename',
      file,
      `--machines-kubeconfig=${cable.kubeconfig}`,
    ]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /WindowsPool web: 1 step\n {2}now:\n {4}scale web from 3 to 2 Machines\./);
  });

  it('replaces a node with the annotation by deleting its Machine', async () => {
    const [old] = await machinesOf('web');
    await fixture.world.kubectl('annotate', 'node', old?.status?.nodeRef?.name ?? '', 'winpool.dev/replace=true');
    const isGone = async () => !namesOf(await machinesOf('web')).includes(old?.metadata.name ?? '');
    await fixture.until('the Machine to be gone', isGone);
    await settled(fixture, 'web', 3);
  });

  it('keeps its nodes while the management cluster does not answer, also after a restart, and goes on after that', async () => {
    const { world } = fixture;
    const before = await machinesOf('web');
    const node = before[0]?.status?.nodeRef?.name ?? '';
    cable.cut();
    await world.kubectl('annotate', 'node', node, 'winpool.dev/replace=true');
    await restart();
    await world.waitForConditions('web', 'MachinesReady=Unknown/MachinesUnknown');
    const kept = await world.waitForConditions('web', 'Ready=True/EnoughNodesVerified');
    assert.equal(kept?.status?.nodes?.verified, 3);
    // The operator serves other pools meanwhile.
    await world.apply(pool('db'));
    await world.waitForConditions('db', 'RuntimeClassReady=True/Available', 'MachinesReady=Unknown/MachinesUnknown');
    await world.kubectl('delete', 'windowspool', 'db', '--timeout=20s');
    assert.deepEqual(namesOf(await machinesOf('web')), namesOf(before));
    cable.restore();
    const isGone = async () => !namesOf(await machinesOf('web')).includes(before[0]?.metadata.name ?? '');
    await fixture.until('the Machine to be gone', isGone);
    await settled(fixture, 'web', 3);
  });

  it('restores its nodes when it is deleted, and keeps the Machines', async () => {
    await fixture.world.kubectl('delete', 'windowspool', 'web', '--timeout=30s');
    const machines = await machinesOf('web');
    assert.equal(machines.length, 3);
    for (const { status } of machines) {
      const labels = ['get', 'node', status?.nodeRef?.name ?? '', '-o', 'jsonpath={.metadata.labels}'];
      assert.doesNotMatch(await fixture.world.kubectl(...labels), /winpool\.dev\/pool/);
    }
  });
});
