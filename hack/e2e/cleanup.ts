/** The objects that a run created and must remove in any case. */
import { orAborted } from '../../controllers/windowspool/util/orAborted.ts';

/** An object that was created or is about to be: it is recorded before its creation, so that nothing is missed when the run is stopped in between. */
export interface Made {
  /** A description, such as `WindowsPool e2e-1a2b`. */
  readonly what: string;
  /** Removes it, and waits until it is gone. Succeeds if it does not exist. */
  readonly remove: (signal: AbortSignal) => Promise<void>;
  readonly timeoutMs: number;
  /** The commands to run manually when that fails. */
  readonly commands: readonly string[];
}

/** An object that could not be removed, or is kept on purpose. */
export interface Left {
  readonly what: string;
  readonly why: string;
  readonly commands: readonly string[];
}

/** The list of created objects. */
export class Cleanup {
  readonly #made: Made[] = [];
  /** Objects that were created during the run and are kept, because others may use them. */
  readonly kept: Left[] = [];

  /** Records an object that is about to be created. */
  note(made: Made): void {
    this.#made.push(made);
  }

  /** Records an object that is kept. */
  keep(kept: Left): void {
    this.kept.push(kept);
  }

  /** Removes everything, the latest first, each within its time-out; the signal aborts the remaining removals. Never rejects. */
  async run(say: (line: string) => void, signal: AbortSignal): Promise<readonly Left[]> {
    const left: Left[] = [];
    for (let made = this.#made.pop(); made !== undefined; made = this.#made.pop()) {
      const { what, commands, timeoutMs } = made;
      say(`Removing ${what}`);
      const bound = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      try {
        bound.throwIfAborted();
        // Also for those that ignore the signal.
        await orAborted(made.remove(bound), bound);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        say(`${what} could not be removed: ${why}`);
        left.push({ what, why, commands });
      }
    }
    return left;
  }
}
