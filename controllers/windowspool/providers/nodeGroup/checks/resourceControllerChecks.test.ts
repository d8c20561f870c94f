import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { sampleCluster } from '../../../testing/fixtures.ts';
import { sampleFacts, sampleInput, unasked } from '../../../testing/prerequisites.ts';

const testChecks = checkTable('checks/resourceControllerChecks');

describe('the checks of the VPC resource controller', () => {
  testChecks([
    [
      'the legacy VPC resource controller',
      sampleInput({ facts: sampleFacts({ legacyController: known(true) }) }),
      [['LegacyResourceController', 'kube-system/vpc-resource-controller', 'kubectl -n kube-system']],
    ],
    [
      'a role without the policy of the VPC resource controller',
      sampleInput({ facts: sampleFacts({ clusterRolePolicies: known(['AmazonEKSClusterPolicy', 'ours']) }) }),
      [['ClusterRolePolicyMissing (warning)', 'prod', 'AmazonEKSVPCResourceController', 'aws iam attach-role-policy']],
    ],
    [
      'a role with a path in another partition',
      sampleInput({
        cluster: sampleCluster({ roleArn: 'arn:aws-cn:iam::111122223333:role/eks/prod-cluster' }),
        facts: sampleFacts({ clusterRolePolicies: known([]) }),
      }),
      [['ClusterRolePolicyMissing (warning)', 'prod', 'AmazonEKSVPCResourceController', 'aws iam attach-role-policy']],
    ],
    [
      'a role whose policies cannot be listed',
      sampleInput({ facts: sampleFacts({ clusterRolePolicies: unasked() }) }),
      [['ClusterRolePolicyMissing (unknown)', 'iam:ListAttachedRolePolicies']],
    ],
    [
      'a webhook that does not exist',
      sampleInput({ facts: sampleFacts({ podWebhook: known(false) }) }),
      [
        [
          'PodWebhookMissing (warning)',
          'MutatingWebhookConfiguration',
          'vpc-resource-mutating-webhook',
          'prod',
          'vpc.amazonaws.com/PrivateIPv4Address',
        ],
      ],
    ],
  ]);
});
