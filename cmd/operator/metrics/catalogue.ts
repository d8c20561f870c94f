/** Every metric of the operator by name. docs/metrics.md is generated from it. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { engineMetrics } from '../../../controllers/runtime/metricCatalogue.ts';
import { Instruments, type MetricCatalogue } from '../../../controllers/runtime/metricDefinition.ts';
import { poolMetrics } from '../../../controllers/windowspool/metricCatalogue.ts';
import type { Options } from '../options.ts';
import type { CertificateHooks } from '../serving/certificateFiles.ts';
import { awsMetrics } from './awsCalls.ts';

/** The metrics of the operator's process. */
export const operatorMetrics = {
  windowspool_build_info: {
    type: 'gauge',
    help: 'Always 1: the version of the operator, and the Node.js that runs it.',
    labels: { version: { bounds: 'one a process' }, node_version: { bounds: 'one a process' } },
  },
  windowspool_disruption_budget_pools: {
    type: 'gauge',
    help: 'How many pools may lose nodes at the same time: --max-pools-updating.',
    labels: {},
  },
  windowspool_longest_look_interval_seconds: {
    type: 'gauge',
    help: 'How long a pool is left alone at most, give or take a quarter: the longest of the intervals and of --retry-max.',
    labels: {},
  },
  windowspool_metrics_certificate_expiration_timestamp_seconds: {
    type: 'gauge',
    help: 'When the certificate ends with which metrics are served; no series for a self-signed one.',
    labels: {},
  },
  certwatcher_read_certificate_total: {
    type: 'counter',
    help: 'How often another certificate was read from --metrics-cert-dir.',
    labels: {},
  },
  certwatcher_read_certificate_errors_total: {
    type: 'counter',
    help: 'How often the files in --metrics-cert-dir could not be used.',
    labels: {},
  },
} as const satisfies MetricCatalogue;

/** The parts of the catalogue, by their headings in the docs. */
export const catalogue: Readonly<Record<string, MetricCatalogue>> = {
  Pools: poolMetrics,
  AWS: awsMetrics,
  Operator: operatorMetrics,
  'Engine, by the names of controller-runtime and client-go': engineMetrics,
};

/** prom-client's metrics of the process and of Node.js, without three gauges that have the name of counters. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
}

/** The flags that decide when a pool is polled next: controllers/windowspool/schedule.ts. */
const INTERVALS = ['resyncMs', 'createRetryMs', 'pollMs', 'deniedRetryMs', 'retryMaxMs'] as const;

/** Sets the metrics that stay the same while the process runs. */
export function showOperator(
  registry: Registry,
  options: Pick<Options, 'maxPoolsUpdating' | (typeof INTERVALS)[number]>,
  version: string,
): void {
  const make = new Instruments(registry, operatorMetrics);
  make.gauge('windowspool_build_info').set({ version, node_version: process.version }, 1);
  make.gauge('windowspool_disruption_budget_pools').set(options.maxPoolsUpdating);
  make
    .gauge('windowspool_longest_look_interval_seconds')
    .set(Math.max(...INTERVALS.map((name) => options[name])) / 1_000);
}

/** Metrics of the certificate of /metrics. */
export function certificateMetrics(registry: Registry): CertificateHooks {
  const make = new Instruments(registry, operatorMetrics);
  const expiration = make.gauge('windowspool_metrics_certificate_expiration_timestamp_seconds');
  const reads = make.counter('certwatcher_read_certificate_total');
  const failures = make.counter('certwatcher_read_certificate_errors_total');
  return {
    read: (endsAt) => {
      expiration.set(endsAt / 1_000);
      reads.inc();
    },
    failed: () => failures.inc(),
  };
}

/** The names and help texts of prom-client's metrics, as prom-client has them. */
export async function processMetrics(): Promise<
  readonly { readonly name: string; readonly type: string; readonly help: string }[]
> {
  const registry = new Registry();
  collectProcessMetrics(registry);
  const metrics = await registry.getMetricsAsJSON();
  registry.clear();
  return metrics.map(({ name, type, help }) => ({ name, type: String(type), help }));
}
