import assert from 'node:assert/strict';
import {
  OWNERSHIP_ANNOTATION,
  POOL_KEY,
  QUARANTINE_TAINT_KEY,
  VERIFIED_CONDITION,
} from '../../controllers/windowspool/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { messageOf } from '../../hack/testenv/testEnv.ts';
import { existingPool } from '../pools.ts';
import { withExistingNodes } from './existingNodesFixture.ts';

describe('existing nodes', () => {
  const { stage, node, join, belongings, becomes, holds, returns } = withExistingNodes();

  it('are found by a selector, marked and verified, without a word to AWS', async () => {
    await join({ name: 'bare-1', labels: { site: 'fra' } });
    await join({ name: 'bare-2', labels: { site: 'fra' }, kernelVersion: '10.0.17763.5' });
    await join({ name: 'bare-3', labels: { site: 'ams' } });
    stage.world.cloud.resetCalls();
    const taints = [{ key: 'dedicated', value: 'iis', effect: 'NoSchedule' }];
    const selector = {
      matchExpressions: [{ key: 'site', operator: 'NotIn', values: ['ams', 'lhr'] }],
      matchLabels: { site: 'fra' },
    };
    await stage.world.apply(existingPool('onprem', selector, { labels: { tier: 'web' }, taints }));
    const pool = await becomes('onprem', 'Ready', 'True/Verified');
    await becomes('onprem', 'NodesVerified', 'False/WrongBuild');
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
    assert.deepEqual(stage.world.cloud.calls(), []);
  });

  it('get back what they had, byte for byte, when they leave the pool', async () => {
    const taints = [
      { key: 'keep', value: 'me', effect: 'NoExecute' },
      { key: 'dedicated', value: 'own', effect: 'NoSchedule' },
    ];
    await join({
      name: 'leaver',
      labels: { site: 'fra', tier: 'gold', 'node.kubernetes.io/windows-build': '10.0.1' },
      taints,
    });
    const before = await belongings('leaver');
    const spec = {
      labels: { tier: 'web', team: 'a' },
      taints: [{ key: 'dedicated', value: 'iis', effect: 'NoSchedule' }],
    };
    await stage.world.apply(existingPool('leave', { matchLabels: { site: 'fra' } }, spec));
    const pool = await becomes('leave', 'Ready', 'True/Verified');
    assert.match(
      messageOf(pool, 'NodesVerified'),
      /dedicated=own:NoSchedule of somebody else, where the pool wants dedicated=iis/,
    );
    const { labels } = (await node('leaver')).metadata;
    assert.deepEqual(
      [labels?.tier, labels?.team, labels?.['node.kubernetes.io/windows-build']],
      ['web', 'a', '10.0.20348'],
    );
    await stage.world.apply(existingPool('leave', { matchLabels: { site: 'lhr' } }, spec));
    await becomes('leave', 'Ready', 'False/NoNodesFound');
    await returns('leaver', before);
  });

  it('get back what they had when their pool goes, and keep what others changed meanwhile', async () => {
    await join({ name: 'left', labels: { site: 'fra', tier: 'gold' } });
    await stage.world.apply(
      existingPool('goes', { matchLabels: { site: 'fra' } }, { labels: { tier: 'web', team: 'a' } }),
    );
    await becomes('goes', 'Ready', 'True/Verified');
    await stage.world.kubectl('patch', 'windowspool', 'goes', '--type=merge', '-p', '{"spec":{"paused":true}}');
    await becomes('goes', 'Paused', 'True/Paused');
    await stage.world.kubectl('label', 'node', 'left', 'team=b', '--overwrite');
    await stage.world.kubectl(
      'patch',
      'windowspool',
      'goes',
      '--type=merge',
      '-p',
      '{"metadata":{"annotations":{"a":"b"}},"spec":{"paused":false,"labels":{"team":null}}}',
    );
    await stage.world.kubectl('delete', 'windowspool', 'goes', '--timeout=30s');
    const { labels, annotations, taints = [], reported } = await belongings('left');
    assert.deepEqual(
      [labels?.tier, labels?.team, labels?.[POOL_KEY], taints, reported],
      ['gold', 'b', undefined, [], false],
    );
    assert.equal(annotations?.[OWNERSHIP_ANNOTATION], undefined);
  });

  it('keep the labels and taints of a pool that goes with Retain', async () => {
    await join({ name: 'kept', labels: { site: 'fra' } });
    await stage.world.apply(
      existingPool('stays', { matchLabels: { site: 'fra' } }, { labels: { tier: 'web' }, deletionPolicy: 'Retain' }),
    );
    await becomes('stays', 'Ready', 'True/Verified');
    await stage.world.kubectl('delete', 'windowspool', 'stays', '--timeout=30s');
    const { labels, annotations, taints, reported } = await belongings('kept');
    assert.deepEqual([labels?.tier, taints?.[0]?.key, reported], ['web', 'os', false]);
    assert.equal(annotations?.[OWNERSHIP_ANNOTATION], undefined);
    await stage.world.kubectl('delete', 'runtimeclass', 'windows-2022');
  });

  it('stay with the first of two pools, and the newcomer says so', async () => {
    await join({ name: 'wanted', labels: { site: 'fra' } });
    await stage.world.apply(existingPool('b-first', { matchLabels: { site: 'fra' } }));
    await becomes('b-first', 'Ready', 'True/Verified');
    await stage.world.apply(existingPool('a-second', { matchExpressions: [{ key: 'site', operator: 'Exists' }] }));
    const second = await becomes('a-second', 'NodesFound', 'False/ClaimedByAnother');
    assert.match(messageOf(second, 'NodesFound'), /^Node wanted is wanted here and belongs to WindowsPool b-first/);
    assert.equal((await node('wanted')).metadata.labels?.[POOL_KEY], 'b-first');
    await stage.world.kubectl('delete', 'windowspool', 'b-first', '--timeout=30s');
    await becomes('a-second', 'Ready', 'True/Verified');
    assert.equal((await node('wanted')).metadata.labels?.[POOL_KEY], 'a-second');
    const before = JSON.parse((await node('wanted')).metadata.annotations?.[OWNERSHIP_ANNOTATION] ?? '{}');
    assert.equal(before.labels[POOL_KEY].was, null);
  });

  it('join nothing by the label of a pool that a kubelet puts on itself', async () => {
    await join({ name: 'member', labels: { site: 'fra' } });
    await stage.world.apply(existingPool('club', { matchLabels: { site: 'fra' } }));
    await holds('club', 1);
    await join({ name: 'stranger', labels: { [POOL_KEY]: 'club', 'eks.amazonaws.com/nodegroup': 'club' } });
    await join({ name: 'second', labels: { site: 'fra' } });
    await holds('club', 2);
    assert.deepEqual((await belongings('stranger')).annotations, {
      'kwok.x-k8s.io/node': 'fake',
      ...(await kubernetesOwn('stranger')),
    });
  });

  /** What Kubernetes' own controllers write into a node's annotations. */
  async function kubernetesOwn(name: string): Promise<Record<string, string>> {
    const { annotations = {} } = (await node(name)).metadata;
    return Object.fromEntries(
      Object.entries(annotations).filter(([key]) =>
        /^(node\.alpha\.kubernetes\.io|kubectl\.kubernetes\.io|volumes\.kubernetes\.io)\//.test(key),
      ),
    );
  }

  it('that came without the taint of the gate are told so, and those with it are released', async () => {
    const gate = { key: 'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate', effect: 'NoSchedule' };
    await join({ name: 'ungated', labels: { site: 'fra' } });
    await join({ name: 'gated', labels: { site: 'fra' }, taints: [gate] });
    await join({ name: 'held', labels: { site: 'fra' }, taints: [gate], kernelVersion: '10.0.17763.5' });
    await stage.world.apply(
      existingPool('gate', { matchLabels: { site: 'fra' } }, { verification: { policy: 'Gate' } }),
    );
    await stage.world.waitForPool(
      'gate',
      'to have released one',
      (pool) => pool?.status?.nodes?.verified === 2 && pool.status.nodes.gated === 1,
    );
    await waitFor(async () => !(await node('gated')).spec.taints?.some(({ key }) => key === gate.key), {
      what: 'the gate to open',
      timeoutMs: 20_000,
    });
    const reported = async (name: string) => {
      const text = await stage.world.kubectl(
        'get',
        'node',
        name,
        '-o',
        `jsonpath={.status.conditions[?(@.type=="${VERIFIED_CONDITION}")].message}`,
      );
      return text.includes('joined without the taint');
    };
    await waitFor(() => reported('ungated'), { what: 'the node to be told', timeoutMs: 20_000 });
    assert.equal(await reported('gated'), false);
  });

  it('that fail are quarantined until they pass, and left alone under Report', async () => {
    await join({ name: 'wrong', labels: { site: 'fra' }, kernelVersion: '10.0.17763.5' });
    const spec = (policy: string) => ({ verification: { policy } });
    await stage.world.apply(existingPool('strict', { matchLabels: { site: 'fra' } }, spec('Quarantine')));
    const counts = (quarantined: number) =>
      stage.world.waitForPool(
        'strict',
        `to have ${quarantined} nodes in quarantine`,
        (pool) => pool?.status?.nodes?.quarantined === quarantined && pool.status.nodes.failing === 1,
      );
    await counts(1);
    const held = (await node('wrong')).spec.taints?.find(({ key }) => key === QUARANTINE_TAINT_KEY);
    assert.deepEqual([held?.value, held?.effect], ['WrongBuild', 'NoSchedule']);
    await stage.world.apply(existingPool('strict', { matchLabels: { site: 'fra' } }, spec('Report')));
    await counts(0);
  });

  it('that stop saying that they run Windows are read past the cache and get back what they had', async () => {
    await join({ name: 'switcher', labels: { site: 'fra' } });
    const before = await belongings('switcher');
    await stage.world.apply(existingPool('switch', { matchLabels: { site: 'fra' } }, { labels: { tier: 'web' } }));
    await becomes('switch', 'Ready', 'True/Verified');
    await stage.world.kubectl('label', 'node', 'switcher', 'kubernetes.io/os=linux', '--overwrite');
    await becomes('switch', 'Ready', 'False/NoNodesFound');
    // Kubernetes' own controller lets the old label follow.
    const os = { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'linux' };
    await returns('switcher', { ...before, labels: { ...before.labels, ...os } });
  });

  it('that stopped to say so while no operator ran get it back, too, before their pool goes', async () => {
    await join({ name: 'absent', labels: { site: 'fra' } });
    const before = await belongings('absent');
    await stage.world.apply(existingPool('away', { matchLabels: { site: 'fra' } }, { labels: { tier: 'web' } }));
    await becomes('away', 'Ready', 'True/Verified');
    await stage.operator.stop();
    await stage.world.kubectl('label', 'node', 'absent', 'kubernetes.io/os=linux', '--overwrite');
    await stage.world.kubectl('delete', 'windowspool', 'away', '--wait=false');
    stage.operator = await stage.world.operator(['--leader-elect=false']).ready();
    await stage.world.waitForPool('away', 'to be gone', (pool) => pool === undefined);
    const os = { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'linux' };
    await returns('absent', { ...before, labels: { ...before.labels, ...os } });
  });
});
