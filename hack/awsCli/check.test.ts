import assert from 'node:assert/strict';
import { problemsOf } from './check.ts';
import { awsCommandsOf } from './commands.ts';
import { kebab } from './services.ts';

const problems = (line: string) =>
  awsCommandsOf('a.md', `\`\`\`sh\n${line}\n\`\`\``).flatMap(({ words }) => problemsOf(words));

describe('a command line of the AWS CLI', () => {
  const right = [
    'aws eks describe-cluster --name "$CLUSTER_NAME" --query cluster.identity.oidc.issuer --output text --region eu-west-1',
    'aws eks create-access-entry --cluster-name c --principal-arn "$ARN" --type EC2_WINDOWS',
    `aws eks update-nodegroup-config --cluster-name c --nodegroup-name g --taints '{"removeTaints": [{"key": "k", "effect": "NO_SCHEDULE"}]}'`,
    'aws eks update-nodegroup-config --cluster-name c --nodegroup-name g --scaling-config minSize=1,maxSize=3,desiredSize=2',
    'aws eks tag-resource --resource-arn a --tags k=v,l=w',
    'aws eks update-kubeconfig --name c',
    'aws ec2 describe-instances --filters Name=tag:eks:nodegroup-name,Values=web,db Name=instance-state-name,Values=running',
    `aws ec2 describe-instances --filters '[{"Name": "a", "Values": ["b"]}]' --max-items 5`,
    'aws ec2 describe-subnets --subnet-ids $(aws eks describe-cluster --name c --query "cluster.resourcesVpcConfig.subnetIds[]" --output text)',
    'aws autoscaling terminate-instance-in-auto-scaling-group --instance-id i-1 --no-should-decrement-desired-capacity',
    'aws autoscaling delete-tags --tags ResourceId=a,ResourceType=auto-scaling-group,Key=k',
    'aws iam create-policy --policy-name p --policy-document file://build/policy.json',
    'aws ecr get-login-password --region eu-west-1',
    'aws sts get-caller-identity --query Account --output text',
    'aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventSource,AttributeValue=a --max-results 50',
    'aws ec2 modify-subnet-attribute --subnet-id s --map-public-ip-on-launch',
    'aws ec2 modify-subnet-attribute --subnet-id s --no-map-public-ip-on-launch',
    'aws eks describe-nodegroup',
    "aws ec2 authorize-security-group-ingress --ip-permissions 'IpProtocol=tcp,FromPort=1,UserIdGroupPairs=[{GroupId=sg}]'",
  ];
  for (const line of right) it(`is accepted: ${line}`, () => assert.deepEqual(problems(line), []));

  const wrong: readonly [line: string, problem: RegExp][] = [
    ['aws ek describe-cluster --name c', /^aws ek describe-cluster: unknown command$/],
    ['aws eks describe-clusters --name c', /^aws eks describe-clusters: unknown command$/],
    ['aws eks describe-cluster --name c --nam d', /^aws eks describe-cluster: unknown flag --nam$/],
    ['aws eks describe-nodegroup --cluster-name c', /^aws eks describe-nodegroup: --nodegroup-name is required$/],
    [
      'aws autoscaling terminate-instance-in-auto-scaling-group --instance-id i-1',
      /: --should-decrement-\S+ or --no-should-decrement-\S+ is required$/,
    ],
    [
      'aws eks create-nodegroup --cluster-name c --nodegroup-name g --subnets a --node-role r --ami-type WINDOWS_CORE_2022',
      /: --ami-type is WINDOWS_CORE_2022, not .*WINDOWS_CORE_2022_x86_64/,
    ],
    ['aws autoscaling delete-tags --tags Key=k,ResourceID=a', /: --tags at \[0\]\.ResourceID .*\bResourceId\b/],
    [
      `aws eks update-nodegroup-config --cluster-name c --nodegroup-name g --taints '{"removeTaints": [{"effect": "NoSchedule"}]}'`,
      /: --taints at removeTaints\[0\]\.effect is NoSchedule, not .*NO_SCHEDULE/,
    ],
    [
      'aws eks update-nodegroup-config --cluster-name c --nodegroup-name g --scaling-config minSize=one',
      /: --scaling-config at minSize .*string.*number/,
    ],
    [
      "aws ec2 authorize-security-group-ingress --ip-permissions 'UserIdGroupPairs=[{GroupID=sg}]'",
      /: --ip-permissions at \[0\]\.UserIdGroupPairs\[0\]\.GroupID .*\bGroupId\b/,
    ],
    ['aws ec2 describe-instances --filters running', /: --filters .*JSON.*Key=value,Key=value: 'running'$/],
    ['aws ec2 describe-instances --filters Name=a,Values=[b', /: --filters .*JSON.*Key=value,Key=value: .*\[b'$/],
    [`aws ec2 describe-instances --filters '[{"Name": "a"'`, /--filters .*JSON/],
    ['aws eks describe-cluster --name a b', /: --name has 2 values\b/],
    ['aws eks describe-cluster --name', /: --name has no value$/],
    ['aws eks describe-cluster c --name c', /^aws eks describe-cluster: 'c' /],
    ['aws eks describe-cluster --name c --output text d', /^aws eks describe-cluster: 'd' /],
    ['aws eks describe-cluster --name c --output test', /: --output is test, not json, text/],
    ['aws eks describe-cluster --name c --query cluster.roleARN', /: --query .*\broleARN\b.*\broleArn\b/],
    ["aws ec2 describe-subnets --query 'Subnet[].SubnetId'", /: --query .*\bSubnet\b.*\bSubnets\b/],
  ];
  for (const [line, problem] of wrong)
    it(`is rejected: ${line}`, () => {
      const [found = '', ...others] = problems(line);
      assert.match(found, problem);
      assert.deepEqual(others, []);
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
