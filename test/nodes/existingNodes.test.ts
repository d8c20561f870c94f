import assert from 'node:assert/strict';
import { OWNERSHIP_ANNOTATION, POOL_KEY } from '../../controllers/windowspool/api/labels.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { existingPool } from '../pools.ts';
import { withExistingNodes } from './existingNodesFixture.ts';

describe('existing nodes', () => {
  const { fixture, node, join, writtenFields, waitForCondition, waitForNodes, waitUntilRestored } = withExistingNodes();

  it('are selected, labeled, tainted and verified, without AWS calls', async () => {
    await join({ name: 'bare-1', labels: { site: 'fra' } });
    await join({ name: 'bare-2', labels: { site: 'fra' }, kernelVersion: '10.0.17763.5' });
    await join({ name: 'bare-3', labels: { site: 'ams' } });
    fixture.world.cloud.resetCalls();
    const taints = [{ key: 'dedicated', value: 'iis', effect: 'NoSchedule' }];
    const selector = {
      matchExpressions: [{ key: 'site', operator: 'NotIn', values: ['ams', 'lhr'] }],
      matchLabels: { site: 'fra' },
    };
    await fixture.world.apply(existingPool('onprem', selector, { labels: { tier: 'web' }, taints }));
    const pool = await waitForCondition('onprem', 'Ready', 'True/EnoughNodesVerified');
    await waitForCondition('onprem', 'NodesVerified', 'False/WrongBuild');
    assert.deepEqual(
      pool?.status?.conditions?.map(({ type }) => type),
      ['Ready', 'PrerequisitesMet', 'NodesFound', 'RuntimeClassReady', 'NodesVerified'],
    );
    assert.deepEqual([pool?.status?.summary?.nodes, pool?.status?.nodeGroup], ['2', undefined]);
    const { metadata, spec } = await node('bare-1');
    assert.deepEqual([metadata.labels?.tier, metadata.labels?.[POOL_KEY]], ['web', 'onprem']);
    assert.deepEqual(
      spec.taints?.map(({ key, value, effect }) => `${key}=${value}:${effect}`),
      ['os=windows:NoSchedule', 'dedicated=iis:NoSchedule'],
    );
    assert.equal((await node('bare-3')).metadata.annotations?.[OWNERSHIP_ANNOTATION], undefined);
    assert.deepEqual(fixture.world.cloud.calls(), []);
  });

  it('are restored exactly when they leave the pool', async () => {
    const taints = [
      { key: 'keep', value: 'me', effect: 'NoExecute' },
      { key: 'dedicated', value: 'own', effect: 'NoSchedule' },
    ];
    await join({
      name: 'leaver',
      labels: { site: 'fra', tier: 'gold', 'node.kubernetes.io/windows-build': '10.0.1' },
      taints,
    });
    const before = await writtenFields('leaver');
    const spec = {
      labels: { tier: 'web', team: 'a' },
      taints: [{ key: 'dedicated', value: 'iis', effect: 'NoSchedule' }],
    };
    await fixture.world.apply(existingPool('leave', { matchLabels: { site: 'fra' } }, spec));
    const pool = await waitForCondition('leave', 'Ready', 'True/EnoughNodesVerified');
    assertNames(messageOf(pool, 'NodesVerified'), 'dedicated=own:NoSchedule', 'dedicated=iis');
    const { labels } = (await node('leaver')).metadata;
    assert.deepEqual(
      [labels?.tier, labels?.team, labels?.['node.kubernetes.io/windows-build']],
      ['web', 'a', '10.0.20348'],
    );
    await fixture.world.apply(existingPool('leave', { matchLabels: { site: 'lhr' } }, spec));
    await waitForCondition('leave', 'Ready', 'False/NoNodesFound');
    await waitUntilRestored('leaver', before);
  });

  it('do not join a pool when a kubelet sets the label of that pool', async () => {
    await join({ name: 'member', labels: { site: 'fra' } });
    await fixture.world.apply(existingPool('club', { matchLabels: { site: 'fra' } }));
    await waitForNodes('club', 1);
    await join({ name: 'stranger', labels: { [POOL_KEY]: 'club', 'eks.amazonaws.com/nodegroup': 'club' } });
    await join({ name: 'second', labels: { site: 'fra' } });
    await waitForNodes('club', 2);
    assert.deepEqual((await writtenFields('stranger')).annotations, {
      'kwok.x-k8s.io/node': 'fake',
      ...(await kubernetesOwn('stranger')),
    });
  });

  /** The annotations that Kubernetes' own controllers write. */
  async function kubernetesOwn(name: string): Promise<Record<string, string>> {
    const { annotations = {} } = (await node(name)).metadata;
    return Object.fromEntries(
      Object.entries(annotations).filter(([key]) =>
        /^(node\.alpha\.kubernetes\.io|kubectl\.kubernetes\.io|volumes\.kubernetes\.io)\//.test(key),
      ),
    );
  }

  it('that lose the Windows label are read without the cache and restored', async () => {
    await join({ name: 'switcher', labels: { site: 'fra' } });
    const before = await writtenFields('switcher');
    await fixture.world.apply(existingPool('switch', { matchLabels: { site: 'fra' } }, { labels: { tier: 'web' } }));
    await waitForCondition('switch', 'Ready', 'True/EnoughNodesVerified');
    await fixture.world.kubectl('label', 'node', 'switcher', 'kubernetes.io/os=linux', '--overwrite');
    await waitForCondition('switch', 'Ready', 'False/NoNodesFound');
    // Kubernetes' own controller updates the old label.
    const os = { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'linux' };
    await waitUntilRestored('switcher', { ...before, labels: { ...before.labels, ...os } });
  });
});
