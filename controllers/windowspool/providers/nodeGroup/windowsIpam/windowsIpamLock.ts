import type { StepError } from '../../../model/stepError.ts';
import { isLasting } from '../../../rules/poolQueries.ts';
import type { IpamAttempts } from '../model/checkFacts.ts';

/**
 * Lets one pool at a time change Windows IPAM, which is a setting of the whole cluster, and keeps the result for all pools. In memory only:
 * after a restart, one attempt may come too early.
 */
export class WindowsIpamLock {
  #busyUntil = Number.NEGATIVE_INFINITY;
  #attempts: IpamAttempts = {};
  #error: StepError | undefined;

  /** When each step last succeeded. */
  get attempts(): IpamAttempts {
    return this.#attempts;
  }

  /** The error of an attempt since that time (epoch milliseconds), if every pool would get it. */
  errorSince(since: number): readonly StepError[] {
    return this.#error && this.#error.at > since ? [this.#error] : [];
  }

  /**
   * Whether a pool that read the setting at `readAt` (epoch milliseconds) may change it. If not, another pool is changing or has changed it, and
   * what was read is outdated.
   */
  begin(readAt: number): boolean {
    if (readAt <= this.#busyUntil) return false;
    this.#busyUntil = Number.POSITIVE_INFINITY;
    return true;
  }

  /** Ends the attempt: `done` if it succeeded, `error` if it failed, neither if it was aborted. */
  end(now: number, result: { readonly done?: keyof IpamAttempts; readonly error?: StepError }): void {
    this.#busyUntil = now;
    if (result.done) this.#attempts = { ...this.#attempts, [result.done]: now };
    this.#error = result.error && isLasting(result.error.error) ? result.error : undefined;
  }
}
