import assert from 'node:assert/strict';
import { assertNames } from '../../../messages.ts';
import { type LocalAws, startLocalAws } from '../localAws.ts';
import { sampleCluster, sampleGroup } from '../testing/fixtures.ts';
import { withOpenCloud } from '../testing/testCloud.ts';
import * as eksWire from './eksWire.ts';
import { type SdkClients, sdkClients } from './sdkClients.ts';

const rejection = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'accepted', String);

describe('the HTTP front', () => {
  let cloud: LocalAws;
  let sdk: SdkClients;

  before(async () => {
    cloud = await startLocalAws({ cluster: sampleCluster, speed: 1000 });
    sdk = sdkClients(cloud.url, sampleCluster.region);
    cloud.faults.consoleCreate({ ...sampleGroup({ scalingConfig: { minSize: 0, desiredSize: 12, maxSize: 12 } }) });
    const deadline = Date.now() + 30_000;
    while (cloud.state.groups.get('web')?.nodegroup.status !== 'ACTIVE') {
      await sdk.eks.describeCluster({ name: 'demo' });
      assert.ok(Date.now() < deadline, 'the group is not ACTIVE after 30 s');
    }
  });

  after(async () => {
    sdk.destroy();
    await cloud.stop();
  });

  const raw = async (path: string, init: RequestInit = {}, signed = true) => {
    const headers = signed ? { authorization: 'AWS4-HMAC-SHA256 Credential=test' } : {};
    const response = await fetch(cloud.url + path, { ...init, headers, signal: AbortSignal.timeout(20_000) });
    return {
      status: response.status,
      type: response.headers.get('x-amzn-errortype'),
      id: response.headers.get('x-amzn-requestid'),
      body: await response.text(),
    };
  };
  const admin = async (path: string, body?: string) => {
    const init = body === undefined ? {} : { method: 'POST', body };
    const response = await fetch(`${cloud.url}/_admin/${path}`, { ...init, signal: AbortSignal.timeout(20_000) });
    return { status: response.status, value: (await response.json()) as { message?: string } };
  };

  it('splits a path before it decodes the segments', () => {
    assert.deepEqual(eksWire.route('POST', '/tags/arn%3Aaws%3Aeks%3Ar%3A1%3Anodegroup%2Fc%2Fn%2Fu'), {
      operation: 'TagResource',
      labels: { resourceArn: 'arn:aws:eks:r:1:nodegroup/c/n/u' },
    });
    assert.deepEqual(eksWire.route('POST', '/clusters/a%2Fb/node-groups/c%25d/update-config').labels, {
      clusterName: 'a/b',
      nodegroupName: 'c%d',
    });
  });

  it('writes timestamps as seconds, the error name as a header, and a request id', async () => {
    const found = await raw('/clusters/demo');
    const { cluster } = JSON.parse(found.body) as { cluster: { createdAt: number } };
    assert.equal(cluster.createdAt, cloud.state.cluster.createdAt.getTime() / 1000);
    assert.ok(found.id);
    const missing = await raw('/clusters/demo/node-groups/none');
    assert.deepEqual(
      [missing.status, missing.type, JSON.parse(missing.body)],
      [
        404,
        'ResourceNotFoundException',
        { message: 'No node group found for name: none.', clusterName: 'demo', nodegroupName: 'none' },
      ],
    );
  });

  it('rejects unsigned calls', async () => {
    const eks = await raw('/clusters/demo', {}, false);
    assert.deepEqual([eks.status, eks.type], [403, 'MissingAuthenticationToken']);
    const ec2 = await raw('/', { method: 'POST', body: 'Action=DescribeSubnets&Version=2016-11-15' }, false);
    assert.equal(ec2.status, 403);
    assert.match(ec2.body, /<Code>MissingAuthenticationToken<\/Code>/);
  });

  const refusals: readonly (readonly [what: string, path: string, init: RequestInit, status: number, text: RegExp])[] =
    [
      [
        'an EKS member that the model lacks',
        '/clusters/demo/node-groups',
        { method: 'POST', body: '{"nodegroupName":"x","subnets":[],"nodeRole":"r","size":1}' },
        400,
        /no member size in the service model of client-eks/,
      ],
      ['an EKS path that the model lacks', '/clusters/demo/nothing', {}, 404, /no operation for GET/],
      [
        'an EKS operation that is not served',
        '/clusters/demo/fargate-profiles',
        {},
        501,
        /does not serve eks ListFargateProfiles yet/,
      ],
      [
        'an EKS body that is not JSON',
        '/clusters/demo/node-groups',
        { method: 'POST', body: '<x>' },
        400,
        /not a JSON object/,
      ],
      [
        'a size that is not a number',
        '/clusters/demo/node-groups?maxResults=x',
        {},
        400,
        /maxResults is 'x'; a number is expected/,
      ],
      [
        'an EC2 member that the model lacks',
        '/',
        { method: 'POST', body: 'Action=DescribeSubnets&Version=2016-11-15&Foo.1=a' },
        400,
        /no member Foo.1 in the service model of client-ec2/,
      ],
      [
        'an EC2 action that the model lacks',
        '/',
        { method: 'POST', body: 'Action=Nothing&Version=2016-11-15' },
        400,
        /<Code>InvalidAction/,
      ],
      [
        'an EC2 action that is not served',
        '/',
        { method: 'POST', body: 'Action=RunInstances&Version=2016-11-15' },
        501,
        /does not serve ec2 RunInstances/,
      ],
      ['an EC2 call without action', '/', { method: 'POST', body: '' }, 400, /<Code>MissingAction/],
    ];
  for (const [what, path, init, status, text] of refusals) {
    it(`rejects ${what}`, async () => {
      const answer = await raw(path, init);
      assert.equal(answer.status, status);
      assert.match(answer.body, text);
    });
  }

  it('returns pages of instances, and rejects a page size together with IDs', async () => {
    const ids: (string | undefined)[] = [];
    const sizes: number[] = [];
    let NextToken: string | undefined;
    do {
      const page = await sdk.ec2.describeInstances({
        MaxResults: 5,
        ...(NextToken === undefined ? {} : { NextToken }),
      });
      sizes.push(page.Reservations?.length ?? 0);
      ids.push(...(page.Reservations ?? []).flatMap(({ Instances }) => Instances?.map(({ InstanceId }) => InstanceId)));
      NextToken = page.NextToken;
    } while (NextToken !== undefined);
    assert.deepEqual(sizes, [5, 5, 2]);
    assert.equal(new Set(ids).size, 12);
    assert.match(
      await rejection(sdk.ec2.describeInstances({ MaxResults: 5, InstanceIds: [ids[0] ?? ''] })),
      /^InvalidParameterCombination/,
    );
    assert.match(
      await rejection(sdk.ec2.describeInstances({ MaxResults: 4 })),
      /^InvalidParameterValue: .*between 5 and 1000/,
    );
    assert.match(await rejection(sdk.ec2.describeInstances({ NextToken: 'x' })), /^InvalidNextToken/);
  });

  it('filters instances as EC2 does', async () => {
    const rows: readonly (readonly [name: string, values: string[], count: number])[] = [
      ['tag:aws:autoscaling:groupName', ['eks-web-*'], 12],
      ['tag:eks:nodegroup-name', ['other'], 0],
      ['tag-key', ['eks:*'], 12],
      ['instance-id', ['i-*', 'x'], 12],
      ['instance-state-name', ['pending'], 0],
    ];
    for (const [Name, Values, count] of rows) {
      const { Reservations } = await sdk.ec2.describeInstances({ Filters: [{ Name, Values }] });
      assert.equal(Reservations?.length, count, Name);
    }
    assert.match(
      await rejection(sdk.ec2.describeInstances({ Filters: [{ Name: 'colour', Values: ['x'] }] })),
      /^InvalidParameterValue: The filter 'colour' is invalid/,
    );
  });

  it('does not find unknown instances, types and subnets', async () => {
    assert.equal(
      await rejection(sdk.ec2.describeInstances({ InstanceIds: ['i-1'] })),
      "InvalidInstanceID.NotFound: The instance ID 'i-1' does not exist",
    );
    assert.equal(
      await rejection(sdk.ec2.describeSubnets({ SubnetIds: ['subnet-1'] })),
      "InvalidSubnetID.NotFound: The subnet ID 'subnet-1' does not exist",
    );
    assert.match(
      await rejection(sdk.ec2.describeInstanceTypes({ InstanceTypes: ['m5.24xlarge'] })),
      /^InvalidInstanceType: .*\[m5.24xlarge\]/,
    );
    const { InstanceTypes } = await sdk.ec2.describeInstanceTypes({ InstanceTypes: ['m5.xlarge'] });
    assert.equal(InstanceTypes?.[0]?.NetworkInfo?.Ipv4AddressesPerInterface, 15);
    assertNames(await rejection(sdk.ec2.describeSubnets({ DryRun: true })), 'DryRunOperation');
  });

  it('accepts faults by name in the admin path, and describes errors in invalid ones', async () => {
    assert.equal((await admin('throttle', '{"operation":"DescribeCluster"}')).status, 200);
    assert.match(await rejection(sdk.eks.describeCluster({ name: 'demo' })), /^ThrottlingException/);
    const rows: readonly (readonly [path: string, body: string, message: RegExp])[] = [
      ['thrittle', '{}', /no fault thrittle; there are throttle, /],
      ['throttle', '{"times":2}', /throttle has no field times; .*retryAfterSeconds/],
      ['throttle', '{"count":"2"}', /throttle.count is a string; it must be a number/],
      ['throttle', '{"count":0}', /count is 0; give a whole number from 1/],
      ['healthIssue', '{"issues":[]}', /healthIssue needs the field group/],
      ['edit', '{"group":"none"}', /No node group found for name: none/],
      ['restartNode', '{"node":"none"}', /there is no node none; the nodes are ip-10-0-1-10/],
      ['speed', '{"speed":0}', /give a number above 0/],
      ['throttle', '{', /JSON/],
    ];
    for (const [path, body, message] of rows) {
      const { status, value } = await admin(path, body);
      assert.equal(status, 400, path);
      assert.match(value.message ?? '', message);
    }
  });

  it('lists calls and state in the admin path, and resets the calls on request', async () => {
    assert.equal((await admin('reset-calls', '')).status, 200);
    await sdk.eks.describeCluster({ name: 'demo' });
    const { value } = await admin('calls');
    assert.deepEqual(
      (value as { n: number }[]).map(({ n }) => n),
      [1],
    );
    assert.equal(((await admin('state')).value as { nodegroups: unknown[] }).nodegroups.length, 1);
  });
});

describe('the lists of EKS', () => {
  const fixture = withOpenCloud();

  before(async () => {
    for (const nodegroupName of ['c', 'a', 'b']) await fixture.sdk.eks.createNodegroup(sampleGroup({ nodegroupName }));
  });

  it('are returned page by page', async () => {
    const first = await fixture.sdk.eks.listNodegroups({ clusterName: 'demo', maxResults: 2 });
    assert.deepEqual(first.nodegroups, ['a', 'b']);
    const second = await fixture.sdk.eks.listNodegroups({
      clusterName: 'demo',
      maxResults: 2,
      nextToken: first.nextToken,
    });
    assert.deepEqual([second.nodegroups, second.nextToken], [['c'], undefined]);
  });

  it('reject invalid page sizes and tokens', async () => {
    const list = (request: object) => rejection(fixture.sdk.eks.listNodegroups({ clusterName: 'demo', ...request }));
    assertNames(await list({ maxResults: 0 }), 'InvalidParameterException', 'maxResults is 0', '1 to 100');
    assertNames(await list({ maxResults: 101 }), 'InvalidParameterException', 'maxResults is 101', '1 to 100');
    assert.equal(await list({ nextToken: 'x' }), 'InvalidParameterException: Invalid nextToken: x');
  });

  it('follow the tags of a group as they change', async () => {
    const { nodegroup } = await fixture.sdk.eks.describeNodegroup({ clusterName: 'demo', nodegroupName: 'a' });
    const resourceArn = nodegroup?.nodegroupArn ?? '';
    await fixture.sdk.eks.tagResource({ resourceArn, tags: { team: 'a/b c' } });
    await fixture.sdk.eks.untagResource({
      resourceArn,
      tagKeys: ['winpool.dev/pool', 'winpool.dev/created-from', 'never there'],
    });
    assert.deepEqual(fixture.cloud.state.group('a').nodegroup.tags, { team: 'a/b c' });
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 'v']));
    const refused = await rejection(fixture.sdk.eks.tagResource({ resourceArn, tags: many }));
    assertNames(refused, 'BadRequestException', '50 tags', '51');
    fixture.cloud.faults.edit({ group: 'a', tags: { 'aws:cloudformation:stack-name': 'stack' } });
    const reserved = fixture.sdk.eks.tagResource({ resourceArn, tags: { 'aws:cloudformation:stack-name': 'other' } });
    assertNames(await rejection(reserved), 'BadRequestException', 'aws:cloudformation:stack-name');
    await fixture.sdk.eks.tagResource({ resourceArn, tags: many });
    const other = `${resourceArn}0`;
    assert.equal(
      await rejection(fixture.sdk.eks.tagResource({ resourceArn: other, tags: { a: 'b' } })),
      `NotFoundException: No resource found for ARN: ${other}`,
    );
  });
});
