import assert from 'node:assert/strict';
import { nodeRoleArn } from '../network.ts';
import { sampleCluster, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { Policy } from './iam.ts';

const group = { clusterName: sampleCluster.name, nodegroupName: 'web' };
const user = 'arn:aws:sts::111122223333:assumed-role/windowspool-operator/windowspool-operator';
const denied = (action: string, resource: string) =>
  `AccessDeniedException: User: ${user} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
const rejection = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'accepted', String);

describe('the shipped IAM policy', () => {
  const cluster = 'arn:aws:eks:us-west-2:111122223333:cluster/demo';
  const role = 'arn:aws:iam::111122223333:role/windows-nodes';
  const creation: readonly (readonly [action: string, error: string])[] = [
    ['eks:CreateNodegroup', denied('eks:CreateNodegroup', cluster)],
    ['eks:TagResource', denied('eks:TagResource', 'arn:aws:eks:us-west-2:111122223333:nodegroup/demo/web/*')],
    ['iam:PassRole', denied('iam:PassRole', role)],
    [
      'iam:GetRole',
      "InvalidRequestException: Failed to validate if SLR: AWSServiceRoleForAmazonEKSNodegroup already exists due to missing permissions for 'iam:GetRole'",
    ],
    ['iam:ListAttachedRolePolicies', denied('iam:ListAttachedRolePolicies', 'role windows-nodes')],
    [
      'ec2:DescribeSubnets',
      `AccessDeniedException: You are not authorized to perform ec2:DescribeSubnets. User: ${user} is not authorized to perform: ec2:DescribeSubnets because no identity-based policy allows the ec2:DescribeSubnets action`,
    ],
  ];
  for (const [action, error] of creation) {
    it(`is not sufficient to create a group without ${action}, and is again when that is restored`, async () => {
      const { cloud } = memoryCloud();
      cloud.faults.removeAction({ action });
      assert.equal(await rejection(cloud.send('CreateNodegroup', sampleGroup())), error);
      cloud.faults.restoreAction();
      assert.equal(await rejection(cloud.send('CreateNodegroup', sampleGroup())), 'accepted');
    });
  }

  it('needs iam:CreateServiceLinkedRole only if the account has no such role yet', async () => {
    for (const [nodegroupServiceRole, outcome] of [
      ['exists', /^accepted$/],
      ['missing', /^InvalidRequestException: .* missing permissions for 'iam:CreateServiceLinkedRole'$/],
    ] as const) {
      const { cloud } = memoryCloud({ switches: { nodegroupServiceRole } });
      cloud.faults.removeAction({ action: 'iam:CreateServiceLinkedRole' });
      assert.match(await rejection(cloud.send('CreateNodegroup', sampleGroup())), outcome);
    }
    const { cloud } = memoryCloud({ switches: { nodegroupServiceRole: 'missing' } });
    assert.equal(await rejection(cloud.send('CreateNodegroup', sampleGroup())), 'accepted');
  });

  it('allows reading a group without the tag of a pool, but not changing, deleting or untagging it', async () => {
    const { cloud, clock } = memoryCloud();
    cloud.faults.consoleCreate({ ...sampleGroup(), tags: {} });
    clock.advance(3);
    const arn = (await cloud.send('DescribeNodegroup', group)).nodegroup?.nodegroupArn ?? '';
    const changes: readonly [string, Promise<unknown>][] = [
      ['eks:DeleteNodegroup', cloud.send('DeleteNodegroup', group)],
      ['eks:UpdateNodegroupConfig', cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 9 } })],
      ['eks:UntagResource', cloud.send('UntagResource', { resourceArn: arn, tagKeys: ['a'] })],
      ['eks:TagResource', cloud.send('TagResource', { resourceArn: arn, tags: { a: 'b' } })],
    ];
    for (const [action, promise] of changes) assert.equal(await rejection(promise), denied(action, arn));
  });

  for (const accessEntryPassRole of ['none', 'eks.amazonaws.com', 'ec2.amazonaws.com'] as const) {
    it(`allows creating that access entry also if the role must be passed: ${accessEntryPassRole}`, async () => {
      const { cloud } = memoryCloud({ switches: { accessEntryPassRole } });
      cloud.faults.accessEntry({ exists: false });
      const request = { clusterName: sampleCluster.name, principalArn: nodeRoleArn, type: 'EC2_WINDOWS' };
      cloud.faults.removeAction({ action: 'iam:PassRole' });
      const outcome = accessEntryPassRole === 'none' ? 'accepted' : denied('iam:PassRole', nodeRoleArn);
      assert.equal(await rejection(cloud.send('CreateAccessEntry', request)), outcome);
      cloud.faults.accessEntry({ exists: false });
      cloud.faults.restoreAction();
      assert.equal(await rejection(cloud.send('CreateAccessEntry', request)), 'accepted');
    });
  }

  it('results in the error messages of EC2 and Auto Scaling', async () => {
    const { cloud } = memoryCloud();
    cloud.faults.removeAction({ action: 'ec2:DescribeInstances' });
    assert.match(
      await rejection(cloud.send('DescribeInstances', {})),
      /^UnauthorizedOperation: .* is not authorized to perform: ec2:DescribeInstances /,
    );
    assert.match(
      await rejection(cloud.send('SetDesiredCapacity', { AutoScalingGroupName: 'none', DesiredCapacity: 1 })),
      /^AccessDenied: .*autoscaling:SetDesiredCapacity on resource: arn:aws:autoscaling:.*autoScalingGroupName\/none/,
    );
  });
});

describe('the policy evaluator', () => {
  it('reports redundant actions: those that no call needed, or that another statement also allowed', () => {
    const allow = { Effect: 'Allow', Resource: '*' };
    const policy = new Policy({
      Statement: [
        { ...allow, Sid: 'Read', Action: ['eks:DescribeNodegroup', 'eks:ListUpdates'] },
        { ...allow, Sid: 'Tag', Action: 'eks:TagResource', Condition: { StringLike: { 'aws:RequestTag/pool': '?*' } } },
        { ...allow, Sid: 'Change', Action: 'eks:TagResource', Resource: 'ours' },
      ],
    });
    const ask = (action: string, resource: string, context = {}) =>
      policy.check([{ action, resource, context }], 'arn:caller');
    const tag = { 'aws:RequestTag/pool': 'web' };
    assert.equal(policy.unneeded().length, 4);
    ask('eks:DescribeNodegroup', 'x');
    ask('eks:TagResource', 'ours', tag);
    assert.deepEqual(policy.unneeded(), ['Read: eks:ListUpdates', 'Tag: eks:TagResource', 'Change: eks:TagResource']);
    ask('eks:TagResource', 'theirs', tag);
    ask('eks:TagResource', 'ours');
    assert.deepEqual(policy.unneeded(), ['Read: eks:ListUpdates']);
  });

  it('reports denials of actions that were not removed', () => {
    const policy = new Policy({ Statement: [{ Effect: 'Allow', Action: 'eks:DescribeNodegroup', Resource: '*' }] });
    const ask = (action: string) => () => policy.check([{ action, resource: 'x' }], 'arn:caller');
    policy.remove('eks:DescribeNodegroup');
    assert.throws(ask('eks:DescribeNodegroup'), /not authorized/);
    assert.throws(ask('eks:DeleteNodegroup'), /not authorized/);
    assert.throws(ask('eks:DeleteNodegroup'), /not authorized/);
    assert.deepEqual(policy.refusals(), ['eks:DeleteNodegroup on x']);
  });

  it('applies a statement with NotResource to all other resources', () => {
    const policy = new Policy({
      Statement: [{ Effect: 'Allow', Action: 'ec2:RunInstances', NotResource: ['image/*', 'x'] }],
    });
    const allowed = ['subnet/1', 'image/1', 'x', 'y'].filter((resource) =>
      policy.allows({ action: 'ec2:RunInstances', resource }),
    );
    assert.deepEqual(allowed, ['subnet/1', 'y']);
  });

  it('leaves out a statement that was removed, and counts neither its denials nor what others allow instead', () => {
    const allow = { Effect: 'Allow', Action: 'eks:TagResource' };
    const policy = new Policy({
      Statement: [
        { ...allow, Sid: 'Own', Resource: '*' },
        { ...allow, Sid: 'Adopt', Resource: 'theirs' },
      ],
    });
    const ask = (resource: string) => () => policy.check([{ action: 'eks:TagResource', resource }], 'arn:caller');
    policy.remove('Own');
    assert.throws(ask('ours'), /not authorized/);
    ask('theirs')();
    assert.deepEqual([policy.unneeded(), policy.refusals()], [['Adopt: eks:TagResource'], []]);
    policy.restore();
    ask('ours')();
  });

  it('rejects a policy with unsupported elements', () => {
    const statement = { Effect: 'Allow', Action: 'eks:*', Resource: '*' };
    for (const [change, error] of [
      [{ NotAction: 'x' }, /has NotAction/],
      [{ Condition: { IpAddress: {} } }, /has IpAddress/],
      [{ Effect: 'Deny' }, /has Deny/],
    ] as const)
      assert.throws(() => new Policy({ Statement: [{ ...statement, ...change }] }), error);
    assert.throws(() => new Policy({}), /needs a list of Statement/);
  });
});
