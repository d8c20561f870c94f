/** How Grafana reads a dashboard: its panels, and its queries with their variables filled in. */
import assert from 'node:assert/strict';
import type { PanelJson } from '../../hack/grafana/model.ts';
import type { Row } from './dashboardValues.ts';

/** The scrape job of the operator in config/prometheus. */
export const JOB = 'windowspool-operator';

/** The panels below each heading. */
export function rowsOf(panels: readonly PanelJson[]): (readonly [string, PanelJson[]])[] {
  const rows: [string, PanelJson[]][] = [];
  for (const panel of panels) {
    if (panel.type === 'row') rows.push([panel.title, []]);
    else rows.at(-1)?.[1].push(panel);
  }
  return rows;
}

/** An expression with Grafana's variables filled in. */
export function chosen(expr: string, pools: readonly string[]): string {
  const variables: Readonly<Record<string, string>> = {
    $__rate_interval: '10s',
    $cluster: '',
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
