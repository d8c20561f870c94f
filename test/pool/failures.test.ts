import assert from 'node:assert/strict';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf, creationsOf } from '../awsCalls.ts';
import { conditionOf, hasConditions, messageOf, READY } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { theWorld, withOperator } from '../sharedWorld.ts';

describe('a pool whose node group cannot be created', () => {
  const fixture = withOperator('--create-retry-interval=10s', '--denied-retry-interval=1s');
  const ready = (name: string) => fixture.world.waitForReady(name);
  const remove = (name: string) => fixture.world.kubectl('delete', 'windowspool', name, '--timeout=60s');
  const creations = (name: string) => creationsOf(fixture.world, name);
  beforeEach(() => fixture.world.cloud.resetCalls());

  it('reports why the group is CREATE_FAILED, and retries when the spec changes', async () => {
    fixture.world.cloud.faults.createFailure({
      group: 'failed',
      issues: [
        { code: 'Ec2SubnetInvalidConfiguration', message: 'No route', resourceIds: ['subnet-0a1000000000000aa'] },
      ],
    });
    await fixture.world.apply(poolManifest('failed'));
    const pool = await fixture.world.waitForConditions('failed', 'Ready=False/CreateFailed');
    assertNames(
      messageOf(pool, 'Stalled'),
      'node group failed',
      'Ec2SubnetInvalidConfiguration',
      'subnet-0a1000000000000aa',
      /\b\d\d:\d\dZ\b/,
      'kubectl annotate wp failed',
    );
    await fixture.world.apply(poolManifest('failed', { nodeGroup: { subnets: [{ id: 'subnet-0a3000000000000cc' }] } }));
    await ready('failed');
    assert.equal(creations('failed'), 2);
    await remove('failed');
  });
  it('names a missing permission, and continues when it is granted', async () => {
    fixture.world.cloud.faults.removeAction({ action: 'iam:PassRole' });
    try {
      await fixture.world.apply(poolManifest('denied'));
      const pool = await fixture.world.waitForConditions(
        'denied',
        'PrerequisitesMet=False/AccessDenied',
        'RuntimeClassReady=True/Available',
      );
      assertNames(
        messageOf(pool, 'PrerequisitesMet'),
        'iam:PassRole',
        'nodeGroup.nodeRole',
        'config/aws/iam-policy.json',
      );
      assert.doesNotMatch(JSON.stringify(pool?.status), /request ?id|encoded authorization/i);
      const before = pool?.metadata.resourceVersion;
      const tries = creations('denied');
      await waitFor(() => creations('denied') >= tries + 2, { what: 'two more attempts' });
      assert.equal(
        (await fixture.world.pool('denied'))?.metadata.resourceVersion,
        before,
        'the status is the same at every try',
      );
    } finally {
      fixture.world.cloud.faults.restoreAction();
    }
    await ready('denied');
    await remove('denied');
  });

  it('replaces the RuntimeClass from the AWS user guide with adoption IfUnowned, once its owner permits that', async () => {
    // https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html named handler docker.
    await fixture.world.apply({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'windows-2025' },
      handler: 'docker',
      scheduling: { nodeSelector: { 'kubernetes.io/os': 'windows', 'kubernetes.io/arch': 'amd64' } },
    });
    const pool = (runtimeClass: object) => poolManifest('heir', { windowsVersion: 'Windows2025', runtimeClass });
    await fixture.world.apply(pool({}));
    const refused = await fixture.world.waitForConditions('heir', 'RuntimeClassReady=False/NotOwned');
    assertNames(
      messageOf(refused, 'RuntimeClassReady'),
      /\bdocker\b.*\brunhcs-wcow-process\b/,
      'os=windows:NoSchedule',
    );
    await fixture.world.apply(pool({ adoption: 'IfUnowned' }));
    const asking = await fixture.world.waitForPool(
      'heir',
      'to name what its owner has to do',
      (found) => found?.status?.observedGeneration === found?.metadata.generation,
    );
    const [, command = ''] =
      /kubectl (annotate [^.]* winpool\.dev\/adoptable-by=heir)/.exec(messageOf(asking, 'RuntimeClassReady')) ?? [];
    assert.equal(
      (await fixture.world.get<Stored<V1RuntimeClass>>('runtimeclasses', 'windows-2025'))?.handler,
      'docker',
    );
    await fixture.world.kubectl(...command.split(' '));
    await fixture.world.waitForConditions('heir', 'RuntimeClassReady=True/Available');
    const seen = await fixture.world.get<Stored<V1RuntimeClass>>('runtimeclasses', 'windows-2025');
    assert.equal(seen?.handler, 'runhcs-wcow-process');
    await remove('heir');
    assert.equal(await fixture.world.get('runtimeclasses', 'windows-2025'), undefined);
  });
});

describe('AWS errors', () => {
  const fixture = withOperator('--resync-interval=1s');
  const ready = (name: string) =>
    fixture.world.waitForPool(name, 'to be Ready', (pool) => hasConditions(pool, READY), 120_000);
  after(() => fixture.world.cloud.faults.calls.clear());

  const breakages = ['serverError', 'reset', 'html', 'empty'] as const;
  for (const breakage of breakages) {
    it(`are retried: broken responses (${breakage})`, async () => {
      const name = `broken-${breakage.toLowerCase()}`;
      fixture.world.cloud.faults.calls[breakage]({ count: 4 });
      await fixture.world.apply(poolManifest(name));
      await ready(name);
      await fixture.world.kubectl('delete', 'windowspool', name, '--timeout=60s');
    });
  }
});

describe('an unavailable AWS at the start of the operator', () => {
  it('is reported, and the operator continues when it is available', async () => {
    const world = await theWorld();
    world.cloud.faults.calls.serverError({ count: 1_000, status: 503 });
    const operator = await world
      .operator(['--poll-interval=200ms', '--retry-base=50ms', '--retry-max=500ms', '--leader-elect=false'])
      .ready();
    try {
      await world.apply(poolManifest('dark'));
      const pool = await world.waitForConditions(
        'dark',
        'NodeGroupReady=Unknown/AWSUnavailable',
        'RuntimeClassReady=True/Available',
      );
      assert.equal(conditionOf(pool, 'Ready'), 'False/AWSUnavailable');
      assert.equal(conditionOf(pool, 'Reconciling'), 'True/AWSUnavailable');
      world.cloud.faults.calls.clear();
      await world.waitForReady('dark');
      await world.kubectl('delete', 'windowspool', 'dark', '--timeout=60s');
    } finally {
      world.cloud.faults.calls.clear();
      await operator.stop();
    }
  });
});

describe('a cluster other than the one that the operator runs in', () => {
  // A retained pool leaves the shared RuntimeClass behind, without an owner.
  after(async () => (await theWorld()).kubectl('delete', 'runtimeclass', 'windows-2022', '--ignore-not-found'));
  const FLAGS = ['--poll-interval=200ms', '--retry-base=50ms', '--leader-elect=false'];

  it('gets no node group, because its certificate authority differs', async () => {
    const world = await theWorld();
    const otherAuthority = Buffer.from(
      '-----BEGIN CERTIFICATE-----\nbm90IG91cnM=\n-----END CERTIFICATE-----\n',
    ).toString('base64');
    world.cloud.faults.cluster({ caData: otherAuthority });
    world.cloud.resetCalls();
    const operator = world.operator(FLAGS);
    try {
      await operator.ready();
      await world.apply(poolManifest('stranger'));
      const pool = await world.waitForConditions('stranger', 'Stalled=True/ClusterMismatch');
      assertNames(messageOf(pool, 'Ready'), /\bEKS cluster \S+ in \S+/, '--cluster-name');
      assert.deepEqual(callsOf(world, 'CreateNodegroup'), []);
      await world.kubectl('delete', 'windowspool', 'stranger', '--wait=false');
      await world.patchPool('stranger', { deletionPolicy: 'Retain' });
      await world.waitForPool('stranger', 'to be gone', (found) => found === undefined);
    } finally {
      world.cloud.faults.cluster({ caData: world.controlPlane.caData });
      await operator.stop();
    }
  });
});
