import { StreamFailure } from '../failure.ts';
import type { Lease, LeaseClient, LeaseRecord } from '../ports.ts';

/** How a candidate's requests fail: they are refused, their responses are lost, they hang, or they hang and ignore signals. */
export type Outage = 'down' | 'lost' | 'hangs' | 'deaf';

/** One Lease in memory, and how access to it can fail. */
export class SimulatedLease {
  lease: Lease | undefined;
  updates = 0;
  #version = 0;

  /** Another client writes or deletes the lease. */
  vandalise(write: (lease: Lease) => Lease | undefined): void {
    const written = this.lease && write(this.lease);
    this.lease = written && { ...written, resourceVersion: String(++this.#version) };
  }

  /** A candidate's connection to the lease. `lost`: the write succeeds, but its response is lost. `deaf`: signals are ignored. */
  client(error: { kind?: Outage } = {}): LeaseClient {
    const reach = async (signal: AbortSignal): Promise<void> => {
      if (error.kind === 'down') throw new StreamFailure('connect ECONNREFUSED');
      if (error.kind !== 'hangs' && error.kind !== 'deaf') return;
      const { kind } = error;
      await new Promise((_, reject) => {
        if (kind === 'hangs') signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    };
    const write = async (record: LeaseRecord, signal: AbortSignal, allowed: () => boolean): Promise<Lease> => {
      await reach(signal);
      if (!allowed()) throw new StreamFailure('the object has been modified', { status: 409 });
      this.lease = { record, resourceVersion: String(++this.#version) };
      this.updates += 1;
      if (error.kind === 'lost') throw new StreamFailure('read ECONNRESET');
      return this.lease;
    };
    return {
      read: async (signal) => {
        await reach(signal);
        return this.lease;
      },
      create: (record, signal) => write(record, signal, () => !this.lease),
      update: (record, version, signal) => write(record, signal, () => this.lease?.resourceVersion === version),
    };
  }
}
