/** The port Images on EC2 and SSM: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeImages.html */
import type { Image as Ec2Image } from '@aws-sdk/client-ec2';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import { isWritable } from '../windowspool/ports/foreignTime.ts';
import type { Image, Images } from '../windowspool/ports/prerequisites.ts';
import type { Ec2Call, SsmCall } from './calls.ts';
import { MalformedResponse, toCallError } from './errors.ts';
import { mapped, unlessGone } from './results.ts';

/** Of the ID of an AMI. Texts with it must fit into status. */
const MOST_CHARACTERS = 256;

export function createImages(ssm: SsmCall, ec2: Ec2Call): Images {
  return {
    find: async (id, signal) => {
      // EC2 leaves out deprecated images of other accounts, and disabled ones, unless they are asked for.
      const input = { ImageIds: [id], IncludeDeprecated: true, IncludeDisabled: true };
      const result = unlessGone(await ec2('DescribeImages', input, signal));
      return mapped(result, (found) => {
        const [image] = found?.Images ?? [];
        return image && fromEc2(id, image);
      });
    },
    idIn: async (name, signal) => {
      const read = await parameterIn(ssm, name, signal);
      const length = (read.ok && read.value?.length) || 0;
      if (length <= MOST_CHARACTERS) return read;
      const problem = `with Parameter.Value: ${length} characters, more than ${MOST_CHARACTERS}`;
      return { ok: false, error: toCallError('GetParameter', new MalformedResponse(problem)) };
    },
  };
}

/** The value of an SSM parameter; undefined when the parameter does not exist. */
export async function parameterIn(
  ssm: SsmCall,
  Name: string,
  signal: AbortSignal,
): Promise<CallResult<string | undefined>> {
  return mapped(unlessGone(await ssm('GetParameter', { Name }, signal)), (found) => found?.Parameter?.Value);
}

/** Epoch milliseconds; undefined without a time that the API server can write. */
function timeIn(text = ''): number | undefined {
  const time = Date.parse(text);
  return isWritable(time) ? time : undefined;
}

function fromEc2(id: string, image: Ec2Image): Image {
  const { Name, State, Platform, Architecture, CreationDate, DeprecationTime, ImageOwnerAlias } = image;
  const { RootDeviceName, BlockDeviceMappings = [] } = image;
  const root = BlockDeviceMappings.find(({ DeviceName }) => DeviceName !== undefined && DeviceName === RootDeviceName);
  const rootVolumeGiB = root?.Ebs?.VolumeSize;
  const [createdAt, deprecatedAt] = [timeIn(CreationDate), timeIn(DeprecationTime)];
  return {
    id,
    name: Name ?? '',
    state: State ?? '',
    // EC2 has `windows` on the wire, and `Windows` in its reference.
    isWindows: (Platform as string | undefined)?.toLowerCase() === 'windows',
    architecture: Architecture ?? '',
    ...(rootVolumeGiB !== undefined && { rootVolumeGiB }),
    isOfAmazon: ImageOwnerAlias === 'amazon',
    ...(createdAt !== undefined && { createdAt }),
    ...(deprecatedAt !== undefined && { deprecatedAt }),
  };
}
