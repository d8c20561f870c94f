/** The watch of the pods that the operator runs on nodes. */
import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { nodePodIdentity, nodePodListWatch } from '../../controllers/kubernetes/nodePods.ts';
import { Store } from '../../controllers/runtime/store.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, PURPOSE_LABEL } from '../../controllers/windowspool/api/labels.ts';
import type { NodePod } from '../../controllers/windowspool/ports/nodePods.ts';
import { until, withClient } from './clientFixture.ts';

const NAMESPACE = 'node-pods';

describe('the pods that the operator runs on nodes', () => {
  const fixture = withClient();
  after(() => fixture.world.kubectl('delete', 'namespace', NAMESPACE, '--wait=false'));

  const pod = (name: string, annotations: Readonly<Record<string, string>> = {}): V1Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { [MANAGED_BY_LABEL]: MANAGED_BY, [PURPOSE_LABEL]: 'image-pull' },
      annotations,
    },
    spec: { nodeName: 'win-1', containers: [{ name: 'pull', image: 'windows' }] },
  });

  it('are none that a kubelet creates, whatever their labels: mirror pods have no service account', async () => {
    const { world, client } = fixture;
    await world.kubectl('create', 'namespace', NAMESPACE);
    const account = () => world.kubectl('get', 'serviceaccount', 'default', '--namespace', NAMESPACE).catch(() => '');
    await until('the service account', async () => (await account()) !== '');
    const store = new Store<NodePod>({ identity: nodePodIdentity, log: silentLog });
    fixture.reflect(
      'pods',
      nodePodListWatch(client, NAMESPACE, () => undefined),
      nodePodIdentity,
      store,
    );
    for (const body of [pod('forged', { 'kubernetes.io/config.mirror': 'a1b2' }), pod('own')])
      await client.request('POST', `/api/v1/namespaces/${NAMESPACE}/pods`, { body, signal: fixture.signal });
    await until('the pod of the operator', () => store.get('own') !== undefined);
    assert.equal(store.get('forged'), undefined);
  });
});
