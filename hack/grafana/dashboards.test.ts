import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { catalogue, processMetrics } from '../../cmd/operator/metrics/catalogue.ts';
import type { MetricCatalogue, MetricDefinition } from '../../controllers/runtime/metricDefinition.ts';
import { poolMetrics } from '../../controllers/windowspool/api/metricCatalogue.ts';
import { runbooks } from './alerts.ts';
import { dashboards } from './dashboards.ts';
import { type PanelJson, panelsOf, parseDashboard } from './model.ts';
import { readExpression } from './promql.ts';
import { windowsMetrics } from './windowsExporter.ts';

const files = Object.entries(dashboards()).map(([file, text]) => ({ file, text, board: parseDashboard(text) }));
const panels = files.flatMap(({ file, board }) => panelsOf(board).map((panel) => ({ file, panel })));
const queries = panels.flatMap(({ file, panel }) =>
  panel.targets.map((query) => ({ ...query, what: `${file}, ${panel.title}: ${query.expr}` })),
);

/** Labels that a scrape adds: those of Prometheus, of its Kubernetes service discovery, and of the relabeling in docs/how-to/monitoring.md#dashboards. */
const OF_OPERATOR = ['cluster', 'namespace', 'job', 'instance'];
const OF_NODES = ['cluster', 'pool', 'node'];
const ALERTS: MetricDefinition = {
  type: 'gauge',
  help: 'Prometheus: the alerts.',
  labels: Object.fromEntries(
    ['alertname', 'alertstate', 'severity', 'pool'].map((label) => [label, { bounds: 'any' }]),
  ),
};

/** Every metric that a dashboard may use, with the labels of its series; a histogram by its parts. */
async function known(): Promise<ReadonlyMap<string, { type: string; labels: MetricDefinition['labels'] }>> {
  const any = { bounds: 'any' };
  const found = new Map<string, { type: string; labels: MetricDefinition['labels'] }>();
  const add = (metrics: MetricCatalogue, scrape: readonly string[]) => {
    const given = Object.fromEntries(scrape.map((label) => [label, any]));
    for (const [name, { type, labels }] of Object.entries(metrics)) {
      if (type !== 'histogram') found.set(name, { type, labels: { ...given, ...labels } });
      else found.set(`${name}_bucket`, { type: 'counter', labels: { ...given, ...labels, le: any } });
    }
  };
  for (const part of Object.values(catalogue)) add(part, OF_OPERATOR);
  for (const { name, type } of await processMetrics())
    found.set(name, { type, labels: Object.fromEntries(OF_OPERATOR.map((label) => [label, any])) });
  add(windowsMetrics, OF_NODES);
  add({ ALERTS }, ['cluster']);
  return found;
}

/** Counters of rare events. Their series begin with the first event, which `increase` does not show. */
const COUNTS = [
  'windowspool_drift_corrected_total',
  'windowspool_instances_ended_total',
  'windowspool_drains_aborted_total',
];

/** Metrics of pools that are not useful in a dashboard. */
const NOT_SHOWN = [
  'windowspool_created_timestamp_seconds',
  'windowspool_first_ready_timestamp_seconds',
  'windowspool_status_written_timestamp_seconds',
];

describe('the dashboards', () => {
  it('have a question and a unit in every panel, and use the selected data source', () => {
    for (const { file, panel } of panels) {
      const what = `${file}, ${panel.title}`;
      assert.match(panel.title, /^[A-Z].+[^.]$/, what);
      assert.match(panel.description, /\?/, what);
      assert.match(panel.description, /[.?]$/, what);
      assert.ok(panel.fieldConfig.defaults.unit, `${what} has no unit`);
      assert.ok(panel.targets.length > 0, `${what} has no query`);
      for (const { datasource } of [panel, ...panel.targets])
        assert.deepEqual(datasource, { type: 'prometheus', uid: `\${datasource}` }, what);
    }
  });

  it('have panels with unique IDs and titles, in full rows', () => {
    for (const { file, board } of files) {
      const rows = board.panels.filter(({ type }) => type === 'row');
      const all = [...rows, ...panelsOf(board)];
      assert.equal(new Set(all.map(({ id }) => id)).size, all.length, file);
      const titles = all.map(({ title }) => title);
      assert.equal(new Set(titles).size, titles.length, file);
      for (const [y, line] of Map.groupBy(all, ({ gridPos }) => gridPos.y)) {
        const spans = line.map(({ gridPos }) => [gridPos.x, gridPos.x + gridPos.w]);
        assert.deepEqual(
          [0, ...spans.map(([, end]) => end)],
          [...spans.map(([start]) => start), 24],
          `${file}, y=${y}`,
        );
        assert.equal(new Set(line.map(({ gridPos }) => gridPos.h)).size, 1, `${file}, y=${y}`);
      }
    }
  });

  it('run only the queries of the first screen, and refresh seldom', () => {
    for (const { file, board } of files) {
      const [first, ...others] = board.panels.filter(({ type }) => type === 'row');
      assert.deepEqual(
        [first?.collapsed, ...others.map(({ collapsed }) => collapsed)],
        [false, ...others.map(() => true)],
      );
      const open = board.panels.filter(({ type }) => type !== 'row');
      // The rows of Grafana's grid that a screen of 1080 pixels shows below its bars.
      for (const { title, gridPos } of open) assert.ok(gridPos.y + gridPos.h <= 24, `${file}, ${title}`);
    }
    assert.deepEqual(
      files.map(({ board }) => board.refresh),
      ['5m', '1m', '1m'],
    );
  });

  it('use only existing metrics, with their labels and values', async () => {
    const metrics = await known();
    for (const { expr, what } of queries) {
      const { selectors, grouping, bare } = readExpression(expr);
      assert.deepEqual(
        bare.filter((name) => name !== 'group_left'),
        [],
        what,
      );
      const labels = new Set<string>();
      for (const { metric, matchers } of selectors) {
        const declared = metrics.get(metric)?.labels;
        assert.ok(declared, `${what}: there is no ${metric}`);
        for (const { label, operator, value } of matchers) {
          const allowed = declared[label];
          assert.ok(allowed, `${what}: ${metric} has no label ${label}`);
          if (!('values' in allowed) || value.includes('$')) continue;
          for (const one of operator === '=~' ? value.split('|') : [value])
            assert.ok(allowed.values.includes(one), `${what}: ${label} is never ${one}`);
        }
        for (const label of Object.keys(declared)) labels.add(label);
      }
      assert.deepEqual(
        grouping.filter((label) => !labels.has(label)),
        [],
        what,
      );
    }
  });

  it('compute rates only of counters, over the interval that Grafana sets', async () => {
    const metrics = await known();
    for (const { expr, what } of queries) {
      for (const { metric } of readExpression(expr).selectors) {
        const inRate = expr.includes(`rate(${metric}{`);
        assert.equal(inRate, metrics.get(metric)?.type === 'counter' && !COUNTS.includes(metric), what);
      }
      for (const [, range] of expr.matchAll(/\}(\[[^\]]*\])/g)) assert.equal(range, '[$__rate_interval]', what);
    }
  });

  it('show every metric of pools', () => {
    const shown = new Set(queries.flatMap(({ expr }) => readExpression(expr).selectors.map(({ metric }) => metric)));
    assert.deepEqual(
      Object.keys(poolMetrics).filter((metric) => !shown.has(metric)),
      NOT_SHOWN,
    );
  });

  it('name series by labels of their queries, and show columns of their tables', () => {
    for (const { panel, file } of panels) {
      for (const { expr, legendFormat = '' } of panel.targets) {
        const { grouping } = readExpression(expr);
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          assert.ok(grouping.includes(label), `${file}, ${panel.title}: no query gives ${label}`);
      }
      if (panel.type === 'table')
        for (const field of columnsOf(panel))
          assert.ok(fieldsOf(panel).includes(field), `${file}, ${panel.title}: ${field}`);
    }
  });

  it('use instant queries for numbers, and range queries for lines', () => {
    for (const { file, panel } of panels) {
      const isLine = ['timeseries', 'state-timeline'].includes(panel.type);
      for (const { instant = false, range = false } of panel.targets)
        assert.deepEqual({ instant, range }, { instant: !isLine, range: isLine }, `${file}, ${panel.title}`);
    }
  });

  it('have exactly the variables that their queries and links use', () => {
    const builtIn = ['__rate_interval', '__value', '__data', '__url_time_range', '__all'];
    for (const { file, text, board } of files) {
      const declared = board.templating.list.map(({ name }) => name);
      assert.equal(declared[0], 'datasource', file);
      const used = [...text.matchAll(/\$\{?(\w+)/g)]
        .map(([, name = '']) => name)
        .filter((name) => !builtIn.includes(name));
      assert.deepEqual([...new Set(used)].sort(), [...declared].sort(), file);
    }
  });

  it('link to each other next to the title', () => {
    for (const { text } of files) assert.doesNotMatch(text, /inControlsMenu/);
    const uids = files.map(({ board }) => board.uid);
    assert.deepEqual(
      files.map(({ file }) => file),
      uids.map((uid) => `${uid}.json`),
    );
    for (const { text } of files)
      for (const [, uid = ''] of text.matchAll(/"\/d\/([\w-]+)/g)) assert.ok(uids.includes(uid), uid);
  });

  it('name the columns that their links read', () => {
    for (const { file, panel } of panels) {
      const read = [...JSON.stringify(panel).matchAll(/__data\.fields\.(\w+)/g)].map(([, name]) => name);
      const shown = JSON.stringify(panel.transformations?.map(({ options }) => options) ?? []);
      for (const name of read) assert.ok(shown.includes(`:"${name}"`), `${file}, ${panel.title}: ${name}`);
    }
  });

  it('link the runbook of every alert from the related panels', () => {
    const linked = panels.flatMap(({ panel: { links = [] } }) => links.map(({ url }) => url));
    assert.deepEqual([...new Set(linked)].sort(), Object.values(runbooks).sort());
    for (const url of linked) {
      const [, page = ''] = /\/blob\/main\/(docs\/operate\/runbooks\/\w+\.md)$/.exec(url) ?? [];
      assert.ok(existsSync(new URL(`../../${page}`, import.meta.url)), url);
    }
  });

  it('are in ConfigMaps for the sidecar of Grafana that fit in the annotation of kubectl apply', () => {
    const { configMapGenerator, generatorOptions } = parse(
      readFileSync(new URL('../../config/grafana/kustomization.yaml', import.meta.url), 'utf8'),
    );
    assert.deepEqual(
      configMapGenerator.flatMap((map: { files: string[] }) => map.files),
      files.map(({ file }) => file),
    );
    assert.deepEqual(generatorOptions.labels, { grafana_dashboard: '1' });
    // TotalAnnotationSizeLimitB of apimachinery's validation, minus the text around the dashboard.
    for (const { file, text } of files) assert.ok(JSON.stringify(text).length < 256 * 1024 - 4096, file);
  });
});

/** The columns that a table keeps. */
function columnsOf({ transformations = [] }: PanelJson): readonly string[] {
  return transformations.flatMap(({ options }) => options.include?.names ?? []);
}

/** The columns of the queries of a table. */
function fieldsOf(panel: PanelJson): readonly string[] {
  const asked = panel.targets;
  const labels = asked.flatMap(({ expr }) => readExpression(expr).grouping);
  return [...labels, ...asked.map(({ refId }) => (asked.length === 1 ? 'Value' : `Value #${refId}`))];
}
