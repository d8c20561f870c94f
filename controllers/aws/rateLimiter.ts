/** Bounds the calls to AWS in number, rate and time. */
import PQueue from 'p-queue';
import type { Clock } from '../runtime/ports.ts';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import { AdaptiveTokenBucket, type Rate } from './adaptiveTokenBucket.ts';
import type { CallObserver, FinishedCall, Service } from './calls.ts';
import { toCallError } from './errors.ts';

/** What the rate limiter lets through. */
export interface AwsLimits {
  /** Calls of one service at a time. */
  readonly concurrency: number;
  /** How long one call may take, with all of the SDK's own retries. */
  readonly timeoutMs: number;
  readonly rates: Readonly<Record<Service, Rate>>;
}

/**
 * AWS throttles an account in a region with token buckets. EC2 publishes its bucket for actions that only read, 100 requests and 20 more each second:
 * https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html. EKS and Auto Scaling publish no numbers, so they begin with those of
 * EC2; of 150 nodes that called DescribeCluster of EKS at once, about 10 were throttled (awslabs/amazon-eks-ami#218).
 */
const LIKE_EC2: Rate = { perSecond: 20, burst: 100 };

/** The SDK's own retries together take less than the time-out; a call that is still out then hangs. */
const LIMITS: AwsLimits = {
  concurrency: 10,
  timeoutMs: 90_000,
  rates: {
    eks: LIKE_EC2,
    ec2: LIKE_EC2,
    autoscaling: LIKE_EC2,
    // 40 requests a second for GetParameter and its kind: https://docs.aws.amazon.com/general/latest/gr/ssm.html
    ssm: { perSecond: 40, burst: 40 },
    // IAM publishes no numbers and is one for all regions: few calls, none of them urgent.
    iam: { perSecond: 5, burst: 20 },
  },
};

/**
 * Runs AWS calls, each with a time-out and its trouble classified. Every service has a token bucket and a number of calls at a time of its own, so
 * that one which throttles does not hold up the others; all pools share them. A throttled call slows its service down ({@link AdaptiveTokenBucket}).
 *
 * The bounds begin near what AWS allows the whole account and adapt from there, as the SDK's adaptive retry mode does
 * (https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html); that mode itself begins without any bound.
 */
export class AwsRateLimiter {
  readonly #services: Readonly<Record<Service, { readonly queue: PQueue; readonly bucket: AdaptiveTokenBucket }>>;
  readonly #observe: CallObserver;
  readonly #clock: Clock;
  readonly #timeoutMs: number;

  constructor(observe: CallObserver, clock: Clock, limits: Partial<AwsLimits> = {}) {
    const { concurrency, rates, timeoutMs } = { ...LIMITS, ...limits };
    const services = Object.entries(rates).map(([service, rate]) => [
      service,
      { queue: new PQueue({ concurrency }), bucket: new AdaptiveTokenBucket(rate) },
    ]);
    this.#services = Object.fromEntries(services);
    this.#observe = observe;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Makes the call when its service has a token and a place for it. Rejects with the signal's reason when that aborts. */
  async run<T>(
    service: Service,
    operation: string,
    call: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<CallResult<T>> {
    const queuedAt = this.#clock.monotonic();
    const { queue } = this.#services[service];
    const turn = async () => {
      await this.#token(service, signal);
      return this.#call(service, operation, call, signal, queuedAt);
    };
    return queue.add(turn, { signal });
  }

  /** Waits for a token; one that waits in vain returns it. */
  async #token(service: Service, signal: AbortSignal): Promise<void> {
    const { bucket } = this.#services[service];
    const waitMs = bucket.reserve(this.#clock.monotonic());
    if (waitMs === 0) return;
    try {
      await this.#clock.sleep(waitMs, signal);
    } catch (error) {
      bucket.charge(-1, this.#clock.monotonic());
      throw error;
    }
  }

  async #call<T>(
    service: Service,
    operation: string,
    call: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
    queuedAt: number,
  ): Promise<CallResult<T>> {
    const start = this.#clock.monotonic();
    const finish = (result: FinishedCall['result'], code: string, response: unknown) => {
      const now = this.#clock.monotonic();
      const attempts = attemptsOf(response);
      const { bucket } = this.#services[service];
      // Retries of the SDK are requests, too.
      if (attempts > 1) bucket.charge(attempts - 1, now);
      if (result === 'throttled') bucket.slowDown(now, start);
      const [tookSeconds, waitedSeconds] = [(now - start) / 1_000, (start - queuedAt) / 1_000];
      this.#observe({ service, operation, result, code, tookSeconds, waitedSeconds, attempts });
    };
    try {
      const value = await call(AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)]));
      finish('ok', 'OK', value);
      return { ok: true, value };
    } catch (thrown) {
      if (isBug(thrown)) throw thrown;
      const error = toCallError(operation, thrown);
      finish(error.kind, error.code, thrown);
      // The caller gave up, which says nothing about AWS.
      signal.throwIfAborted();
      return { ok: false, error };
    }
  }
}

/** How often the SDK tried: it says so in the metadata of its answers and errors. */
function attemptsOf(response: unknown): number {
  const { attempts } = (response as { $metadata?: { attempts?: number } } | undefined)?.$metadata ?? {};
  return attempts ?? 1;
}

/** An error of the language that nobody sent over a wire: trouble would hide it, and no retry fixes it. */
function isBug(error: unknown): boolean {
  const ofLanguage = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return ofLanguage && !('code' in error) && !('$metadata' in error);
}
