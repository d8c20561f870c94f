import type { CallError, CallResult } from '../windowspool/ports/callResult.ts';
import type { EksCall, EksOperations } from './calls.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

/** What the adapters of EKS have in common: calls about one cluster, through the limiter that all of them share. */
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

/** Whether what was asked for does not exist. EKS answers ResourceNotFound for a missing cluster, too; its words tell which. */
export function isAbsent({ kind, message }: CallError): boolean {
  return kind === 'gone' && !/^No cluster found/i.test(message);
}
