import assert from 'node:assert/strict';
import { podWebhook, windowsIpam } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch } from '../sharedWorld.ts';
import { withPrerequisites } from './prerequisitesFixture.ts';

describe('a pool whose nodes run no pods', () => {
  const { stage, is, message, remove, measured } = withPrerequisites('--resync-interval=2s');

  it('that get no addresses has its prerequisites looked at again, and points at the cause', async () => {
    await stage.world.apply(poolManifest('late'));
    await is('late', 'Ready', 'True/Verified');
    await stage.world.apply(windowsIpam(false));
    await stage.world.kubectl('scale', 'windowspool', 'late', '--replicas=2');
    await is('late', 'NodesVerified', 'False/NoPodAddresses');
    await is('late', 'PrerequisitesMet', 'False/WindowsIPAMDisabled');
    assert.match(await message('late', 'NodesVerified'), /Likely cause: WindowsIPAMDisabled, see PrerequisitesMet\.$/);
    await stage.world.apply(windowsIpam(true));
    await is('late', 'NodesVerified', 'True/AllVerified');
    await is('late', 'PrerequisitesMet', 'True/Met');
    await remove('late');
  });

  it('because the cluster role lacks the policy of the VPC resource controller points at that warning', async () => {
    stage.world.cloud.faults.clusterRolePolicy({ attached: false });
    await stage.world.apply(poolManifest('norole'));
    await is('norole', 'PrerequisitesMet', 'True/MetWithWarnings');
    await is('norole', 'NodesVerified', 'False/NoPodAddresses');
    await stage.world.waitForPool('norole', 'to name the policy', (pool) =>
      /Likely cause: ClusterRolePolicyMissing, see PrerequisitesMet\./.test(JSON.stringify(pool?.status?.conditions)),
    );
    assert.deepEqual(await measured('norole'), ['Warning/ClusterRolePolicyMissing']);
    stage.world.cloud.faults.clusterRolePolicy({ attached: true });
    await is('norole', 'NodesVerified', 'True/AllVerified');
    await is('norole', 'PrerequisitesMet', 'True/Met');
    await remove('norole');
  });

  it('where the policy is missing and nodes have addresses all the same is warned of before', async () => {
    const restore = setSwitch(stage.world, 'withoutControllerPolicy', 'addressesAdvertised');
    try {
      stage.world.cloud.faults.clusterRolePolicy({ attached: false });
      await stage.world.apply(poolManifest('advertised'));
      await is('advertised', 'Ready', 'True/Verified');
      await is('advertised', 'PrerequisitesMet', 'True/MetWithWarnings');
      await remove('advertised');
    } finally {
      restore();
    }
  });

  for (const controllerWarning of ['Unsupported', 'InsufficientCidrBlocks'] as const) {
    it(`because the VPC resource controller cannot give addresses quotes its event (${controllerWarning})`, async () => {
      const name = controllerWarning.toLowerCase();
      stage.world.cloud.faults.nextNode({ group: name, controllerWarning });
      await stage.world.apply(poolManifest(name));
      await is(name, 'NodesVerified', 'False/NoPodAddresses');
      await stage.world.waitForPool(name, 'to quote the controller', (pool) =>
        new RegExp(`The VPC resource controller reports ${controllerWarning}: The `).test(
          JSON.stringify(pool?.status?.failingNodes),
        ),
      );
      assert.match(await message(name, 'NodesVerified'), /The VPC resource controller reports /);
      await remove(name);
    });
  }

  it('that lacks the webhook of pods is warned, and nothing waits', async () => {
    await stage.world.kubectl('delete', 'mutatingwebhookconfiguration', 'vpc-resource-mutating-webhook');
    await stage.world.apply(poolManifest('nowebhook'));
    await is('nowebhook', 'Ready', 'True/Verified');
    await is('nowebhook', 'PrerequisitesMet', 'True/MetWithWarnings');
    await stage.world.apply(podWebhook);
    await is('nowebhook', 'PrerequisitesMet', 'True/Met');
    await remove('nowebhook');
  });

  it('that never join has its prerequisites looked at again, and points at the cause', async () => {
    await stage.world.apply(poolManifest('nojoin'));
    await is('nojoin', 'Ready', 'True/Verified');
    stage.world.cloud.faults.accessEntry({ exists: false });
    await stage.world.kubectl('scale', 'windowspool', 'nojoin', '--replicas=2');
    await is('nojoin', 'NodesVerified', 'False/NodesMissing');
    await is('nojoin', 'PrerequisitesMet', 'False/NodeAccessWrong');
    assert.match(await message('nojoin', 'NodesVerified'), /Likely cause: NodeAccessWrong, see PrerequisitesMet\.$/);
    await remove('nojoin');
  });

  /** Where missing permissions of kube-proxy show, and where the pool names the cause. */
  const tellers = [
    ['healthIssue', 'NodeGroupReady', 'False/Degraded'],
    ['notReady', 'NodesVerified', 'False/NotReady'],
  ] as const;
  for (const [reportedBy, type, state] of tellers) {
    it(`because their kube-proxy lacks rights points at the access entry (${reportedBy})`, async () => {
      const restore = setSwitch(stage.world, 'linuxAccessEntry', reportedBy);
      try {
        const name = reportedBy.toLowerCase();
        await stage.world.apply(poolManifest(name));
        await is(name, 'Ready', 'True/Verified');
        stage.world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
        await stage.world.kubectl('scale', 'windowspool', name, '--replicas=2');
        await is(name, type, state);
        await is(name, 'PrerequisitesMet', 'False/NodeAccessWrong');
        assert.match(await message(name, type), /Likely cause: NodeAccessWrong, see PrerequisitesMet\.$/);
        assert.match(await message(name, 'PrerequisitesMet'), /kube-proxy of Windows nodes lacks its permissions/);
        stage.world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
        await is(name, 'PrerequisitesMet', 'True/Met');
        await remove(name);
      } finally {
        restore();
      }
    });
  }

  it('and of which nobody tells that is told within the resync interval', async () => {
    const restore = setSwitch(stage.world, 'linuxAccessEntry', 'nobody');
    try {
      await stage.world.apply(poolManifest('silent'));
      await is('silent', 'Ready', 'True/Verified');
      stage.world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
      await is('silent', 'PrerequisitesMet', 'False/NodeAccessWrong');
      await is('silent', 'Ready', 'True/Verified');
      stage.world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
      await is('silent', 'PrerequisitesMet', 'True/Met');
      await remove('silent');
    } finally {
      restore();
    }
  });

  it('because the cluster was changed is told within the resync interval, and keeps its nodes', async () => {
    await stage.world.apply(poolManifest('turned'));
    await is('turned', 'Ready', 'True/Verified');
    stage.world.cloud.faults.cluster({ autoMode: true });
    await is('turned', 'PrerequisitesMet', 'False/AutoModeUnsupported');
    await is('turned', 'Ready', 'True/Verified');
    stage.world.cloud.faults.cluster({ autoMode: false });
    await is('turned', 'PrerequisitesMet', 'True/Met');
    await remove('turned');
  });
});
