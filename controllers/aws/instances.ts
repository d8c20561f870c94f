/** The port Instances on EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html */
import type { Instance as Ec2Instance } from '@aws-sdk/client-ec2';
import type { Answer, Instance, Instances } from '../windowspool/ports.ts';
import type { Lane } from './calls.ts';
import type { DescribeInstances } from './clients.ts';

/** EC2 gives at most 1,000 instances a page; a node group has at most some hundred. */
const MOST_PAGES = 20;

export class Ec2Instances implements Instances {
  readonly #describe: DescribeInstances;
  readonly #lane: Lane;

  constructor(describe: DescribeInstances, lane: Lane) {
    this.#describe = describe;
    this.#lane = lane;
  }

  async ofScalingGroup(name: string, signal: AbortSignal): Promise<Answer<readonly Instance[]>> {
    const filters = [
      { Name: 'tag:aws:autoscaling:groupName', Values: [name] },
      { Name: 'instance-state-name', Values: ['pending', 'running'] },
    ];
    const found: Instance[] = [];
    let token: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const input = { Filters: filters, MaxResults: 1_000, ...(token && { NextToken: token }) };
      const answer = await this.#lane.run(
        'ec2',
        'DescribeInstances',
        (bounded) => this.#describe(input, bounded),
        signal,
      );
      if (!answer.ok) return answer;
      for (const { Instances: instances = [] } of answer.value.Reservations ?? [])
        found.push(...instances.map(fromEc2));
      token = answer.value.NextToken;
      if (!token) break;
    }
    return { ok: true, value: found };
  }
}

function fromEc2({ InstanceId = '', PrivateDnsName = '', LaunchTime }: Ec2Instance): Instance {
  return { id: InstanceId, privateDnsName: PrivateDnsName, launchedAt: LaunchTime?.getTime() ?? 0 };
}
