/** What the reader of a dashboard can choose. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableHide,
  type VariableModel,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from './panels.ts';

/** Where the metrics are, of which cluster, and of which operator. `job` follows from that. */
export function commonVariables(): Builder<VariableModel>[] {
  return [
    new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'),
    values('cluster', 'windowspool_build_info', 'Empty where the data source gives series no label `cluster`.').label(
      'Cluster',
    ),
    values('namespace', 'windowspool_build_info{cluster="$cluster"}', 'Namespace of the operator.')
      .label('Namespace')
      .multi(true)
      .includeAll(true)
      // Not the list of all: a Prometheus without service discovery gives no label.
      .allValue('.*')
      .current({ text: 'All', value: '$__all' }),
    values('job', 'windowspool_build_info{cluster="$cluster", namespace=~"$namespace"}', 'Scrape jobs of the operator.')
      .hide(VariableHide.HideVariable)
      .multi(true)
      .includeAll(true)
      .current({ text: 'All', value: '$__all' }),
  ];
}

/** Some pools, or all. */
export function somePools(): Builder<VariableModel> {
  return pools().multi(true).includeAll(true).allValue('.*').current({ text: 'All', value: '$__all' });
}

/** One pool, and those of its nodes that windows_exporter shows. */
export function onePool(): Builder<VariableModel>[] {
  return [
    pools(),
    values(
      'node',
      'windows_memory_physical_total_bytes{cluster="$cluster", pool=~"$pool"}',
      'Nodes with windows_exporter.',
    )
      .label('Node')
      .multi(true)
      .includeAll(true)
      .allValue('.*')
      .current({ text: 'All', value: '$__all' }),
  ];
}

function pools(): QueryVariableBuilder {
  return values('pool', 'windowspool_info{cluster="$cluster", namespace=~"$namespace"}', 'WindowsPools.').label('Pool');
}

/** The values of a label in the series of a metric. */
function values(label: string, series: string, description: string): QueryVariableBuilder {
  return new QueryVariableBuilder(label)
    .description(description)
    .datasource(DATASOURCE)
    .query({ query: `label_values(${series}, ${label})`, refId: `variable-${label}` })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc);
}
