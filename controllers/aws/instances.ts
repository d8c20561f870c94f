/** The port Instances on EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html */
import type { Instance as Ec2Instance } from '@aws-sdk/client-ec2';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { Instance, Instances, KnownInstance } from '../windowspool/ports/ec2.ts';
import type { Ec2Call } from './calls.ts';
import { everyPage } from './pages.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

const GROUP_TAG = 'aws:autoscaling:groupName';

/** A filter takes at most 200 values: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Filter.html */
const MOST_VALUES = 200;

/** Lists the ids of a scaling group's instances. */
export type Members = (scalingGroup: string, signal: AbortSignal) => Promise<CallResult<readonly string[]>>;

export class Ec2Instances implements Instances {
  readonly #ec2: Ec2Call;
  readonly #limiter: AwsRateLimiter;
  readonly #members: Members;

  constructor(ec2: Ec2Call, limiter: AwsRateLimiter, members: Members) {
    this.#ec2 = ec2;
    this.#limiter = limiter;
    this.#members = members;
  }

  async find(id: string, signal: AbortSignal): Promise<CallResult<KnownInstance | undefined>> {
    // A filter, because InstanceIds with an unknown id is an error.
    const filters = [{ Name: 'instance-id', Values: [id] }];
    const result = await everyPage(this.#ec2, this.#limiter, 'DescribeInstances', { Filters: filters }, signal);
    if (!result.ok) return result;
    const [found] = result.value
      .flatMap(({ Reservations = [] }) => Reservations)
      .flatMap(({ Instances = [] }) => Instances);
    return { ok: true, value: found && knownFrom(found) };
  }

  async ofScalingGroup(name: string, signal: AbortSignal): Promise<CallResult<readonly Instance[]>> {
    const members = await this.#members(name, signal);
    if (!members.ok) return members;
    const found: Instance[] = [];
    for (let from = 0; from < members.value.length; from += MOST_VALUES) {
      const filters = [
        { Name: 'instance-id', Values: members.value.slice(from, from + MOST_VALUES) },
        { Name: 'instance-state-name', Values: ['pending', 'running'] },
      ];
      const result = await everyPage(this.#ec2, this.#limiter, 'DescribeInstances', { Filters: filters }, signal);
      if (!result.ok) return result;
      const reservations = result.value.flatMap(({ Reservations = [] }) => Reservations);
      found.push(...reservations.flatMap(({ Instances: instances = [] }) => instances.map(fromEc2)));
    }
    return { ok: true, value: found };
  }
}

function fromEc2({ InstanceId = '', PrivateDnsName = '', LaunchTime }: Ec2Instance): Instance {
  return { id: InstanceId, privateDnsName: PrivateDnsName, launchedAt: LaunchTime?.getTime() ?? 0 };
}

function knownFrom({ State, PrivateDnsName = '', Tags = [] }: Ec2Instance): KnownInstance {
  const scalingGroup = Tags.find(({ Key }) => Key === GROUP_TAG)?.Value;
  return { state: State?.Name ?? '', scalingGroup, privateDnsName: PrivateDnsName };
}
