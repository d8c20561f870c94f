/** The port Instances on EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html */
import type { Instance as Ec2Instance } from '@aws-sdk/client-ec2';
import type { Answer, Instance, Instances } from '../windowspool/ports.ts';
import type { Ec2Call, Lane } from './calls.ts';
import { everyPage } from './pages.ts';

export class Ec2Instances implements Instances {
  readonly #ec2: Ec2Call;
  readonly #lane: Lane;

  constructor(ec2: Ec2Call, lane: Lane) {
    this.#ec2 = ec2;
    this.#lane = lane;
  }

  async ofScalingGroup(name: string, signal: AbortSignal): Promise<Answer<readonly Instance[]>> {
    const filters = [
      { Name: 'tag:aws:autoscaling:groupName', Values: [name] },
      { Name: 'instance-state-name', Values: ['pending', 'running'] },
    ];
    const answer = await everyPage(this.#ec2, this.#lane, 'DescribeInstances', { Filters: filters }, signal);
    if (!answer.ok) return answer;
    const found = answer.value.flatMap(({ Reservations = [] }) => Reservations);
    return { ok: true, value: found.flatMap(({ Instances: instances = [] }) => instances.map(fromEc2)) };
  }
}

function fromEc2({ InstanceId = '', PrivateDnsName = '', LaunchTime }: Ec2Instance): Instance {
  return { id: InstanceId, privateDnsName: PrivateDnsName, launchedAt: LaunchTime?.getTime() ?? 0 };
}
