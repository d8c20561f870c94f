/** What is shown of pools and of AWS calls on /metrics. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CallObserver } from '../../controllers/aws/calls.ts';
import type { Metrics, PoolMetrics } from '../../controllers/windowspool/ports.ts';

const STATUSES = ['True', 'False', 'Unknown'];

/** The port Metrics on prom-client: gauges that follow each pool and go with it. */
export class PrometheusPoolMetrics implements Metrics {
  readonly #conditions: Gauge;
  readonly #nodes: Gauge;
  readonly #failures: Gauge;
  readonly #kernels: Gauge;
  readonly #belowMinimum: Gauge;
  readonly #prerequisites: Gauge;
  readonly #groups: Gauge;
  readonly #drift: Gauge;
  readonly #corrected: Counter;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string, labelNames: string[]) =>
      new Gauge({ name, help, labelNames, registers: [registry] });
    this.#conditions = gauge('windowspool_status_condition', 'The conditions of a pool: 1 for the status that holds.', [
      'pool',
      'type',
      'status',
    ]);
    this.#nodes = gauge('windowspool_nodes', 'Nodes of a pool by state: verified, joining, failing.', [
      'pool',
      'state',
    ]);
    this.#failures = gauge(
      'windowspool_node_failures',
      'Nodes of a pool that fail a check, by the reason of the check.',
      ['pool', 'reason'],
    );
    this.#kernels = gauge(
      'windowspool_nodes_by_kernel',
      'Nodes of a pool by kernel version: at most 20 a pool; the rest, and what is no Windows build, is other.',
      ['pool', 'kernel_version'],
    );
    this.#belowMinimum = gauge(
      'windowspool_nodes_below_minimum_revision',
      'Nodes of a pool below its verification.minimumRevision, also where that only warns; no series without a minimumRevision.',
      ['pool'],
    );
    this.#prerequisites = gauge(
      'windowspool_prerequisite',
      'Prerequisites of a pool that are not met (status False) or not known (Unknown), by reason; what is met has no series.',
      ['pool', 'reason', 'status'],
    );
    this.#groups = gauge(
      'windowspool_node_group_status',
      'The status of the node group in EKS: 1 for the one that holds.',
      ['pool', 'status'],
    );
    this.#drift = gauge(
      'windowspool_drift_fields',
      'Fields of the node group that differ from the spec and are left so (driftPolicy Report), by part: label, taint, scaling, tag, version, release, template, update.',
      ['pool', 'part'],
    );
    this.#corrected = new Counter({
      name: 'windowspool_drift_corrected_total',
      help: 'Fields of the node group that were put right although no change of the spec asked for it, by part.',
      labelNames: ['pool', 'part'],
      registers: [registry],
    });
  }

  show(pool: string, metrics: PoolMetrics): void {
    const { conditions, nodes, failures, prerequisites, nodeGroupStatus, drift } = metrics;
    this.#dropGauges(pool);
    for (const { type, status } of conditions) {
      for (const candidate of STATUSES)
        this.#conditions.set({ pool, type, status: candidate }, candidate === status ? 1 : 0);
    }
    for (const [state, count] of Object.entries(nodes)) this.#nodes.set({ pool, state }, count);
    for (const [reason, count] of Object.entries(failures)) this.#failures.set({ pool, reason }, count);
    for (const [version, count] of Object.entries(metrics.kernels))
      this.#kernels.set({ pool, kernel_version: version }, count);
    if (metrics.belowMinimum !== undefined) this.#belowMinimum.set({ pool }, metrics.belowMinimum);
    for (const [part, fields] of Object.entries(drift)) this.#drift.set({ pool, part }, fields);
    for (const { reason, status } of prerequisites) this.#prerequisites.set({ pool, reason, status }, 1);
    if (nodeGroupStatus) this.#groups.set({ pool, status: nodeGroupStatus }, 1);
  }

  /** Takes the pool's series away: a scrape must not show what no longer holds. */
  drop(pool: string): void {
    this.#dropGauges(pool);
    removeSeries(this.#corrected, pool);
  }

  corrected(pool: string, fields: Readonly<Record<string, number>>): void {
    for (const [part, count] of Object.entries(fields)) if (count > 0) this.#corrected.inc({ pool, part }, count);
  }

  #dropGauges(pool: string): void {
    const ofNodes = [this.#nodes, this.#failures, this.#kernels, this.#belowMinimum];
    const ofGroup = [this.#prerequisites, this.#groups, this.#drift];
    for (const gauge of [this.#conditions, ...ofNodes, ...ofGroup]) removeSeries(gauge, pool);
  }
}

/** prom-client 15 removes a series only by all its labels, and keeps them in this map. */
function removeSeries(metric: Gauge | Counter, pool: string): void {
  const { hashMap } = metric as unknown as { hashMap: Record<string, { labels: Record<string, string> }> };
  for (const { labels } of Object.values(hashMap)) if (labels.pool === pool) metric.remove(labels);
}

/** Counts and times the calls to AWS. */
export function awsMetrics(registry: Registry): CallObserver {
  const calls = new Counter({
    name: 'windowspool_aws_requests_total',
    help: 'Calls to AWS by service, operation and result (OK or the name of the error).',
    labelNames: ['service', 'operation', 'code'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'windowspool_aws_request_duration_seconds',
    help: 'How long calls to AWS took, the repeats of the SDK included.',
    labelNames: ['service', 'operation'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60],
    registers: [registry],
  });
  return (service, operation, code, took) => {
    calls.inc({ service, operation, code });
    seconds.observe({ service, operation }, took);
  };
}
