import assert from 'node:assert/strict';
import { NodegroupIssueCode } from '@aws-sdk/client-eks';
import { Registry } from 'prom-client';
import { createEngineMetrics } from '../../../controllers/runtime/metrics.ts';
import { HEALTH_CODES } from '../../../controllers/windowspool/ports/eks.ts';
import { sampleNode, sampleState } from '../../../controllers/windowspool/testing/fixtures.ts';
import { everyObservedState, samplesFor } from '../../../controllers/windowspool/testing/statesForMetrics.ts';
import { observeAwsCalls } from './awsCalls.ts';
import {
  catalogue,
  certificateMetrics,
  collectProcessMetrics,
  crdMetric,
  processMetrics,
  showOperator,
} from './catalogue.ts';
import { PoolSeries } from './poolSeries.ts';

const metrics = Object.assign({}, ...Object.values(catalogue)) as (typeof catalogue)[string];

/** The defaults of the flags. */
const INTERVALS = {
  resyncMs: 600_000,
  createRetryMs: 900_000,
  pollMs: 20_000,
  deniedRetryMs: 60_000,
  retryMaxMs: 300_000,
};

/** A registry in which every metric has a series. */
function filled(): Registry {
  const registry = new Registry();
  collectProcessMetrics(registry);
  showOperator(registry, { maxPoolsUpdating: 1, ...INTERVALS }, '0.1.0');
  certificateMetrics(registry).read({ startsAt: 0, endsAt: 0 });
  crdMetric(registry)(true);
  const call = { service: 'eks', operation: 'DescribeNodegroup', tookSeconds: 0.1, waitedSeconds: 0 } as const;
  observeAwsCalls(registry)({ ...call, result: 'throttled', code: 'ThrottlingException', attempts: 3 });
  const engine = createEngineMetrics(registry);
  engine.request('200', 'GET', 'localhost:6443');
  engine.leaderElection('windowspool-operator').leading(true);
  engine.observeQueue('windowspool', { unfinished: () => [1_500] });
  const { started, ended, queue } = engine.controller('windowspool', 4);
  started?.();
  ended?.('success', 20);
  queue?.taken?.(5);
  queue?.finished?.(5);
  engine.reflector('nodes').listed?.(10);
  const pools = new PoolSeries(registry);
  for (const [i, s] of everyObservedState().entries()) pools.show(`pool-${i}`, samplesFor(s));
  for (const what of ['confirmed', 'written'] as const)
    pools.stamp('pool-0', { metric: `windowspool_status_${what}_timestamp_seconds`, labels: {}, value: 1 });
  pools.add('pool-0', [
    { metric: 'windowspool_drift_corrected_total', labels: { part: 'tag' }, value: 1 },
    { metric: 'windowspool_evictions_total', labels: { result: 'blocked' }, value: 1 },
    { metric: 'windowspool_instances_ended_total', labels: { operation: 'Remove', reason: 'Requested' }, value: 1 },
    { metric: 'windowspool_drains_aborted_total', labels: { reason: 'timed-out' }, value: 1 },
  ]);
  return registry;
}

interface Line {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The samples of a scrape; those of a histogram under its name, without the bounds of its buckets. */
async function scrape(registry: Registry): Promise<Line[]> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', text = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    const base = name.replace(/_(bucket|sum|count)$/, '');
    const isHistogram = metrics[base]?.type === 'histogram';
    const pairs = [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', value = '']) => [label, value]);
    const labels = Object.fromEntries(pairs.filter(([label]) => !(isHistogram && label === 'le')));
    return { metric: isHistogram ? base : name, labels };
  });
}

describe('the metric catalogue', () => {
  it('has exactly the metrics of a scrape, with their labels and values', async () => {
    const ofProcess = new Set((await processMetrics()).map(({ name }) => name));
    const found = await scrape(filled());
    const own = found.filter(({ metric }) => !ofProcess.has(metric.replace(/_(bucket|sum|count)$/, '')));
    for (const { metric, labels } of own) {
      const declared = metrics[metric]?.labels;
      assert.ok(declared, `${metric} is not in the catalogue`);
      assert.deepEqual(Object.keys(labels).sort(), Object.keys(declared).sort(), metric);
      for (const [label, text] of Object.entries(labels)) {
        const allowed = declared[label];
        if (allowed && 'values' in allowed) assert.ok(allowed.values.includes(text), `${metric} ${label}=${text}`);
      }
    }
    assert.deepEqual([...new Set(own.map(({ metric }) => metric))].sort(), Object.keys(metrics).sort());
  });

  it('follows the naming conventions of Prometheus: base units, and _total only for counters', () => {
    for (const [name, { type, help, labels }] of Object.entries(metrics)) {
      assert.match(name, /^[a-z][a-z0-9_]*$/);
      assert.equal(name.endsWith('_total'), type === 'counter', name);
      assert.doesNotMatch(name, /_(ms|milliseconds|minutes|kb|kilobytes|percent|count|sum|bucket)$/, name);
      assert.match(help, /^([A-Z01]|spec\.).*\.$/, name);
      for (const label of Object.keys(labels)) assert.match(label, /^[a-z][a-z0-9_]*$/, name);
    }
  });

  it('has no label for a node, a pod or an instance', () => {
    const labels = Object.values(metrics).flatMap((metric) => Object.keys(metric.labels));
    assert.deepEqual(
      labels.filter((label) => ['node', 'pod', 'instance', 'uid', 'message'].includes(label)),
      [],
    );
  });

  it('has every health issue code of the SDK', () => {
    assert.deepEqual([...HEALTH_CODES].sort(), Object.values(NodegroupIssueCode).sort());
  });
});

describe('the longest interval between two reconciliations', () => {
  for (const name of Object.keys(INTERVALS))
    it(`is ${name} if it is the longest of the intervals`, async () => {
      const registry = new Registry();
      showOperator(registry, { maxPoolsUpdating: 1, ...INTERVALS, [name]: 3_600_000 }, '0.1.0');
      assert.match(await registry.metrics(), /^windowspool_reconcile_interval_max_seconds 3600$/m);
    });
});

describe('the number of series', () => {
  /** The number of series of five pools with this many nodes in total, half of which fail, each with its own kernel version. */
  const shown = async (nodes: number): Promise<number> => {
    const registry = new Registry();
    const series = new PoolSeries(registry);
    for (let pool = 0; pool < 5; pool++) {
      const its = Array.from({ length: nodes / 5 }, (_, i) =>
        sampleNode({ name: `ip-${pool}-${i}`, kernelVersion: `10.0.20348.${i}`, ...(i % 2 === 0 && { taints: [] }) }),
      );
      series.show(`pool-${pool}`, samplesFor(sampleState({ nodes: its })));
    }
    return (await scrape(registry)).length;
  };

  it('is the same for 10,000 nodes in five pools as for 250', async () => {
    const [few, many] = [await shown(250), await shown(10_000)];
    assert.deepEqual([many, many < 5 * 120], [few, true]);
  });
});

describe('the metrics of calls to AWS', () => {
  it('have at most 50 error names, and other for the rest', async () => {
    const registry = new Registry();
    const observe = observeAwsCalls(registry);
    const call = { service: 'eks', operation: 'DescribeNodegroup', tookSeconds: 0, waitedSeconds: 0 } as const;
    for (let i = 0; i < 1_000; i++) observe({ ...call, result: 'unknown', code: `Error${i}`, attempts: 1 });
    const found = (await scrape(registry)).filter(({ metric }) => metric === 'windowspool_aws_requests_total');
    assert.deepEqual([found.length, found.at(-1)?.labels.code], [51, 'other']);
  });
});
