import assert from 'node:assert/strict';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, isReconciled, messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { freezeAws, setSwitch, withOperator } from '../sharedWorld.ts';

describe('the lifecycle of a pool', () => {
  const fixture = withOperator(
    '--resync-interval=1s',
    '--create-retry-interval=2s',
    // One test deletes the cluster, which every pool of the suite may notice.
    '--denied-retry-interval=1s',
  );

  const gone = (name: string) => fixture.world.waitForPool(name, 'to be gone', (pool) => pool === undefined);
  const ready = (name: string) =>
    fixture.world.waitForPool(name, 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/EnoughNodesVerified');
  const groupIn = (name: string) => fixture.world.cloud.state.groups.get(name)?.nodegroup;
  const eventsOf = async (name: string) => {
    const text = await fixture.world.kubectl('get', 'events.events.k8s.io', '-n', 'default', '-o', 'json');
    const items: { regarding: { kind: string; name: string }; reason: string }[] = JSON.parse(text).items;
    return items
      .filter(({ regarding }) => regarding.kind === 'WindowsPool' && regarding.name === name)
      .map(({ reason }) => reason);
  };

  it('creates the node group, the RuntimeClass and verified nodes, and publishes events', async () => {
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
    }
  });

  it('supports kubectl wait and kubectl scale', async () => {
    await fixture.world.kubectl('wait', '--for=condition=Ready', 'windowspool/life', '--timeout=60s');
    await fixture.world.apply(
      poolManifest('life', {
        labels: { team: 'web' },
        nodeGroup: { tags: { cost: '42' }, scaling: { minSize: 2, desiredSize: 3 } },
      }),
    );
    await fixture.world.waitForPool('life', 'to have 3 nodes', (pool) => pool?.status?.nodes?.verified === 3);
    await fixture.world.kubectl('scale', 'windowspool', 'life', '--replicas=2');
    await fixture.world.waitForPool('life', 'to have 2 nodes', (pool) => pool?.status?.nodes?.total === 2);
    const scale = await fixture.world.kubectl('get', '--raw', '/apis/winpool.dev/v1alpha1/windowspools/life/scale');
    assert.deepEqual(JSON.parse(scale).status, { replicas: 2 });
  });

  /** Creates a pool, and deletes it while EKS creates its group. EKS continues after its response to the deletion. */
  async function deleteWhileCreating(name: string, answer: string): Promise<void> {
    const restoreSpeed = freezeAws(fixture.world);
    try {
      await fixture.world.apply(poolManifest(name));
      await waitFor(() => groupIn(name)?.status === 'CREATING', {
        what: 'the group to be CREATING',
        timeoutMs: 60_000,
      });
      fixture.world.cloud.resetCalls();
      await fixture.world.kubectl('delete', 'windowspool', name, '--wait=false');
      const isAnswered = () =>
        fixture.world.cloud
          .calls()
          .some(({ operation, result }) => operation === 'DeleteNodegroup' && result === answer);
      await waitFor(isAnswered, { what: `DeleteNodegroup to return ${answer}`, timeoutMs: 60_000 });
    } finally {
      restoreSpeed();
    }
  }

  it('deletes the group before the pool, also while it is CREATING', async () => {
    await deleteWhileCreating('hurried', 'ok');
    await gone('hurried');
    assert.equal(groupIn('hurried'), undefined);
  });

  it('retries the deletion while EKS rejects it because the group is busy', async () => {
    const restore = setSwitch(fixture.world, 'deleteWhileBusy', 'conflict');
    try {
      await deleteWhileCreating('patient', 'ResourceInUseException');
      await gone('patient');
      assert.equal(groupIn('patient'), undefined);
    } finally {
      restore();
    }
  });

  it('reports why a deletion failed, and retries it', async () => {
    fixture.world.cloud.faults.deleteFailure({
      group: 'sticky',
      issues: [{ code: 'Ec2SecurityGroupDeletionFailure', message: 'In use', resourceIds: ['sg-1'] }],
    });
    await fixture.world.apply(poolManifest('sticky'));
    await ready('sticky');
    await fixture.world.kubectl('delete', 'windowspool', 'sticky', '--wait=false');
    const pool = await fixture.world.waitForPool(
      'sticky',
      'to say why',
      (found) => conditionOf(found, 'Ready') === 'False/DeleteFailed',
    );
    assertNames(
      messageOf(pool, 'Ready'),
      'node group sticky',
      'Ec2SecurityGroupDeletionFailure: In use (sg-1)',
      'deletionPolicy: Retain',
    );
    await gone('sticky');
    assert.equal(groupIn('sticky'), undefined);
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

  it('completes a stuck deletion when Delete is changed to Retain', async () => {
    await fixture.world.apply(poolManifest('stuck'));
    await ready('stuck');
    fixture.world.cloud.faults.removeAction({ action: 'eks:DeleteNodegroup' });
    try {
      await fixture.world.kubectl('delete', 'windowspool', 'stuck', '--wait=false');
      const pool = await fixture.world.waitForPool(
        'stuck',
        'to tell what denies it',
        (found) => conditionOf(found, 'PrerequisitesMet') === 'False/AccessDenied',
      );
      const message = pool?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
      assertNames(message, 'eks:DeleteNodegroup', 'deletionPolicy: Retain');
      await fixture.world.kubectl(
        'patch',
        'windowspool',
        'stuck',
        '--type=merge',
        '-p',
        '{"spec":{"deletionPolicy":"Retain"}}',
      );
      await gone('stuck');
      assert.equal(groupIn('stuck')?.status, 'ACTIVE');
    } finally {
      fixture.world.cloud.faults.restoreAction();
    }
    fixture.world.cloud.faults.consoleDelete({ group: 'stuck' });
  });

  it('shares one RuntimeClass among three pools, and deletes it with the last of them', async () => {
    const owners = async () => {
      const found = await fixture.world.get<Stored<V1RuntimeClass>>('runtimeclasses', 'windows-2019');
      return found?.metadata.ownerReferences?.map(({ name }) => name).sort();
    };
    for (const name of ['one', 'two', 'three'])
      await fixture.world.apply(poolManifest(name, { windowsVersion: 'Windows2019' }));
    await waitFor(async () => (await owners())?.join() === 'one,three,two', {
      what: 'three owners',
      timeoutMs: 60_000,
    });
    await fixture.world.kubectl('delete', 'windowspool', 'one', '--timeout=30s');
    await fixture.world.kubectl('delete', 'windowspool', 'three', '--timeout=30s');
    await waitFor(async () => (await owners())?.join() === 'two', { what: 'one owner', timeoutMs: 30_000 });
    await fixture.world.kubectl('delete', 'windowspool', 'two', '--timeout=30s');
    await waitFor(async () => (await owners()) === undefined, {
      what: 'the RuntimeClass to be deleted',
      timeoutMs: 30_000,
    });
  });

  it('deletes a pool whose cluster no longer exists', async () => {
    await fixture.world.apply(poolManifest('orphan'));
    await ready('orphan');
    fixture.world.cloud.faults.cluster({ exists: false });
    try {
      await fixture.world.kubectl('delete', 'windowspool', 'orphan', '--wait=false');
      const pool = await fixture.world.waitForPool(
        'orphan',
        'to doubt it while its nodes are Ready',
        (found) => conditionOf(found, 'Stalled') === 'True/ClusterNotFound',
      );
      assertNames(messageOf(pool, 'Ready'), 'deletionPolicy: Retain');
      await fixture.world.kubectl('delete', 'nodes', '-l', 'eks.amazonaws.com/nodegroup=orphan');
      await gone('orphan');
    } finally {
      fixture.world.cloud.faults.cluster({ exists: true });
    }
    fixture.world.cloud.faults.consoleDelete({ group: 'orphan' });
  });

  it('writes nothing and publishes no event when it is applied again, client-side or server-side', async () => {
    const manifest = poolManifest('life', {
      labels: { team: 'web' },
      nodeGroup: { tags: { cost: '42' }, scaling: { minSize: 2, desiredSize: 2 } },
    });
    for (const flags of [[], ['--server-side', '--force-conflicts']]) {
      await fixture.world.apply(manifest, ...flags);
      // The first apply removes nodes, and the resulting changes of the status are not tested here.
      await fixture.world.waitForPool('life', 'to be settled', isReconciled);
      await waitForTwoPolls('life');
      const before = [(await fixture.world.pool('life'))?.metadata.resourceVersion, (await eventsOf('life')).length];
      await fixture.world.apply(manifest, ...flags);
      await fixture.world.apply(manifest, ...flags);
      await waitForTwoPolls('life');
      const after = [(await fixture.world.pool('life'))?.metadata.resourceVersion, (await eventsOf('life')).length];
      assert.deepEqual(after, before);
    }
  });

  /** Waits for two more polls of the group in AWS: the result of the first has then been reported. */
  async function waitForTwoPolls(name: string): Promise<void> {
    fixture.world.cloud.resetCalls();
    const polls = () =>
      fixture.world.cloud.calls().filter(({ input }) => (input as { nodegroupName?: string }).nodegroupName === name)
        .length;
    await waitFor(() => polls() >= 2, { what: `two polls of ${name}`, timeoutMs: 60_000 });
  }

  it('deletes what it created', async () => {
    await fixture.world.kubectl('delete', 'windowspool', 'life', '--timeout=60s');
    assert.equal(groupIn('life'), undefined);
  });
});
