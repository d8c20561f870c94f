/** The calls that the operator makes of the fake world: each is counted, and can be made to fail or to end the process. */
import type { CallError, CallResult } from '../ports/callResult.ts';
import { NOW } from './fixtures.ts';

/** Thrown in the place where the operator's process ends: as a bug, so that no adapter takes it for an answer of AWS. */
export class Crash extends TypeError {}

export const done: CallResult<void> = { ok: true, value: undefined };

export function flat<T>(answer: CallResult<CallResult<T>>): CallResult<T> {
  return answer.ok ? answer.value : answer;
}

/** Calls of the API server are in lower case. */
export function isAwsCall(call: string): boolean {
  return /^[A-Z]/.test(call);
}

export class FakeCalls {
  #now = NOW;
  readonly calls: string[] = [];
  /** What a call answers instead of doing its work. */
  fails: (call: string) => CallError | undefined = () => undefined;
  /** The call, counted from 0, at which the process ends; and whether the call is still carried out. */
  crash: { readonly at: number; readonly when: 'before' | 'after' } | undefined;
  protected version = 100;

  get now(): number {
    return this.#now;
  }

  set now(now: number) {
    this.#now = now;
    this.timePassed();
  }

  /** The calls since the last time, AWS' only. */
  awsCalls(): string[] {
    return this.calls.splice(0).filter(isAwsCall);
  }

  /** What happens without a call. */
  protected timePassed(): void {}

  protected async call<T>(call: string, work: () => T | Promise<T>): Promise<CallResult<T>> {
    const at = this.calls.push(call) - 1;
    await Promise.resolve();
    const dies = this.crash?.at === at ? this.crash.when : undefined;
    if (dies === 'before') throw new Crash(`before ${call}`);
    const error = this.fails(call);
    if (error) return { ok: false, error: { ...error, operation: call } };
    if (dies === undefined) return { ok: true, value: await work() };
    await Promise.allSettled([work()]);
    throw new Crash(`after ${call}`);
  }

  protected next(): string {
    this.version += 1;
    return String(this.version);
  }
}
