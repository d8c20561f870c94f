import { AwsFault } from '../awsFault.ts';
import { protocols } from './protocols.ts';
import type { Service } from './shapes.ts';

/** A broken response: the connection is reset, there is no response, or a body that no AWS service returns. */
export interface Breakage {
  readonly kind: 'reset' | 'hang' | 'html' | 'empty';
  readonly status: number;
}

/** The effect of an injected fault. `after`: the call takes effect first, and only its response is lost. */
export type CallFault =
  | { readonly kind: 'fault'; readonly fault: AwsFault; readonly retryAfterSeconds?: number }
  | { readonly kind: 'breakage'; readonly breakage: Breakage; readonly after: boolean };

/** The calls that an injected fault affects: the next `count` (1) calls, optionally of one operation or about one node group. */
export interface Target {
  readonly count?: number;
  readonly operation?: string;
  readonly group?: string;
}

interface Armed {
  left: number;
  readonly operation: string | undefined;
  readonly group: string | undefined;
  readonly make: (service: Service) => CallFault;
}

/** Counts the accepted calls of each service in the second before. */
class Quota {
  readonly #perSecond: number;
  readonly #accepted = new Map<Service, readonly number[]>();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Whether a call at a time in epoch milliseconds is one too many. Otherwise it is counted. */
  isExceeded(service: Service, now: number): boolean {
    const recent = (this.#accepted.get(service) ?? []).filter((at) => at > now - 1_000);
    const isExceeded = recent.length >= this.#perSecond;
    this.#accepted.set(service, isExceeded ? recent : [...recent, now]);
    return isExceeded;
  }
}

/** Pending faults. The one armed first applies first; at most one applies to each call. */
export class CallFaults {
  #armed: Armed[] = [];
  #quota: Quota | undefined;

  /** The service throttles: 429 ThrottlingException of EKS, 503 RequestLimitExceeded of EC2, and so on. */
  throttle(target: Target & { readonly retryAfterSeconds?: number } = {}): void {
    const { retryAfterSeconds } = target;
    this.#arm(target, (service) => ({
      kind: 'fault',
      fault: protocols[service].throttled(),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    }));
  }

  /** Each service accepts so many calls in a second, and throttles the others. */
  quota({ perSecond }: { readonly perSecond: number }): void {
    if (!Number.isInteger(perSecond) || perSecond < 1)
      throw new RangeError(`perSecond is ${perSecond}; give a whole number from 1`);
    this.#quota = new Quota(perSecond);
  }

  /** The service fails: 500, or the given `status`, such as 503. */
  serverError(target: Target & { readonly status?: number } = {}): void {
    const unavailable = target.status === 503;
    this.#arm(target, (service) => ({
      kind: 'fault',
      fault: unavailable ? protocols[service].unavailable() : protocols[service].failed(),
    }));
  }

  /** Any other error, by name. */
  error(target: Target & { readonly name: string; readonly message: string; readonly status?: number }): void {
    const fault = new AwsFault(target.name, target.message, target.status);
    this.#arm(target, () => ({ kind: 'fault', fault }));
  }

  /** The connection is reset instead of a response. */
  reset(target: Target & { readonly after?: boolean } = {}): void {
    this.#breakage(target, { kind: 'reset', status: 0 });
  }

  /** There is never a response. */
  hang(target: Target & { readonly after?: boolean } = {}): void {
    this.#breakage(target, { kind: 'hang', status: 0 });
  }

  /** A proxy returns an HTML page. */
  html(target: Target & { readonly status?: number } = {}): void {
    this.#breakage(target, { kind: 'html', status: target.status ?? 502 });
  }

  /** An error without a body. */
  empty(target: Target & { readonly status?: number } = {}): void {
    this.#breakage(target, { kind: 'empty', status: target.status ?? 500 });
  }

  /** Removes all pending faults and the quota. */
  clear(): void {
    this.#armed = [];
    this.#quota = undefined;
  }

  /** The fault for this call at a time in epoch milliseconds, if any. */
  next(service: Service, operation: string, input: object, now: number): CallFault | undefined {
    if (this.#quota?.isExceeded(service, now)) return { kind: 'fault', fault: protocols[service].throttled() };
    const about = (input as { readonly nodegroupName?: string }).nodegroupName;
    const hit = this.#armed.find(
      (armed) => operation === (armed.operation ?? operation) && about === (armed.group ?? about),
    );
    if (hit === undefined) return undefined;
    hit.left -= 1;
    if (hit.left <= 0) this.#armed = this.#armed.filter((armed) => armed !== hit);
    return hit.make(service);
  }

  #breakage(target: Target & { readonly after?: boolean }, breakage: Breakage): void {
    const after = target.after ?? false;
    this.#arm(target, () => ({ kind: 'breakage', breakage, after }));
  }

  #arm({ count = 1, operation, group }: Target, make: Armed['make']): void {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`count is ${count}; give a whole number from 1`);
    this.#armed.push({ left: count, operation, group, make });
  }
}
