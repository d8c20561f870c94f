/** The page about metrics, from their catalogue. */
import { catalogue, processMetrics } from '../../cmd/operator/metrics/catalogue.ts';
import type { LabelValues, MetricDefinition } from '../../controllers/runtime/metricDefinition.ts';

/** The text of docs/metrics.md. */
export async function metricsPage(): Promise<string> {
  const parts = Object.entries(catalogue).flatMap(([title, metrics]) => [
    `## ${title}`,
    '',
    row(['metric', 'type', 'labels', 'what it says']),
    row(['---', '---', '---', '---']),
    ...Object.entries(metrics).map(([name, metric]) =>
      row([`\`${name}\``, metric.type, labelsOf(metric), metric.help.replaceAll('<', '&lt;')]),
    ),
    '',
  ]);
  const ofProcess = (await processMetrics()).map(({ name, type, help }) => row([`\`${name}\``, type, help]));
  return [
    '<!-- Generated from the metric catalogue (cmd/operator/metrics/catalogue.ts) by `make generate`. Do not edit. -->',
    '# Metrics',
    '',
    'The operator serves them on `/metrics`: [how to read them](metrics-endpoint.md). The series of a pool go with the pool, and only the replica that leads has any.',
    'No series is of a node: how many there are depends on the pools, and not on the size of the cluster.',
    'Times are in seconds since 1970, so that `time() - METRIC` is an age.',
    '',
    ...parts,
    '## Process',
    '',
    row(['metric', 'type', 'what it says']),
    row(['---', '---', '---']),
    ...ofProcess,
    '',
  ].join('\n');
}

function labelsOf({ labels }: MetricDefinition): string {
  return Object.entries(labels)
    .map(([name, values]) => (name === 'pool' ? '`pool`' : `\`${name}\`: ${describe(values)}`))
    .join('<br>');
}

function describe(values: LabelValues): string {
  return 'bounds' in values ? values.bounds : (values.see ?? values.values.map((value) => `\`${value}\``).join(', '));
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
