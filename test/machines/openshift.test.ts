/** Pools of machines with the real controllers of OpenShift's Machine API. The cloud and the kubelets are doubles, and the nodes run on kwok. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { MachinesSpec } from '../../controllers/windowspool/api/api.gen.ts';
import { POOL_KEY, VERIFIED_CONDITION } from '../../controllers/windowspool/api/labels.ts';
import {
  type MachineSetParts,
  machineSet,
  NAMESPACE,
  OPENSHIFT,
  openShiftHealthCheck,
  type Platform,
} from '../fakes/openshift/objects.ts';
import { type OpenShift, startOpenShift } from '../fakes/openshift/openshift.ts';
import { messageOf, READY } from '../fakes/testenv/testEnv.ts';
import { withOperator } from '../sharedWorld.ts';
import { changeRole, namesOf, settled } from './machinesFixture.ts';
import { onOldApiServer } from './onOldApiServer.ts';

const SAMPLES = fileURLToPath(new URL('../../config/samples/machines/', import.meta.url));
const BUILD = '10.0.20348.5020';

describe('a pool of machines of OpenShift', function () {
  this.timeout(120_000);
  const fixture = withOperator('--resync-interval=2s', '--join-grace=5s');
  let api: OpenShift;

  before(async function () {
    this.timeout(900_000);
    await changeRole(fixture, 'apply');
    api = await startOpenShift(fixture.world.controlPlane, { log: (line) => console.log(`    ${line}`) });
  });
  after(async () => {
    await fixture.world.kubectl('delete', 'windowspools', '--all', '--timeout=50s');
    await api?.uninstall();
    await changeRole(fixture, 'delete');
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
  const nodesOf = async (name: string) => (await api.machines(name)).map(({ status }) => status?.nodeRef?.name ?? '');
  const nodeJson = async (name: string) =>
    JSON.parse(await fixture.world.kubectl('get', 'node', name, '-o', 'json')) as {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly taints?: readonly { readonly key: string; readonly value?: string }[] };
    };
  const taintsOf = async (name: string) =>
    ((await nodeJson(name)).spec.taints ?? []).map(({ key, value }) => (value ? `${key}=${value}` : key)).sort();

  it('becomes Ready: its nodes have its labels, and are verified', async () => {
    const { world } = fixture;
    await create('first', { replicas: 3 });
    await world.waitForConditions('first', READY);
    const pool = await settled(fixture, 'first', 3);
    assert.deepEqual(pool?.status?.machines, { replicas: 3, total: 3, withoutNode: 0, deleting: 0, outdated: 0 });
    for (const name of await nodesOf('first')) {
      assert.equal((await nodeJson(name)).metadata.labels[POOL_KEY], 'first');
      // That of OpenShift counts as the taint of the pool.
      assert.deepEqual(await taintsOf(name), ['os=Windows']);
    }
    await world.kubectl('get', 'runtimeclass', 'windows-2022');
  });

  it('replaces a node with the annotation by deleting its Machine, which OpenShift does not drain again', async () => {
    const before = await api.machines('first');
    const old = before[0] ?? assert.fail('no machine');
    await fixture.world.kubectl('annotate', 'node', old.status?.nodeRef?.name ?? '', 'winpool.dev/replace=true');
    await fixture.until(
      'its Machine to be gone',
      async () => !namesOf(await api.machines('first')).includes(old.metadata.name),
    );
    await settled(fixture, 'first', 3);
    const after = namesOf(await api.machines('first'));
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
    const before = await api.machines('first');
    const middle = before[1] ?? assert.fail('no machine');
    await fixture.world.kubectl('annotate', 'node', middle.status?.nodeRef?.name ?? '', 'winpool.dev/remove=true');
    await settled(fixture, 'first', 2);
    assert.deepEqual(
      namesOf(await api.machines('first')),
      namesOf(before).filter((name) => name !== middle.metadata.name),
    );
  });

  it('sets the size once, and keeps what others set later', async () => {
    const { world } = fixture;
    await world.patchPool('first', { machines: { desiredSize: 4 } });
    await settled(fixture, 'first', 4);
    await inNamespace('scale', SETS, 'first', '--replicas=1');
    await settled(fixture, 'first', 1);
  });

  it('sets its labels and taints beside those that OpenShift restores', async () => {
    const { world } = fixture;
    await create(
      'shop',
      { taints: [{ key: 'shop', value: 'a', effect: 'NoSchedule' }], labels: { 'example.com/shop': 'a' } },
      { taints: [{ key: 'team', value: 'b', effect: 'NoSchedule' }], labels: { 'example.com/team': 'b' } },
    );
    await settled(fixture, 'shop', 1);
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
    await settled(fixture, 'shop', 1);
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
    await settled(fixture, 'foreign', 2);
  });

  it('is Stalled for a MachineSet that Cluster API manages, and names the API to use, until it is handed back', async () => {
    const { world } = fixture;
    const authority = (authoritativeAPI: string) => ({ authoritativeAPI });
    await create('moved', { replicas: 0, spec: authority('ClusterAPI') });
    await world.patchPool('moved', { machines: { desiredSize: 2 } });
    const pool = await world.waitForConditions('moved', 'MachinesReady=False/MachineSetPaused');
    assert.match(
      messageOf(pool, 'MachinesReady'),
      /status\.authoritativeAPI is ClusterAPI, so the MachineSet of cluster\.x-k8s\.io with its name has its Machines/,
    );
    assert.equal(pool?.status?.machines?.replicas, 0);
    // As the migration controller of OpenShift does.
    await api.client.patch(OPENSHIFT, 'MachineSet', 'moved', { spec: authority('MachineAPI') });
    for (const step of ['Migrating', 'MachineAPI'])
      await api.client.patch(OPENSHIFT, 'MachineSet', 'moved', { status: authority(step) }, 'status');
    await settled(fixture, 'moved', 2);
  });

  it('leaves failing nodes to a MachineHealthCheck, which replaces them by the condition that the operator writes', async () => {
    const { world } = fixture;
    const remediation = { policy: 'Replace', unhealthyAfter: '1m', maxUnhealthy: 1 };
    const verification = { unhealthyConditions: [{ type: 'Broken', status: 'True' }] };
    await create('checked', { replicas: 2 }, { remediation, verification });
    await settled(fixture, 'checked', 2);
    await api.client.apply(
      openShiftHealthCheck('checked', [{ type: VERIFIED_CONDITION, status: 'False', timeout: '3s' }]),
    );
    const pool = await world.waitForPool('checked', 'to name the time-out of the MachineHealthCheck', (one) =>
      /MachineHealthCheck checked .* after 10 minutes/.test(one ? messageOf(one, 'MachinesReady') : ''),
    );
    assert.match(messageOf(pool, 'MachinesReady'), /Raise its node startup timeout to 20 minutes/);
    const [bad = assert.fail('no machine')] = await api.machines('checked');
    const lastTransitionTime = new Date().toISOString();
    const broken = { type: 'Broken', status: 'True', reason: 'Test', message: 'It is broken.', lastTransitionTime };
    const patch = JSON.stringify({ status: { conditions: [broken] } });
    await world.kubectl('patch', 'node', bad.status?.nodeRef?.name ?? '', '--subresource=status', '-p', patch);
    await world.waitForConditions('checked', 'RemediationAllowed=False/RemediatedByHealthCheck');
    await api.until(
      'its Machine to be replaced',
      async () => !namesOf(await api.machines('checked')).includes(bad.metadata.name),
    );
    await settled(fixture, 'checked', 2);
  });

  it('creates a MachineSet from a template, applies a change, and deletes it with the pool', async () => {
    const { world } = fixture;
    const { spec } = machineSet('made', { machine: { windowsBuild: BUILD } });
    const { replicas: _, ...rest } = spec;
    const template = (labels: object) => ({
      apiVersion: OPENSHIFT,
      kind: 'MachineSet',
      metadata: { namespace: NAMESPACE, name: 'made', labels },
      spec: rest,
    });
    const pool = (labels: object) => {
      const whole = poolOf('made');
      return { ...whole, spec: { ...whole.spec, machines: { desiredSize: 2, template: template(labels) } } };
    };
    await world.apply(pool({}));
    await settled(fixture, 'made', 2);
    await world.apply(pool({ team: 'web' }));
    const teamOf = () => inNamespace('get', SETS, 'made', '-o', 'jsonpath={.metadata.labels.team}');
    await fixture.until('the label', async () => (await teamOf()) === 'web');
    await settled(fixture, 'made', 2);
    await world.kubectl('delete', 'windowspool', 'made', '--timeout=60s');
    assert.equal(await inNamespace('get', SETS, '--ignore-not-found', 'made'), '');
  });

  it('takes its Machines from an API server without watch lists', async () => {
    await inNamespace('scale', SETS, 'first', '--replicas=2');
    await onOldApiServer(fixture, () => settled(fixture, 'first', 2));
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

  /** The samples, a field that OpenShift requires in them, and how it says so. */
  const samples: readonly (readonly [Platform, string, field: string, refusal: RegExp])[] = [
    ['AWS', 'openshift-aws.yaml', 'ami', /expected providerSpec\.ami\.id to be populated/],
    ['Azure', 'openshift-azure.yaml', 'osDisk', /diskSizeGB must be greater than zero/],
    ['VSphere', 'openshift-vsphere.yaml', 'template', /template must be provided/],
  ];
  for (const [platform, file, field, refusal] of samples)
    it(`is accepted by the webhooks of OpenShift on ${platform} as in ${file}`, async () => {
      const { world } = fixture;
      const documents = parseAllDocuments(await readFile(join(SAMPLES, file), 'utf8'));
      const [set, pool] = documents.map((document) => document.toJS());
      const { value } = set.spec.template.spec.providerSpec;
      await inNamespace('create', 'secret', 'generic', value.credentialsSecret.name);
      await api.usePlatform(platform);
      const flags = ['--dry-run=server', '--validate=strict', '--warnings-as-errors'];
      await world.kubectl('apply', '-f', join(SAMPLES, file), ...flags);
      delete value[field];
      await assert.rejects(world.apply(set, ...flags), refusal);
      const { kind, apiVersion, metadata } = set;
      const { name, namespace } = metadata;
      assert.deepEqual(pool.spec.machines.ref, { apiVersion, kind, namespace, name });
      assert.equal(metadata.annotations['winpool.dev/usable-by'], pool.metadata.name);
      // The name of a Machine, and so of a Windows computer with at most 15 characters, has 6 more.
      if (platform !== 'AWS') assert.ok(name.length <= 9, name);
    });
});
