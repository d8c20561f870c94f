import assert from 'node:assert/strict';
import {
  OWNERSHIP_ANNOTATION,
  POOL_KEY,
  QUARANTINE_TAINT_KEY,
  VERIFIED_CONDITION,
} from '../../controllers/windowspool/api/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
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

  it('are restored when their pool is deleted, and keep changes that other clients made in the meantime', async () => {
    await join({ name: 'left', labels: { site: 'fra', tier: 'gold' } });
    await fixture.world.apply(
      existingPool('goes', { matchLabels: { site: 'fra' } }, { labels: { tier: 'web', team: 'a' } }),
    );
    await waitForCondition('goes', 'Ready', 'True/EnoughNodesVerified');
    await fixture.world.kubectl('patch', 'windowspool', 'goes', '--type=merge', '-p', '{"spec":{"paused":true}}');
    await waitForCondition('goes', 'Paused', 'True/Paused');
    await fixture.world.kubectl('label', 'node', 'left', 'team=b', '--overwrite');
    await fixture.world.kubectl(
      'patch',
      'windowspool',
      'goes',
      '--type=merge',
      '-p',
      '{"metadata":{"annotations":{"a":"b"}},"spec":{"paused":false,"labels":{"team":null}}}',
    );
    await fixture.world.kubectl('delete', 'windowspool', 'goes', '--timeout=30s');
    const { labels, annotations, taints = [], isReported } = await writtenFields('left');
    assert.deepEqual(
      [labels?.tier, labels?.team, labels?.[POOL_KEY], taints, isReported],
      ['gold', 'b', undefined, [], false],
    );
    assert.equal(annotations?.[OWNERSHIP_ANNOTATION], undefined);
  });

  it('keep the labels and taints of a pool that is deleted with Retain', async () => {
    await join({ name: 'kept', labels: { site: 'fra' } });
    await fixture.world.apply(
      existingPool('stays', { matchLabels: { site: 'fra' } }, { labels: { tier: 'web' }, deletionPolicy: 'Retain' }),
    );
    await waitForCondition('stays', 'Ready', 'True/EnoughNodesVerified');
    await fixture.world.kubectl('delete', 'windowspool', 'stays', '--timeout=30s');
    const { labels, annotations, taints, isReported } = await writtenFields('kept');
    assert.deepEqual([labels?.tier, taints?.[0]?.key, isReported], ['web', 'os', false]);
    assert.equal(annotations?.[OWNERSHIP_ANNOTATION], undefined);
    await fixture.world.kubectl('delete', 'runtimeclass', 'windows-2022');
  });

  it('stay with the first of two pools, and the second one reports that', async () => {
    await join({ name: 'wanted', labels: { site: 'fra' } });
    await fixture.world.apply(existingPool('b-first', { matchLabels: { site: 'fra' } }));
    await waitForCondition('b-first', 'Ready', 'True/EnoughNodesVerified');
    await fixture.world.apply(existingPool('a-second', { matchExpressions: [{ key: 'site', operator: 'Exists' }] }));
    const second = await waitForCondition('a-second', 'NodesFound', 'False/OwnedByOtherPool');
    assertNames(messageOf(second, 'NodesFound'), 'Node wanted', 'WindowsPool b-first');
    assert.equal((await node('wanted')).metadata.labels?.[POOL_KEY], 'b-first');
    await fixture.world.kubectl('delete', 'windowspool', 'b-first', '--timeout=30s');
    await waitForCondition('a-second', 'Ready', 'True/EnoughNodesVerified');
    assert.equal((await node('wanted')).metadata.labels?.[POOL_KEY], 'a-second');
    const before = JSON.parse((await node('wanted')).metadata.annotations?.[OWNERSHIP_ANNOTATION] ?? '{}');
    assert.equal(before.labels[POOL_KEY].was, null);
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

  it('without the gate taint are reported, and those with it are released', async () => {
    const gate = { key: 'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate', effect: 'NoSchedule' };
    await join({ name: 'ungated', labels: { site: 'fra' } });
    await join({ name: 'gated', labels: { site: 'fra' }, taints: [gate] });
    await join({ name: 'held', labels: { site: 'fra' }, taints: [gate], kernelVersion: '10.0.17763.5' });
    await fixture.world.apply(
      existingPool('gate', { matchLabels: { site: 'fra' } }, { verification: { policy: 'Gate' } }),
    );
    await fixture.world.waitForPool(
      'gate',
      'to have released one',
      (pool) => pool?.status?.nodes?.verified === 2 && pool.status.nodes.gated === 1,
    );
    await waitFor(async () => !(await node('gated')).spec.taints?.some(({ key }) => key === gate.key), {
      what: 'the gate taint to be removed',
      timeoutMs: 20_000,
    });
    const isReported = async (name: string) => {
      const text = await fixture.world.kubectl(
        'get',
        'node',
        name,
        '-o',
        `jsonpath={.status.conditions[?(@.type=="${VERIFIED_CONDITION}")].message}`,
      );
      return text.includes('joined without the taint');
    };
    await waitFor(() => isReported('ungated'), { what: 'the condition of the node', timeoutMs: 20_000 });
    assert.equal(await isReported('gated'), false);
  });

  it('are quarantined while they fail, and not tainted with policy Report', async () => {
    await join({ name: 'wrong', labels: { site: 'fra' }, kernelVersion: '10.0.17763.5' });
    const spec = (policy: string) => ({ verification: { policy } });
    await fixture.world.apply(existingPool('strict', { matchLabels: { site: 'fra' } }, spec('Quarantine')));
    const counts = (quarantined: number) =>
      fixture.world.waitForPool(
        'strict',
        `to have ${quarantined} nodes in quarantine`,
        (pool) => pool?.status?.nodes?.quarantined === quarantined && pool.status.nodes.failing === 1,
      );
    await counts(1);
    const quarantineTaint = (await node('wrong')).spec.taints?.find(({ key }) => key === QUARANTINE_TAINT_KEY);
    assert.deepEqual([quarantineTaint?.value, quarantineTaint?.effect], ['WrongBuild', 'NoSchedule']);
    await fixture.world.apply(existingPool('strict', { matchLabels: { site: 'fra' } }, spec('Report')));
    await counts(0);
  });

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

  it('that lose the Windows label while no operator runs are restored before their pool is deleted', async () => {
    await join({ name: 'absent', labels: { site: 'fra' } });
    const before = await writtenFields('absent');
    await fixture.world.apply(existingPool('away', { matchLabels: { site: 'fra' } }, { labels: { tier: 'web' } }));
    await waitForCondition('away', 'Ready', 'True/EnoughNodesVerified');
    await fixture.operator.stop();
    await fixture.world.kubectl('label', 'node', 'absent', 'kubernetes.io/os=linux', '--overwrite');
    await fixture.world.kubectl('delete', 'windowspool', 'away', '--wait=false');
    fixture.operator = await fixture.world.operator(['--leader-elect=false']).ready();
    await fixture.world.waitForPool('away', 'to be gone', (pool) => pool === undefined);
    const os = { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'linux' };
    await waitUntilRestored('absent', { ...before, labels: { ...before.labels, ...os } });
  });
});
