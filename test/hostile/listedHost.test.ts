/** A host leaves the list of its pool in the middle of its drain. The operator has only the permissions that are shipped. */
import assert from 'node:assert/strict';
import { CORDONED_ANNOTATION, REPLACE_ANNOTATION } from '../../controllers/windowspool/api/labels.ts';
import { ofOperator, readAudit, refused } from '../fakes/testenv/audit.ts';
import { withExistingNodes } from '../nodes/existingNodesFixture.ts';
import { budget, controllerOf, namespaceCalled, podOn } from '../userObjects.ts';

const NAMESPACE = 'listed-hosts';
const LIST = 'windows-instances';
/** Of the pods: a drain evicts only pods that a controller recreates. */
const OWNER = 'owner';
const POOL = 'listed';
const HOSTS = { 'listed-1': '10.9.3.1', 'listed-2': '10.9.3.2' } as const;

const pool = {
  apiVersion: 'winpool.dev/v1alpha1',
  kind: 'WindowsPool',
  metadata: { name: POOL },
  spec: {
    windowsVersion: 'Windows2022',
    existingNodes: { instancesConfigMap: { namespace: NAMESPACE, name: LIST } },
    labels: { tier: 'web' },
  },
};

describe('a listed host in the middle of its drain', () => {
  const { fixture, node, join, writtenFields, waitForCondition, waitForNodes, waitUntilRestored } = withExistingNodes();
  const kubectl = (...words: readonly string[]) => fixture.world.kubectl('-n', NAMESPACE, ...words);
  const configMap = (name: string, data: Readonly<Record<string, string>>) =>
    fixture.world.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data });
  const list = (data: Readonly<Record<string, string>>) => configMap(LIST, data);
  const replace = (name: string) => fixture.world.kubectl('annotate', 'node', name, `${REPLACE_ANNOTATION}=true`);

  /** Runs a pod on the node that a PodDisruptionBudget protects. */
  async function occupy(nodeName: string): Promise<void> {
    const owner = await controllerOf(fixture.world, NAMESPACE, OWNER);
    await fixture.world.apply(podOn(nodeName, NAMESPACE, nodeName, owner));
    await kubectl('wait', '--for=condition=Ready', `pod/${nodeName}`, '--timeout=20s');
    await fixture.world.apply(budget(NAMESPACE, nodeName, { minAvailable: 1 }));
    await kubectl('wait', '--for=jsonpath={.status.currentHealthy}=1', `pdb/${nodeName}`, '--timeout=20s');
  }

  const requests = async () => ofOperator(await readAudit(fixture.world.controlPlane.auditLog, NAMESPACE));
  const evictions = async (pod: string) =>
    (await requests()).filter(({ objectRef }) => objectRef?.subresource === 'eviction' && objectRef.name === pod);

  /** Starts the drain of the first host, which its budget blocks. Returns the fields of the host before it joined the pool. */
  async function beginDrain(): Promise<object> {
    for (const [name, address] of Object.entries(HOSTS))
      await join({ name, addresses: [{ type: 'InternalIP', address }] });
    const { annotations, ...before } = await writtenFields('listed-1');
    await list(Object.fromEntries(Object.values(HOSTS).map((address) => [address, 'username=a'])));
    await fixture.world.apply(pool);
    await waitForNodes(POOL, 2);
    await waitForCondition(POOL, 'Ready', 'True/EnoughNodesVerified');
    await occupy('listed-1');
    await replace('listed-1');
    await waitForCondition(POOL, 'Disrupting', 'True/DrainBlocked');
    assert.equal((await node('listed-1')).metadata.annotations?.[CORDONED_ANNOTATION], 'by-operator');
    return { ...before, annotations: { ...annotations, [REPLACE_ANNOTATION]: 'true' } };
  }

  before(async () => {
    await fixture.world.apply(namespaceCalled(NAMESPACE));
    await configMap(OWNER, {});
  });
  after(() => fixture.world?.kubectl('delete', 'namespace', NAMESPACE, '--ignore-not-found', '--timeout=60s'));
  beforeEach(() => kubectl('delete', 'configmap', LIST, '--ignore-not-found'));
  afterEach(() => kubectl('delete', 'pods,poddisruptionbudgets', '--all', '--force', '--grace-period=0'));

  it('that leaves the list is restored, and its pods are not evicted any more', async () => {
    const before = await beginDrain();
    await kubectl('patch', 'configmap', LIST, '--type=merge', '-p', `{"data":{"${HOSTS['listed-1']}":null}}`);
    await waitUntilRestored('listed-1', before);
    assert.notEqual((await node('listed-1')).spec.unschedulable, true);
    const asked = (await evictions('listed-1')).length;
    assert.ok(asked > 0);
    await kubectl('delete', 'poddisruptionbudgets', '--all');
    // The next drain takes as many passes.
    await occupy('listed-2');
    await kubectl('delete', 'poddisruptionbudgets', '--all');
    await replace('listed-2');
    await waitForCondition(POOL, 'Disrupting', 'True/Drained');
    assert.deepEqual(
      [(await evictions('listed-1')).length, (await kubectl('get', 'pods', '-o', 'name')).trim()],
      [asked, 'pod/listed-1'],
    );
  });

  it('whose list is deleted is restored, and drained when the list is back', async () => {
    const before = await beginDrain();
    await kubectl('delete', 'configmap', LIST);
    await waitForCondition(POOL, 'Ready', 'False/InstancesMissing');
    await waitUntilRestored('listed-1', before);
    assert.notEqual((await node('listed-1')).spec.unschedulable, true);
    await kubectl('delete', 'poddisruptionbudgets', '--all');
    await list({ [HOSTS['listed-1']]: 'username=a' });
    await waitForCondition(POOL, 'Disrupting', 'True/Drained');
    assert.equal((await node('listed-1')).spec.unschedulable, true);
  });

  it('was drained without a denied request', async () => {
    const all = await requests();
    assert.deepEqual(refused(all), []);
    assert.ok(all.some(({ verb, objectRef }) => verb === 'get' && objectRef?.name === LIST));
  });
});
