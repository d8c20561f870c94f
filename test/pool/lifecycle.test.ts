import assert from 'node:assert/strict';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, isReconciled } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch, slowed, withOperator } from '../sharedWorld.ts';

describe('a pool from creation to its end', () => {
  const stage = withOperator(
    '--resync-interval=1s',
    '--create-retry-interval=2s',
    // One test takes the cluster away, which every pool of the suite may notice.
    '--denied-retry-interval=1s',
  );

  const gone = (name: string) => stage.world.waitForPool(name, 'to be gone', (pool) => pool === undefined);
  const ready = (name: string) =>
    stage.world.waitForPool(name, 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/Verified');
  const groupIn = (name: string) => stage.world.cloud.state.groups.get(name)?.nodegroup;
  const eventsOf = async (name: string) => {
    const text = await stage.world.kubectl('get', 'events.events.k8s.io', '-n', 'default', '-o', 'json');
    const items: { regarding: { kind: string; name: string }; reason: string }[] = JSON.parse(text).items;
    return items
      .filter(({ regarding }) => regarding.kind === 'WindowsPool' && regarding.name === name)
      .map(({ reason }) => reason);
  };

  it('creates the node group, the RuntimeClass and verified nodes, and says so', async () => {
    await stage.world.apply(
      poolManifest('life', { scaling: { min: 2 }, labels: { team: 'web' }, nodeGroup: { tags: { cost: '42' } } }),
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
    const runtimeClass = await stage.world.get<Stored<V1RuntimeClass>>('runtimeclasses', 'windows-2022');
    assert.equal(runtimeClass?.handler, 'runhcs-wcow-process');
    assert.deepEqual(runtimeClass?.metadata.annotations, { 'winpool.dev/image-builds': '10.0.20348' });
    const reported = ['NodeGroupCreated', 'RuntimeClassCreated', 'Verified'];
    let reasons: readonly string[] = [];
    // Events follow the status.
    const allTold = async () => {
      reasons = await eventsOf('life');
      return reported.every((reason) => reasons.includes(reason));
    };
    await waitFor(allTold, { what: `the events ${reported}`, timeoutMs: 30_000, explain: () => `${reasons}` });
    for (const reason of reported) {
      assert.equal(reasons.filter((other) => other === reason).length, 1, `${reason} in ${reasons}`);
    }
  });

  it('answers kubectl wait and kubectl scale', async () => {
    await stage.world.kubectl('wait', '--for=condition=Ready', 'windowspool/life', '--timeout=60s');
    await stage.world.apply(
      poolManifest('life', {
        scaling: { min: 2, desired: 3 },
        labels: { team: 'web' },
        nodeGroup: { tags: { cost: '42' } },
      }),
    );
    await stage.world.waitForPool('life', 'to have 3 nodes', (pool) => pool?.status?.nodes?.verified === 3);
    await stage.world.kubectl('scale', 'windowspool', 'life', '--replicas=2');
    await stage.world.waitForPool('life', 'to have 2 nodes', (pool) => pool?.status?.nodes?.total === 2);
    const scale = await stage.world.kubectl('get', '--raw', '/apis/winpool.dev/v1alpha1/windowspools/life/scale');
    assert.deepEqual(JSON.parse(scale).status, { replicas: 2 });
  });

  /** Creates a pool, and deletes it while EKS creates its group. EKS continues when it has answered the deletion. */
  async function deleteWhileCreating(name: string, answer: string): Promise<void> {
    const goOn = slowed(stage.world);
    try {
      await stage.world.apply(poolManifest(name));
      await waitFor(() => groupIn(name)?.status === 'CREATING', {
        what: 'the group to be CREATING',
        timeoutMs: 60_000,
      });
      stage.world.cloud.resetCalls();
      await stage.world.kubectl('delete', 'windowspool', name, '--wait=false');
      const answered = () =>
        stage.world.cloud.calls().some(({ operation, result }) => operation === 'DeleteNodegroup' && result === answer);
      await waitFor(answered, { what: `DeleteNodegroup to be answered with ${answer}`, timeoutMs: 60_000 });
    } finally {
      goOn();
    }
  }

  it('deletes the group before the pool goes, also while it is CREATING', async () => {
    await deleteWhileCreating('hurried', 'ok');
    await gone('hurried');
    assert.equal(groupIn('hurried'), undefined);
  });

  it('waits with the deletion when EKS refuses it while it works on the group', async () => {
    const restore = setSwitch(stage.world, 'deleteWhileBusy', 'conflict');
    try {
      await deleteWhileCreating('patient', 'ResourceInUseException');
      await gone('patient');
      assert.equal(groupIn('patient'), undefined);
    } finally {
      restore();
    }
  });

  it('says why a deletion failed, and tries again after a while', async () => {
    stage.world.cloud.faults.deleteFailure({
      group: 'sticky',
      issues: [{ code: 'Ec2SecurityGroupDeletionFailure', message: 'In use', resourceIds: ['sg-1'] }],
    });
    await stage.world.apply(poolManifest('sticky'));
    await ready('sticky');
    await stage.world.kubectl('delete', 'windowspool', 'sticky', '--wait=false');
    const pool = await stage.world.waitForPool(
      'sticky',
      'to say why',
      (found) => conditionOf(found, 'Ready') === 'False/DeleteFailed',
    );
    assert.match(
      pool?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
      /^EKS could not delete node group sticky: Ec2SecurityGroupDeletionFailure: In use \(sg-1\)\. It is tried again; deletionPolicy: Retain/,
    );
    await gone('sticky');
    assert.equal(groupIn('sticky'), undefined);
  });

  it('leaves the group and the RuntimeClass where they are with Retain', async () => {
    await stage.world.apply(
      poolManifest('kept', {
        windowsVersion: 'Windows2025',
        deletionPolicy: 'Retain',
        labels: { team: 'web' },
        nodeGroup: { tags: { cost: '42' } },
      }),
    );
    await ready('kept');
    await stage.world.kubectl('delete', 'windowspool', 'kept', '--timeout=60s');
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
    const kept = await stage.world.get<Stored<V1RuntimeClass>>('runtimeclasses', 'windows-2025');
    assert.deepEqual(kept?.metadata.ownerReferences ?? [], []);
    stage.world.cloud.faults.consoleDelete({ group: 'kept' });
    await stage.world.kubectl('delete', 'runtimeclass', 'windows-2025');
  });

  it('lets a stuck deletion go when Delete becomes Retain', async () => {
    await stage.world.apply(poolManifest('stuck'));
    await ready('stuck');
    stage.world.cloud.faults.removeAction({ action: 'eks:DeleteNodegroup' });
    try {
      await stage.world.kubectl('delete', 'windowspool', 'stuck', '--wait=false');
      const pool = await stage.world.waitForPool(
        'stuck',
        'to tell what denies it',
        (found) => conditionOf(found, 'PrerequisitesMet') === 'False/AccessDenied',
      );
      const message = pool?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
      assert.match(message, /DeleteNodegroup failed: .*eks:DeleteNodegroup.*deletionPolicy: Retain lets the pool go/);
      await stage.world.kubectl(
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
      stage.world.cloud.faults.restoreAction();
    }
    stage.world.cloud.faults.consoleDelete({ group: 'stuck' });
  });

  it('shares one RuntimeClass among three pools, and lets it end with the last of them', async () => {
    const owners = async () => {
      const found = await stage.world.get<Stored<V1RuntimeClass>>('runtimeclasses', 'windows-2019');
      return found?.metadata.ownerReferences?.map(({ name }) => name).sort();
    };
    for (const name of ['one', 'two', 'three'])
      await stage.world.apply(poolManifest(name, { windowsVersion: 'Windows2019' }));
    await waitFor(async () => (await owners())?.join() === 'one,three,two', {
      what: 'three owners',
      timeoutMs: 60_000,
    });
    await stage.world.kubectl('delete', 'windowspool', 'one', '--timeout=30s');
    await stage.world.kubectl('delete', 'windowspool', 'three', '--timeout=30s');
    await waitFor(async () => (await owners())?.join() === 'two', { what: 'one owner', timeoutMs: 30_000 });
    await stage.world.kubectl('delete', 'windowspool', 'two', '--timeout=30s');
    await waitFor(async () => (await owners()) === undefined, { what: 'the RuntimeClass to end', timeoutMs: 30_000 });
  });

  it('lets a pool go whose cluster is gone', async () => {
    await stage.world.apply(poolManifest('orphan'));
    await ready('orphan');
    stage.world.cloud.faults.cluster({ exists: false });
    try {
      await stage.world.kubectl('delete', 'windowspool', 'orphan', '--wait=false');
      const pool = await stage.world.waitForPool(
        'orphan',
        'to doubt it while its nodes are Ready',
        (found) => conditionOf(found, 'Stalled') === 'True/ClusterNotFound',
      );
      assert.match(
        pool?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
        /deletionPolicy: Retain lets the pool go/,
      );
      await stage.world.kubectl('delete', 'nodes', '-l', 'eks.amazonaws.com/nodegroup=orphan');
      await gone('orphan');
    } finally {
      stage.world.cloud.faults.cluster({ exists: true });
    }
    stage.world.cloud.faults.consoleDelete({ group: 'orphan' });
  });

  it('applied twice, from the client and from the server, writes nothing more and tells no event', async () => {
    const manifest = poolManifest('life', {
      scaling: { min: 2, desired: 2 },
      labels: { team: 'web' },
      nodeGroup: { tags: { cost: '42' } },
    });
    for (const flags of [[], ['--server-side', '--force-conflicts']]) {
      await stage.world.apply(manifest, ...flags);
      // The first apply takes nodes away: what that changes in the status is not what is looked for.
      await stage.world.waitForPool('life', 'to be settled', isReconciled);
      await lookedAtAgain('life');
      const before = [(await stage.world.pool('life'))?.metadata.resourceVersion, (await eventsOf('life')).length];
      await stage.world.apply(manifest, ...flags);
      await stage.world.apply(manifest, ...flags);
      await lookedAtAgain('life');
      const after = [(await stage.world.pool('life'))?.metadata.resourceVersion, (await eventsOf('life')).length];
      assert.deepEqual(after, before);
    }
  });

  /** Waits for two more polls of the group in AWS: the result of the first has then been reported. */
  async function lookedAtAgain(name: string): Promise<void> {
    stage.world.cloud.resetCalls();
    const looks = () =>
      stage.world.cloud.calls().filter(({ input }) => (input as { nodegroupName?: string }).nodegroupName === name)
        .length;
    await waitFor(() => looks() >= 2, { what: `two looks at ${name}`, timeoutMs: 60_000 });
  }

  it('deletes what it made', async () => {
    await stage.world.kubectl('delete', 'windowspool', 'life', '--timeout=60s');
    assert.equal(groupIn('life'), undefined);
  });
});
