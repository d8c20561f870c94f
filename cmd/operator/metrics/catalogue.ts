/** Every metric of the operator by name. docs/reference/metrics.md is generated from it. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { engineMetrics } from '../../../controllers/runtime/metricCatalogue.ts';
import { counter, gauge, Instruments, type MetricCatalogue } from '../../../controllers/runtime/metricDefinition.ts';
import { poolMetrics } from '../../../controllers/windowspool/api/metricCatalogue.ts';
import type { Options } from '../options.ts';
import type { CertificateHooks } from '../serving/certificateFiles.ts';
import { awsMetrics } from './awsCalls.ts';

/** The metrics of the operator's process. */
export const operatorMetrics = {
  windowspool_build_info: gauge('Always 1: the version of the operator and of Node.js.', {
    version: { bounds: 'one per process' },
    node_version: { bounds: 'one per process' },
  }),
  windowspool_crd_version_mismatch: gauge(
    '1 while the CRD is of another minor release than the operator, otherwise 0.',
  ),
  windowspool_disruption_budget_pools: gauge(
    'Maximum number of pools that disrupt nodes at the same time (--max-pools-updating).',
  ),
  windowspool_reconcile_interval_max_seconds: gauge(
    'Longest time between two reconciliations of a pool, plus or minus a quarter: the longest of the interval flags and --retry-max.',
  ),
  windowspool_metrics_certificate_expiration_timestamp_seconds: gauge(
    'When the certificate of the metrics endpoint expires. No series for the self-signed certificate.',
  ),
  windowspool_metrics_certificate_not_before_timestamp_seconds: gauge(
    'From when on the certificate of the metrics endpoint is valid. No series for the self-signed certificate.',
  ),
  certwatcher_read_certificate_total: counter('Certificates loaded from --metrics-cert-dir.'),
  certwatcher_read_certificate_errors_total: counter('Failed attempts to load a certificate from --metrics-cert-dir.'),
} as const satisfies MetricCatalogue;

/** The parts of the catalogue, by heading in the docs. */
export const catalogue: Readonly<Record<string, MetricCatalogue>> = {
  Pools: poolMetrics,
  AWS: awsMetrics,
  Operator: operatorMetrics,
  'Engine (names of controller-runtime and client-go)': engineMetrics,
};

/** prom-client's metrics of the process and of Node.js, without three gauges that have the name of counters. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
}

/** The flags that decide when a pool is polled next: schedule.ts and providers/nodeGroup/groupSchedule.ts in controllers/windowspool. */
const INTERVALS = ['resyncMs', 'createRetryMs', 'pollMs', 'deniedRetryMs', 'retryMaxMs'] as const;

/** Sets the metrics that do not change while the process runs. */
export function showOperator(
  registry: Registry,
  options: Pick<Options, 'maxPoolsUpdating' | (typeof INTERVALS)[number]>,
  version: string,
): void {
  const make = new Instruments(registry, operatorMetrics);
  make.gauge('windowspool_build_info').set({ version, node_version: process.version }, 1);
  make.gauge('windowspool_disruption_budget_pools').set(options.maxPoolsUpdating);
  make
    .gauge('windowspool_reconcile_interval_max_seconds')
    .set(Math.max(...INTERVALS.map((name) => options[name])) / 1_000);
}

/** Sets whether the CRD is of another release than the operator. */
export function crdMetric(registry: Registry): (isOther: boolean) => void {
  const mismatch = new Instruments(registry, operatorMetrics).gauge('windowspool_crd_version_mismatch');
  return (isOther) => mismatch.set(isOther ? 1 : 0);
}

/** Metrics of the certificate of /metrics. */
export function certificateMetrics(registry: Registry): CertificateHooks {
  const make = new Instruments(registry, operatorMetrics);
  const expiration = make.gauge('windowspool_metrics_certificate_expiration_timestamp_seconds');
  const notBefore = make.gauge('windowspool_metrics_certificate_not_before_timestamp_seconds');
  const reads = make.counter('certwatcher_read_certificate_total');
  const failures = make.counter('certwatcher_read_certificate_errors_total');
  return {
    read: ({ startsAt, endsAt }) => {
      expiration.set(endsAt / 1_000);
      notBefore.set(startsAt / 1_000);
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
