import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import type { PoolMetrics } from '../../controllers/windowspool/ports.ts';
import { PrometheusPoolMetrics } from './poolMetrics.ts';

const nothing: PoolMetrics = {
  conditions: [],
  nodes: {},
  failures: {},
  kernels: {},
  belowMinimum: undefined,
  prerequisites: [],
  nodeGroupStatus: undefined,
  drift: {},
};

/** The lines of a scrape that have a value. */
async function scrape(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('the metrics of pools', () => {
  it('show the kernel versions of each pool and the nodes below its patch floor', async () => {
    const registry = new Registry();
    const metrics = new PrometheusPoolMetrics(registry);
    metrics.show('web', { ...nothing, kernels: { '10.0.20348.2762': 3, other: 1 }, belowMinimum: 0 });
    metrics.show('api', { ...nothing, kernels: { '10.0.26100.1742': 2 } });
    assert.deepEqual(await scrape(registry), [
      'windowspool_nodes_by_kernel{pool="web",kernel_version="10.0.20348.2762"} 3',
      'windowspool_nodes_by_kernel{pool="web",kernel_version="other"} 1',
      'windowspool_nodes_by_kernel{pool="api",kernel_version="10.0.26100.1742"} 2',
      'windowspool_nodes_below_minimum_revision{pool="web"} 0',
    ]);
  });

  it('no longer have a kernel version that no node has, nor a pool that is gone', async () => {
    const registry = new Registry();
    const metrics = new PrometheusPoolMetrics(registry);
    for (const kernel of ['10.0.20348.2762', '10.0.20348.5020'])
      metrics.show('web', { ...nothing, kernels: { [kernel]: 3 }, belowMinimum: 1 });
    assert.deepEqual(await scrape(registry), [
      'windowspool_nodes_by_kernel{pool="web",kernel_version="10.0.20348.5020"} 3',
      'windowspool_nodes_below_minimum_revision{pool="web"} 1',
    ]);
    metrics.drop('web');
    assert.deepEqual(await scrape(registry), []);
  });
});
