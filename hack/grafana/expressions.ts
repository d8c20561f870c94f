/** PromQL of the dashboards. The compiler checks that each metric is in a catalogue, with its labels and values. */
import type { awsMetrics } from '../../cmd/operator/metrics/awsCalls.ts';
import type { operatorMetrics } from '../../cmd/operator/metrics/catalogue.ts';
import type { engineMetrics } from '../../controllers/runtime/metricCatalogue.ts';
import { poolMetrics } from '../../controllers/windowspool/api/metricCatalogue.ts';
import type { windowsMetrics } from './windowsExporter.ts';

type OperatorCatalogue = typeof awsMetrics & typeof operatorMetrics & typeof engineMetrics;
type PoolCatalogue = typeof poolMetrics;
type WindowsCatalogue = typeof windowsMetrics;

type LabelsOf<C, N extends keyof C> = C[N] extends { readonly labels: infer L } ? L : never;
type ValueOf<V> = V extends { readonly values: readonly (infer T)[] } ? T : string;

/** The selection of a series: one value of a label, one of several, or a pattern. */
type Matchers<L> = { readonly [K in keyof L]?: ValueOf<L[K]> | readonly ValueOf<L[K]>[] | RegExp };

/** The cluster. Empty if Prometheus adds no label `cluster`, and then it matches series without one. */
const CLUSTER = 'cluster="$cluster"';
/** Several clusters, or all of them. */
const CLUSTERS = 'cluster=~"$cluster"';
const NAMESPACE = 'namespace=~"$namespace"';

function selector(name: string, fixed: readonly string[], matchers: Readonly<Record<string, unknown>>): string {
  const selectors = Object.entries(matchers).map(([label, value]) => {
    if (value instanceof RegExp) return `${label}=~"${value.source}"`;
    return Array.isArray(value) ? `${label}=~"${value.join('|')}"` : `${label}="${value}"`;
  });
  return `${name}{${[...fixed, ...selectors].join(', ')}}`;
}

/**
 * A metric of the selected pools, with all its labels. Only the leader has series of pools; during a change of the leader, a scrape may
 * have both, and `max` counts them once.
 */
export function ofPools<N extends keyof PoolCatalogue>(
  name: N,
  matchers: Matchers<Omit<LabelsOf<PoolCatalogue, N>, 'pool'>> = {},
): string {
  const labels = Object.keys(poolMetrics[name].labels);
  return `max by (${labels.join(', ')}) (${selector(name, POOLS, matchers)})`;
}

/** A metric of the pools of all selected clusters, by cluster and the given labels. */
export function ofFleet<N extends keyof PoolCatalogue>(
  name: N,
  by: readonly (keyof LabelsOf<PoolCatalogue, N> & string)[],
  matchers: Matchers<Omit<LabelsOf<PoolCatalogue, N>, 'pool'>> = {},
): string {
  return `max by (${['cluster', ...by].join(', ')}) (${selector(name, [CLUSTERS], matchers)})`;
}

/** The series of a metric of the operator's replicas in all selected clusters. Other operators have metrics with the same names. */
export function ofFleetOperators(name: 'windowspool_build_info' | 'leader_election_master_status'): string {
  return selector(name, [CLUSTERS, ...(name === 'windowspool_build_info' ? [] : ['name="windowspool-operator"'])], {});
}

/** The same before the aggregation, as required for a rate. */
export function seriesOfPools<N extends keyof PoolCatalogue>(name: N): string {
  return selector(name, POOLS, {});
}

const POOLS = [CLUSTER, NAMESPACE, 'pool=~"$pool"'];

type Suffixed<C> = {
  [N in keyof C & string]: C[N] extends { readonly type: 'histogram' } ? never : N;
}[keyof C & string];
type Histogram<C> = Exclude<keyof C & string, Suffixed<C>>;

/** The series of a metric of the operator's replicas. */
export function ofOperator<N extends Suffixed<OperatorCatalogue>>(
  name: N,
  matchers: Matchers<LabelsOf<OperatorCatalogue, N>> = {},
): string {
  return selector(name, OPERATOR, matchers);
}

/** Other operators have metrics with the same names: these are only from jobs with the operator's build info. */
const OPERATOR = [CLUSTER, NAMESPACE, 'job=~"$job"'];

/** The series of one of prom-client's metrics of the operator's process. */
export function ofProcess(name: `process_${string}` | `nodejs_${string}`): string {
  return selector(name, OPERATOR, {});
}

/** The rate per second, over the interval between two points of the graph. */
export function rate(series: string): string {
  return `rate(${series}[$__rate_interval])`;
}

/** A quantile of a histogram of the operator in seconds, for each value of the labels `by`. */
export function quantile<N extends Histogram<OperatorCatalogue>>(
  q: number,
  name: N,
  by: readonly (keyof LabelsOf<OperatorCatalogue, N> & string)[] = [],
): string {
  const buckets = rate(selector(`${name}_bucket`, OPERATOR, {}));
  return `histogram_quantile(${q}, sum by (${['le', ...by].join(', ')}) (${buckets}))`;
}

/** The series of a metric of windows_exporter on the selected nodes of the pool; `pool` and `node`: docs/how-to/monitoring.md#dashboards. */
export function ofNodes<N extends keyof WindowsCatalogue>(
  name: N,
  matchers: Matchers<LabelsOf<WindowsCatalogue, N>> = {},
): string {
  return selector(name, [...NODES, 'node=~"$node"'], matchers);
}

/** The same on all nodes of the pool. */
export function ofAllNodes(name: keyof WindowsCatalogue): string {
  return selector(name, NODES, {});
}

const NODES = [CLUSTER, 'pool=~"$pool"'];
