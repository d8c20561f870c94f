/** Pools without nodes, which cost only calls. */
import { MANAGED_BY, MANAGED_BY_LABEL } from '../../controllers/windowspool/api/labels.ts';
import type { BenchCluster } from './benchCluster.ts';
import { isReady, poolObject, watchPools } from './pools.ts';

/** The speed at which EKS completes everything at once, so that only the time of the operator is measured. */
export const AT_ONCE = 10_000;

const READY_MS = 120_000;
/** By one kubectl apply, which must end in a minute. */
const MOST_APPLIED = 250;
const REMOVAL = '--timeout=120s';

/** Applies this number of pools at once, and returns the milliseconds until the last one is Ready. An operator must run. `begin` is called before. */
export async function createEmptyPools(
  cluster: BenchCluster,
  count: number,
  { begin = () => {}, timeoutMs = READY_MS }: { begin?(): void; timeoutMs?: number } = {},
): Promise<number> {
  const names = new Set(namesOf(count));
  await using pools = watchPools(cluster);
  await pools.listed();
  begin();
  const started = performance.now();
  const ready = pools.until(
    `${count} pools are Ready`,
    (all) => all.filter((pool) => names.has(pool.metadata.name) && isReady(pool)).length === count,
    timeoutMs,
  );
  const items = [...names].map((name) => poolObject(name, { minSize: 0, maxSize: 1 }));
  const [at] = await Promise.all([ready, applyInParts(cluster, items)]);
  return at - started;
}

async function applyInParts({ world }: BenchCluster, items: readonly object[]): Promise<void> {
  for (let from = 0; from < items.length; from += MOST_APPLIED)
    await world.apply({ apiVersion: 'v1', kind: 'List', items: items.slice(from, from + MOST_APPLIED) });
}

/** Deletes them, and waits until their groups are gone. An operator must run. */
export async function deleteEmptyPools({ world }: BenchCluster, count: number): Promise<void> {
  await world.kubectl('delete', 'windowspools', ...namesOf(count), REMOVAL);
  // The garbage collector does not run during benchmarks. Each deleted owner would make later writes of the RuntimeClass more expensive.
  if ((await world.list('windowspools')).length === 0)
    await world.kubectl('delete', 'runtimeclasses', '-l', `${MANAGED_BY_LABEL}=${MANAGED_BY}`);
}

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `empty-${index}`);
