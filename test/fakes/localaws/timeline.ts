/** Milliseconds since the epoch; tests pass their own. */
export interface Clock {
  now(): number;
}

interface Due {
  readonly at: number;
  readonly sequence: number;
  readonly run: () => void;
}

/**
 * Scheduled callbacks, in order of time and then of scheduling. Nothing runs on a timer: `settle` runs all due ones, each at its own time,
 * so the same calls at the same times always produce the same history.
 */
export class Timeline {
  readonly #clock: Clock;
  #due: Due[] = [];
  #sequence = 0;
  #speed: number;
  #moment: number | undefined;
  #onScheduled: () => void = () => {};

  constructor(clock: Clock, speed = 1) {
    this.#clock = clock;
    this.#speed = checkedSpeed(speed);
  }

  /** The current time: during a callback, the time at which it was due. */
  now(): Date {
    return new Date(this.#moment ?? this.#clock.now());
  }

  /** Runs `run` after this number of seconds of simulated time, divided by the speed. */
  after(seconds: number, run: () => void): void {
    const at = this.now().getTime() + (seconds * 1000) / this.#speed;
    this.#due.push({ at, sequence: this.#sequence++, run });
    this.#due.sort((a, b) => a.at - b.at || a.sequence - b.sequence);
    this.#onScheduled();
  }

  /** Runs everything that is due, including callbacks that become due in the meantime. */
  settle(): void {
    if (this.#moment !== undefined) return;
    const now = this.#clock.now();
    try {
      for (let next = this.#due[0]; next !== undefined && next.at <= now; next = this.#due[0]) {
        this.#due.shift();
        this.#moment = next.at;
        next.run();
      }
    } finally {
      this.#moment = undefined;
    }
  }

  /** When the next callback is due, in milliseconds since the epoch. */
  nextDue(): number | undefined {
    return this.#due[0]?.at;
  }

  /** Calls `listener` whenever something is scheduled, so that a driver can set its timer. One listener at a time. */
  onScheduled(listener: () => void): void {
    this.#onScheduled = listener;
  }

  /** The speed, relative to the default. Scheduled callbacks move with it. */
  get speed(): number {
    return this.#speed;
  }

  set speed(speed: number) {
    const now = this.now().getTime();
    const factor = this.#speed / checkedSpeed(speed);
    this.#due = this.#due.map((due) => ({ ...due, at: now + Math.max(0, due.at - now) * factor }));
    this.#speed = speed;
    this.#onScheduled();
  }
}

function checkedSpeed(speed: number): number {
  if (Number.isFinite(speed) && speed > 0) return speed;
  throw new RangeError(`speed is ${speed}; give a number above 0, such as 1 or 10`);
}
