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

  it('denies the creation of a group without the tag of a pool', async () => {
    const { cloud } = memoryCloud();
    assert.equal(
      await rejection(cloud.send('CreateNodegroup', sampleGroup({ tags: {} }))),
      denied('eks:CreateNodegroup', cluster),
    );
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

  it('allows reading the add-on of the VPC CNI and the access entry of the node role, and no others', async () => {
    const { cloud } = memoryCloud();
    const { name: clusterName } = sampleCluster;
    const arn = 'arn:aws:eks:us-west-2:111122223333';
    assert.match(
      await rejection(cloud.send('DescribeAddon', { clusterName, addonName: 'vpc-cni' })),
      /^ResourceNotFoundException/,
    );
    assert.equal(
      await rejection(cloud.send('DescribeAddon', { clusterName, addonName: 'coredns' })),
      denied('eks:DescribeAddon', `${arn}:/clusters/demo/addons/coredns`),
    );
    assert.equal(
      await rejection(cloud.send('DescribeAccessEntry', { clusterName, principalArn: nodeRoleArn })),
      'accepted',
    );
    const principalArn = 'arn:aws:iam::111122223333:role/linux-nodes';
    assert.equal(
      await rejection(cloud.send('DescribeAccessEntry', { clusterName, principalArn })),
      denied('eks:DescribeAccessEntry', `${arn}:access-entry/demo/role/111122223333/linux-nodes/none`),
    );
  });

  it('allows creating an access entry of type EC2_WINDOWS for the node role, and nothing else', async () => {
    const { cloud } = memoryCloud();
    cloud.faults.accessEntry({ exists: false });
    const linuxRole = 'arn:aws:iam::111122223333:role/linux-nodes';
    const rows: readonly (readonly [principalArn: string, type: string, outcome: string])[] = [
      [nodeRoleArn, 'EC2_LINUX', denied('eks:CreateAccessEntry', cluster)],
      [nodeRoleArn, 'STANDARD', denied('eks:CreateAccessEntry', cluster)],
      [linuxRole, 'EC2_WINDOWS', denied('eks:CreateAccessEntry', cluster)],
      [nodeRoleArn, 'EC2_WINDOWS', 'accepted'],
    ];
    for (const [principalArn, type, outcome] of rows) {
      const request = { clusterName: sampleCluster.name, principalArn, type };
      assert.equal(await rejection(cloud.send('CreateAccessEntry', request)), outcome, `${type} ${principalArn}`);
    }
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

  it('requires the permission to tag if an access entry is created with tags', async () => {
    const { cloud } = memoryCloud();
    cloud.faults.accessEntry({ exists: false });
    const request = { clusterName: 'demo', principalArn: nodeRoleArn, type: 'EC2_WINDOWS', tags: { a: 'b' } };
    assert.equal(
      await rejection(cloud.send('CreateAccessEntry', request)),
      denied(
        'eks:TagResource',
        'arn:aws:eks:us-west-2:111122223333:access-entry/demo/role/111122223333/windows-nodes/*',
      ),
    );
  });

  it('results in the error messages of EC2', async () => {
    const { cloud } = memoryCloud();
    cloud.faults.removeAction({ action: 'ec2:DescribeInstances' });
    assert.match(
      await rejection(cloud.send('DescribeInstances', {})),
      /^UnauthorizedOperation: .* is not authorized to perform: ec2:DescribeInstances /,
    );
  });
});

describe('the policy evaluator', () => {
  it('prefers a Deny to an Allow', () => {
    const statement = { Action: 'eks:*', Resource: '*' };
    const policy = new Policy({
      Statement: [
        { ...statement, Effect: 'Allow' },
        { Effect: 'Deny', Action: 'eks:Delete*', Resource: '*' },
      ],
    });
    assert.equal(policy.allows({ action: 'eks:DescribeCluster', resource: 'x' }), true);
    assert.equal(policy.allows({ action: 'eks:DeleteNodegroup', resource: 'x' }), false);
    assert.equal(policy.allows({ action: 'iam:PassRole', resource: 'x' }), false);
  });

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
    assert.throws(() => new Policy({ Statement: [{ ...statement, NotAction: 'x' }] }), /has NotAction/);
    assert.throws(
      () => new Policy({ Statement: [{ ...statement, Condition: { IpAddress: {} } }] }),
      /condition IpAddress/,
    );
    assert.throws(() => new Policy({}), /needs a list of Statement/);
  });
});
