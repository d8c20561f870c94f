import assert from 'node:assert/strict';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { poolManifest } from '../pools.ts';
import { freezeAws, withOperator } from '../sharedWorld.ts';

describe('the lifecycle of a pool', () => {
  const fixture = withOperator(
    '--resync-interval=1s',
    '--create-retry-interval=2s',
    // One test deletes the cluster, which every pool of the suite may notice.
    '--denied-retry-interval=1s',
  );

  const gone = (name: string) => fixture.world.waitForPool(name, 'to be gone', (pool) => pool === undefined);
  const ready = (name: string) => fixture.world.waitForReady(name);
  const groupIn = (name: string) => fixture.world.cloud.state.groups.get(name)?.nodegroup;
  const eventsOf = async (name: string) => {
    const text = await fixture.world.kubectl('get', 'events.events.k8s.io', '-n', 'default', '-o', 'json');
    const items: { regarding: { kind: string; name: string }; reason: string }[] = JSON.parse(text).items;
    return items
      .filter(({ regarding }) => regarding.kind === 'WindowsPool' && regarding.name === name)
      .map(({ reason }) => reason);
  };

  it('creates the node group, the RuntimeClass and verified nodes, and publishes and logs events', async () => {
    await fixture.world.apply(
      poolManifest('life', { labels: { team: 'web' }, nodeGroup: { tags: { cost: '42' }, scaling: { minSize: 2 } } }),
    );
    const pool = await ready('life');
    const group = groupIn('life');
    assert.deepEqual(
      [group?.amiType, group?.labels, group?.scalingConfig, group?.tags?.['winpool.dev/pool'], group?.tags?.cost],
      [
        'WINDOWS_CORE_2022_x86_64',
        { team: 'web', 'winpool.dev/pool': 'life', 'winpool.dev/windows-build': '10.0.20348' },
        { minSize: 2, maxSize: 3, desiredSize: 2 },
        'life',
        '42',
      ],
    );
    assert.deepEqual(group?.taints, [{ key: 'os', value: 'windows', effect: 'NO_SCHEDULE' }]);
    const none = { joining: 0, failing: 0, gated: 0, quarantined: 0 };
    assert.deepEqual(pool?.status?.nodes, { desired: 2, total: 2, ready: 2, verified: 2, ...none });
    assert.deepEqual(pool?.status?.cluster?.name, 'demo');
    const runtimeClass = await fixture.world.get<Stored<V1RuntimeClass>>('runtimeclasses', 'windows-2022');
    assert.equal(runtimeClass?.handler, 'runhcs-wcow-process');
    const expected = ['NodeGroupCreated', 'RuntimeClassCreated', 'EnoughNodesVerified'];
    let reasons: readonly string[] = [];
    // Events follow the status.
    const allPublished = async () => {
      reasons = await eventsOf('life');
      return expected.every((reason) => reasons.includes(reason));
    };
    await waitFor(allPublished, { what: `the events ${expected}`, timeoutMs: 30_000, explain: () => `${reasons}` });
    for (const reason of expected) {
      assert.equal(reasons.filter((other) => other === reason).length, 1, `${reason} in ${reasons}`);
      const lines = fixture.operator.lines.filter((line) => line.pool === 'life' && line.reason === reason);
      assert.deepEqual(
        lines.map(({ level }) => level),
        ['info'],
        fixture.operator.tail(),
      );
    }
  });

  it('deletes the group before the pool, also while it is CREATING', async () => {
    // EKS continues the creation after its response to the deletion.
    const restoreSpeed = freezeAws(fixture.world);
    try {
      await fixture.world.apply(poolManifest('hurried'));
      await waitFor(() => groupIn('hurried')?.status === 'CREATING', { what: 'the group to be CREATING' });
      fixture.world.cloud.resetCalls();
      await fixture.world.kubectl('delete', 'windowspool', 'hurried', '--wait=false');
      const isAnswered = () =>
        fixture.world.cloud.calls().some(({ operation, result }) => operation === 'DeleteNodegroup' && result === 'ok');
      await waitFor(isAnswered, { what: 'EKS to accept DeleteNodegroup' });
    } finally {
      restoreSpeed();
    }
    await gone('hurried');
    assert.equal(groupIn('hurried'), undefined);
  });

  it('keeps the group and the RuntimeClass with Retain', async () => {
    await fixture.world.apply(
      poolManifest('kept', {
        windowsVersion: 'Windows2025',
        deletionPolicy: 'Retain',
        labels: { team: 'web' },
        nodeGroup: { tags: { cost: '42' } },
      }),
    );
    await ready('kept');
    await fixture.world.kubectl('delete', 'windowspool', 'kept', '--timeout=60s');
    const { status, labels, taints, tags } = groupIn('kept') ?? {};
    assert.deepEqual(
      { status, labels, taints, tags },
      {
        status: 'ACTIVE',
        labels: { team: 'web' },
        taints: [{ key: 'os', value: 'windows', effect: 'NO_SCHEDULE' }],
        tags: { cost: '42' },
      },
    );
    const kept = await fixture.world.get<Stored<V1RuntimeClass>>('runtimeclasses', 'windows-2025');
    assert.deepEqual(kept?.metadata.ownerReferences ?? [], []);
    fixture.world.cloud.faults.consoleDelete({ group: 'kept' });
    await fixture.world.kubectl('delete', 'runtimeclass', 'windows-2025');
  });

  it('deletes what it created', async () => {
    await fixture.world.kubectl('delete', 'windowspool', 'life', '--timeout=60s');
    assert.equal(groupIn('life'), undefined);
  });
});
