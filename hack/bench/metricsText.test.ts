import assert from 'node:assert/strict';
import { Counter, Registry } from 'prom-client';
import { Metrics } from './metricsText.ts';

describe('the parser of metrics', () => {
  it('sums the series whose labels match', async () => {
    const registry = new Registry();
    const counter = new Counter({
      name: 'requests_total',
      help: 'h',
      labelNames: ['method', 'code'],
      registers: [registry],
    });
    counter.inc({ method: 'GET', code: '200' }, 5);
    counter.inc({ method: 'PUT', code: '200' }, 2);
    counter.inc({ method: 'PATCH', code: '409' }, 1);
    const metrics = new Metrics(await registry.metrics());
    assert.equal(metrics.sum('requests_total'), 8);
    assert.equal(metrics.sum('requests_total', { method: /^(PUT|PATCH)$/ }), 3);
    assert.equal(metrics.sum('requests_total', { method: /^PUT$/, code: /409/ }), 0);
    assert.equal(metrics.sum('unknown'), 0);
  });
});
