import assert from 'node:assert/strict';
import { problemsOf } from './check.ts';
import { kebab } from './services.ts';
import { commandsIn } from './shell.ts';

const problems = (line: string) => commandsIn(line).flatMap(({ words }) => problemsOf(words));

describe('a command line of the AWS CLI', () => {
  const right = [
    'aws eks describe-cluster --name "$CLUSTER_NAME" --query cluster.identity.oidc.issuer --output text --region eu-west-1',
    "aws eks describe-cluster --name c --query 'cluster.[version,status]' --profile p --no-cli-pager",
    'aws eks create-access-entry --cluster-name c --principal-arn "$ARN" --type EC2_WINDOWS',
    'aws eks update-nodegroup-version --cluster-name c --nodegroup-name g --kubernetes-version 1.36 --force',
    `aws eks update-nodegroup-config --cluster-name c --nodegroup-name g --taints '{"removeTaints": [{"key": "k", "effect": "NO_SCHEDULE"}]}'`,
    'aws eks update-nodegroup-config --cluster-name c --nodegroup-name g --scaling-config minSize=1,maxSize=3,desiredSize=2',
    'aws eks update-nodegroup-config --cluster-name c --nodegroup-name g --labels addOrUpdateLabels={a=b,c=d},removeLabels=[e,f]',
    'aws eks wait nodegroup-active --cluster-name c --nodegroup-name g',
    'aws eks tag-resource --resource-arn a --tags k=v,l=w',
    'aws eks update-kubeconfig --name c',
    'aws ec2 describe-instances --filters Name=tag:eks:nodegroup-name,Values=web,db Name=instance-state-name,Values=running',
    `aws ec2 describe-instances --filters '[{"Name": "a", "Values": ["b"]}]' --max-items 5`,
    'aws ec2 describe-subnets --subnet-ids $(aws eks describe-cluster --name c --query "cluster.resourcesVpcConfig.subnetIds[]" --output text)',
    'aws autoscaling terminate-instance-in-auto-scaling-group --instance-id i-1 --no-should-decrement-desired-capacity',
    'aws autoscaling delete-tags --tags ResourceId=a,ResourceType=auto-scaling-group,Key=k',
    'aws iam create-open-id-connect-provider --url=https://a --client-id-list sts.amazonaws.com',
    'aws iam create-policy --policy-name p --policy-document file://build/policy.json',
    'aws ecr get-login-password --region eu-west-1',
    'aws sts get-caller-identity --query Account --output text',
    'aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventSource,AttributeValue=a --max-results 50',
    'aws eks create-cluster --cli-input-json file://cluster.json',
    'aws ec2 modify-subnet-attribute --subnet-id s --map-public-ip-on-launch',
    'aws ec2 modify-subnet-attribute --subnet-id s --no-map-public-ip-on-launch',
    'aws eks describe-nodegroup',
  ];
  for (const line of right) it(`is accepted: ${line}`, () => assert.deepEqual(problems(line), []));

  const wrong: readonly [line: string, problem: RegExp][] = [
    ['aws ek describe-cluster --name c', /service 'ek'; .*'eks'\?$/],
    ['aws eks describe-clusters --name c', / eks 'describe-clusters'; .*'describe-cluster'\?$/],
    ['aws eks wait nodegroup-activ --name c', / eks 'wait nodegroup-activ'; .*'wait nodegroup-active'\?$/],
    ['aws eks describe-cluster --name c --nam d', /^aws eks describe-cluster: .*'--nam'; .*'--name'\?$/],
    [
      'aws eks describe-nodegroup --cluster-name c --node-group-name g --nodegroup-name g',
      /^aws eks describe-nodegroup: .*'--node-group-name'; .*'--nodegroup-name'\?$/,
    ],
    ['aws eks describe-nodegroup --cluster-name c', /^aws eks describe-nodegroup: --nodegroup-name is required$/],
    [
      'aws autoscaling terminate-instance-in-auto-scaling-group --instance-id i-1',
      /: --should-decrement-\S+ or --no-should-decrement-\S+ is required$/,
    ],
    [
      'aws eks create-nodegroup --cluster-name c --nodegroup-name g --subnets a --node-role r --ami-type WINDOWS_CORE_2022',
      /: --ami-type is WINDOWS_CORE_2022; .* WINDOWS_CORE_2022_x86_64\?$/,
    ],
    ['aws autoscaling delete-tags --tags Key=k,ResourceID=a', /: --tags at \[0\]\.ResourceID .* ResourceId\?$/],
    [
      `aws eks update-nodegroup-config --cluster-name c --nodegroup-name g --taints '{"removeTaints": [{"effect": "NoSchedule"}]}'`,
      /: --taints at removeTaints\[0\]\.effect is NoSchedule; .* NO_SCHEDULE\?$/,
    ],
    [
      'aws eks update-nodegroup-config --cluster-name c --nodegroup-name g --scaling-config minSize=one',
      /: --scaling-config at minSize .*string.*number/,
    ],
    ['aws ec2 describe-instances --filters running', /: --filters .*JSON.*Key=value,Key=value: 'running'$/],
    ['aws ec2 describe-instances --filters Name=a,Values=[b', /: --filters lacks \]: 'Name=a,Values=\[b'$/],
    ['aws eks describe-cluster --name a b', /: --name has 2 values\b/],
    ['aws eks describe-cluster --name', /: --name has no value$/],
    ['aws eks describe-cluster c --name c', /^aws eks describe-cluster: 'c' /],
    ['aws eks describe-cluster --name c --output test', / --output 'test'; .*'text'\?$/],
    ['aws eks describe-cluster --name c --query cluster.roleARN', / --query 'roleARN'; .*'roleArn'\?$/],
    ["aws ec2 describe-subnets --query 'Subnet[].SubnetId'", / --query 'Subnet'; .*'Subnets'\?$/],
  ];
  for (const [line, problem] of wrong)
    it(`is rejected: ${line}`, () => {
      const [found = '', ...others] = problems(line);
      assert.match(found, problem);
      assert.deepEqual(others, []);
    });

  it('is rejected for invalid JSON', () => {
    assert.match(problems(`aws ec2 describe-instances --filters '[{"Name": "a"'`).join(), /--filters .*JSON/);
  });
});

describe('the name of a command or flag', () => {
  for (const [name, cli] of [
    ['CreateOpenIDConnectProvider', 'create-open-id-connect-provider'],
    ['clientIDList', 'client-id-list'],
    ['DescribeNodegroup', 'describe-nodegroup'],
    ['AutoScalingGroupARNs', 'auto-scaling-group-arns'],
    ['ServerCertificateId', 'server-certificate-id'],
    ['nodegroupName', 'nodegroup-name'],
  ] as const)
    it(`for ${name} is ${cli}`, () => assert.equal(kebab(name), cli));
});
