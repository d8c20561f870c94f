import assert from 'node:assert/strict';
import { waitFor } from '../../../../hack/controlplane/wait.ts';
import { assertNames } from '../../../messages.ts';
import { subnetIds } from '../network.ts';
import type { Switches } from '../switches.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { rejection } from '../testing/testGroup.ts';

const clusterName = 'demo';

describe('the settings of the cluster, through the real SDK client', () => {
  const fixture = withOpenCloud();

  it('are ready for Windows by default', async () => {
    const settings = async () => {
      const { cluster } = await fixture.sdk.eks.describeCluster({ name: clusterName });
      const { status, version, kubernetesNetworkConfig, accessConfig, computeConfig } = cluster ?? {};
      return { status, version, kubernetesNetworkConfig, accessConfig, computeConfig };
    };
    assert.deepEqual(await settings(), {
      status: 'ACTIVE',
      version: '1.36',
      kubernetesNetworkConfig: { serviceIpv4Cidr: '172.20.0.0/16', ipFamily: 'ipv4' },
      accessConfig: { authenticationMode: 'API_AND_CONFIG_MAP' },
      computeConfig: { enabled: false },
    });
    fixture.cloud.faults.cluster({
      status: 'UPDATING',
      version: '1.35',
      ipFamily: 'ipv6',
      authenticationMode: 'API',
      autoMode: true,
    });
    assert.deepEqual(await settings(), {
      status: 'UPDATING',
      version: '1.35',
      kubernetesNetworkConfig: { serviceIpv6Cidr: 'fd30:1c53:5f8a::/108', ipFamily: 'ipv6' },
      accessConfig: { authenticationMode: 'API' },
      computeConfig: { enabled: true },
    });
    const { Subnets } = await fixture.sdk.ec2.describeSubnets({ SubnetIds: [subnetIds[0]] });
    assert.equal(Subnets?.[0]?.Ipv6CidrBlockAssociationSet?.[0]?.Ipv6CidrBlock, '2600:1f14:abc:de01::/64');
    fixture.cloud.faults.cluster({
      status: 'ACTIVE',
      version: '1.36',
      ipFamily: 'ipv4',
      authenticationMode: 'API_AND_CONFIG_MAP',
      autoMode: false,
    });
  });

  it('are rejected if they are invalid', () => {
    const { faults } = fixture.cloud;
    assert.throws(() => faults.cluster({ ipFamily: 'ipv5' }), /cluster.ipFamily is ipv5; it can be ipv4 or ipv6/);
    assert.throws(() => faults.cluster({ status: 'Active' }), /cluster.status is Active; it can be ACTIVE or/);
    assert.throws(() => faults.cluster({ authenticationMode: 'AWS_AUTH' }), /it can be API or/);
  });

  it('include only the add-ons that a test adds', async () => {
    const { eks } = fixture.sdk;
    const { faults } = fixture.cloud;
    const vpcCni = { clusterName, addonName: 'vpc-cni' };
    assertNames(
      await rejection(eks.describeAddon(vpcCni)),
      'ResourceNotFoundException',
      'No addon: vpc-cni found in cluster: demo',
    );
    faults.addon({ name: 'vpc-cni', configurationValues: '{"enableWindowsIpam":"false"}' });
    faults.addon({ name: 'coredns', status: 'DEGRADED', addonVersion: 'v1.13.2-eksbuild.1' });
    faults.addon({ name: 'vpc-cni', status: 'UPDATING' });
    const { addon } = await eks.describeAddon(vpcCni);
    const { addonName, status, addonVersion, configurationValues, health } = addon ?? {};
    assert.deepEqual(
      { addonName, status, addonVersion, configurationValues, health },
      {
        addonName: 'vpc-cni',
        status: 'UPDATING',
        addonVersion: 'v1.21.1-eksbuild.1',
        configurationValues: '{"enableWindowsIpam":"false"}',
        health: { issues: [] },
      },
    );
    assert.match(addon?.addonArn ?? '', /^arn:aws:eks:us-west-2:111122223333:addon\/demo\/vpc-cni\/[0-9a-f-]{36}$/);
    faults.addon({ name: 'vpc-cni', exists: false });
    assert.match(await rejection(eks.describeAddon(vpcCni)), /^ResourceNotFoundException/);
    for (const configurationValues of ['[]', 'true', '{'])
      assert.throws(() => faults.addon({ name: 'vpc-cni', configurationValues }), /neither a JSON nor a YAML object/);
    assert.throws(
      () => faults.addon({ name: 'vpc-cni', configurationValues: 'enableWindowsIpam: true' }),
      /enableWindowsIpam: boolean found, string expected/,
    );
  });

  describe('include add-ons that can be updated', () => {
    const vpcCni = { clusterName, addonName: 'vpc-cni' };
    const role = 'arn:aws:iam::111122223333:role/vpc-cni';
    const before = '{"env":{"WARM_IP_TARGET":"2"}}';
    const after = 'enableWindowsIpam: "true" # for Windows';
    const addon = async () => (await fixture.sdk.eks.describeAddon(vpcCni)).addon;
    const change = { ...vpcCni, configurationValues: after, resolveConflicts: 'PRESERVE' } as const;

    beforeEach(() =>
      fixture.cloud.faults.addon({ name: 'vpc-cni', configurationValues: before, serviceAccountRoleArn: role }),
    );
    afterEach(() => fixture.cloud.faults.addon({ name: 'vpc-cni', exists: false }));

    /** Completes the running update. */
    const settled = async () => {
      const { timeline } = fixture.cloud.state;
      timeline.speed = 1_000_000;
      await waitFor(async () => (await addon())?.status !== 'UPDATING', {
        what: 'the update to end',
        timeoutMs: 5_000,
      });
      timeline.speed = 1;
    };

    it('and are UPDATING until they have the new configuration, and their version stays', async () => {
      const { update } = await fixture.sdk.eks.updateAddon({ ...change, serviceAccountRoleArn: role });
      assert.deepEqual(
        [update?.type, update?.status, update?.params?.map(({ type }) => type)],
        ['AddonUpdate', 'InProgress', ['ServiceAccountRoleArn', 'ResolveConflicts', 'ConfigurationValues']],
      );
      const during = await addon();
      assert.deepEqual([during?.status, during?.configurationValues], ['UPDATING', before]);
      assert.match(await rejection(fixture.sdk.eks.updateAddon(change)), /^ResourceInUseException/);
      await settled();
      const { status, configurationValues, serviceAccountRoleArn, addonVersion } = (await addon()) ?? {};
      assert.deepEqual(
        { status, configurationValues, serviceAccountRoleArn, addonVersion },
        {
          status: 'ACTIVE',
          configurationValues: after,
          serviceAccountRoleArn: role,
          addonVersion: 'v1.21.1-eksbuild.1',
        },
      );
      const { update: ended } = await fixture.sdk.eks.describeUpdate({
        name: clusterName,
        addonName: 'vpc-cni',
        updateId: update?.id,
      });
      assert.equal(ended?.status, 'Successful');
    });

    it('once for each token', async () => {
      const first = await fixture.sdk.eks.updateAddon({ ...change, clientRequestToken: 'once' });
      const again = await fixture.sdk.eks.updateAddon({ ...change, clientRequestToken: 'once' });
      assert.equal(again.update?.id, first.update?.id);
      await settled();
    });

    it('without their role, which is removed then', async () => {
      await fixture.sdk.eks.updateAddon(change);
      await settled();
      assert.equal((await addon())?.serviceAccountRoleArn, undefined);
    });

    for (const [shown, values] of [
      ['showsOldValues', before],
      ['showsNewValues', after],
    ] as const) {
      it(`and fail, with the cause in their health (${shown})`, async () => {
        const switches = fixture.cloud.state.switches as { -readonly [K in keyof Switches]: Switches[K] };
        switches.failedAddonUpdate = shown;
        fixture.cloud.faults.addonFailure({ code: 'ConfigurationConflict', message: 'Conflicts found' });
        await fixture.sdk.eks.updateAddon(change);
        await settled();
        switches.failedAddonUpdate = 'showsOldValues';
        const { status, configurationValues, health } = (await addon()) ?? {};
        assert.deepEqual([status, configurationValues], ['UPDATE_FAILED', values]);
        assert.deepEqual(
          health?.issues?.map(({ code, message }) => `${code}: ${message}`),
          ['ConfigurationConflict: Conflicts found'],
        );
      });
    }

    it('only with values that match their schema', async () => {
      const refusal = (configurationValues: string) =>
        rejection(fixture.sdk.eks.updateAddon({ ...vpcCni, configurationValues }));
      assertNames(
        await refusal('enableWindowsIpam: true'),
        'InvalidParameterException',
        /\$\.enableWindowsIpam: boolean found, string expected/,
      );
      assert.match(await refusal('[]'), /^InvalidParameterException: .*JSON.*YAML/);
      assert.match(
        await rejection(fixture.sdk.eks.updateAddon({ ...vpcCni, addonName: 'kube-proxy' })),
        /^ResourceNotFoundException/,
      );
      const broken: object = { code: 'Broken', message: '' };
      assert.throws(() => fixture.cloud.faults.addonFailure(broken), /code is Broken; it can be/);
    });
  });
});
