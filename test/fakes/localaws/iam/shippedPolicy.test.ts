/** What the shipped policies deny: other resources than those of the operator, and other tags than it writes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { optionalPolicies, policyFor, shippedPolicy } from '../localAws.ts';
import { memoryCloud } from '../testing/testClock.ts';
import type { Context } from './conditions.ts';

const policies = [shippedPolicy, ...optionalPolicies];
const policy = policyFor(memoryCloud().cloud.state);
const allows = (action: string, resource: string, context: Context = {}) =>
  policy.allows({ action, resource, context });

const ACCOUNT = '111122223333';
const NODE_ROLE = `arn:aws:iam::${ACCOUNT}:role/windows-nodes`;
const OTHER_ROLE = `arn:aws:iam::${ACCOUNT}:role/linux-nodes`;
const eks = (path: string) => `arn:aws:eks:us-west-2:${ACCOUNT}:${path}`;
const ec2 = (path: string, account = ACCOUNT) => `arn:aws:ec2:us-west-2:${account}:${path}`;
const group = eks('nodegroup/demo/web/0a1b');
const scalingGroup = `arn:aws:autoscaling:us-west-2:${ACCOUNT}:autoScalingGroup:0a1b:autoScalingGroupName/eks-web-0a1b`;
const OF_CLUSTER = { 'autoscaling:ResourceTag/eks:cluster-name': 'demo' };
const AUTOSCALER = 'k8s.io/cluster-autoscaler/';

const own = { 'aws:ResourceTag/winpool.dev/pool': 'web' };
const adoptable = { 'aws:ResourceTag/winpool.dev/adoptable-by': 'web' };
const poolTag = { 'aws:RequestTag/winpool.dev/pool': 'web', 'aws:TagKeys': ['winpool.dev/pool'] };
const creation = {
  'aws:RequestTag/winpool.dev/pool': 'web',
  'aws:RequestTag/winpool.dev/created-from': 'a hash',
  'aws:TagKeys': ['winpool.dev/pool', 'winpool.dev/created-from', 'cost'],
};
const template = { 'ec2:LaunchTemplate': ec2('launch-template/lt-1') };
const ofTemplate = { ...template, 'ec2:IsLaunchTemplateResource': 'true' };
const ofRequest = { ...template, 'ec2:IsLaunchTemplateResource': 'false' };
const usable = { 'aws:ResourceTag/winpool.dev/usable-by': 'demo' };
const anyTemplate = ec2('launch-template/*');
const oldTemplate = ec2('launch-template/lt-1');
const newTemplate = {
  'aws:RequestTag/winpool.dev/pool': 'web',
  'aws:RequestTag/winpool.dev/usable-by': 'demo',
  'aws:TagKeys': ['winpool.dev/pool', 'winpool.dev/usable-by'],
};
const atCreation = { ...newTemplate, 'ec2:CreateAction': 'CreateLaunchTemplate' };
const ofOperator = { ...own, ...usable };
const ofOtherCluster = { ...own, 'aws:ResourceTag/winpool.dev/usable-by': 'other' };

/** The tags of a new template. */
function requestTags({ pool = 'web', cluster = 'demo' }): Context {
  return {
    ...newTemplate,
    'aws:RequestTag/winpool.dev/pool': pool,
    'aws:RequestTag/winpool.dev/usable-by': cluster,
  };
}

describe('the shipped policies', () => {
  type Row = readonly [action: string, resource: string, context: Context];
  const allowed: readonly Row[] = [
    // Which ARN EKS authorizes for what does not exist is only known for add-ons: the path.
    ['eks:DescribeNodegroup', eks('/clusters/demo/node-groups/web'), {}],
    ['eks:DescribeNodegroup', eks('nodegroup/demo/web/none'), {}],
    ['eks:DescribeAddon', eks('/clusters/demo/addons/vpc-cni'), {}],
    ['eks:DescribeAddon', eks('addon/demo/vpc-cni/none'), {}],
    ['eks:DescribeAccessEntry', eks(`/clusters/demo/access-entries/${NODE_ROLE}`), { 'eks:principalArn': NODE_ROLE }],
    [
      'eks:DescribeAccessEntry',
      eks(`access-entry/demo/role/${ACCOUNT}/windows-nodes/none`),
      { 'eks:principalArn': NODE_ROLE },
    ],
    ['eks:CreateNodegroup', eks('cluster/demo'), creation],
    ['eks:TagResource', eks('nodegroup/demo/web/*'), creation],
    ['eks:TagResource', group, { ...own, 'aws:TagKeys': ['cost'] }],
    ['eks:TagResource', group, { ...adoptable, ...poolTag }],
    ['eks:UntagResource', group, { ...own, 'aws:TagKeys': ['cost', 'winpool.dev/pool'] }],
    ['eks:DeleteNodegroup', group, own],
    [
      'autoscaling:CreateOrUpdateTags',
      scalingGroup,
      { ...OF_CLUSTER, 'aws:TagKeys': [`${AUTOSCALER}node-template/label/a`] },
    ],
    ['autoscaling:TerminateInstanceInAutoScalingGroup', scalingGroup, OF_CLUSTER],
    [
      'eks:CreateAccessEntry',
      eks('cluster/demo'),
      { 'eks:accessEntryType': 'EC2_WINDOWS', 'eks:principalArn': NODE_ROLE },
    ],
    ['iam:PassRole', NODE_ROLE, { 'iam:PassedToService': 'eks.amazonaws.com' }],
    ['ec2:RunInstances', ec2('launch-template/lt-1'), { ...ofTemplate, ...usable }],
    ['ec2:RunInstances', ec2('instance/*'), ofTemplate],
    ['ec2:RunInstances', ec2('subnet/subnet-1'), ofRequest],
    ['ec2:RunInstances', ec2('subnet/subnet-1', '444455556666'), ofRequest],
    ['ec2:RunInstances', ec2('image/ami-1', ''), { ...ofRequest, 'ec2:Owner': 'amazon' }],
    ['ec2:RunInstances', ec2('image/ami-1', ''), { ...ofRequest, 'ec2:Owner': ACCOUNT }],
    ['ec2:CreateTags', ec2('instance/*'), { 'ec2:CreateAction': 'RunInstances' }],
    ['ec2:CreateLaunchTemplate', anyTemplate, newTemplate],
    ['ec2:CreateTags', anyTemplate, atCreation],
    ['ec2:CreateLaunchTemplateVersion', oldTemplate, ofOperator],
    ['ec2:DeleteLaunchTemplateVersions', oldTemplate, ofOperator],
    ['ec2:DeleteLaunchTemplate', oldTemplate, ofOperator],
  ];
  const denied: readonly (readonly [what: string, ...Row])[] = [
    ['a node group without the tags of a creation', 'eks:CreateNodegroup', eks('cluster/demo'), poolTag],
    ['a node group in another cluster', 'eks:CreateNodegroup', eks('cluster/other'), creation],
    ['a change of a foreign node group', 'eks:UpdateNodegroupConfig', group, {}],
    ['a change of a group that may be adopted', 'eks:DeleteNodegroup', group, adoptable],
    ['a change of a group in another cluster', 'eks:DeleteNodegroup', eks('nodegroup/other/web/0a1b'), own],
    ['the adoption of a group whose owner did not allow it', 'eks:TagResource', group, poolTag],
    [
      'another tag on a group that may be adopted',
      'eks:TagResource',
      group,
      { ...adoptable, 'aws:TagKeys': ['winpool.dev/pool', 'cost'] },
    ],
    ['no tag on a group that may be adopted', 'eks:TagResource', group, adoptable],
    ['the tag that allows adoption', 'eks:TagResource', group, { 'aws:TagKeys': ['winpool.dev/adoptable-by'] }],
    ['fewer tags on a foreign group', 'eks:UntagResource', group, { 'aws:TagKeys': ['cost'] }],
    ['tags of a cluster', 'eks:TagResource', eks('cluster/demo'), creation],
    [
      'a tag by which the autoscaler finds groups',
      'autoscaling:CreateOrUpdateTags',
      scalingGroup,
      { ...OF_CLUSTER, 'aws:TagKeys': [`${AUTOSCALER}enabled`] },
    ],
    [
      'options of the autoscaler',
      'autoscaling:CreateOrUpdateTags',
      scalingGroup,
      { ...OF_CLUSTER, 'aws:TagKeys': [`${AUTOSCALER}node-template/autoscaling-options/scaledownunneededtime`] },
    ],
    [
      'one foreign tag among others',
      'autoscaling:DeleteTags',
      scalingGroup,
      { ...OF_CLUSTER, 'aws:TagKeys': [`${AUTOSCALER}node-template/label/a`, 'Name'] },
    ],
    ['no tag of a scaling group', 'autoscaling:DeleteTags', scalingGroup, OF_CLUSTER],
    [
      'an instance of another cluster',
      'autoscaling:TerminateInstanceInAutoScalingGroup',
      scalingGroup,
      { 'autoscaling:ResourceTag/eks:cluster-name': 'other' },
    ],
    [
      'an instance of a group that EKS did not create',
      'autoscaling:TerminateInstanceInAutoScalingGroup',
      scalingGroup.replace('/eks-', '/my-'),
      OF_CLUSTER,
    ],
    [
      'another role',
      'iam:PassRole',
      `arn:aws:iam::${ACCOUNT}:role/admin`,
      { 'iam:PassedToService': 'eks.amazonaws.com' },
    ],
    ['the node role for another service', 'iam:PassRole', NODE_ROLE, { 'iam:PassedToService': 'lambda.amazonaws.com' }],
    [
      'an access entry of another type',
      'eks:CreateAccessEntry',
      eks('cluster/demo'),
      { 'eks:accessEntryType': 'EC2_LINUX', 'eks:principalArn': NODE_ROLE },
    ],
    [
      'an access entry of another role',
      'eks:CreateAccessEntry',
      eks('cluster/demo'),
      { 'eks:accessEntryType': 'EC2_WINDOWS', 'eks:principalArn': OTHER_ROLE },
    ],
    [
      'reading the access entry of another role',
      'eks:DescribeAccessEntry',
      eks(`access-entry/demo/role/${ACCOUNT}/linux-nodes/none`),
      {},
    ],
    [
      'the deletion of an access entry',
      'eks:DeleteAccessEntry',
      eks(`access-entry/demo/role/${ACCOUNT}/windows-nodes/0a1b`),
      {},
    ],
    ['reading another add-on', 'eks:DescribeAddon', eks('/clusters/demo/addons/coredns'), {}],
    ['an instance in EC2', 'ec2:TerminateInstances', ec2('instance/i-1'), {}],
    ['another size of a group', 'autoscaling:SetDesiredCapacity', scalingGroup, OF_CLUSTER],
    ['a template without the tag', 'ec2:RunInstances', ec2('launch-template/lt-1'), ofTemplate],
    [
      'a template of another cluster',
      'ec2:RunInstances',
      ec2('launch-template/lt-1'),
      { ...ofTemplate, 'aws:ResourceTag/winpool.dev/usable-by': 'other' },
    ],
    ['an instance without a template', 'ec2:RunInstances', ec2('instance/*'), {}],
    [
      'an instance of a template in another account',
      'ec2:RunInstances',
      ec2('instance/*'),
      { ...ofTemplate, 'ec2:LaunchTemplate': ec2('launch-template/lt-1', '444455556666') },
    ],
    ['another key pair than that of the template', 'ec2:RunInstances', ec2('key-pair/mine'), ofRequest],
    ['another snapshot than that of the template', 'ec2:RunInstances', ec2('snapshot/snap-1', ''), ofRequest],
    ['a subnet without a template', 'ec2:RunInstances', ec2('subnet/subnet-1'), {}],
    [
      'an image of another account',
      'ec2:RunInstances',
      ec2('image/ami-1', ''),
      { ...ofRequest, 'ec2:Owner': '444455556666' },
    ],
    ['an own image without a template', 'ec2:RunInstances', ec2('image/ami-1', ''), { 'ec2:Owner': ACCOUNT }],
    ['tags of an existing instance', 'ec2:CreateTags', ec2('instance/i-1'), {}],
    ['tags of a template', 'ec2:CreateTags', ec2('launch-template/lt-1'), { 'ec2:CreateAction': 'RunInstances' }],
    ['a template without the tag of its pool', 'ec2:CreateLaunchTemplate', anyTemplate, requestTags({ pool: '' })],
    ['a template for another cluster', 'ec2:CreateLaunchTemplate', anyTemplate, requestTags({ cluster: 'other' })],
    ['the tags of an existing template', 'ec2:CreateTags', oldTemplate, newTemplate],
    ['the tags of an own template', 'ec2:CreateTags', oldTemplate, { ...newTemplate, ...ofOperator }],
    [
      'another tag on a new template',
      'ec2:CreateTags',
      anyTemplate,
      { ...atCreation, 'aws:TagKeys': [...newTemplate['aws:TagKeys'], 'cost'] },
    ],
    ["a version of a user's template", 'ec2:CreateLaunchTemplateVersion', oldTemplate, usable],
    ["fewer versions of a user's template", 'ec2:DeleteLaunchTemplateVersions', oldTemplate, usable],
    ["the deletion of a user's template", 'ec2:DeleteLaunchTemplate', oldTemplate, usable],
    ['the deletion of a template without tags', 'ec2:DeleteLaunchTemplate', oldTemplate, {}],
    ['the deletion of a template of another cluster', 'ec2:DeleteLaunchTemplate', oldTemplate, ofOtherCluster],
    ['another default version', 'ec2:ModifyLaunchTemplate', oldTemplate, ofOperator],
  ];
  for (const [action, resource, context] of allowed)
    it(`allow ${action} on ${resource} with ${Object.keys(context).join(', ')}`, () =>
      assert.equal(allows(action, resource, context), true));
  for (const [what, action, resource, context] of denied)
    it(`deny ${action}: ${what}`, () => assert.equal(allows(action, resource, context), false));

  it('deny every change of a node group without the tag of a pool, whatever other tags it has', () => {
    const tags = fc.dictionary(
      fc.constantFrom('winpool.dev/created-from', 'winpool.dev/pools', 'team', 'eks:cluster-name'),
      fc.string(),
    );
    const action = fc.constantFrom(
      'UpdateNodegroupConfig',
      'UpdateNodegroupVersion',
      'DeleteNodegroup',
      'UntagResource',
      'TagResource',
    );
    const keys = fc.array(fc.constantFrom('winpool.dev/pool', 'winpool.dev/adoptable-by', 'team'), { minLength: 1 });
    fc.assert(
      fc.property(action, tags, keys, (name, present, asked) => {
        const resourceTags = Object.entries(present).map(([key, value]) => [`aws:ResourceTag/${key}`, value]);
        const requestTags = asked.map((key) => [`aws:RequestTag/${key}`, 'web']);
        const context = { ...Object.fromEntries([...resourceTags, ...requestTags]), 'aws:TagKeys': asked };
        assert.equal(allows(`eks:${name}`, group, context), false);
      }),
    );
  });

  it('each fit a managed policy, also with long names', () => {
    // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html: whitespace does not count.
    const words: readonly (readonly [string, string])[] = [
      ['PARTITION', 'aws-us-gov'],
      ['REGION', 'ap-southeast-2'],
      ['ACCOUNT_ID', ACCOUNT],
      ['CLUSTER_ROLE_NAME', 'r'.repeat(50)],
      ['NODE_ROLE_NAME', 'r'.repeat(50)],
      ['CLUSTER_NAME', 'c'.repeat(50)],
    ];
    for (const path of policies) {
      const text = words.reduce((all, [word, value]) => all.replaceAll(word, value), readFileSync(path, 'utf8'));
      const size = text.replace(/\s/g, '').length;
      assert.ok(size <= 6_144, `${path} has ${size} characters`);
    }
  });

  it('have only placeholders that an administrator replaces, no wildcard action, and a unique name for each statement', () => {
    const statements = policies.flatMap(
      (path) =>
        JSON.parse(readFileSync(path, 'utf8')).Statement as {
          readonly Sid: string;
          readonly Action: string | string[];
        }[],
    );
    const names = statements.map(({ Sid }) => Sid);
    assert.deepEqual(names, [...new Set(names)]);
    for (const name of names) assert.match(name, /^[A-Z][A-Za-z0-9]+$/);
    for (const action of statements.flatMap(({ Action }) => Action)) assert.match(action, /^[a-z0-9]+:[A-Za-z0-9]+$/);
    const words = new Set(
      policies.flatMap((path) => readFileSync(path, 'utf8').match(/\b[A-Z]{2,}(_[A-Z]+)*\b/g) ?? []),
    );
    assert.deepEqual([...words].sort(), [
      'ACCOUNT_ID',
      'CLUSTER_NAME',
      'CLUSTER_ROLE_NAME',
      'NODE_ROLE_NAME',
      'PARTITION',
      'REGION',
      'VPC_CNI_ROLE_NAME',
    ]);
  });
});
