import type { NodeEvent } from '../records.ts';

interface NodeQueue {
  tail: Promise<void>;
  current: AbortController;
}

/** Handles the events of each node in order; nodes do not wait for each other. Calls `problem` with permanent failures. */
export class NodeQueues {
  readonly #queues = new Map<string, NodeQueue>();
  readonly #run: (event: NodeEvent, signal: AbortSignal) => Promise<void>;
  readonly #problem: (error: unknown) => void;
  readonly #stopping: AbortSignal;

  constructor(
    run: (event: NodeEvent, signal: AbortSignal) => Promise<void>,
    problem: (error: unknown) => void,
    stopping: AbortSignal,
  ) {
    this.#run = run;
    this.#problem = problem;
    this.#stopping = stopping;
  }

  /** Queues an event. An event `leave` cancels everything that is queued for its node. */
  add(event: NodeEvent): void {
    if (this.#stopping.aborted) return;
    // By name, not by instance: an address, and with it the name, can be reused by another instance.
    const name = event.instance.nodeName;
    const queue = this.#queues.get(name) ?? { tail: Promise.resolve(), current: new AbortController() };
    this.#queues.set(name, queue);
    if (event.kind === 'leave') {
      queue.current.abort();
      queue.current = new AbortController();
    }
    const signal = AbortSignal.any([queue.current.signal, this.#stopping]);
    const tail = queue.tail
      .then(() => this.#run(event, signal))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#problem(error);
      });
    queue.tail = tail;
    void tail.then(() => {
      if (queue.tail === tail) this.#queues.delete(name);
    });
  }

  /** The events in progress. */
  tails(): Promise<void>[] {
    return [...this.#queues.values()].map(({ tail }) => tail);
  }
}
