import assert from 'node:assert/strict';
import { podWebhook, windowsIpam } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch } from '../sharedWorld.ts';
import { withPrerequisites } from './prerequisitesFixture.ts';

describe('a pool whose nodes run no pods', () => {
  const { fixture, is, message, remove, measured } = withPrerequisites('--resync-interval=2s');

  it('that get no addresses checks its prerequisites again, and names the likely cause', async () => {
    await fixture.world.apply(poolManifest('late'));
    await is('late', 'Ready', 'True/EnoughNodesVerified');
    await fixture.world.apply(windowsIpam(false));
    await fixture.world.kubectl('scale', 'windowspool', 'late', '--replicas=2');
    await is('late', 'NodesVerified', 'False/NoPodAddresses');
    await is('late', 'PrerequisitesMet', 'False/WindowsIPAMDisabled');
    assertNames(await message('late', 'NodesVerified'), 'Likely cause: WindowsIPAMDisabled');
    await fixture.world.apply(windowsIpam(true));
    await is('late', 'NodesVerified', 'True/AllVerified');
    await is('late', 'PrerequisitesMet', 'True/Met');
    await remove('late');
  });

  it('because the cluster role lacks the policy of the VPC resource controller names that warning', async () => {
    fixture.world.cloud.faults.clusterRolePolicy({ attached: false });
    await fixture.world.apply(poolManifest('norole'));
    await is('norole', 'PrerequisitesMet', 'True/MetWithWarnings');
    await is('norole', 'NodesVerified', 'False/NoPodAddresses');
    await fixture.world.waitForPool('norole', 'to name the policy', (pool) =>
      /Likely cause: ClusterRolePolicyMissing\. See status\.checks\./.test(JSON.stringify(pool?.status?.conditions)),
    );
    assert.deepEqual(await measured('norole'), ['Warning/ClusterRolePolicyMissing']);
    fixture.world.cloud.faults.clusterRolePolicy({ attached: true });
    await is('norole', 'NodesVerified', 'True/AllVerified');
    await is('norole', 'PrerequisitesMet', 'True/Met');
    await remove('norole');
  });

  it('is warned before if the policy is missing, also if nodes get addresses', async () => {
    const restore = setSwitch(fixture.world, 'withoutControllerPolicy', 'addressesAdvertised');
    try {
      fixture.world.cloud.faults.clusterRolePolicy({ attached: false });
      await fixture.world.apply(poolManifest('advertised'));
      await is('advertised', 'Ready', 'True/EnoughNodesVerified');
      await is('advertised', 'PrerequisitesMet', 'True/MetWithWarnings');
      await remove('advertised');
    } finally {
      restore();
    }
  });

  for (const controllerWarning of ['Unsupported', 'InsufficientCidrBlocks'] as const) {
    it(`because the VPC resource controller cannot assign addresses quotes its event (${controllerWarning})`, async () => {
      const name = controllerWarning.toLowerCase();
      fixture.world.cloud.faults.nextNode({ group: name, controllerWarning });
      await fixture.world.apply(poolManifest(name));
      await is(name, 'NodesVerified', 'False/NoPodAddresses');
      await fixture.world.waitForPool(name, 'to quote the controller', (pool) =>
        new RegExp(`The VPC resource controller reports ${controllerWarning}: The `).test(
          JSON.stringify(pool?.status?.failingNodes),
        ),
      );
      assert.match(await message(name, 'NodesVerified'), /The VPC resource controller reports /);
      await remove(name);
    });
  }

  it('because the webhook for pods is missing has a warning, which blocks nothing', async () => {
    await fixture.world.kubectl('delete', 'mutatingwebhookconfiguration', 'vpc-resource-mutating-webhook');
    await fixture.world.apply(poolManifest('nowebhook'));
    await is('nowebhook', 'Ready', 'True/EnoughNodesVerified');
    await is('nowebhook', 'PrerequisitesMet', 'True/MetWithWarnings');
    await fixture.world.apply(podWebhook);
    await is('nowebhook', 'PrerequisitesMet', 'True/Met');
    await remove('nowebhook');
  });

  it('that never join checks its prerequisites again, and names the likely cause', async () => {
    await fixture.world.apply(poolManifest('nojoin'));
    await is('nojoin', 'Ready', 'True/EnoughNodesVerified');
    fixture.world.cloud.faults.accessEntry({ exists: false });
    await fixture.world.kubectl('scale', 'windowspool', 'nojoin', '--replicas=2');
    await is('nojoin', 'NodesVerified', 'False/NodesMissing');
    await is('nojoin', 'PrerequisitesMet', 'False/NodeAccessInvalid');
    assertNames(
      await message('nojoin', 'NodesVerified'),
      'Likely cause: NodeAccessInvalid',
      /aws ssm start-session --target i-[0-9a-f]+$/,
    );
    await remove('nojoin');
  });

  /** Where missing permissions of kube-proxy show, and where the pool names the cause. */
  const symptoms = [
    ['healthIssue', 'NodeGroupReady', 'False/Degraded', /Likely cause: NodeAccessInvalid\. See status\.checks\.$/],
    [
      'notReady',
      'NodesVerified',
      'False/NotReady',
      /Likely cause: NodeAccessInvalid\..* kubectl describe node ip-\S+$/,
    ],
  ] as const;
  for (const [symptom, type, state, words] of symptoms) {
    it(`because their kube-proxy lacks permissions names the access entry (${symptom})`, async () => {
      const restore = setSwitch(fixture.world, 'linuxAccessEntry', symptom);
      try {
        const name = symptom.toLowerCase();
        await fixture.world.apply(poolManifest(name));
        await is(name, 'Ready', 'True/EnoughNodesVerified');
        fixture.world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
        await fixture.world.kubectl('scale', 'windowspool', name, '--replicas=2');
        await is(name, type, state);
        await is(name, 'PrerequisitesMet', 'False/NodeAccessInvalid');
        assert.match(await message(name, type), words);
        assert.match(await message(name, 'PrerequisitesMet'), /kube-proxy on Windows nodes lacks permissions/);
        fixture.world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
        await is(name, 'PrerequisitesMet', 'True/Met');
        await remove(name);
      } finally {
        restore();
      }
    });
  }

  it('without any symptom reports the cause within the resync interval', async () => {
    const restore = setSwitch(fixture.world, 'linuxAccessEntry', 'nobody');
    try {
      await fixture.world.apply(poolManifest('silent'));
      await is('silent', 'Ready', 'True/EnoughNodesVerified');
      fixture.world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
      await is('silent', 'PrerequisitesMet', 'False/NodeAccessInvalid');
      await is('silent', 'Ready', 'True/EnoughNodesVerified');
      fixture.world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
      await is('silent', 'PrerequisitesMet', 'True/Met');
      await remove('silent');
    } finally {
      restore();
    }
  });

  it('because the cluster was changed reports that within the resync interval, and keeps its nodes', async () => {
    await fixture.world.apply(poolManifest('turned'));
    await is('turned', 'Ready', 'True/EnoughNodesVerified');
    fixture.world.cloud.faults.cluster({ autoMode: true });
    await is('turned', 'PrerequisitesMet', 'False/AutoModeUnsupported');
    await is('turned', 'Ready', 'True/EnoughNodesVerified');
    fixture.world.cloud.faults.cluster({ autoMode: false });
    await is('turned', 'PrerequisitesMet', 'True/Met');
    await remove('turned');
  });
});
