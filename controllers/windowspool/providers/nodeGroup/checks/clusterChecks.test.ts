import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { sampleCluster } from '../../../testing/fixtures.ts';
import { sampleAddon, sampleFacts, sampleInput, unasked } from '../../../testing/prerequisites.ts';

const testChecks = checkTable('checks/clusterChecks');

const addon = (windowsIpam: boolean, status = 'ACTIVE') => known(sampleAddon({ status, windowsIpam }));

describe('the checks of the cluster', () => {
  testChecks([
    ['a cluster that meets all prerequisites', sampleInput(), []],
    [
      'a cluster that is being upgraded',
      sampleInput({ cluster: sampleCluster({ status: 'UPDATING' }) }),
      [['ClusterNotActive', 'prod', 'UPDATING', 'ACTIVE', '(passes)']],
    ],
    [
      'a cluster that failed',
      sampleInput({ cluster: sampleCluster({ status: 'FAILED' }) }),
      [['ClusterNotActive', 'FAILED', 'ACTIVE', 'aws eks describe-cluster --name prod --query cluster.health']],
    ],
    [
      'a cluster that is being upgraded if the node group exists',
      sampleInput({ cluster: sampleCluster({ status: 'UPDATING' }), creating: false }),
      [],
    ],
    [
      'an IPv6 cluster',
      sampleInput({ cluster: sampleCluster({ ipFamily: 'ipv6' }) }),
      [['UnsupportedIPFamily', 'prod', 'ipv6', 'ipv4']],
    ],
    [
      'a cluster in Auto Mode without the vpc-cni add-on',
      sampleInput({ cluster: sampleCluster({ autoMode: true }) }),
      [['AutoModeUnsupported', 'prod', 'vpc-cni', 'aws eks create-addon']],
    ],
    [
      'a cluster in Auto Mode with the vpc-cni add-on',
      sampleInput({
        cluster: sampleCluster({ autoMode: true }),
        facts: sampleFacts({ cniAddon: addon(true) }),
      }),
      [['AutoModeUnsupported (warning)', 'prod', 'vpc-cni']],
    ],
    [
      'a cluster in Auto Mode whose add-ons cannot be read',
      sampleInput({ cluster: sampleCluster({ autoMode: true }), facts: sampleFacts({ cniAddon: unasked() }) }),
      [['AutoModeUnsupported (warning)', 'prod', 'vpc-cni']],
    ],
    [
      'a cluster in GovCloud',
      sampleInput({
        cluster: sampleCluster({ arn: 'arn:aws-us-gov:eks:us-gov-west-1:111122223333:cluster/prod' }),
        region: 'us-gov-west-1',
      }),
      [['UnsupportedRegion (warning)', 'us-gov-west-1', 'aws-us-gov', 'existingNodes']],
    ],
  ]);
});
