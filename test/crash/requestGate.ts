/** Numbers an operator's requests, and kills the operator at one of them. */
import { withDeadline } from '../../hack/controlplane/wait.ts';

/** `before`: the request has arrived and takes no effect. `after`: it has taken effect and is not answered. */
export type Moment = 'before' | 'after';

/** A request is named by its kind and how many of that kind came before it, such as `PUT windowspools/status #2`. */
export interface CrashPoint {
  readonly request: string;
  readonly moment: Moment;
}

/** Thrown into the handler of a request whose sender was killed: the request must take no effect. */
export class OperatorKilled extends Error {
  override readonly name = 'SenderIsDead';
}

/** One request. Await `hold` at both moments; it rejects with OperatorKilled at the crash point `before`. */
export interface GatedRequest {
  hold(moment: Moment): Promise<void>;
}

/** An invariant that is checked when a request has taken effect. */
export type Guard = (kind: string) => Promise<void>;

interface Armed {
  readonly point: CrashPoint;
  readonly kill: () => Promise<void>;
  readonly done: PromiseWithResolvers<void>;
}

/** All requests pass through it. It numbers them from `begin` to `end`, or to the kill. */
export class RequestGate {
  readonly #guard: Guard;
  #counts: Map<string, number> | undefined;
  #passed: string[] = [];
  #armed: Armed | undefined;
  #lastAt = 0;

  constructor(guard: Guard) {
    this.#guard = guard;
  }

  /** Starts numbering from 1. */
  begin(): void {
    this.#counts = new Map();
    this.#passed = [];
  }

  /** Stops numbering and returns the names of all requests since `begin`, in the order of their arrival. */
  end(): string[] {
    this.#counts = undefined;
    this.#armed = undefined;
    return this.#passed;
  }

  /** Whether the request of `killAt` is still awaited. */
  get armed(): boolean {
    return this.#armed !== undefined;
  }

  /** Milliseconds since the last request. */
  get quietMs(): number {
    return performance.now() - this.#lastAt;
  }

  /** Starts numbering and arms the kill; the returned function waits up to 30 s and returns whether the request was sent. */
  killAt(point: CrashPoint, kill: () => Promise<void>): () => Promise<boolean> {
    this.begin();
    const armed = { point, kill, done: Promise.withResolvers<void>() };
    this.#armed = armed;
    const waitUntilSent = () => withDeadline(armed.done.promise, point.request, 30_000).then(() => true);
    return () =>
      waitUntilSent()
        .catch((error: unknown) => {
          // The kill itself failed.
          if (this.#armed !== armed) throw error;
          return false;
        })
        .finally(() => this.end());
  }

  /** Numbers a request that has arrived. */
  arrive(kind: string): GatedRequest {
    this.#lastAt = performance.now();
    const number = (this.#counts?.get(kind) ?? 0) + 1;
    const request = `${kind} #${number}`;
    if (this.#counts) {
      this.#counts.set(kind, number);
      this.#passed.push(request);
    }
    return {
      hold: async (moment) => {
        if (moment === 'after') await this.#guard(kind);
        const { point, kill, done } = this.#armed ?? {};
        if (point?.request !== request || point.moment !== moment) return;
        this.#armed = undefined;
        await kill?.();
        done?.resolve();
        if (moment === 'before') throw new OperatorKilled(request);
      },
    };
  }
}
