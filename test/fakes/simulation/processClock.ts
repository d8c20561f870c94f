import type { Clock } from '../../../controllers/runtime/ports.ts';
import { type SimulatedClock, sleepBy } from '../../../controllers/runtime/testing/simulatedClock.ts';

/** How a process stops: without CPU time (SIGSTOP), or with its virtual machine, whose monotonic clock then stands still. */
export type PauseKind = 'stopped' | 'suspended';

/** The clock of a process that can be paused and can end. While it is paused, no timer fires, and what awaits `running` waits. */
export class ProcessClock implements Clock {
  readonly #clock: SimulatedClock;
  #pause: { readonly from: number; readonly until: number; readonly resumed: PromiseWithResolvers<void> } | undefined;
  /** The pause before, by the clock of the world. */
  #lastPause = { from: Number.NEGATIVE_INFINITY, until: Number.NEGATIVE_INFINITY };
  #suspendedMs = 0;
  #hasEnded = false;
  #late: (() => void)[] = [];

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic() - this.#suspendedMs;
  }

  after(ms: number, fn: () => void): Disposable {
    let isDisposed = false;
    const fire = (): void => {
      if (isDisposed || this.#hasEnded) return;
      if (this.#pause) this.#late.push(fire);
      else fn();
    };
    const timer = this.#clock.after(ms, fire);
    return {
      [Symbol.dispose]: () => {
        isDisposed = true;
        timer[Symbol.dispose]();
      },
    };
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepBy(this, ms, signal);
  }

  /** Pauses the process, or extends its pause. Calls continue before timers: the process writes before it can notice the time. */
  pause(ms: number, kind: PauseKind): void {
    if (this.#hasEnded) return;
    const until = this.#clock.monotonic() + ms;
    if (this.#pause && this.#pause.until >= until) return;
    const { from = this.now(), resumed = Promise.withResolvers<void>() } = this.#pause ?? {};
    this.#pause = { from, until, resumed };
    if (kind === 'suspended') this.#suspendedMs += ms;
    this.#clock.after(ms, () => this.#resume(until));
  }

  /** When the last pause began, if it ended less than `ms` ago: since then, the world can have changed unnoticed. */
  pausedSince(ms: number): number | undefined {
    return this.#lastPause.until > this.now() - ms ? this.#lastPause.from : undefined;
  }

  /** Ends the pause now. */
  resume(): void {
    if (this.#pause) this.#resume(this.#pause.until);
  }

  #resume(until: number): void {
    if (!this.#pause || this.#pause.until > until) return;
    this.#pause.resumed.resolve();
    this.#lastPause = { from: this.#pause.from, until: this.now() };
    this.#pause = undefined;
    const late = this.#late;
    this.#late = [];
    for (const fire of late) this.#clock.after(0, fire);
  }

  /** The process ends: nothing of it runs again. */
  end(): void {
    this.#hasEnded = true;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves when the process runs: at once, after its pause, or never if it has ended. */
  async running(): Promise<void> {
    while (this.#pause) await this.#pause.resumed.promise;
    if (this.#hasEnded) await new Promise(() => undefined);
  }
}
