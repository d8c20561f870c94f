import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { REPLACE_ANNOTATION } from '../../controllers/windowspool/api/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { namespaceCalled } from '../userObjects.ts';
import { withExistingNodes } from './existingNodesFixture.ts';

const NAME = 'windows-instances';

/** A pool of the hosts in a ConfigMap of this namespace. */
const listingPool = (name: string, namespace: string, configMap = NAME): object => ({
  apiVersion: 'winpool.dev/v1alpha1',
  kind: 'WindowsPool',
  metadata: { name },
  spec: {
    windowsVersion: 'Windows2022',
    existingNodes: { instancesConfigMap: { namespace, name: configMap } },
    labels: { tier: 'web' },
  },
});

describe('the ConfigMap windows-instances', () => {
  const { fixture, node, join, writtenFields, waitForCondition, waitForNodes, waitUntilRestored } = withExistingNodes();
  const NAMESPACE = 'hosts';
  const list = (data: Readonly<Record<string, string>>, name = NAME) =>
    fixture.world.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data });
  const patch = (data: object) =>
    fixture.world.kubectl('-n', NAMESPACE, 'patch', 'configmap', NAME, '--type=merge', '-p', JSON.stringify({ data }));
  const host = (name: string, ...addresses: readonly { type: string; address: string }[]) =>
    join({ name, addresses: [...addresses, { type: 'Hostname', address: name }] });
  const ip = (address: string) => ({ type: 'InternalIP', address });
  const existingNodesOf = (pool: WindowsPool | undefined) => pool?.status?.existingNodes;

  before(async () => {
    await fixture.world.apply(namespaceCalled(NAMESPACE));
  });
  after(async () => {
    await fixture.world.kubectl('delete', 'namespace', NAMESPACE, '--wait=false');
  });
  afterEach(async () => {
    await fixture.world.kubectl('-n', NAMESPACE, 'delete', 'configmaps', '--all');
  });

  it('lets its hosts be drained, with the permissions that are shipped, and restores one that is removed meanwhile', async () => {
    for (const [name, address] of [
      ['drained-1', '10.9.1.1'],
      ['drained-2', '10.9.1.2'],
    ] as const)
      await host(name, ip(address));
    await list({ '10.9.1.1': 'username=a', '10.9.1.2': 'username=a' });
    await fixture.world.apply(listingPool('drained', NAMESPACE));
    await waitForNodes('drained', 2);
    await waitForCondition('drained', 'Ready', 'True/EnoughNodesVerified');
    await fixture.world.kubectl('annotate', 'node', 'drained-1', `${REPLACE_ANNOTATION}=true`);
    await waitForCondition('drained', 'Disrupting', 'True/Drained');
    assert.equal((await node('drained-1')).spec.unschedulable, true);
    await patch({ '10.9.1.1': null });
    await waitForNodes('drained', 1);
    await waitForCondition('drained', 'Disrupting', 'absent');
    await waitFor(async () => (await node('drained-1')).spec.unschedulable !== true, {
      what: 'the host that left the list to be uncordoned',
      timeoutMs: 20_000,
    });
  });

  it('adds and removes hosts by IPv4 address and DNS name, and removed ones are restored', async () => {
    await host('byoh-1', ip('10.9.0.1'));
    await host('byoh-2', ip('10.9.0.2'), { type: 'InternalDNS', address: 'BYOH-2.example.com' });
    const [first, second] = [await writtenFields('byoh-1'), await writtenFields('byoh-2')];
    await list({ '10.9.0.1': 'username=Administrator' });
    await fixture.world.apply(listingPool('byoh', NAMESPACE));
    const pool = await waitForCondition('byoh', 'Ready', 'True/EnoughNodesVerified');
    assert.deepEqual([pool?.status?.nodes?.total, existingNodesOf(pool)], [1, undefined]);
    assertNames(messageOf(pool, 'NodesFound'), '1 node', 'ConfigMap hosts/windows-instances');
    assert.equal((await writtenFields('byoh-1')).labels?.tier, 'web');
    await patch({ 'byoh-2.example.com': 'username=core' });
    await waitForNodes('byoh', 2);
    await patch({ '10.9.0.1': null });
    await waitForNodes('byoh', 1);
    await waitUntilRestored('byoh-1', first);
    await fixture.world.kubectl('-n', NAMESPACE, 'delete', 'configmap', NAME);
    const without = await waitForCondition('byoh', 'Ready', 'False/InstancesMissing');
    assertNames(messageOf(without, 'Ready'), 'ConfigMap hosts/windows-instances', 'existingNodes.instancesConfigMap');
    await waitUntilRestored('byoh-2', second);
    await list({ 'byoh-2.example.com': 'username=core' });
    await waitForCondition('byoh', 'Ready', 'True/EnoughNodesVerified');
  });

  it('can have another name with a permission for it, which the pool reports if it is missing', async () => {
    await host('byoh-5', ip('10.9.0.5'));
    await list({ '10.9.0.5': 'username=a' }, 'hosts');
    await fixture.world.apply(listingPool('other', NAMESPACE, 'hosts'));
    const pool = await waitForCondition('other', 'NodesFound', 'Unknown/AccessDenied');
    assert.match(messageOf(pool, 'NodesFound'), /watch configmaps hosts\/hosts failed: .*forbidden/);
    const role = ['-n', NAMESPACE, 'create', 'role', 'hosts', '--verb=get,list,watch', '--resource=configmaps'];
    await fixture.world.kubectl(...role, '--resource-name=hosts');
    const account = '--serviceaccount=winpool-system:windowspool-operator';
    await fixture.world.kubectl('-n', NAMESPACE, 'create', 'rolebinding', 'hosts', '--role=hosts', account);
    await fixture.world.waitForPool(
      'other',
      'to have its node',
      (found) => found?.status?.nodes?.verified === 1,
      60_000,
    );
  });
});
