import { StreamFailure } from '../failure.ts';
import type { Lease, LeaseClient, LeaseRecord } from '../ports.ts';

/** How a candidate's requests fail: they are refused, their responses are lost or late, they hang, or they hang and ignore signals. */
export type Outage = 'down' | 'lost' | 'late' | 'hangs' | 'deaf';

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

  /** A candidate's connection to the lease. `lost`, `late`: the write succeeds, but its response is lost, or does not arrive before the signal. `deaf`: signals are ignored. */
  client(error: { kind?: Outage } = {}): LeaseClient {
    const aborted = (signal: AbortSignal): Promise<void> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
    const reach = async (signal: AbortSignal): Promise<void> => {
      if (error.kind === 'down') throw new StreamFailure('connect ECONNREFUSED');
      if (error.kind === 'hangs') await aborted(signal);
      if (error.kind === 'deaf') await new Promise(() => undefined);
    };
    const write = async (record: LeaseRecord, signal: AbortSignal, allowed: () => boolean): Promise<Lease> => {
      await reach(signal);
      if (!allowed()) throw new StreamFailure('the object has been modified', { status: 409 });
      this.lease = { record, resourceVersion: String(++this.#version) };
      this.updates += 1;
      if (error.kind === 'lost') throw new StreamFailure('read ECONNRESET');
      if (error.kind === 'late') await aborted(signal);
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
