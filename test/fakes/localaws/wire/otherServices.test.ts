import assert from 'node:assert/strict';
import { withOpenCloud } from '../testing/testCloud.ts';

const parameter = '/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.36/image_id';

describe('Auto Scaling and SSM on the wire', () => {
  const fixture = withOpenCloud();

  const raw = async (body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(fixture.cloud.url, {
      method: 'POST',
      body,
      headers: { authorization: 'AWS4-HMAC-SHA256 Credential=test', ...headers },
      signal: AbortSignal.timeout(20_000),
    });
    return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
  };
  const form = (action: string, rest = '') => `Action=${action}&Version=2011-01-01${rest}`;
  const target = (operation: string) => ({ 'x-amz-target': `AmazonSSM.${operation}` });
  const refused: readonly (readonly [string, () => ReturnType<typeof raw>, number, RegExp])[] = [
    ['an unknown action', () => raw(form('Nothing')), 400, /<Code>InvalidAction<\/Code>/],
    ['an action that is not served', () => raw(form('DescribePolicies')), 501, /does not serve autoscaling/],
    [
      'a member that the model lacks',
      () => raw(form('DescribeAutoScalingGroups', '&Foo=1')),
      400,
      /no member Foo .*client-auto-/,
    ],
    ['an invalid number', () => raw(form('DescribeAutoScalingGroups', '&MaxRecords=x')), 400, /Invalid value 'x'/],
    [
      'a missing member',
      () => raw(form('SetDesiredCapacity', '&DesiredCapacity=1')),
      400,
      /<Type>Sender<\/Type><Code>ValidationError<\/Code><Message>Value null at 'AutoScalingGroupName'/,
    ],
    ['an unknown operation', () => raw('{}', target('Nothing')), 404, /UnknownOperationException/],
    ['an operation that is not served', () => raw('{}', target('PutParameter')), 501, /does not serve ssm/],
    ['an invalid body', () => raw('<x>', target('GetParameter')), 400, /not a JSON object/],
    ['a missing name', () => raw('{}', target('GetParameter')), 400, /"__type":"ValidationException".*'Name'/],
  ];
  for (const [what, call, status, words] of refused) {
    it(`reject ${what}`, async () => {
      const answer = await call();
      assert.equal(answer.status, status);
      assert.match(answer.body, words);
    });
  }

  it('write lists as members, below the result of the operation', async () => {
    const { body, type } = await raw(form('DescribeAutoScalingGroups', '&AutoScalingGroupNames='));
    assert.equal(type, 'text/xml;charset=UTF-8');
    assert.match(
      body,
      /^<\?xml[^>]*>\n<DescribeAutoScalingGroupsResponse xmlns="http:\/\/autoscaling.amazonaws.com\/doc\/2011-01-01\/"><DescribeAutoScalingGroupsResult><AutoScalingGroups><\/AutoScalingGroups><\/DescribeAutoScalingGroupsResult><ResponseMetadata><RequestId>[0-9a-f-]{36}<\/RequestId><\/ResponseMetadata>/,
    );
  });

  it('return times as seconds in the JSON of SSM', async () => {
    const { body, type } = await raw(JSON.stringify({ Name: parameter }), target('GetParameter'));
    assert.equal(type, 'application/x-amz-json-1.1');
    const { Parameter } = JSON.parse(body) as { Parameter: { LastModifiedDate: number } };
    assert.equal(Parameter.LastModifiedDate, Date.UTC(2026, 3, 18) / 1000);
  });
});
