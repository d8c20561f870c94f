import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import type { GaugeSample } from '../../../controllers/windowspool/api/metricCatalogue.ts';
import { PoolSeries } from './poolSeries.ts';

/** The lines of a scrape with a value. */
async function scrape(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function kernels(counts: Readonly<Record<string, number>>): GaugeSample[] {
  return Object.entries(counts).map(([kernel_version, value]) => ({
    metric: 'windowspool_nodes_by_kernel',
    labels: { kernel_version },
    value,
  }));
}

function ready(value: number): GaugeSample {
  return { metric: 'windowspool_nodes_ready', labels: {}, value };
}

describe('the series of pools', () => {
  it('are shown for each pool, including values of 0', async () => {
    const registry = new Registry();
    const series = new PoolSeries(registry);
    series.show('web', [...kernels({ '10.0.20348.2762': 3, other: 1 }), ready(0)]);
    series.show('api', kernels({ '10.0.26100.1742': 2 }));
    assert.deepEqual(await scrape(registry), [
      'windowspool_nodes_ready{pool="web"} 0',
      'windowspool_nodes_by_kernel{pool="web",kernel_version="10.0.20348.2762"} 3',
      'windowspool_nodes_by_kernel{pool="web",kernel_version="other"} 1',
      'windowspool_nodes_by_kernel{pool="api",kernel_version="10.0.26100.1742"} 2',
    ]);
  });

  it('are removed when they are no longer reported, and updated otherwise', async () => {
    const registry = new Registry();
    const series = new PoolSeries(registry);
    series.show('web', [...kernels({ '10.0.20348.2762': 3 }), ready(3)]);
    series.show('web', [...kernels({ '10.0.20348.5020': 2 }), ready(2)]);
    assert.deepEqual(await scrape(registry), [
      'windowspool_nodes_ready{pool="web"} 2',
      'windowspool_nodes_by_kernel{pool="web",kernel_version="10.0.20348.5020"} 2',
    ]);
  });

  it('keep times and counts, and are all deleted with the pool', async () => {
    const registry = new Registry();
    const series = new PoolSeries(registry);
    const corrected = (value: number) =>
      series.add('web', [{ metric: 'windowspool_drift_corrected_total', labels: { part: 'label' }, value }]);
    series.stamp('web', { metric: 'windowspool_status_confirmed_timestamp_seconds', labels: {}, value: 1_700_000_000 });
    corrected(2);
    corrected(0);
    series.show('web', [ready(1)]);
    series.show('web', []);
    corrected(1);
    assert.deepEqual(await scrape(registry), [
      'windowspool_status_confirmed_timestamp_seconds{pool="web"} 1700000000',
      'windowspool_drift_corrected_total{pool="web",part="label"} 3',
    ]);
    series.stampFirst('web', {
      metric: 'windowspool_status_confirmed_timestamp_seconds',
      labels: {},
      value: 1_800_000_000,
    });
    series.stampFirst('api', {
      metric: 'windowspool_status_confirmed_timestamp_seconds',
      labels: {},
      value: 1_800_000_000,
    });
    assert.deepEqual((await scrape(registry)).slice(0, 2), [
      'windowspool_status_confirmed_timestamp_seconds{pool="web"} 1700000000',
      'windowspool_status_confirmed_timestamp_seconds{pool="api"} 1800000000',
    ]);
    series.show('web', [ready(1)]);
    for (const pool of ['web', 'api']) series.drop(pool);
    assert.deepEqual(await scrape(registry), []);
  });
});
