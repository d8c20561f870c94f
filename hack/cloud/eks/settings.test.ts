import assert from 'node:assert/strict';
import { subnetIds } from '../network.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import { rejection } from '../testing/testGroup.ts';

const clusterName = 'demo';

describe('what can be read of the cluster, through the real SDK client', () => {
  const stage = withOpenCloud();

  it('is a cluster that is ready for Windows, until a test says otherwise', async () => {
    const settings = async () => {
      const { cluster } = await stage.sdk.eks.describeCluster({ name: clusterName });
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
    stage.cloud.faults.cluster({
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
    const { Subnets } = await stage.sdk.ec2.describeSubnets({ SubnetIds: [subnetIds[0]] });
    assert.equal(Subnets?.[0]?.Ipv6CidrBlockAssociationSet?.[0]?.Ipv6CidrBlock, '2600:1f14:abc:de01::/64');
    stage.cloud.faults.cluster({
      status: 'ACTIVE',
      version: '1.36',
      ipFamily: 'ipv4',
      authenticationMode: 'API_AND_CONFIG_MAP',
      autoMode: false,
    });
  });

  it('refuses settings that no cluster has', () => {
    const { faults } = stage.cloud;
    assert.throws(() => faults.cluster({ ipFamily: 'ipv5' }), /cluster.ipFamily is ipv5; it can be ipv4 or ipv6/);
    assert.throws(() => faults.cluster({ status: 'Active' }), /cluster.status is Active; it can be ACTIVE or/);
    assert.throws(() => faults.cluster({ authenticationMode: 'AWS_AUTH' }), /it can be API or/);
  });

  it('has no add-ons but those that a test adds', async () => {
    const { eks } = stage.sdk;
    const { faults } = stage.cloud;
    const vpcCni = { clusterName, addonName: 'vpc-cni' };
    assert.deepEqual((await eks.listAddons({ clusterName })).addons, []);
    assert.equal(
      await rejection(eks.describeAddon(vpcCni)),
      'ResourceNotFoundException: No addon: vpc-cni found in cluster: demo',
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
    const first = await eks.listAddons({ clusterName, maxResults: 1 });
    assert.deepEqual(first.addons, ['coredns']);
    const { nextToken = '' } = first;
    assert.deepEqual((await eks.listAddons({ clusterName, maxResults: 1, nextToken })).addons, ['vpc-cni']);
    faults.addon({ name: 'vpc-cni', exists: false });
    assert.match(await rejection(eks.describeAddon(vpcCni)), /^ResourceNotFoundException/);
    for (const configurationValues of ['[]', 'true', '{'])
      assert.throws(() => faults.addon({ name: 'vpc-cni', configurationValues }), /give a JSON object as text/);
    assert.throws(
      () => faults.addon({ name: 'vpc-cni', configurationValues: '{"enableWindowsIpam":true}' }),
      /enableWindowsIpam is a string to EKS/,
    );
  });
});
