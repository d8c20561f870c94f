/** The kernel versions of a pool's nodes: the number of nodes for each, and the range of revisions. */
import type { BuildCount, RevisionRange, WindowsPool } from '../api/api.gen.ts';
import type { PoolNodesView } from '../model/poolNodesView.ts';
import { cut } from '../util/words.ts';
import { type KernelVersion, parseKernelVersion } from './windowsVersions.ts';

/** The longest kernel version that the schema accepts. */
const KERNEL_LENGTH = 256;

/** How many kernel versions of a pool the metric shows: a kubelet can report any text, and each would be a series. */
const SERIES = 20;

/** Each kernel version with the number of its nodes, most nodes first. */
export function countBuilds({ builds }: Pick<PoolNodesView, 'builds'>): BuildCount[] {
  const counts = new Map<string, number>();
  for (const [reported, nodes] of builds) {
    const kernelVersion = cut(reported, KERNEL_LENGTH);
    counts.set(kernelVersion, (counts.get(kernelVersion) ?? 0) + nodes);
  }
  return [...counts]
    .map(([kernelVersion, nodes]) => ({ kernelVersion, nodes }))
    .sort((a, b) => b.nodes - a.nodes || (a.kernelVersion < b.kernelVersion ? -1 : 1));
}

/**
 * The newest and oldest of the kernel versions that include a revision, and the number of nodes below verification.minimumRevision if that is set;
 * undefined when there is nothing to report.
 */
export function revisionsOf(pool: WindowsPool, poolNodes: PoolNodesView): RevisionRange | undefined {
  const [oldest, newest] = oldestAndNewest(poolNodes.builds.keys());
  const hasFloor = pool.spec.verification.minimumRevision !== undefined && poolNodes.total > 0;
  const range = {
    ...(newest !== undefined && oldest !== undefined && { newest, oldest }),
    ...(hasFloor && { belowMinimum: poolNodes.belowMinimum }),
  };
  return Object.keys(range).length > 0 ? range : undefined;
}

/** The number of nodes for each kernel version, for a metric: invalid Windows builds and versions over the limit count as `other`. */
export function kernelSeries({ builds }: Pick<PoolNodesView, 'builds'>): Readonly<Record<string, number>> {
  const series: Record<string, number> = {};
  let shown = 0;
  for (const { kernelVersion, nodes } of countBuilds({ builds })) {
    const isShown = shown < SERIES && parseKernelVersion(kernelVersion) !== undefined;
    if (isShown) shown += 1;
    const key = isShown ? kernelVersion : 'other';
    series[key] = (series[key] ?? 0) + nodes;
  }
  return series;
}

function oldestAndNewest(
  reported: Iterable<string>,
): readonly [oldest: string | undefined, newest: string | undefined] {
  let [oldest, newest]: [Ranked | undefined, Ranked | undefined] = [undefined, undefined];
  for (const text of reported) {
    const kernel = parseKernelVersion(text);
    if (kernel?.revision === undefined || text.length > KERNEL_LENGTH) continue;
    const ranked = { text, rank: rankOf(kernel) };
    if (oldest === undefined || compare(ranked, oldest) < 0) oldest = ranked;
    if (newest === undefined || compare(ranked, newest) > 0) newest = ranked;
  }
  return [oldest?.text, newest?.text];
}

interface Ranked {
  readonly text: string;
  readonly rank: readonly [build: number, revision: number];
}

function rankOf({ build, revision = 0 }: KernelVersion): Ranked['rank'] {
  return [Number(build.slice(build.lastIndexOf('.') + 1)), revision];
}

/** By build, then revision, then text, because `20348.07` and `20348.7` are equal: equal pools must compare equal. */
function compare(a: Ranked, b: Ranked): number {
  return a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || (a.text < b.text ? -1 : 1);
}
