/** The way to AWS: the operations that are used, bounded in number, rate and time. */
import type {
  CreateOrUpdateTagsCommandInput,
  CreateOrUpdateTagsCommandOutput,
  DeleteTagsCommandInput,
  DeleteTagsCommandOutput,
  DescribeAutoScalingGroupsCommandInput,
  DescribeAutoScalingGroupsCommandOutput,
  TerminateInstanceInAutoScalingGroupCommandInput,
  TerminateInstanceInAutoScalingGroupCommandOutput,
} from '@aws-sdk/client-auto-scaling';
import type {
  DescribeImagesCommandInput,
  DescribeImagesCommandOutput,
  DescribeInstancesCommandInput,
  DescribeInstancesCommandOutput,
  DescribeInstanceTypeOfferingsCommandInput,
  DescribeInstanceTypeOfferingsCommandOutput,
  DescribeInstanceTypesCommandInput,
  DescribeInstanceTypesCommandOutput,
  DescribeLaunchTemplateVersionsCommandInput,
  DescribeLaunchTemplateVersionsCommandOutput,
  DescribeSubnetsCommandInput,
  DescribeSubnetsCommandOutput,
} from '@aws-sdk/client-ec2';
import type {
  CreateAccessEntryCommandInput,
  CreateAccessEntryCommandOutput,
  CreateNodegroupCommandInput,
  CreateNodegroupCommandOutput,
  DeleteNodegroupCommandInput,
  DeleteNodegroupCommandOutput,
  DescribeAccessEntryCommandInput,
  DescribeAccessEntryCommandOutput,
  DescribeAddonCommandInput,
  DescribeAddonCommandOutput,
  DescribeClusterCommandInput,
  DescribeClusterCommandOutput,
  DescribeNodegroupCommandInput,
  DescribeNodegroupCommandOutput,
  DescribeUpdateCommandInput,
  DescribeUpdateCommandOutput,
  TagResourceCommandInput,
  TagResourceCommandOutput,
  UntagResourceCommandInput,
  UntagResourceCommandOutput,
  UpdateNodegroupConfigCommandInput,
  UpdateNodegroupConfigCommandOutput,
  UpdateNodegroupVersionCommandInput,
  UpdateNodegroupVersionCommandOutput,
} from '@aws-sdk/client-eks';
import type { GetParameterCommandInput, GetParameterCommandOutput } from '@aws-sdk/client-ssm';
import PQueue from 'p-queue';
import type { Answer, TroubleKind } from '../windowspool/ports/answer.ts';
import { troubleOf } from './errors.ts';

/** The EKS operations that are used: input and output of each. config/aws/iam-policy.json grants them. */
export interface EksOperations {
  DescribeCluster: [DescribeClusterCommandInput, DescribeClusterCommandOutput];
  CreateNodegroup: [CreateNodegroupCommandInput, CreateNodegroupCommandOutput];
  DescribeNodegroup: [DescribeNodegroupCommandInput, DescribeNodegroupCommandOutput];
  UpdateNodegroupConfig: [UpdateNodegroupConfigCommandInput, UpdateNodegroupConfigCommandOutput];
  UpdateNodegroupVersion: [UpdateNodegroupVersionCommandInput, UpdateNodegroupVersionCommandOutput];
  DeleteNodegroup: [DeleteNodegroupCommandInput, DeleteNodegroupCommandOutput];
  DescribeUpdate: [DescribeUpdateCommandInput, DescribeUpdateCommandOutput];
  TagResource: [TagResourceCommandInput, TagResourceCommandOutput];
  UntagResource: [UntagResourceCommandInput, UntagResourceCommandOutput];
  DescribeAddon: [DescribeAddonCommandInput, DescribeAddonCommandOutput];
  DescribeAccessEntry: [DescribeAccessEntryCommandInput, DescribeAccessEntryCommandOutput];
  CreateAccessEntry: [CreateAccessEntryCommandInput, CreateAccessEntryCommandOutput];
}

/** The EC2 operations that are used. */
export interface Ec2Operations {
  DescribeImages: [DescribeImagesCommandInput, DescribeImagesCommandOutput];
  DescribeInstances: [DescribeInstancesCommandInput, DescribeInstancesCommandOutput];
  DescribeInstanceTypes: [DescribeInstanceTypesCommandInput, DescribeInstanceTypesCommandOutput];
  DescribeInstanceTypeOfferings: [
    DescribeInstanceTypeOfferingsCommandInput,
    DescribeInstanceTypeOfferingsCommandOutput,
  ];
  DescribeLaunchTemplateVersions: [
    DescribeLaunchTemplateVersionsCommandInput,
    DescribeLaunchTemplateVersionsCommandOutput,
  ];
  DescribeSubnets: [DescribeSubnetsCommandInput, DescribeSubnetsCommandOutput];
}

/** The SSM operations that are used. */
export interface SsmOperations {
  GetParameter: [GetParameterCommandInput, GetParameterCommandOutput];
}

/** The Auto Scaling operations that are used. */
export interface AutoScalingOperations {
  CreateOrUpdateTags: [CreateOrUpdateTagsCommandInput, CreateOrUpdateTagsCommandOutput];
  DeleteTags: [DeleteTagsCommandInput, DeleteTagsCommandOutput];
  DescribeAutoScalingGroups: [DescribeAutoScalingGroupsCommandInput, DescribeAutoScalingGroupsCommandOutput];
  TerminateInstanceInAutoScalingGroup: [
    TerminateInstanceInAutoScalingGroupCommandInput,
    TerminateInstanceInAutoScalingGroupCommandOutput,
  ];
}

/** One Auto Scaling call. */
export type AutoScalingCall = <O extends keyof AutoScalingOperations>(
  operation: O,
  input: AutoScalingOperations[O][0],
  signal: AbortSignal,
) => Promise<AutoScalingOperations[O][1]>;

/** One SSM call. */
export type SsmCall = <O extends keyof SsmOperations>(
  operation: O,
  input: SsmOperations[O][0],
  signal: AbortSignal,
) => Promise<SsmOperations[O][1]>;

/** One EC2 call. */
export type Ec2Call = <O extends keyof Ec2Operations>(
  operation: O,
  input: Ec2Operations[O][0],
  signal: AbortSignal,
) => Promise<Ec2Operations[O][1]>;

/** One EKS call. The SDK's client is behind it in production, the local AWS' memory in model tests. */
export type EksCall = <O extends keyof EksOperations>(
  operation: O,
  input: EksOperations[O][0],
  signal: AbortSignal,
) => Promise<EksOperations[O][1]>;

/** The services of AWS that are used. */
export type Service = 'eks' | 'ec2' | 'ssm' | 'autoscaling';

/** A finished call, for metrics. */
export interface FinishedCall {
  readonly service: Service;
  readonly operation: string;
  readonly result: 'ok' | TroubleKind;
  /** `OK` or the error's name. */
  readonly code: string;
  /** With the SDK's own repeats, without the wait. */
  readonly tookSeconds: number;
  /** For its turn. */
  readonly waitedSeconds: number;
  /** How often the SDK tried, as it says; 1 where it does not. */
  readonly attempts: number;
}

export type CallObserver = (call: FinishedCall) => void;

/** What a lane lets through. */
export interface LaneLimits {
  readonly atOnce: number;
  readonly perSecond: number;
  /** How long one call may take, with all of the SDK's own tries. */
  readonly timeoutMs: number;
}

/** The SDK's own tries together take less than the time-out; a call that is still out then hangs. */
const LIMITS: LaneLimits = { atOnce: 10, perSecond: 20, timeoutMs: 90_000 };

/**
 * Runs AWS calls: at most 10 at a time and 20 a second where nothing else is said, each with a time-out, its trouble classified. One lane serves all pools, so a
 * big cluster does not throttle itself.
 */
export class Lane {
  readonly #queue: PQueue;
  readonly #observe: CallObserver;
  readonly #timeoutMs: number;

  constructor(observe: CallObserver, limits: Partial<LaneLimits> = {}) {
    const { atOnce, perSecond, timeoutMs } = { ...LIMITS, ...limits };
    this.#queue = new PQueue({ concurrency: atOnce, interval: 1_000, intervalCap: perSecond });
    this.#observe = observe;
    this.#timeoutMs = timeoutMs;
  }

  async run<T>(
    service: Service,
    operation: string,
    call: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<Answer<T>> {
    const asked = performance.now();
    return this.#queue.add(async () => this.#call(service, operation, call, signal, asked), { signal });
  }

  async #call<T>(
    service: Service,
    operation: string,
    call: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
    asked: number,
  ): Promise<Answer<T>> {
    const start = performance.now();
    const tell = (result: FinishedCall['result'], code: string, answer: unknown) => {
      const tookSeconds = (performance.now() - start) / 1_000;
      const waitedSeconds = (start - asked) / 1_000;
      this.#observe({ service, operation, result, code, tookSeconds, waitedSeconds, attempts: attemptsOf(answer) });
    };
    try {
      const value = await call(AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)]));
      tell('ok', 'OK', value);
      return { ok: true, value };
    } catch (error) {
      if (isBug(error)) throw error;
      const trouble = troubleOf(operation, error);
      tell(trouble.kind, trouble.code, error);
      // The caller gave up, which says nothing about AWS.
      signal.throwIfAborted();
      return { ok: false, trouble };
    }
  }
}

/** How often the SDK tried: it says so in the metadata of its answers and errors. */
function attemptsOf(answer: unknown): number {
  const { attempts } = (answer as { $metadata?: { attempts?: number } } | undefined)?.$metadata ?? {};
  return attempts ?? 1;
}

/** An error of the language that nobody sent over a wire: trouble would hide it, and a retry will not mend it. */
function isBug(error: unknown): boolean {
  const ofLanguage = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return ofLanguage && !('code' in error) && !('$metadata' in error);
}
