import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EventsV1Event, V1ConfigMap } from '@kubernetes/client-node';
import type { Stored, Wire } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf } from '../awsCalls.ts';
import { OPERATOR_USER, readAudit } from '../fakes/testenv/audit.ts';
import { type TestEnv, windowsIpam } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withPrerequisites } from './prerequisitesFixture.ts';

const COMPONENT = fileURLToPath(new URL('../../config/windows-ipam/', import.meta.url));
const KEY = 'enable-windows-ipam';
const CONFIG_MAP = ['-n', 'kube-system', 'configmap', 'amazon-vpc-cni'] as const;
const ROLE = 'arn:aws:iam::111122223333:role/vpc-cni';

/** The Role and RoleBinding of the component; the operator is a process, so its Deployment is not patched. */
const rbac = ['role.yaml', 'role_binding.yaml'].flatMap((name) => ['-f', join(COMPONENT, name)]);

const configMap = (world: TestEnv) =>
  world.get<Stored<V1ConfigMap>>('configmap', 'amazon-vpc-cni', '-n', 'kube-system', '--show-managed-fields');

/** The current configuration values of the vpc-cni add-on. */
const valuesOf = ({ cloud }: TestEnv) => cloud.state.addons.get('vpc-cni')?.configurationValues;

/** What the operator wrote into the ConfigMap, by the audit log. */
const writes = async ({ controlPlane }: TestEnv) =>
  (await readAudit(controlPlane.auditLog, 'amazon-vpc-cni')).filter(
    ({ user, verb, objectRef }) =>
      user.username === OPERATOR_USER &&
      objectRef?.resource === 'configmaps' &&
      !['get', 'list', 'watch'].includes(verb),
  );

/** Waits for an event of the pool that Windows IPAM was enabled. */
const announced = (world: TestEnv, pool: string) =>
  waitFor(
    async () => {
      const events = await world.list<Wire<EventsV1Event>>('events.v1.events.k8s.io', '-A');
      return events.find(({ reason, regarding }) => reason === 'WindowsIPAMEnabled' && regarding?.name === pool);
    },
    { what: `the event that Windows IPAM was enabled for ${pool}` },
  );

const untilValue = (world: TestEnv, value: string) =>
  waitFor(async () => (await configMap(world))?.data?.[KEY] === value, { what: `${KEY}: ${value} in the ConfigMap` });

describe('Windows IPAM that the operator is not configured to enable', () => {
  const { fixture, is, remove } = withPrerequisites();

  it('stays disabled: nothing is written, neither to the ConfigMap nor to the add-on', async () => {
    const { world } = fixture;
    await world.apply(windowsIpam(false));
    const before = (await configMap(world))?.metadata.resourceVersion;
    const known = (await writes(world)).length;
    world.cloud.resetCalls();
    await world.apply(poolManifest('notallowed'));
    await is('notallowed', 'PrerequisitesMet', 'False/WindowsIPAMDisabled');
    assert.equal((await configMap(world))?.metadata.resourceVersion, before);
    assert.equal((await writes(world)).length, known);
    assert.deepEqual(callsOf(world, 'UpdateAddon'), []);
    await remove('notallowed');
  });
});

describe('Windows IPAM that the operator enables', () => {
  const { fixture, is, message, remove } = withPrerequisites(
    '--enable-windows-ipam',
    '--resync-interval=2s',
    '--create-retry-interval=2s',
  );
  before(() => fixture.world.kubectl('apply', ...rbac));
  after(() => fixture.world?.kubectl('delete', ...rbac));
  const becomes = (value: string) => untilValue(fixture.world, value);

  it('is written to the ConfigMap if the add-on is not installed, without other changes', async () => {
    const { world } = fixture;
    await world.apply(windowsIpam(false, { 'warm-ip-target': '2' }));
    await world.apply(poolManifest('config'));
    await is('config', 'Ready', 'True/EnoughNodesVerified');
    assert.deepEqual((await configMap(world))?.data, { [KEY]: 'true', 'warm-ip-target': '2' });
    const { type, note } = await announced(world, 'config');
    assert.deepEqual([type, note], ['Normal', `Set ${KEY}: "true" in ConfigMap kube-system/amazon-vpc-cni`]);
    await remove('config');
  });

  it('is written to a new ConfigMap if there is none', async () => {
    const { world } = fixture;
    await world.kubectl('delete', ...CONFIG_MAP);
    await world.apply(poolManifest('noconfig'));
    await is('noconfig', 'Ready', 'True/EnoughNodesVerified');
    assert.deepEqual((await configMap(world))?.data, { [KEY]: 'true' });
    await remove('noconfig');
  });

  for (const [format, before, after] of [
    ['JSON', '{"env":{"WARM_IP_TARGET":"2"}}', '{"env":{"WARM_IP_TARGET":"2"},"enableWindowsIpam":"true"}'],
    [
      'YAML',
      '# ours\nenv:\n  WARM_IP_TARGET: "2"\n',
      '# ours\nenv:\n  WARM_IP_TARGET: "2"\nenableWindowsIpam: "true"\n',
    ],
  ] as const) {
    it(`is merged into the ${format} of the add-on, which keeps its version and role`, async () => {
      const { world } = fixture;
      world.cloud.faults.addon({ name: 'vpc-cni', configurationValues: before, serviceAccountRoleArn: ROLE });
      await becomes('false');
      world.cloud.resetCalls();
      const name = format.toLowerCase();
      await world.apply(poolManifest(name));
      await is(name, 'Ready', 'True/EnoughNodesVerified');
      const { status, addonVersion, serviceAccountRoleArn } = world.cloud.state.addons.get('vpc-cni') ?? {};
      assert.deepEqual(
        [valuesOf(world), status, addonVersion, serviceAccountRoleArn, callsOf(world, 'UpdateAddon').length],
        [after, 'ACTIVE', 'v1.21.1-eksbuild.1', ROLE, 1],
      );
      assert.equal((await configMap(world))?.data?.[KEY], 'true');
      await remove(name);
    });
  }

  it('names the missing permissions without the Role in kube-system, and continues with it', async () => {
    const { world } = fixture;
    await world.kubectl('delete', ...rbac);
    try {
      await world.apply(windowsIpam(false));
      await world.apply(poolManifest('norole2'));
      await is('norole2', 'PrerequisitesMet', 'False/AccessDenied');
      assertNames(await message('norole2', 'PrerequisitesMet'), 'patch configmaps', 'config/windows-ipam');
    } finally {
      await world.kubectl('apply', ...rbac);
    }
    await is('norole2', 'Ready', 'True/EnoughNodesVerified');
    await remove('norole2');
  });
});

describe('Windows IPAM that another user disables again', () => {
  const { fixture, is, message, remove } = withPrerequisites('--enable-windows-ipam', '--resync-interval=15s');
  before(() => fixture.world.kubectl('apply', ...rbac));
  after(() => fixture.world?.kubectl('delete', ...rbac));

  it('is enabled once per resync interval; in between the pool reports who disabled it, and the time of the next attempt', async () => {
    const { world } = fixture;
    const before = (await writes(world)).length;
    await world.apply(windowsIpam(false));
    await world.apply(poolManifest('fight'));
    await untilValue(world, 'true');
    await world.kubectl('patch', ...CONFIG_MAP, '--type=merge', '-p', `{"data":{"${KEY}":"false"}}`);
    await world.apply(poolManifest('next'));
    await is('next', 'PrerequisitesMet', 'False/WindowsIPAMDisabled');
    assertNames(
      await message('next', 'PrerequisitesMet'),
      /\(last written by kubectl-patch at \S+Z\)/,
      /Next attempt at \S+Z/,
    );
    assert.equal((await writes(world)).length, before + 1);
    await is('next', 'Ready', 'True/EnoughNodesVerified');
    assert.deepEqual([(await configMap(world))?.data?.[KEY], (await writes(world)).length], ['true', before + 2]);
    await remove('next');
    await remove('fight');
  });
});
