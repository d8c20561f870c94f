/** The port Instances on EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html */
import type { Instance as Ec2Instance } from '@aws-sdk/client-ec2';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { Instance, Instances, KnownInstance } from '../windowspool/ports/ec2.ts';
import { foreignText } from '../windowspool/ports/foreignText.ts';
import type { Ec2Call } from './calls.ts';
import { everyItem } from './pages.ts';
import { mapped } from './results.ts';

const GROUP_TAG = 'aws:autoscaling:groupName';

/** A filter takes at most 200 values: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Filter.html */
const MOST_VALUES = 200;

/** Lists the ids of a scaling group's instances. */
export type Members = (scalingGroup: string, signal: AbortSignal) => Promise<CallResult<readonly string[]>>;

export function createInstances(ec2: Ec2Call, members: Members): Instances {
  const list = (Filters: { Name: string; Values: string[] }[], signal: AbortSignal) =>
    everyItem(ec2, 'DescribeInstances', { Filters }, signal, ({ Reservations = [] }) =>
      Reservations.flatMap(({ Instances: instances = [] }) => instances),
    );
  return {
    // A filter, because InstanceIds with an unknown id is an error.
    find: async (id, signal) =>
      mapped(await list([{ Name: 'instance-id', Values: [id] }], signal), ([found]) => found && knownFrom(found)),
    ofScalingGroup: async (name, signal) => {
      const ids = await members(name, signal);
      if (!ids.ok) return ids;
      const found: Instance[] = [];
      for (let from = 0; from < ids.value.length; from += MOST_VALUES) {
        const filters = [
          { Name: 'instance-id', Values: ids.value.slice(from, from + MOST_VALUES) },
          { Name: 'instance-state-name', Values: ['pending', 'running'] },
        ];
        const result = await list(filters, signal);
        if (!result.ok) return result;
        found.push(...result.value.map(fromEc2));
      }
      return { ok: true, value: found };
    },
  };
}

function fromEc2({ InstanceId = '', PrivateDnsName = '', LaunchTime }: Ec2Instance): Instance {
  return { id: InstanceId, privateDnsName: PrivateDnsName, launchedAt: LaunchTime?.getTime() ?? 0 };
}

function knownFrom({ State, PrivateDnsName = '', Tags = [] }: Ec2Instance): KnownInstance {
  const found = Tags.find(({ Key }) => Key === GROUP_TAG)?.Value;
  const scalingGroup = found === undefined ? undefined : foreignText(found, 256);
  return { state: State?.Name ?? '', scalingGroup, privateDnsName: PrivateDnsName };
}
