/** The operator's calls to the fake world: each is counted, and can fail or crash the process. */
import type { CallError, CallResult } from '../ports/callResult.ts';
import { NOW } from './fixtures.ts';

/** Thrown at a simulated crash of the operator: as a TypeError, so that no adapter treats it as an error of AWS. */
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
  /** The error that a call returns instead of its result. */
  fails: (call: string) => CallError | undefined = () => undefined;
  /** The call, counted from 0, at which the process crashes; and whether the call still takes effect. */
  crash: { readonly at: number; readonly when: 'before' | 'after' } | undefined;
  protected version = 100;

  get now(): number {
    return this.#now;
  }

  set now(now: number) {
    this.#now = now;
    this.timePassed();
  }

  /** The AWS calls since the last time. */
  awsCalls(): string[] {
    return this.calls.splice(0).filter(isAwsCall);
  }

  /** Called when time has passed. */
  protected timePassed(): void {}

  protected async call<T>(call: string, work: () => T | Promise<T>): Promise<CallResult<T>> {
    const at = this.calls.push(call) - 1;
    await Promise.resolve();
    const crashAt = this.crash?.at === at ? this.crash.when : undefined;
    if (crashAt === 'before') throw new Crash(`before ${call}`);
    const error = this.fails(call);
    if (error) return { ok: false, error: { ...error, operation: call } };
    if (crashAt === undefined) return { ok: true, value: await work() };
    await Promise.allSettled([work()]);
    throw new Crash(`after ${call}`);
  }

  protected next(): string {
    this.version += 1;
    return String(this.version);
  }
}
