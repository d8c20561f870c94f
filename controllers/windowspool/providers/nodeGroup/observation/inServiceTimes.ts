import type { Instance } from '../../../ports/ec2.ts';

/**
 * Since when instances are in service, as far as this process knows, for groups with a warm pool. EC2 only knows when an instance was last started: one that
 * waited running would count as an instance that has been failing to join for all that time. Times are epoch milliseconds.
 */
export class ServiceTimes {
  /** By pool and instance ID. */
  readonly #pools = new Map<string, ReadonlyMap<string, number>>();

  /** These are the instances that the scaling groups of a pool have now, without those of the warm pool. */
  saw(pool: string, instances: Iterable<string>, now: number): void {
    const before = this.#pools.get(pool);
    this.#pools.set(pool, new Map([...instances].map((id) => [id, before?.get(id) ?? now])));
  }

  /** The instances, launched when they were first seen in service if they were started earlier. */
  applyTo(pool: string, instances: readonly Instance[], now: number): Instance[] {
    const seen = this.#pools.get(pool);
    return instances.map((instance) => ({
      ...instance,
      launchedAt: Math.max(instance.launchedAt, seen?.get(instance.id) ?? now),
    }));
  }

  /** Forgets a deleted pool. */
  forget(pool: string): void {
    this.#pools.delete(pool);
  }
}
