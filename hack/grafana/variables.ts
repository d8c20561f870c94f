/** The variables of the dashboards. */
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

/** The data source, the cluster, and the operator, which determine `job`. */
export function commonVariables(): Builder<VariableModel>[] {
  return [
    datasource(),
    values('cluster', 'windowspool_build_info', 'Empty if the series have no label `cluster`.').label('Cluster'),
    values('namespace', 'windowspool_build_info{cluster="$cluster"}', 'Namespace of the operator.')
      .label('Namespace')
      .multi(true)
      .includeAll(true)
      // Not the list of all values, because a Prometheus without service discovery adds no label.
      .allValue('.*')
      .current({ text: 'All', value: '$__all' }),
    values('job', 'windowspool_build_info{cluster="$cluster", namespace=~"$namespace"}', 'Scrape jobs of the operator.')
      .hide(VariableHide.HideVariable)
      .multi(true)
      .includeAll(true)
      .current({ text: 'All', value: '$__all' }),
  ];
}

/** The data source, and some clusters, or all. */
export function fleetVariables(): Builder<VariableModel>[] {
  return [
    datasource(),
    values('cluster', 'windowspool_build_info', 'Clusters by the label `cluster`; All also matches series without it.')
      .label('Cluster')
      .multi(true)
      .includeAll(true)
      .allValue('.*')
      .current({ text: 'All', value: '$__all' }),
  ];
}

function datasource(): Builder<VariableModel> {
  return new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus');
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
      'Nodes that run windows_exporter.',
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
