/** The page about metrics, from their catalogue. */
import { catalogue, processMetrics } from '../../cmd/operator/metrics/catalogue.ts';
import type { LabelValues, MetricDefinition } from '../../controllers/runtime/metricDefinition.ts';

/** The text of docs/reference/metrics.md. */
export async function metricsPage(): Promise<string> {
  const parts = Object.entries(catalogue).flatMap(([title, metrics]) => [
    `## ${title}`,
    '',
    row(['metric', 'type', 'labels', 'meaning']),
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
    'The operator serves these metrics on `/metrics`. To scrape them, see [metrics endpoint](../how-to/monitoring.md#metrics-endpoint). The series of a pool are deleted with the pool, and only the leader has them.',
    'No metric has a label for a node, so the number of series does not depend on the number of nodes.',
    'Timestamps are Unix time in seconds: `time() - METRIC` is the age.',
    '',
    ...parts,
    '## Process',
    '',
    row(['metric', 'type', 'meaning']),
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
