/** Pools of machines with the real controllers of OpenShift's Machine API. The cloud and the kubelets are doubles, and the nodes run on kwok. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MachinesSpec } from '../../controllers/windowspool/api/api.gen.ts';
import { POOL_KEY } from '../../controllers/windowspool/api/labels.ts';
import {
  type MachineSetParts,
  machineSet,
  NAMESPACE,
  OPENSHIFT,
  type OpenShiftMachine,
} from '../fakes/openshift/objects.ts';
import { type OpenShift, startOpenShift } from '../fakes/openshift/openshift.ts';
import { conditionOf, messageOf, READY } from '../fakes/testenv/testEnv.ts';
import { withOperator } from '../sharedWorld.ts';

const COMPONENT = fileURLToPath(new URL('../../config/machines/', import.meta.url));
const BUILD = '10.0.20348.5020';

describe('a pool of machines of OpenShift', function () {
  this.timeout(120_000);
  const fixture = withOperator('--resync-interval=2s', '--join-grace=5s');
  let api: OpenShift;

  before(async function () {
    this.timeout(900_000);
    for (const file of ['role.yaml', 'role_binding.yaml'])
      await fixture.world.kubectl('apply', '-f', join(COMPONENT, file));
    api = await startOpenShift(fixture.world.controlPlane, { log: (line) => console.log(`    ${line}`) });
  });
  after(async () => {
    await fixture.world.kubectl('delete', 'windowspools', '--all', '--timeout=50s');
    await api?.uninstall();
    for (const file of ['role.yaml', 'role_binding.yaml'])
      await fixture.world.kubectl('delete', '-f', join(COMPONENT, file));
  });

  const poolOf = (name: string, machines: Partial<MachinesSpec> = {}, spec: object = {}) => ({
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name },
    spec: {
      windowsVersion: 'Windows2022',
      machines: { ref: { apiVersion: OPENSHIFT, kind: 'MachineSet', namespace: NAMESPACE, name }, ...machines },
      ...spec,
    },
  });

  const inNamespace = (...args: readonly string[]) => fixture.world.kubectl('-n', NAMESPACE, ...args);
  const SETS = 'machinesets.machine.openshift.io';

  /** Creates a MachineSet that a pool may use, and the pool. */
  async function create(name: string, parts: MachineSetParts = {}, spec: object = {}): Promise<void> {
    await api.client.apply(machineSet(name, { machine: { windowsBuild: BUILD }, ...parts }));
    await inNamespace('annotate', SETS, name, `winpool.dev/usable-by=${name}`);
    await fixture.world.apply(poolOf(name, {}, spec));
  }
  const namesOf = (machines: readonly OpenShiftMachine[]) => machines.map(({ metadata }) => metadata.name);
  const nodesOf = async (name: string) => (await api.machines(name)).map(({ status }) => status?.nodeRef?.name ?? '');
  const nodeJson = async (name: string) =>
    JSON.parse(await fixture.world.kubectl('get', 'node', name, '-o', 'json')) as {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly taints?: readonly { readonly key: string; readonly value?: string }[] };
    };
  const taintsOf = async (name: string) =>
    ((await nodeJson(name)).spec.taints ?? []).map(({ key, value }) => (value ? `${key}=${value}` : key)).sort();
  const settled = (name: string, size: number) =>
    fixture.world.waitForPool(
      name,
      `to have ${size} verified nodes and no node that leaves`,
      (pool) =>
        pool?.status?.nodes?.verified === size &&
        pool.status.summary?.nodes === `${size}/${size}` &&
        pool.status.disruption === undefined &&
        conditionOf(pool, 'MachinesReady') === 'True/MachinesReady',
    );

  it('becomes Ready: its nodes have its labels, and are verified', async () => {
    const { world } = fixture;
    await create('web', { replicas: 3 });
    await world.waitForConditions('web', READY);
    const pool = await settled('web', 3);
    assert.deepEqual(pool?.status?.machines, { replicas: 3, total: 3, withoutNode: 0, deleting: 0 });
    for (const name of await nodesOf('web')) {
      assert.equal((await nodeJson(name)).metadata.labels[POOL_KEY], 'web');
      // That of OpenShift counts as the taint of the pool.
      assert.deepEqual(await taintsOf(name), ['os=Windows']);
    }
    await world.kubectl('get', 'runtimeclass', 'windows-2022');
  });

  it('replaces a node with the annotation by deleting its Machine, which OpenShift does not drain again', async () => {
    const before = await api.machines('web');
    const old = before[0] ?? assert.fail('no machine');
    await fixture.world.kubectl('annotate', 'node', old.status?.nodeRef?.name ?? '', 'winpool.dev/replace=true');
    await fixture.until(
      'its Machine to be gone',
      async () => !namesOf(await api.machines('web')).includes(old.metadata.name),
    );
    await settled('web', 3);
    const after = namesOf(await api.machines('web'));
    assert.deepEqual(
      namesOf(before.slice(1)).filter((name) => !after.includes(name)),
      [],
    );
    const events = `involvedObject.name=${old.metadata.name}`;
    const reasons = await inNamespace('get', 'events', '--field-selector', events, '-o', 'jsonpath={.items[*].reason}');
    assert.deepEqual(
      reasons.split(' ').filter((reason) => reason.startsWith('Drain')),
      ['DrainSkipped'],
    );
  });

  it('removes a node with the annotation, and exactly this one', async () => {
    const before = await api.machines('web');
    const middle = before[1] ?? assert.fail('no machine');
    await fixture.world.kubectl('annotate', 'node', middle.status?.nodeRef?.name ?? '', 'winpool.dev/remove=true');
    await settled('web', 2);
    assert.deepEqual(
      namesOf(await api.machines('web')),
      namesOf(before).filter((name) => name !== middle.metadata.name),
    );
  });

  it('sets the size once, and keeps what others set later', async () => {
    const { world } = fixture;
    await world.patchPool('web', { machines: { desiredSize: 4 } });
    await settled('web', 4);
    await inNamespace('scale', SETS, 'web', '--replicas=1');
    await settled('web', 1);
  });

  it('sets its labels and taints beside those that OpenShift restores', async () => {
    const { world } = fixture;
    await create(
      'shop',
      { taints: [{ key: 'shop', value: 'a', effect: 'NoSchedule' }], labels: { 'example.com/shop': 'a' } },
      { taints: [{ key: 'team', value: 'b', effect: 'NoSchedule' }], labels: { 'example.com/team': 'b' } },
    );
    await settled('shop', 1);
    const [node = ''] = await nodesOf('shop');
    const hasAll = async () => {
      const { labels } = (await nodeJson(node)).metadata;
      const { 'example.com/shop': shop, 'example.com/team': team } = labels;
      return (await taintsOf(node)).join() === 'os=Windows,shop=a,team=b' && shop === 'a' && team === 'b';
    };
    await fixture.until('the labels and taints of both', hasAll);
    for (let round = 0; round < 5; round++) {
      await world.kubectl('taint', 'node', node, 'shop-');
      await world.kubectl('label', 'node', node, 'example.com/shop-');
      await fixture.until('OpenShift to restore its label and taint', hasAll);
    }
    await world.kubectl('taint', 'node', node, 'team-');
    await world.kubectl('label', 'node', node, 'example.com/team-');
    await fixture.until('the pool to restore its label and taint', hasAll);
    await settled('shop', 1);
  });

  it('reports a label that OpenShift keeps at another value', async () => {
    await create('fight', { labels: { 'example.com/team': 'a' } }, { labels: { 'example.com/team': 'b' } });
    const pool = await fixture.world.waitForConditions('fight', 'MachinesReady=False/NodeChangesReverted');
    assert.match(messageOf(pool, 'MachinesReady'), /Remove these keys from the pool, or from the other controller/);
  });

  it('reports Machines that get no node, and those that the cloud refuses', async () => {
    const { world } = fixture;
    await create('late', { machine: { node: 'None' } });
    const late = await world.waitForConditions('late', 'MachinesReady=False/MachinesWithoutNode');
    assert.match(
      messageOf(late, 'MachinesReady'),
      /kubectl -n openshift-machine-api describe machines\.machine\.openshift\.io late-/,
    );
    await create('refused', { machine: { error: 'the image does not exist' } });
    const refused = await world.waitForConditions('refused', 'MachinesReady=False/MachineFailed');
    assert.match(messageOf(refused, 'MachinesReady'), /Its controller reports: the image does not exist/i);
  });

  it('changes nothing without permission, and shows the command that gives it', async () => {
    const { world } = fixture;
    await api.client.apply(machineSet('foreign', { machine: { windowsBuild: BUILD } }));
    await world.apply(poolOf('foreign', { desiredSize: 2 }));
    const pool = await world.waitForConditions('foreign', 'MachinesReady=False/MachineSetNotUsable');
    const [, command = ''] = /Allow it: kubectl (.*)$/.exec(messageOf(pool, 'MachinesReady')) ?? [];
    await world.kubectl(...command.split(' '));
    await settled('foreign', 2);
  });

  it('is Stalled for a MachineSet that Cluster API manages, and names the API to use', async () => {
    await create('moved', { replicas: 0, spec: { authoritativeAPI: 'ClusterAPI' } });
    const pool = await fixture.world.waitForConditions('moved', 'MachinesReady=False/MachineSetPaused');
    assert.match(
      messageOf(pool, 'MachinesReady'),
      /status\.authoritativeAPI is ClusterAPI, so the MachineSet of cluster\.x-k8s\.io with its name has its Machines/,
    );
  });

  it('restores its nodes when it is deleted, and keeps the Machines', async () => {
    const { world } = fixture;
    const [node = ''] = await nodesOf('shop');
    await world.kubectl('delete', 'windowspool', 'shop', '--timeout=30s');
    const { labels } = (await nodeJson(node)).metadata;
    assert.deepEqual(
      [labels[POOL_KEY], labels['example.com/team'], labels['example.com/shop']],
      [undefined, undefined, 'a'],
    );
    assert.deepEqual(await taintsOf(node), ['os=Windows', 'shop=a']);
    assert.equal((await api.machines('shop')).length, 1);
  });
});
