/** Limits the concurrency, rate and duration of AWS calls. */
import PQueue from 'p-queue';
import type { Clock } from '../runtime/ports.ts';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import { AdaptiveTokenBucket, type Rate } from './adaptiveTokenBucket.ts';
import type { Call, CallObserver, FinishedCall, SdkCall, Service } from './calls.ts';
import { toCallError } from './errors.ts';

/** The limits of an AwsRateLimiter. */
export interface AwsLimits {
  /** Concurrent calls of a service. */
  readonly concurrency: number;
  /** For one call, including the SDK's retries. */
  readonly timeoutMs: number;
  readonly rates: Readonly<Record<Service, Rate>>;
}

/**
 * AWS throttles an account in a Region with token buckets. EC2 documents a bucket of 100 and a refill rate of 20 a second for read actions:
 * https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html. EKS and Auto Scaling document no numbers, so they start with those of
 * EC2; of 150 nodes that called DescribeCluster of EKS at once, about 10 were throttled (awslabs/amazon-eks-ami#218).
 */
const LIKE_EC2: Rate = { perSecond: 20, burst: 100 };

/** The time-out is longer than all of the SDK's retries together: a call that reaches it hangs. */
const LIMITS: AwsLimits = {
  concurrency: 10,
  timeoutMs: 90_000,
  rates: {
    eks: LIKE_EC2,
    ec2: LIKE_EC2,
    autoscaling: LIKE_EC2,
    // 40 requests a second for GetParameter and related calls: https://docs.aws.amazon.com/general/latest/gr/ssm.html
    ssm: { perSecond: 40, burst: 40 },
    // IAM documents no numbers and is global. Calls are few and not urgent.
    iam: { perSecond: 5, burst: 20 },
  },
};

/**
 * Runs AWS calls with a time-out, and classifies their errors. Each service has its own token bucket and queue, so that one that throttles does not
 * delay the others. All pools share them. A throttled call slows its service down ({@link AdaptiveTokenBucket}).
 *
 * Rates start near what AWS allows an account and adapt from there, as in the SDK's adaptive retry mode, which itself starts without a limit:
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
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

  /** Queues the call for its service. Rejects with the signal's reason if the signal aborts. */
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

  /** Calls of a service, each by `run`. */
  calls<Ops extends Readonly<Record<keyof Ops, readonly [unknown, unknown]>>>(
    service: Service,
    send: SdkCall<Ops>,
  ): Call<Ops> {
    return (operation, input, signal) =>
      this.run(service, operation, (bounded) => send(operation, input, bounded), signal);
  }

  /** Waits for a token. Returns the token if the signal aborts. */
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
      // The SDK's retries are requests, too.
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
      // The caller aborted: not an error of AWS.
      signal.throwIfAborted();
      return { ok: false, error };
    }
  }
}

/** The SDK reports its attempts in the metadata of outputs and errors. */
function attemptsOf(response: unknown): number {
  const { attempts } = (response as { $metadata?: { attempts?: unknown } } | null | undefined)?.$metadata ?? {};
  return typeof attempts === 'number' ? attempts : 1;
}

/** A JavaScript error that did not come from a call. It must not be classified and retried. */
function isBug(error: unknown): boolean {
  const ofLanguage = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return ofLanguage && !('code' in error) && !('$metadata' in error);
}
