import assert from 'node:assert/strict';
import type { V1ClusterRole } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { nodeRoleArn } from '../fakes/localaws/network.ts';
import { OPERATOR_USER } from '../fakes/testenv/audit.ts';
import { conditionOf, windowsIpam } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { linuxGroup, withPrerequisites } from './prerequisitesFixture.ts';

const BINDING = ['-n', 'kube-system', 'rolebinding', 'windowspool-operator-prerequisites'] as const;

describe('prerequisites that cannot be read', () => {
  const { fixture, is, message, remove, creations, measured } = withPrerequisites();

  // Another instance type for each, so that cached results of other pools are not used.
  const actions = {
    'eks:DescribeAccessEntry': 'm5.large',
    'ec2:DescribeInstanceTypes': 'm6i.large',
    'ec2:DescribeInstanceTypeOfferings': 'c5.large',
    'ec2:DescribeSubnets': 'm5.large',
  } as const;
  for (const [action, instanceType] of Object.entries(actions)) {
    it(`are Unknown without ${action}, which blocks nothing`, async () => {
      const name = action.replace(/\W/g, '').toLowerCase();
      fixture.world.cloud.faults.removeAction({ action });
      // CreateNodegroup itself needs the subnets.
      const needed = action === 'ec2:DescribeSubnets';
      await fixture.world.apply(poolManifest(name, { nodeGroup: { instanceTypes: [instanceType] } }));
      await fixture.world.waitForPool(name, `to name ${action}`, (pool) =>
        /AccessDenied/.test(conditionOf(pool, 'PrerequisitesMet')),
      );
      assert.match(await message(name, 'PrerequisitesMet'), new RegExp(action));
      if (!needed) await is(name, 'Ready', 'True/EnoughNodesVerified');
      if (!needed) await is(name, 'PrerequisitesMet', 'Unknown/AccessDenied');
      fixture.world.cloud.faults.restoreAction();
      await is(name, 'PrerequisitesMet', 'True/Met');
      await is(name, 'Ready', 'True/EnoughNodesVerified');
      await remove(name);
    });
  }

  it('are Unknown if IAM does not respond, which blocks nothing', async () => {
    const { calls } = fixture.world.cloud.faults;
    const message =
      'User: operator is not authorized to perform: iam:ListAttachedRolePolicies on resource: role eks-cluster';
    calls.error({ operation: 'ListAttachedRolePolicies', name: 'AccessDenied', message, status: 403, count: 1_000 });
    await fixture.world.apply(poolManifest('norole'));
    await is('norole', 'Ready', 'True/EnoughNodesVerified');
    await is('norole', 'PrerequisitesMet', 'Unknown/AccessDenied');
    calls.clear();
    await is('norole', 'PrerequisitesMet', 'True/Met');
    await remove('norole');
  });

  /** The API server applies changes of RBAC with a delay. */
  const untilDenied = (...question: readonly string[]) =>
    waitFor(
      async () =>
        (
          await fixture.world.controlPlane.kubectl(['auth', 'can-i', ...question, '--as', OPERATOR_USER])
        ).stdout.trim() === 'no',
      {
        what: `the operator to lose the permission to ${question.join(' ')}`,
        timeoutMs: 30_000,
      },
    );

  /** Removes the operator's permissions in kube-system while the test runs. */
  async function withoutBinding(run: () => Promise<void>): Promise<void> {
    const binding = await fixture.world.kubectl('get', ...BINDING, '-o', 'json');
    await fixture.world.kubectl('delete', ...BINDING);
    try {
      await untilDenied('get', 'configmaps', '-n', 'kube-system');
      await run();
    } finally {
      const { metadata, ...rest } = JSON.parse(binding);
      await fixture.world.apply({ ...rest, metadata: { name: metadata.name, namespace: metadata.namespace } });
    }
  }

  it('are Unknown without the permissions in kube-system, which blocks nothing', async () => {
    await withoutBinding(async () => {
      await fixture.world.apply(poolManifest('norights'));
      await is('norights', 'Ready', 'True/EnoughNodesVerified');
      await is('norights', 'PrerequisitesMet', 'Unknown/AccessDenied');
      const text = await message('norights', 'PrerequisitesMet');
      for (const right of [
        'configmaps kube-system/amazon-vpc-cni',
        'deployments.apps kube-system/vpc-resource-controller',
      ])
        assert.ok(text.includes(`missing permission get ${right}`), text);
    });
    await is('norights', 'PrerequisitesMet', 'True/Met');
    await remove('norights');
  });

  /** Removes the permission for a verb on a resource while the test runs. */
  async function without(resource: string, verb: string, run: () => Promise<void>): Promise<void> {
    const { metadata, rules = [] } =
      (await fixture.world.get<Stored<V1ClusterRole>>('clusterrole', 'windowspool-operator')) ?? assert.fail();
    const patch = (next: readonly object[]) =>
      fixture.world.kubectl(
        'patch',
        'clusterrole',
        metadata.name,
        '--type=merge',
        '-p',
        JSON.stringify({ rules: next }),
      );
    const lessened = rules.map((rule) =>
      rule.resources?.includes(resource) ? { ...rule, verbs: rule.verbs.filter((other) => other !== verb) } : rule,
    );
    await patch(lessened);
    try {
      await untilDenied(verb, resource);
      await run();
    } finally {
      await patch(rules);
    }
  }

  it('are Unknown without the permission to list nodes, which blocks nothing', async () => {
    await without('nodes', 'list', async () => {
      await fixture.world.apply(poolManifest('nolist'));
      await is('nolist', 'PrerequisitesMet', 'Unknown/AccessDenied');
      await is('nolist', 'Ready', 'True/EnoughNodesVerified');
      assertNames(
        await message('nolist', 'PrerequisitesMet'),
        /\bLinux node \(missing permission list nodes\)/,
        /\bLinux node groups \(missing permission list nodes\)/,
        'config/rbac',
        /See https:\/\/\S+\/prerequisites\.md#what-could-not-be-checked\.$/,
      );
      assert.equal(creations('nolist'), 1);
      assert.deepEqual(await measured('nolist'), ['Unknown/NoLinuxNode', 'Unknown/NodeRoleShared']);
    });
    await is('nolist', 'PrerequisitesMet', 'True/Met');
    await remove('nolist');
  });

  it('are Unknown without eks:DescribeNodegroup for the Linux groups, which blocks nothing', async () => {
    await linuxGroup(fixture.world, 'hidden', nodeRoleArn);
    fixture.world.cloud.faults.calls.error({
      operation: 'DescribeNodegroup',
      group: 'hidden',
      name: 'AccessDeniedException',
      message: 'User is not authorized to perform: eks:DescribeNodegroup',
      count: 10_000,
    });
    await fixture.world.apply(poolManifest('norole'));
    await is('norole', 'PrerequisitesMet', 'Unknown/AccessDenied');
    assertNames(
      await message('norole', 'PrerequisitesMet'),
      /\bLinux node groups \(missing permission eks:DescribeNodegroup\)/,
    );
    await is('norole', 'Ready', 'True/EnoughNodesVerified');
    fixture.world.cloud.faults.calls.clear();
    await is('norole', 'PrerequisitesMet', 'False/NodeRoleShared');
    await remove('norole');
  });

  it('name the policy statement if the first creation cannot describe its node group', async () => {
    const { calls } = fixture.world.cloud.faults;
    const denial = 'User: x is not authorized to perform: eks:DescribeNodegroup on resource: /clusters/x';
    calls.error({
      operation: 'DescribeNodegroup',
      group: 'unseen',
      name: 'AccessDeniedException',
      message: denial,
      count: 10_000,
    });
    await fixture.world.apply(poolManifest('unseen'));
    await is('unseen', 'PrerequisitesMet', 'False/AccessDenied');
    assertNames(
      await message('unseen', 'PrerequisitesMet'),
      'Grant eks:DescribeNodegroup',
      'ReadNodeGroupsAndTheirUpdates',
    );
    assert.equal(creations('unseen'), 0);
    calls.clear();
    await is('unseen', 'Ready', 'True/EnoughNodesVerified');
    await remove('unseen');
  });

  it('are Unknown without the permission to read aws-auth, if only that grants access to the role', async () => {
    const { cloud } = fixture.world;
    cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
    await withoutBinding(async () => {
      await fixture.world.apply(poolManifest('noauth'));
      await is('noauth', 'PrerequisitesMet', 'Unknown/AccessDenied');
      assert.match(
        await message('noauth', 'PrerequisitesMet'),
        /missing permission get configmaps kube-system\/aws-auth/,
      );
      assert.equal(creations('noauth'), 1);
    });
    // EKS wrote the role into aws-auth when it created the group.
    await is('noauth', 'PrerequisitesMet', 'True/Met');
    await is('noauth', 'Ready', 'True/EnoughNodesVerified');
    await remove('noauth');
  });

  it('do not need eks:DescribeAddon while IPAM is enabled, and name both ways to enable it otherwise', async () => {
    fixture.world.cloud.faults.removeAction({ action: 'eks:DescribeAddon' });
    await fixture.world.apply(poolManifest('noaddon'));
    await is('noaddon', 'Ready', 'True/EnoughNodesVerified');
    assert.equal(conditionOf(await fixture.world.pool('noaddon'), 'PrerequisitesMet'), 'True/Met');
    await fixture.world.apply(windowsIpam(false));
    await fixture.world.apply(poolManifest('noaddontoo'));
    await is('noaddontoo', 'PrerequisitesMet', 'False/WindowsIPAMDisabled');
    assertNames(await message('noaddontoo', 'PrerequisitesMet'), 'vpc-cni', 'enable-windows-ipam: "true"');
    await fixture.world.apply(windowsIpam(true));
    await is('noaddontoo', 'Ready', 'True/EnoughNodesVerified');
    await fixture.world.kubectl('delete', 'windowspool', 'noaddon', 'noaddontoo', '--timeout=60s');
  });
});
