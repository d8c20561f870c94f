import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { OPERATOR_USER } from '../fakes/testenv/audit.ts';
import { withoutPermission } from '../lessPermissions.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withPrerequisites } from './prerequisitesFixture.ts';

const BINDING = ['-n', 'kube-system', 'rolebinding', 'windowspool-operator-prerequisites'] as const;

describe('prerequisites that cannot be read', () => {
  const { fixture, is, message, remove, creations, measured } = withPrerequisites();

  /** The API server applies changes of RBAC with a delay. */
  const untilDenied = (...question: readonly string[]) =>
    waitFor(
      async () =>
        (
          await fixture.world.controlPlane.kubectl(['auth', 'can-i', ...question, '--as', OPERATOR_USER])
        ).stdout.trim() === 'no',
      { what: `the operator to lose the permission to ${question.join(' ')}` },
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
  const without = (resource: string, verb: string, run: () => Promise<void>) =>
    withoutPermission(fixture.world, resource, verb, async () => {
      await untilDenied(verb, resource);
      await run();
    });

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
        /See https:\/\/\S+\/reference\/checks\.md#what-could-not-be-checked\.$/,
      );
      assert.equal(creations('nolist'), 1);
      assert.deepEqual(await measured('nolist'), ['Unknown/NoLinuxNode', 'Unknown/NodeRoleShared']);
    });
    await is('nolist', 'PrerequisitesMet', 'True/Met');
    await remove('nolist');
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
});
