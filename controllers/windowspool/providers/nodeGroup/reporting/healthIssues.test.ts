import assert from 'node:assert/strict';
import { HEALTH_CODES, type HealthIssue, LAUNCH_ERRORS } from '../../../ports/eks.ts';
import { sampleGroup } from '../../../testing/fixtures.ts';
import { assertMentions, goldenTexts } from '../../../testing/goldenTexts.ts';
import { describeIssues, remediesFor } from './healthIssues.ts';

const group = (...healthIssues: readonly HealthIssue[]) => sampleGroup(undefined, { healthIssues });
const issue = (code: string, ...resourceIds: readonly string[]) => ({ code, message: 'It failed.', resourceIds });

const golden = goldenTexts('healthIssues');

describe('the remedy for a health issue', () => {
  const rows: readonly (readonly [what: string, issue: HealthIssue, command: string])[] = [
    [
      'names cluster and node group',
      issue('AutoScalingGroupNotFound'),
      'aws eks delete-nodegroup --cluster-name prod --nodegroup-name web',
    ],
    [
      'names the Auto Scaling group',
      issue('AsgInstanceLaunchFailures'),
      'aws autoscaling describe-scaling-activities --auto-scaling-group-name eks-web-0a1b --max-items 5',
    ],
    [
      'names the role',
      issue('IamInstanceProfileNotFound'),
      'aws iam add-role-to-instance-profile --instance-profile-name NAME --role-name windows-nodes',
    ],
    [
      'names the affected resources',
      issue('NodeTerminationFailure', 'i-1', 'i-2'),
      'aws ec2 terminate-instances --instance-ids i-1 i-2',
    ],
    [
      'has a placeholder for what EKS does not report',
      issue('Ec2SubnetInvalidConfiguration'),
      'aws ec2 modify-subnet-attribute --subnet-id SUBNET --map-public-ip-on-launch',
    ],
  ];
  for (const [what, found, command] of rows)
    it(what, () => assert.ok(remediesFor(group(found)).includes(`(${command})`), remediesFor(group(found))));

  for (const code of HEALTH_CODES)
    golden(
      it(`of ${code} is one or more sentences`, () =>
        assert.match(remediesFor(group(issue(code))), /^ [A-Z][^\n]{10,350}\.$/)),
      () => [remediesFor(group(issue(code, 'ID'))).trim()],
    );

  const withoutCode: readonly (readonly [text: string, words: string])[] = [
    [
      "You've reached your quota for maximum Fleet Requests for this account. Launching EC2 instance failed.",
      'fleet requests',
    ],
    ['Max spot instance count exceeded. Launching EC2 instance failed.', 'quota of Spot Instances'],
    [
      'You have requested more vCPU capacity than your current vCPU limit of 16 allows for the instance bucket that the specified instance type belongs to.',
      'quota of vCPUs',
    ],
    [
      'We currently do not have sufficient m5.xlarge capacity in the Availability Zone you requested (eu-west-1a).',
      'no capacity for the instance type',
    ],
  ];
  for (const [message, words] of withoutCode)
    it(`is that of EC2 if EKS leaves out the code: ${message}`, () =>
      assertMentions(remediesFor(group({ ...issue('AsgInstanceLaunchFailures'), message })), words));

  for (const code of LAUNCH_ERRORS)
    golden(
      it(`of ${code}, which EKS quotes, is that of EC2`, () => {
        const quoted = { ...issue('AsgInstanceLaunchFailures'), message: `Could not launch. ${code} - EC2 says more.` };
        const remedy = remediesFor(group(quoted));
        assert.match(remedy, /^ [A-Z][^\n]{10,350}\.$/);
        assert.doesNotMatch(remedy, /describe-scaling-activities/);
      }),
      () => [remediesFor(group({ ...issue('AsgInstanceLaunchFailures'), message: `${code} - EC2 says more.` })).trim()],
    );

  it('is not repeated', () => {
    assert.equal(
      remediesFor(group(issue('InternalFailure'), issue('InternalFailure'))).match(/EKS retries/g)?.length,
      1,
    );
  });

  it('is at the end of a message of limited length, whatever EKS reports', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `i-${index}${'x'.repeat(2_000)}`);
    const issues = HEALTH_CODES.map((code) => ({ code, message: 'm'.repeat(1_024), resourceIds: ids }));
    const seen = group(...issues, ...issues);
    const text = `${describeIssues(seen)}${remediesFor(seen)}`;
    assert.ok(text.length < 16_384, `${text.length} characters`);
    assertMentions(text, '995 more', '67 more');
  });

  it('of an unknown code refers to the message of EKS', () => {
    const seen = group(issue('NewCode', 'i-1'));
    assert.equal(
      `${describeIssues(seen)}${remediesFor(seen)}`,
      'NewCode: It failed. (i-1). Fix the cause that EKS names.',
    );
  });
});
