import assert from 'node:assert/strict';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { creationsOf, poolManifest } from '../pools.ts';
import { theWorld, withOperator } from '../sharedWorld.ts';

describe('failures of creation', () => {
  const stage = withOperator('--create-retry-interval=10s', '--denied-retry-interval=1s');
  const ready = (name: string) =>
    stage.world.waitForPool(name, 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/Verified');
  const remove = (name: string) => stage.world.kubectl('delete', 'windowspool', name, '--timeout=60s');
  const creations = (name: string) => creationsOf(stage.world, name);
  beforeEach(() => stage.world.cloud.resetCalls());

  it('tells why a group is CREATE_FAILED, and creates it anew when the spec changes', async () => {
    stage.world.cloud.faults.createFailure({
      group: 'failed',
      issues: [
        { code: 'Ec2SubnetInvalidConfiguration', message: 'No route', resourceIds: ['subnet-0a1000000000000aa'] },
      ],
    });
    await stage.world.apply(poolManifest('failed'));
    const pool = await stage.world.waitForPool(
      'failed',
      'to tell the failure',
      (found) => conditionOf(found, 'Ready') === 'False/CreateFailed',
    );
    assert.match(
      messageOf(pool, 'Stalled'),
      /^EKS could not create node group failed: Ec2SubnetInvalidConfiguration: No route \(subnet-0a1000000000000aa\)\. Mend the cause/,
    );
    await stage.world.apply(poolManifest('failed', { nodeGroup: { subnets: [{ id: 'subnet-0a3000000000000cc' }] } }));
    await ready('failed');
    assert.equal(creations('failed'), 2);
    await remove('failed');
  });

  it('creates a failed group anew after a while, because its cause may lie outside', async () => {
    stage.world.cloud.faults.createFailure({
      group: 'healed',
      issues: [{ code: 'AsgInstanceLaunchFailures', message: 'vCPU limit', resourceIds: [] }],
    });
    await stage.world.apply(poolManifest('healed'));
    await ready('healed');
    assert.equal(creations('healed'), 2);
    await remove('healed');
  });

  const refusals: readonly (readonly [
    what: string,
    name: string,
    error: string,
    text: string,
    condition: string,
    words: RegExp,
  ])[] = [
    [
      'a subnet that EKS does not know',
      'nosubnet',
      'InvalidParameterException',
      'The subnet ID does not exist',
      'False/CreateRefused',
      /EKS refused to create node group nosubnet: The subnet ID does not exist\. It is tried again after a while/,
    ],
    [
      'a used-up quota',
      'quota',
      'ResourceLimitExceededException',
      'The maximum number of node groups is reached',
      'False/QuotaExceeded',
      /maximum number of node groups is reached/,
    ],
    [
      'an error that may mean anything',
      'vague',
      'ClientException',
      'Something about your role',
      'False/CreateRefused',
      /Something about your role/,
    ],
  ];
  for (const [what, name, error, text, condition, words] of refusals) {
    it(`tells ${what} once, and tries again only after a while`, async () => {
      stage.world.cloud.faults.calls.error({ operation: 'CreateNodegroup', name: error, message: text });
      await stage.world.apply(poolManifest(name));
      const pool = await stage.world.waitForPool(
        name,
        'to tell the refusal',
        (found) => conditionOf(found, 'NodeGroupReady') === condition,
      );
      assert.match(messageOf(pool, 'Stalled'), words);
      assert.equal(creations(name), 1);
      await ready(name);
      assert.equal(creations(name), 2);
      await remove(name);
    });
  }

  it('names the right that is missing, and goes on when it is granted', async () => {
    stage.world.cloud.faults.removeAction({ action: 'iam:PassRole' });
    try {
      await stage.world.apply(poolManifest('denied'));
      const pool = await stage.world.waitForPool(
        'denied',
        'to tell the missing right',
        (found) =>
          conditionOf(found, 'PrerequisitesMet') === 'False/AccessDenied' &&
          conditionOf(found, 'RuntimeClassReady') === 'True/Available',
      );
      assert.match(
        messageOf(pool, 'PrerequisitesMet'),
        /AWS denied CreateNodegroup: .*iam:PassRole.*config\/aws\/iam-policy\.json/,
      );
      assert.doesNotMatch(JSON.stringify(pool?.status), /request ?id|encoded authorization/i);
      const before = pool?.metadata.resourceVersion;
      const tries = creations('denied');
      await waitFor(() => creations('denied') >= tries + 2, { what: 'two more tries', timeoutMs: 60_000 });
      assert.equal(
        (await stage.world.pool('denied'))?.metadata.resourceVersion,
        before,
        'the status is the same at every try',
      );
    } finally {
      stage.world.cloud.faults.restoreAction();
    }
    await ready('denied');
    await remove('denied');
  });

  it('never touches a node group of another', async () => {
    stage.world.cloud.faults.consoleCreate({ ...foreignGroup, nodegroupName: 'foreign' });
    await waitFor(() => stage.world.cloud.state.groups.get('foreign')?.nodegroup.status === 'ACTIVE', {
      what: 'the foreign group',
      timeoutMs: 60_000,
    });
    const before = structuredClone(stage.world.cloud.state.groups.get('foreign')?.nodegroup);
    await stage.world.apply(poolManifest('foreign'));
    const pool = await stage.world.waitForPool(
      'foreign',
      'to refuse it',
      (found) => conditionOf(found, 'NodeGroupReady') === 'False/NotOwned',
    );
    assert.match(
      messageOf(pool, 'Stalled'),
      /has no tag winpool.dev\/pool=foreign\. It is never changed\. Set spec\.nodeGroup\.adoption: IfUnowned to take it over/,
    );
    await remove('foreign');
    assert.deepEqual(stage.world.cloud.state.groups.get('foreign')?.nodegroup, before);
    stage.world.cloud.faults.consoleDelete({ group: 'foreign' });
  });

  it('uses a foreign RuntimeClass that fits and refuses one that does not, and changes neither', async () => {
    const runtimeClass = (nodeSelector: object) => ({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'windows-2025' },
      handler: 'runhcs-wcow-process',
      scheduling: {
        nodeSelector,
        tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
      },
    });
    await stage.world.apply(runtimeClass({ 'kubernetes.io/os': 'linux' }));
    const made = await stage.world.get<Stored<V1RuntimeClass>>('runtimeclasses', 'windows-2025');
    await stage.world.apply(poolManifest('guest', { windowsVersion: 'Windows2025' }));
    const pool = await stage.world.waitForPool(
      'guest',
      'to refuse it',
      (found) => conditionOf(found, 'RuntimeClassReady') === 'False/NotOwned',
    );
    assert.match(
      messageOf(pool, 'RuntimeClassReady'),
      /it needs handler runhcs-wcow-process, nodeSelector kubernetes\.io\/os=windows/,
    );
    const seen = await stage.world.get<Stored<V1RuntimeClass>>('runtimeclasses', 'windows-2025');
    assert.equal(seen?.metadata.resourceVersion, made?.metadata.resourceVersion);
    await stage.world.apply(runtimeClass({ 'kubernetes.io/os': 'windows' }));
    await stage.world.waitForPool(
      'guest',
      'to use it',
      (found) => conditionOf(found, 'RuntimeClassReady') === 'True/UsedAsIs',
    );
    await ready('guest');
    await remove('guest');
    assert.ok(await stage.world.get('runtimeclasses', 'windows-2025'), 'the foreign RuntimeClass is still there');
    await stage.world.kubectl('delete', 'runtimeclass', 'windows-2025');
  });
});

describe('trouble with AWS', () => {
  const stage = withOperator('--resync-interval=1s');
  const ready = (name: string) =>
    stage.world.waitForPool(name, 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/Verified', 120_000);
  after(() => stage.world.cloud.faults.calls.clear());

  it('gets through 20 throttled calls', async function () {
    this.timeout(300_000);
    stage.world.cloud.faults.calls.throttle({ count: 20 });
    await stage.world.apply(poolManifest('throttled'));
    await ready('throttled');
    await stage.world.kubectl('delete', 'windowspool', 'throttled', '--timeout=60s');
  });

  const breakages = ['serverError', 'reset', 'html', 'empty'] as const;
  for (const breakage of breakages) {
    it(`gets through answers that are none: ${breakage}`, async () => {
      const name = `broken-${breakage.toLowerCase()}`;
      stage.world.cloud.faults.calls[breakage]({ count: 4 });
      await stage.world.apply(poolManifest(name));
      await ready(name);
      await stage.world.kubectl('delete', 'windowspool', name, '--timeout=60s');
    });
  }

  it('makes one group when the answer to the creation is lost', async () => {
    stage.world.cloud.faults.calls.reset({ operation: 'CreateNodegroup', after: true });
    await stage.world.apply(poolManifest('lost'));
    await ready('lost');
    assert.equal([...stage.world.cloud.state.groups.keys()].filter((name) => name === 'lost').length, 1);
    await stage.world.kubectl('delete', 'windowspool', 'lost', '--timeout=60s');
  });
});

describe('AWS that is down when the operator starts', () => {
  it('says so, and goes on when it is back', async () => {
    const world = await theWorld();
    world.cloud.faults.calls.serverError({ count: 1_000, status: 503 });
    const operator = await world
      .operator(['--poll-interval=200ms', '--retry-base=50ms', '--retry-max=500ms', '--leader-elect=false'])
      .ready();
    try {
      await world.apply(poolManifest('dark'));
      const pool = await world.waitForPool(
        'dark',
        'to tell it',
        (found) => conditionOf(found, 'NodeGroupReady') === 'Unknown/AWSUnavailable',
      );
      assert.equal(conditionOf(pool, 'Ready'), 'False/AWSUnavailable');
      assert.equal(conditionOf(pool, 'Reconciling'), 'True/AWSUnavailable');
      world.cloud.faults.calls.clear();
      await world.waitForPool('dark', 'to be Ready', (found) => conditionOf(found, 'Ready') === 'True/Verified');
      await world.kubectl('delete', 'windowspool', 'dark', '--timeout=60s');
    } finally {
      world.cloud.faults.calls.clear();
      await operator.stop();
    }
  });
});

describe('a cluster that is not the one the operator runs in', () => {
  /** Retain would leave the shared RuntimeClass behind, without an owner. */
  const UNSHARED = { runtimeClass: { manage: false } };
  const FLAGS = ['--poll-interval=200ms', '--retry-base=50ms', '--leader-elect=false'];

  it('gets no node group, by its certificate authority', async () => {
    const world = await theWorld();
    const stranger = Buffer.from('-----BEGIN CERTIFICATE-----\nbm90IG91cnM=\n-----END CERTIFICATE-----\n').toString(
      'base64',
    );
    world.cloud.faults.cluster({ caData: stranger });
    world.cloud.resetCalls();
    const operator = world.operator(FLAGS);
    try {
      await operator.ready();
      await world.apply(poolManifest('stranger', UNSHARED));
      const pool = await world.waitForPool(
        'stranger',
        'to refuse',
        (found) => conditionOf(found, 'Stalled') === 'True/ClusterMismatch',
      );
      assert.match(
        messageOf(pool, 'Ready'),
        /has another certificate authority than the API server that the operator uses\. Check --cluster-name/,
      );
      assert.deepEqual(
        world.cloud.calls().filter(({ operation }) => operation === 'CreateNodegroup'),
        [],
      );
      await world.kubectl('delete', 'windowspool', 'stranger', '--wait=false');
      await world.kubectl(
        'patch',
        'windowspool',
        'stranger',
        '--type=merge',
        '-p',
        '{"spec":{"deletionPolicy":"Retain"}}',
      );
      await world.waitForPool('stranger', 'to be gone', (found) => found === undefined);
    } finally {
      world.cloud.faults.cluster({ caData: world.controlPlane.caData });
      await operator.stop();
    }
  });

  it('gets no second node group for a pool that was created elsewhere', async () => {
    const world = await theWorld();
    await world.apply(poolManifest('moved', UNSHARED));
    const status = { cluster: { name: 'demo', arn: 'arn:aws:eks:us-east-1:111122223333:cluster/demo' } };
    await world.kubectl(
      'patch',
      'windowspool',
      'moved',
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status }),
    );
    world.cloud.resetCalls();
    const operator = await world.operator(FLAGS).ready();
    try {
      const pool = await world.waitForPool(
        'moved',
        'to refuse',
        (found) => conditionOf(found, 'Stalled') === 'True/ClusterMismatch',
      );
      assert.match(messageOf(pool, 'Ready'), /was created in arn:aws:eks:us-east-1.*works for demo in eu-west-1/);
      assert.deepEqual(
        world.cloud.calls().filter(({ operation }) => operation === 'CreateNodegroup'),
        [],
      );
      await world.kubectl(
        'patch',
        'windowspool',
        'moved',
        '--type=merge',
        '-p',
        '{"spec":{"deletionPolicy":"Retain"}}',
      );
      await world.kubectl('delete', 'windowspool', 'moved', '--timeout=60s');
    } finally {
      await operator.stop();
    }
  });
});

const foreignGroup = {
  nodeRole: 'arn:aws:iam::111122223333:role/windows-nodes',
  subnets: ['subnet-0a1000000000000aa'],
  amiType: 'WINDOWS_CORE_2022_x86_64' as const,
  instanceTypes: ['m5.large'],
  scalingConfig: { minSize: 0, maxSize: 1, desiredSize: 0 },
};
