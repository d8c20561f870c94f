/** The port Images on EC2 and SSM: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeImages.html */
import type { Image as Ec2Image } from '@aws-sdk/client-ec2';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import { isWritable } from '../windowspool/ports/foreignTime.ts';
import type { Image, Images } from '../windowspool/ports/prerequisites.ts';
import type { Ec2Call, SsmCall } from './calls.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

export class Ec2Images implements Images {
  readonly #ssm: SsmCall;
  readonly #ec2: Ec2Call;
  readonly #limiter: AwsRateLimiter;

  constructor(ssm: SsmCall, ec2: Ec2Call, limiter: AwsRateLimiter) {
    this.#ssm = ssm;
    this.#ec2 = ec2;
    this.#limiter = limiter;
  }

  async find(id: string, signal: AbortSignal): Promise<CallResult<Image | undefined>> {
    // EC2 leaves out deprecated images of other accounts, and disabled ones, unless they are asked for.
    const input = { ImageIds: [id], IncludeDeprecated: true, IncludeDisabled: true };
    const call = (bounded: AbortSignal) => this.#ec2('DescribeImages', input, bounded);
    const result = await this.#limiter.run('ec2', 'DescribeImages', call, signal);
    if (!result.ok) return result.error.kind === 'gone' ? { ok: true, value: undefined } : result;
    const [image] = result.value.Images ?? [];
    return { ok: true, value: image && fromEc2(id, image) };
  }

  async idIn(Name: string, signal: AbortSignal): Promise<CallResult<string | undefined>> {
    const call = (bounded: AbortSignal) => this.#ssm('GetParameter', { Name }, bounded);
    const result = await this.#limiter.run('ssm', 'GetParameter', call, signal);
    if (result.ok) return { ok: true, value: result.value.Parameter?.Value };
    return result.error.kind === 'gone' ? { ok: true, value: undefined } : result;
  }
}

/** Epoch milliseconds; undefined without a time that the API server can write. */
function timeIn(text = ''): number | undefined {
  const time = Date.parse(text);
  return isWritable(time) ? time : undefined;
}

function fromEc2(id: string, { Name, State, Platform, Architecture, CreationDate, DeprecationTime }: Ec2Image): Image {
  const [createdAt, deprecatedAt] = [timeIn(CreationDate), timeIn(DeprecationTime)];
  return {
    id,
    name: Name ?? '',
    state: State ?? '',
    // EC2 has `windows` on the wire, and `Windows` in its reference.
    isWindows: (Platform as string | undefined)?.toLowerCase() === 'windows',
    architecture: Architecture ?? '',
    ...(createdAt !== undefined && { createdAt }),
    ...(deprecatedAt !== undefined && { deprecatedAt }),
  };
}
