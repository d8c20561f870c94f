import assert from 'node:assert/strict';
import { windowsMetrics } from '../../hack/grafana/windowsExporter.ts';
import { windowsExposition } from './windowsExposition.ts';

describe('the stand-in for windows_exporter', () => {
  it('has each metric that the dashboards use, with its type and labels', () => {
    const text = windowsExposition(0);
    const found = new Map<string, Set<string>>();
    for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm))
      found.set(name, new Set([...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label)));
    assert.deepEqual([...found.keys()].sort(), Object.keys(windowsMetrics).sort());
    for (const [name, { type, labels }] of Object.entries(windowsMetrics)) {
      assert.deepEqual([...(found.get(name) ?? [])].sort(), Object.keys(labels).sort(), name);
      assert.ok(text.includes(`# TYPE ${name} ${type}\n`), name);
    }
  });
});
