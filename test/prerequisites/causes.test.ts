import assert from 'node:assert/strict';
import { windowsIpam } from '../../hack/world/world.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch } from '../sharedWorld.ts';
import { withPrerequisites } from './stage.ts';

describe('a pool whose nodes run no pods', () => {
  const { stage, is, message, remove } = withPrerequisites('--resync-interval=2s');

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

  /** Who tells that kube-proxy of the nodes lacks its rights, and where the pool points at the cause. */
  const tellers = [
    ['healthIssue', 'NodeGroupReady', 'False/Degraded'],
    ['notReady', 'NodesVerified', 'False/NotReady'],
  ] as const;
  for (const [teller, type, state] of tellers) {
    it(`because their kube-proxy lacks rights points at the access entry (${teller})`, async () => {
      const restore = setSwitch(stage.world, 'linuxAccessEntry', teller);
      try {
        const name = teller.toLowerCase();
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
