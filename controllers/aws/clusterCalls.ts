import type { CallError, CallResult } from '../windowspool/ports/callResult.ts';
import type { EksCall, EksOperations } from './calls.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

/** The base of the EKS adapters: calls about one cluster, through the shared rate limiter. */
export abstract class ClusterCalls {
  protected readonly clusterName: string;
  readonly #eks: EksCall;
  readonly #limiter: AwsRateLimiter;

  constructor(clusterName: string, eks: EksCall, limiter: AwsRateLimiter) {
    this.clusterName = clusterName;
    this.#eks = eks;
    this.#limiter = limiter;
  }

  protected call<O extends keyof EksOperations>(
    operation: O,
    input: EksOperations[O][0],
    signal: AbortSignal,
  ): Promise<CallResult<EksOperations[O][1]>> {
    return this.#limiter.run('eks', operation, (bounded) => this.#eks(operation, input, bounded), signal);
  }
}

/** Whether the object does not exist. EKS answers ResourceNotFound for a missing cluster, too; only the message differs. */
export function isAbsent({ kind, message }: CallError): boolean {
  return kind === 'gone' && !/^No cluster found/i.test(message);
}
