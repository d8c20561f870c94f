import { setTimeout as pause } from 'node:timers/promises';
import type { NodeEvent } from '../records.ts';

/** A node that will get pod addresses. */
export type AddressEvent = NodeEvent & { readonly kind: 'podAddresses' };

const pauseMs = 250;

/** Delays pod addresses of nodes until Windows IPAM is enabled, like the VPC resource controller. */
export class IpamGate {
  readonly #waiting = new Set<AddressEvent>();
  readonly #isOn: () => Promise<boolean>;
  readonly #pass: (event: AddressEvent) => void;
  readonly #signal: AbortSignal;
  #isPolling = false;

  /** @param isOn reads the setting in the cluster; polled, also after an error */
  constructor(isOn: () => Promise<boolean>, pass: (event: AddressEvent) => void, signal: AbortSignal) {
    this.#isOn = isOn;
    this.#pass = pass;
    this.#signal = signal;
  }

  /** Forwards the event as soon as IPAM is enabled, unless its instance is terminated before. */
  wait(event: AddressEvent): void {
    this.#waiting.add(event);
    if (!this.#isPolling) void this.#poll();
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    while (this.#waiting.size > 0 && !this.#signal.aborted) {
      if (await this.#isOn().catch(() => false)) this.#release();
      else await pause(pauseMs, undefined, { signal: this.#signal }).catch(() => {});
      for (const event of this.#waiting) if (event.instance.state === 'terminated') this.#waiting.delete(event);
    }
    this.#isPolling = false;
  }

  #release(): void {
    for (const event of this.#waiting) if (event.instance.state !== 'terminated') this.#pass(event);
    this.#waiting.clear();
  }
}
