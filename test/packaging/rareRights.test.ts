/** Permissions that are needed rarely: by an older API server, an account without node groups, an access entry, a launch template that tags its instances. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { openFailure } from '../../controllers/windowspool/testing/life.ts';
import { startOldApiServer } from '../engine/oldApiServer.ts';
import { ofOperator, readAudit } from '../fakes/testenv/audit.ts';
import { conditionOf, hasConditions, messageOf, READY } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch, theWorld, withOperator } from '../sharedWorld.ts';

const LAUNCH = /instances with this launch template\..* ec2:RunInstances /;

describe('an API server without watch lists', function () {
  this.timeout(120_000);

  it('is used with list and watch, and pools become Ready', async () => {
    const world = await theWorld();
    const from = (await readAudit(world.controlPlane.auditLog)).length;
    await using old = await startOldApiServer(world.controlPlane, world.operatorKubeconfig);
    const operator = world.operator(['--leader-elect=false', '--poll-interval=200ms'], { credentials: old.kubeconfig });
    try {
      await operator.ready();
      await world.apply(poolManifest('listed'));
      await world.apply({
        apiVersion: 'winpool.dev/v1alpha1',
        kind: 'WindowsPool',
        metadata: { name: 'listed-hosts' },
        spec: {
          windowsVersion: 'Windows2022',
          existingNodes: { instancesConfigMap: { namespace: 'default', name: 'windows-instances' } },
        },
      });
      await world.waitForReady('listed');
      await world.waitForPool('listed-hosts', 'to know that there is no list', (pool) =>
        conditionOf(pool, 'NodesFound').startsWith('False/'),
      );
      const events = ofOperator((await readAudit(world.controlPlane.auditLog)).slice(from));
      const listed = events.flatMap(({ verb, objectRef }) => (verb === 'list' && objectRef?.resource) || []);
      for (const resource of ['windowspools', 'nodes', 'runtimeclasses', 'configmaps'])
        assert.ok(listed.includes(resource), `${resource} were not listed`);
    } finally {
      await world.kubectl('delete', 'windowspools', '--all', '--timeout=50s');
      await operator.stop();
    }
  });
});

describe('AWS permissions that only some accounts and pools need', () => {
  const fixture = withOperator('--denied-retry-interval=1s', '--create-retry-interval=1s');
  const ready = (name: string) => fixture.world.waitForReady(name);

  /** Revokes the permission: the pool reports it in AWS' words with the action's name, refuses nothing for good, and continues once it is back. */
  async function withoutPermission(action: string, name: string, words: RegExp, change: object): Promise<void> {
    fixture.world.cloud.faults.removeAction({ action });
    try {
      await fixture.world.apply(change);
      const isReported = (pool: WindowsPool | undefined) =>
        conditionOf(pool, 'PrerequisitesMet') === 'False/AccessDenied' &&
        words.test(messageOf(pool, 'PrerequisitesMet'));
      const pool = await fixture.world.waitForPool(name, `to report that ${action} is missing`, isReported);
      assert.equal(openFailure(pool?.status?.nodeGroup), undefined);
    } finally {
      fixture.world.cloud.faults.restoreAction();
    }
  }

  async function needs(action: string, pool: object, name: string, words: RegExp): Promise<void> {
    await withoutPermission(action, name, words, pool);
    await ready(name);
    await fixture.world.kubectl('delete', 'windowspool', name, '--timeout=60s');
  }

  it('include the permission to read roles for a node group', async () => {
    await needs(
      'iam:GetRole',
      poolManifest('reader'),
      'reader',
      /missing permissions for 'iam:GetRole'.* Grant iam:GetRole /,
    );
  });

  it('include the creation of the service-linked role for the first node group of an account', async () => {
    const restore = setSwitch(fixture.world, 'nodegroupServiceRole', 'missing');
    try {
      await needs(
        'iam:CreateServiceLinkedRole',
        poolManifest('pioneer'),
        'pioneer',
        /Grant iam:CreateServiceLinkedRole /,
      );
    } finally {
      restore();
    }
  });

  it('include the permission to pass the node role to its access entry, if EKS requires it', async () => {
    const restore = setSwitch(fixture.world, 'accessEntryPassRole', 'ec2.amazonaws.com');
    fixture.world.cloud.faults.accessEntry({ exists: false });
    const pool = poolManifest('passing', { nodeGroup: { accessEntryManagement: 'Operator' } });
    try {
      await needs(
        'iam:PassRole',
        pool,
        'passing',
        /AWS denied iam:PassRole on .* Attach config\/aws\/iam-policy\.json /,
      );
    } finally {
      restore();
      fixture.world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
    }
  });

  it('include the permission to tag instances for a launch template that does so', async () => {
    const tags = [{ Key: 'team', Value: 'site' }];
    const data = { TagSpecifications: [{ ResourceType: 'instance', Tags: tags }] };
    fixture.world.cloud.faults.launchTemplate({ name: 'tagging', data });
    const nodeGroup = { launchTemplate: { name: 'tagging', version: '$Latest' }, instanceTypes: ['m5.large'] };
    const pool = poolManifest('tagged', { nodeGroup });
    await needs('ec2:CreateTags', pool, 'tagged', LAUNCH);
  });

  it('include the permission to launch from a launch template, for which an update waits', async () => {
    const { faults } = fixture.world.cloud;
    faults.launchTemplate({ name: 'moving', data: {} });
    const pool = (version: string) =>
      poolManifest('moving', {
        nodeGroup: { launchTemplate: { name: 'moving', version }, instanceTypes: ['m5.large'] },
      });
    await fixture.world.apply(pool('1'));
    await ready('moving');
    faults.launchTemplate({ name: 'moving', data: { EbsOptimized: true } });
    await withoutPermission('ec2:RunInstances', 'moving', LAUNCH, pool('2'));
    await fixture.world.waitForPool(
      'moving',
      'to have the second version',
      (found) => found?.status?.nodeGroup?.launchTemplate?.version === '2' && hasConditions(found, READY),
    );
    await fixture.world.kubectl('delete', 'windowspool', 'moving', '--timeout=60s');
  });
});
