/** The port Instances on EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html */
import type { Instance as Ec2Instance } from '@aws-sdk/client-ec2';
import type { Answer } from '../windowspool/ports/answer.ts';
import type { Instance, Instances, KnownInstance } from '../windowspool/ports/ec2.ts';
import type { Ec2Call } from './calls.ts';
import { everyPage } from './pages.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

const GROUP_TAG = 'aws:autoscaling:groupName';

export class Ec2Instances implements Instances {
  readonly #ec2: Ec2Call;
  readonly #limiter: AwsRateLimiter;

  constructor(ec2: Ec2Call, limiter: AwsRateLimiter) {
    this.#ec2 = ec2;
    this.#limiter = limiter;
  }

  async find(id: string, signal: AbortSignal): Promise<Answer<KnownInstance | undefined>> {
    // As a filter: asked for by InstanceIds, one that EC2 has forgotten would be an error.
    const filters = [{ Name: 'instance-id', Values: [id] }];
    const answer = await everyPage(this.#ec2, this.#limiter, 'DescribeInstances', { Filters: filters }, signal);
    if (!answer.ok) return answer;
    const [found] = answer.value
      .flatMap(({ Reservations = [] }) => Reservations)
      .flatMap(({ Instances = [] }) => Instances);
    return { ok: true, value: found && knownFrom(found) };
  }

  async ofScalingGroup(name: string, signal: AbortSignal): Promise<Answer<readonly Instance[]>> {
    const filters = [
      { Name: `tag:${GROUP_TAG}`, Values: [name] },
      { Name: 'instance-state-name', Values: ['pending', 'running'] },
    ];
    const answer = await everyPage(this.#ec2, this.#limiter, 'DescribeInstances', { Filters: filters }, signal);
    if (!answer.ok) return answer;
    const found = answer.value.flatMap(({ Reservations = [] }) => Reservations);
    return { ok: true, value: found.flatMap(({ Instances: instances = [] }) => instances.map(fromEc2)) };
  }
}

function fromEc2({ InstanceId = '', PrivateDnsName = '', LaunchTime }: Ec2Instance): Instance {
  return { id: InstanceId, privateDnsName: PrivateDnsName, launchedAt: LaunchTime?.getTime() ?? 0 };
}

function knownFrom({ State, PrivateDnsName = '', Tags = [] }: Ec2Instance): KnownInstance {
  const scalingGroup = Tags.find(({ Key }) => Key === GROUP_TAG)?.Value;
  return { state: State?.Name ?? '', scalingGroup, privateDnsName: PrivateDnsName };
}
