/** What a run created and must remove, whatever happens. */

/** Something that was made, or is about to be: it is noted before it is made, so that nothing is forgotten when the run is stopped in between. */
export interface Made {
  /** What it is, such as `WindowsPool e2e-1a2b`. */
  readonly what: string;
  /** Removes it, and waits until it is gone. Removing what is gone already succeeds. */
  readonly remove: (signal: AbortSignal) => Promise<void>;
  readonly timeoutMs: number;
  /** What a person types when that fails. */
  readonly commands: readonly string[];
}

/** What could not be removed, or stays on purpose. */
export interface Left {
  readonly what: string;
  readonly why: string;
  readonly commands: readonly string[];
}

/** Rejects when the signal is raised, for what does not listen to it. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}

/** The list of what was made. */
export class Cleanup {
  readonly #made: Made[] = [];
  /** What was created in the course of the run and stays, because others may use it. */
  readonly kept: Left[] = [];

  /** Notes what is about to be made. */
  note(made: Made): void {
    this.#made.push(made);
  }

  /** Notes what stays. */
  keep(kept: Left): void {
    this.kept.push(kept);
  }

  /** Removes everything, the latest first, each within its time-out; raised, the signal gives up what is left. Never rejects. */
  async run(say: (line: string) => void, signal: AbortSignal): Promise<readonly Left[]> {
    const left: Left[] = [];
    for (let made = this.#made.pop(); made !== undefined; made = this.#made.pop()) {
      const { what, commands, timeoutMs } = made;
      say(`Removing ${what}`);
      const bound = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      try {
        bound.throwIfAborted();
        await Promise.race([made.remove(bound), aborted(bound)]);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        say(`${what} could not be removed: ${why}`);
        left.push({ what, why, commands });
      }
    }
    return left;
  }
}
