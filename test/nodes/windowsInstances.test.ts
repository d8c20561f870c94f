import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { messageOf } from '../../hack/testenv/testEnv.ts';
import { withExistingNodes } from './existingNodesFixture.ts';

const NAME = 'windows-instances';

/** A pool of the hosts that a ConfigMap of this namespace lists. */
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
  const { stage, join, belongings, becomes, holds, returns } = withExistingNodes();
  const NAMESPACE = 'hosts';
  const list = (data: Readonly<Record<string, string>>, name = NAME) =>
    stage.world.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data });
  const patch = (data: object) =>
    stage.world.kubectl('-n', NAMESPACE, 'patch', 'configmap', NAME, '--type=merge', '-p', JSON.stringify({ data }));
  const host = (name: string, ...addresses: readonly { type: string; address: string }[]) =>
    join({ name, addresses: [...addresses, { type: 'Hostname', address: name }] });
  const ip = (address: string) => ({ type: 'InternalIP', address });
  const reported = (pool: WindowsPool | undefined) => pool?.status?.existingNodes;

  before(async () => {
    await stage.world.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  });
  after(async () => {
    await stage.world.kubectl('delete', 'namespace', NAMESPACE, '--wait=false');
  });
  afterEach(async () => {
    await stage.world.kubectl('-n', NAMESPACE, 'delete', 'configmaps', '--all');
  });

  it('adds and removes hosts by IPv4 address and DNS name, and they get back what they had', async () => {
    await host('byoh-1', ip('10.9.0.1'));
    await host('byoh-2', ip('10.9.0.2'), { type: 'InternalDNS', address: 'BYOH-2.example.com' });
    const [first, second] = [await belongings('byoh-1'), await belongings('byoh-2')];
    await list({ '10.9.0.1': 'username=Administrator' });
    await stage.world.apply(listingPool('byoh', NAMESPACE));
    const pool = await becomes('byoh', 'Ready', 'True/Verified');
    assert.deepEqual([pool?.status?.nodes?.total, reported(pool)], [1, undefined]);
    assert.match(
      messageOf(pool, 'NodesFound'),
      /^1 node found\. The usernames in ConfigMap hosts\/windows-instances are not used/,
    );
    assert.equal((await belongings('byoh-1')).labels?.tier, 'web');
    await patch({ 'byoh-2.example.com': 'username=core' });
    await holds('byoh', 2);
    await patch({ '10.9.0.1': null });
    await holds('byoh', 1);
    await returns('byoh-1', first);
    await stage.world.kubectl('-n', NAMESPACE, 'delete', 'configmap', NAME);
    const without = await becomes('byoh', 'Ready', 'False/InstancesMissing');
    assert.match(messageOf(without, 'Ready'), /^There is no ConfigMap hosts\/windows-instances, so it lists no node/);
    await returns('byoh-2', second);
    await list({ 'byoh-2.example.com': 'username=core' });
    await becomes('byoh', 'Ready', 'True/Verified');
  });

  it('names what no node has, and what is no entry, and uses the rest', async () => {
    await host('byoh-3', ip('10.9.0.3'));
    await list({ '10.9.0.3': 'username=a', '10.9.0.4': 'username=a', '10.9.0.300': 'username=a', host: 'password=b' });
    await stage.world.apply(listingPool('faulty', NAMESPACE));
    const pool = await becomes('faulty', 'NodesFound', 'False/MalformedInstances');
    await becomes('faulty', 'Ready', 'True/Verified');
    assert.deepEqual(reported(pool), {
      unknownAddresses: ['10.9.0.4'],
      malformedEntries: [
        { entry: '10.9.0.300', message: 'is neither an IPv4 address nor a DNS name' },
        { entry: 'host', message: 'has another value than username=NAME' },
      ],
    });
    await patch({ '10.9.0.300': null, host: null });
    const next = await becomes('faulty', 'NodesFound', 'False/UnknownAddresses');
    assert.match(
      messageOf(next, 'NodesFound'),
      /^No Windows node has 10\.9\.0\.4 of ConfigMap hosts\/windows-instances/,
    );
    await host('byoh-4', ip('10.9.0.4'));
    const done = await becomes('faulty', 'NodesFound', 'True/NodesFound');
    assert.deepEqual([done?.status?.nodes?.total, reported(done)], [2, undefined]);
  });

  it('may have another name, with a right to it; without one the pool says which right is missing', async () => {
    await host('byoh-5', ip('10.9.0.5'));
    await list({ '10.9.0.5': 'username=a' }, 'hosts');
    await stage.world.apply(listingPool('other', NAMESPACE, 'hosts'));
    const pool = await becomes('other', 'NodesFound', 'Unknown/AccessDenied');
    assert.match(messageOf(pool, 'NodesFound'), /watch configmaps hosts\/hosts failed: .*forbidden/);
    const role = ['-n', NAMESPACE, 'create', 'role', 'hosts', '--verb=list,watch', '--resource=configmaps'];
    await stage.world.kubectl(...role, '--resource-name=hosts');
    const account = '--serviceaccount=winpool-system:windowspool-operator';
    await stage.world.kubectl('-n', NAMESPACE, 'create', 'rolebinding', 'hosts', '--role=hosts', account);
    await stage.world.waitForPool('other', 'to have its node', (found) => found?.status?.nodes?.verified === 1, 60_000);
  });

  it('lists hosts across restarts of the operator, and nobody leaves meanwhile', async () => {
    await host('byoh-6', ip('10.9.0.6'));
    await list({ '10.9.0.6': 'username=a' });
    await stage.world.apply(listingPool('lasting', NAMESPACE));
    await becomes('lasting', 'Ready', 'True/Verified');
    const before = await stage.world.kubectl(
      'get',
      'node',
      'byoh-6',
      '-o',
      'jsonpath={.metadata.labels}{.spec}{.metadata.annotations}',
    );
    await stage.operator.stop();
    stage.operator = await stage.world.operator(['--poll-interval=200ms', '--leader-elect=false']).ready();
    await stage.world.kubectl('label', 'windowspool', 'lasting', 'seen=yes');
    await patch({ '10.9.0.7': '' });
    await becomes('lasting', 'NodesFound', 'False/UnknownAddresses');
    const after = await stage.world.kubectl(
      'get',
      'node',
      'byoh-6',
      '-o',
      'jsonpath={.metadata.labels}{.spec}{.metadata.annotations}',
    );
    assert.equal(after, before);
  });
});
