import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import { createNodes, nodeIdentity, nodeIndexes, nodeListWatch } from '../../controllers/kubernetes/nodes.ts';
import { Store } from '../../controllers/runtime/store.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import { IMAGES_PENDING_CONDITION, OWN_PREFIX, VERIFIED_CONDITION } from '../../controllers/windowspool/api/labels.ts';
import type { NodeRecord, Nodes, Taint, TaintEffect } from '../../controllers/windowspool/ports/nodes.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { errorKindOf, good, until, withClient } from './clientFixture.ts';

describe('nodes on a real API server', () => {
  const fixture = withClient();
  const { signal } = fixture;

  it('labels only the node that was read, and no other one with its name', async () => {
    const store = new Store({ identity: nodeIdentity, indexes: nodeIndexes, log: silentLog });
    fixture.reflect('nodes', nodeListWatch(fixture.client), nodeIdentity, store);
    await until('the first sync', () => store.hasSynced);
    const labels = { 'eks.amazonaws.com/nodegroup': 'adapter', 'kubernetes.io/os': 'windows' };
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'adapter-node', labels } };
    await fixture.client.request('POST', '/api/v1/nodes', { body, signal });
    await until('the node', () => store.byIndex('nodeGroup', 'adapter').length === 1);
    const nodes = createNodes(fixture.client, store);
    const [node] = store.byIndex('nodeGroup', 'adapter');
    assert.ok(node);
    good(await nodes.setLabel(node, 'example.com/a', 'b', signal));
    assert.equal(store.get('adapter-node')?.labels['example.com/a'], 'b', 'an own write is seen at once');
    const other = { ...node, uid: '00000000-0000-0000-0000-000000000000' };
    assert.equal(errorKindOf(await nodes.setLabel(other, 'example.com/a', 'c', signal)), 'conflict');
    assert.equal(
      errorKindOf(await nodes.setLabel({ ...node, name: 'no-such-node' }, 'example.com/a', 'c', signal)),
      'gone',
    );
    assert.equal(errorKindOf(await nodes.setLabel(node, 'not/a/label', 'c', signal)), 'refused');
    await changeTaints(nodes, () => store.get('adapter-node'));
    await changeCondition(nodes, () => store.get('adapter-node'));
    await fixture.client.request('DELETE', '/api/v1/nodes/adapter-node', { signal });
    await until('the end of the node', () => store.byIndex('nodeGroup', 'adapter').length === 0);
  });

  async function changeCondition(nodes: Nodes, seen: () => NodeRecord | undefined): Promise<void> {
    const now = () => seen() ?? assert.fail('the node is gone');
    const conditions = async () => {
      const path = '/api/v1/nodes/adapter-node';
      const node = await fixture.client.request<V1Node>('GET', path, { signal });
      return node.status?.conditions ?? [];
    };
    const since = async () =>
      (await conditions()).find(({ type }) => type === 'winpool.dev/Verified')?.lastTransitionTime;
    const conditionOf = (status: 'True' | 'False', message: string) => ({ status, reason: 'Because', message });
    const report = (status: 'True' | 'False', message: string) => ({
      [VERIFIED_CONDITION]: conditionOf(status, message),
    });
    const pending = { [IMAGES_PENDING_CONDITION]: conditionOf('True', 'b') };
    const own = () => now().conditions.filter((state) => state.startsWith(OWN_PREFIX));
    const [noon, one, two] = ['12', '13', '14'].map((hour) => Date.parse(`2026-03-01T${hour}:00:00Z`));
    const first = now();
    good(await nodes.setConditions(first, report('False', 'a'), noon ?? 0, signal));
    assert.deepEqual([now().verified, await since()], [conditionOf('False', 'a'), '2026-03-01T12:00:00Z']);
    good(await nodes.setConditions(now(), { ...report('False', 'b'), ...pending }, one ?? 0, signal));
    assert.deepEqual([now().verified, await since()], [conditionOf('False', 'b'), '2026-03-01T12:00:00Z']);
    assert.deepEqual(own(), [`${IMAGES_PENDING_CONDITION}=True`]);
    good(await nodes.setConditions(now(), report('True', 'b'), two ?? 0, signal));
    assert.deepEqual([now().verified, await since()], [conditionOf('True', 'b'), '2026-03-01T14:00:00Z']);
    assert.deepEqual(own(), []);
    const stale = now();
    good(await nodes.setConditions(stale, { ...report('True', 'b'), ...pending }, two ?? 0, signal));
    const other = { ...now(), uid: '00000000-0000-0000-0000-000000000000' };
    assert.equal(errorKindOf(await nodes.setConditions(other, {}, 0, signal)), 'conflict');
    const before = (await conditions()).length;
    // A leftover would count for the next pool of the node, so it goes also if this version of the node did not have it.
    good(await nodes.setConditions(stale, {}, 0, signal));
    assert.deepEqual([now().verified, (await conditions()).length], [undefined, before - 2]);
  }

  async function changeTaints(nodes: Nodes, seen: () => NodeRecord | undefined): Promise<void> {
    const now = () => seen() ?? assert.fail('the node is gone');
    const taint = (key: string, value: string, effect: TaintEffect = 'NoSchedule') => ({ key, value, effect });
    const timeAdded = '2026-01-15T08:00:00Z';
    const foreign = { ...taint('example.com/foreign', 'x', 'NoExecute'), timeAdded };
    // The control plane taints the node, too: it is not Ready.
    const isOfTest = ({ key }: Pick<Taint, 'key'>) => key.startsWith('example.com/');
    const ofServer = async () => {
      const path = '/api/v1/nodes/adapter-node';
      const node = await fixture.client.request<V1Node>('GET', path, { signal });
      return node.spec?.taints?.filter(isOfTest);
    };
    type Change = Parameters<Nodes['setTaints']>[1];
    // Retried as the operator does it, because the control plane may write first.
    const write = (change: () => Change) =>
      waitFor(
        async () => {
          const answer = await nodes.setTaints(now(), change(), signal);
          if (!answer.ok && answer.error.kind !== 'conflict') assert.fail(answer.error.message);
          return answer.ok;
        },
        { what: 'the taints to be written', intervalMs: 20 },
      );
    const before = now();
    await write(() => ({ set: [taint('example.com/a', '1')], remove: [] }));
    assert.deepEqual(now().taints.filter(isOfTest), [taint('example.com/a', '1')], 'an own write is seen at once');
    assert.equal(errorKindOf(await nodes.setTaints(before, { set: [], remove: [foreign] }, signal)), 'conflict');
    await fixture.client.request('PATCH', '/api/v1/nodes/adapter-node', {
      body: { spec: { taints: [taint('example.com/a', '1'), foreign, taint('example.com/b', '1')] } },
      contentType: 'application/merge-patch+json',
      signal,
    });
    await until('the foreign taint', () => now().taints.filter(isOfTest).length === 3);
    const change = { set: [taint('example.com/b', '2')], remove: [taint('example.com/a', '')] };
    await write(() => change);
    assert.deepEqual(await ofServer(), [foreign, taint('example.com/b', '2')], 'others are as they were');
    const odd = { set: [taint('not/a/key', '')], remove: [] };
    const isRefused = async () => errorKindOf(await nodes.setTaints(now(), odd, signal)) === 'refused';
    await waitFor(isRefused, { what: 'an invalid taint to be rejected', intervalMs: 20 });
    await write(() => ({ set: [], remove: now().taints }));
    assert.deepEqual(now().taints.filter(isOfTest), []);
    const gone = { ...now(), name: 'no-such-node' };
    assert.equal(errorKindOf(await nodes.setTaints(gone, change, signal)), 'gone');
  }
});
