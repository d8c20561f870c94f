/** The port Releases on SSM and EC2: https://docs.aws.amazon.com/eks/latest/userguide/retrieve-windows-ami-id.html */
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { Releases } from '../windowspool/ports/eks.ts';
import type { Ec2Call, SsmCall } from './calls.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

function parameterOf(year: string, edition: string, minor: string): string {
  return `/aws/service/ami-windows-latest/Windows_Server-${year}-English-${edition}-EKS_Optimized-${minor}/image_id`;
}

/** SSM has only the id of the newest AMI. The release date is at the end of the AMI's name. */
export class PublishedReleases implements Releases {
  readonly #ssm: SsmCall;
  readonly #ec2: Ec2Call;
  readonly #limiter: AwsRateLimiter;

  constructor(ssm: SsmCall, ec2: Ec2Call, limiter: AwsRateLimiter) {
    this.#ssm = ssm;
    this.#ec2 = ec2;
    this.#limiter = limiter;
  }

  async newest(
    { year, edition }: Parameters<Releases['newest']>[0],
    minor: string,
    signal: AbortSignal,
  ): Promise<CallResult<string | undefined>> {
    const id = await this.#imageId(parameterOf(year, edition, minor), signal);
    if (!id.ok || id.value === undefined) return id;
    const name = await this.#imageName(id.value, signal);
    if (!name.ok) return name;
    const [, date] = /-(\d{4}[.-]\d{2}[.-]\d{2})$/.exec(name.value ?? '') ?? [];
    return { ok: true, value: date && `${minor}-${date}` };
  }

  async exists(
    { year, edition }: Parameters<Releases['exists']>[0],
    minor: string,
    signal: AbortSignal,
  ): Promise<CallResult<boolean>> {
    const id = await this.#imageId(parameterOf(year, edition, minor), signal);
    return id.ok ? { ok: true, value: id.value !== undefined } : id;
  }

  async #imageId(Name: string, signal: AbortSignal): Promise<CallResult<string | undefined>> {
    const call = (bounded: AbortSignal) => this.#ssm('GetParameter', { Name }, bounded);
    const result = await this.#limiter.run('ssm', 'GetParameter', call, signal);
    if (result.ok) return { ok: true, value: result.value.Parameter?.Value };
    return result.error.kind === 'gone' ? { ok: true, value: undefined } : result;
  }

  async #imageName(id: string, signal: AbortSignal): Promise<CallResult<string | undefined>> {
    const call = (bounded: AbortSignal) => this.#ec2('DescribeImages', { ImageIds: [id] }, bounded);
    const result = await this.#limiter.run('ec2', 'DescribeImages', call, signal);
    if (result.ok) return { ok: true, value: result.value.Images?.[0]?.Name };
    return result.error.kind === 'gone' ? { ok: true, value: undefined } : result;
  }
}
