/** How Grafana reads a dashboard: its panels, and its queries with their variables filled in. */
import assert from 'node:assert/strict';
import type { Row } from './dashboardValues.ts';

/** The scrape job of the operator in config/prometheus. */
export const JOB = 'windowspool-operator';

/** An expression with Grafana's variables filled in; '' selects the series without the label `cluster`. */
export function chosen(expr: string, pools: readonly string[], cluster = ''): string {
  const variables: Readonly<Record<string, string>> = {
    $__rate_interval: '10s',
    $cluster: cluster,
    $namespace: '.*',
    $job: JOB,
    $node: '.*',
    $pool: pools.join('|') || '.*',
  };
  return expr.replaceAll(/\$\w+/g, (name) => {
    const value = variables[name];
    assert.notEqual(value, undefined, `${name} in ${expr}`);
    return value ?? '';
  });
}

/** Sorted, and without rounding errors. */
export function sorted(rows: readonly Row[]): readonly Row[] {
  const key = ([labels]: Row) => JSON.stringify(Object.entries(labels).sort());
  return rows
    .map(([labels, value]): Row => [labels, Math.round(value * 100) / 100])
    .sort((a, b) => key(a).localeCompare(key(b)));
}
