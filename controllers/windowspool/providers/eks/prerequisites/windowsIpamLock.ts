import type { IpamAttempts } from '../../../model/prerequisites.ts';
import type { StepError } from '../../../model/stepError.ts';
import { isLasting } from '../../../queries.ts';

/**
 * One pool at a time changes Windows IPAM, which is a setting of the whole cluster. Remembers what came of it for all pools. In memory only: after a
 * restart the operator may try once more, before its time.
 */
export class WindowsIpamLock {
  #busyUntil = Number.NEGATIVE_INFINITY;
  #attempts: IpamAttempts = {};
  #error: StepError | undefined;

  /** When each step was last done. */
  get attempts(): IpamAttempts {
    return this.#attempts;
  }

  /** What a try since that time (epoch milliseconds) came to, where it is the same for every pool. */
  errorSince(since: number): readonly StepError[] {
    return this.#error && this.#error.at > since ? [this.#error] : [];
  }

  /** Whether a pool that looked at `lookedAt` may change it. When not, another does or did, and the look is out of date. */
  begin(lookedAt: number): boolean {
    if (lookedAt <= this.#busyUntil) return false;
    this.#busyUntil = Number.POSITIVE_INFINITY;
    return true;
  }

  /** The step was done, or came to nothing: with `trouble`, or because the call was given up. */
  end(now: number, result: { readonly done?: keyof IpamAttempts; readonly error?: StepError }): void {
    this.#busyUntil = now;
    if (result.done) this.#attempts = { ...this.#attempts, [result.done]: now };
    this.#error = result.error && isLasting(result.error.error) ? result.error : undefined;
  }
}
