import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { catalogue } from '../../cmd/operator/metrics/catalogue.ts';
import { reasons } from '../../controllers/windowspool/api/reasons.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { windowsMetrics } from '../../hack/grafana/windowsExporter.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import { type AlertCase, alertCases } from './alertCases.ts';
import { alertRules, alerts, hastened, ruleFile, ruleText } from './alertRules.ts';
import { type Scenario, scenarios, seriesOf } from './alertScenarios.ts';
import { inhibitRules } from './inhibitRules.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
/** Where a text of a rule has the value: formatted, or in a choice. */
const VALUE = /{{ if .*?{{ end }}|{{ \$value.*?}}/;
const RUNBOOKS = 'https://github.com/windowspool-operator/windowspool-operator/blob/main/docs/operate/runbooks/';

describe('the rules for Prometheus', function () {
  // promtool may have to be built.
  this.timeout(900_000);
  let folder: string;
  let promtool: string;
  before(async () => {
    promtool = await toolPath('promtool', (line) => console.log(`    ${line}`));
    folder = await mkdtemp(join(tmpdir(), 'windowspool-rules-'));
    await writeFile(join(folder, 'rules.yaml'), ruleText());
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const run = (...args: readonly string[]) => runCommand(promtool, args, { cwd: folder, timeoutMs: 60_000 });

  it('pass promtool with every lint', async () => {
    const { stdout, stderr, code } = await run('check', 'rules', '--lint=all', '--lint-fatal', 'rules.yaml');
    assert.equal(code, 0, stdout + stderr);
  });

  it('use only metrics of the operator and of windows_exporter', () => {
    const known = new Set([
      ...Object.values(catalogue).flatMap((part) => Object.keys(part)),
      ...Object.keys(windowsMetrics),
    ]);
    const named = ruleFile.groups.flatMap(({ rules }) =>
      rules.flatMap(({ expr }) => expr.match(/(?<!:)\b(?:windowspool|windows|leader|reflector)_\w+/g) ?? []),
    );
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    );
  });

  it('have a summary, a severity and a runbook for each alert, and every runbook has an alert', () => {
    for (const { alert, labels, annotations } of alertRules) {
      assert.match(labels?.severity ?? '', /^(info|warning|critical)$/, alert);
      assert.deepEqual(Object.keys(annotations ?? {}), ['summary', 'description', 'runbook_url'], alert);
      assert.equal(annotations?.runbook_url, `${RUNBOOKS}${alert}.md`);
    }
    const pages = globSync('docs/operate/runbooks/*.md', { cwd: ROOT });
    assert.deepEqual(
      pages
        .map((page) => basename(page, '.md'))

        .sort(),
      [...alerts.keys()].sort(),
    );
  });

  it('end each description with the first command to run, and name the pool and the reason if the alert has them', () => {
    for (const { alert, expr, annotations: { summary = '', description = '' } = {} } of alertRules) {
      assert.match(description, /\. Run: (kubectl|aws) [^\n]+$/, alert);
      for (const label of ['pool', 'reason', 'status', 'code', 'name'])
        if (new RegExp(`^max by \\([^)]*\\b${label}\\b`).test(expr))
          for (const text of [summary, description])
            assert.ok(text.includes(`{{ $labels.${label} }}`), `${alert}: ${label}`);
    }
  });

  it('are critical only if a pool lacks capacity, or cannot get any while the operator is down', () => {
    const critical = alertRules.filter(({ labels }) => labels?.severity === 'critical').map(({ alert }) => alert);
    assert.deepEqual(critical, ['WindowsPoolNotReady', 'WindowsPoolOperatorDown', 'WindowsPoolOperatorNoLeader']);
  });

  it('have names by the conventions of Prometheus and of its mixins', () => {
    for (const { alert } of alertRules) assert.match(alert, /^WindowsPool([A-Z][a-z]+)+$/);
    const recorded = ruleFile.groups.flatMap(({ rules }) => rules.flatMap(({ record }) => record ?? []));
    // level:metric:operations
    for (const name of recorded) assert.match(name, /^(cluster|pool|pool_reason):windowspool(_[a-z]+)+:[a-z0-9_]+$/);
  });

  it('keep the namespace of the scrape, to which the Prometheus Operator restricts inhibition rules', () => {
    // The metrics of windows_exporter have the namespace of windows_exporter.
    const [ofNodes, ...others] = [...ruleFile.groups].sort((a) => (a.name === 'windowspool.nodes' ? -1 : 1));
    assert.equal(ofNodes?.name, 'windowspool.nodes');
    for (const { alert = '', expr } of others.flatMap(({ rules }) => rules.filter((rule) => rule.alert))) {
      const [, level] = /^\W*(?:time\(\) - )?(?:max|min|sum) by \(([^)]*)\)/.exec(expr) ?? [];
      if (level !== undefined) assert.match(level, /^cluster, namespace\b/, alert);
    }
  });

  it('have runbooks that name only reasons which a pool can have', () => {
    const named = globSync('docs/operate/runbooks/*.md', { cwd: ROOT }).flatMap((page) => {
      const [, table = ''] = read(page).split(/^\| reason \|.*\n/m);
      const firstCells = [...table.matchAll(/^\|([^|]*)\|/gm)].map(([, cell = '']) => cell);
      return firstCells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, reason = '']) => `${page} ${reason}`));
    });
    assert.ok(named.length > 10);
    // These are not reasons: one is a condition, the other is a code of EKS.
    const known = [...Object.keys(reasons), 'Stalled', 'PodEvictionFailure'];
    assert.deepEqual(
      named.filter((entry) => !known.includes(entry.split(' ')[1] ?? '')),
      [],
    );
  });

  it('are listed in the docs with their severity', () => {
    const rows = [
      ...read('docs/reference/alerts.md').matchAll(/^\| \[(\w+)\]\(\.\.\/operate\/runbooks\/(\w+)\.md\) \| (\w+) \|/gm),
    ];
    const shown = rows.map(([, name, page, severity]) => [name, page, severity]);
    assert.deepEqual(
      shown,
      alertRules.map(({ alert, labels }) => [alert, alert, labels?.severity]),
    );
  });

  it('come with inhibition rules about existing alerts, which the docs repeat for other Alertmanagers', () => {
    const named = inhibitRules.flatMap((rule) => JSON.stringify(rule).match(/WindowsPool[A-Z]\w+/g) ?? []);
    assert.deepEqual(
      named.filter((name) => !alerts.has(name)),
      [],
    );
    const [, text = ''] = /```yaml\n(inhibit_rules:\n[^`]*)```/.exec(read('docs/reference/alerts.md')) ?? [];
    const plain = (value: object) =>
      JSON.parse(JSON.stringify(value, (_, it) => (typeof it === 'string' ? it.replaceAll(/[" ]/g, '') : it)));
    assert.deepEqual(plain(parse(text)), plain({ inhibit_rules: inhibitRules }));
  });

  it('are installed with a ServiceMonitor that selects the Service of the metrics', () => {
    const { metadata, spec } = parse(read('config/manager/metrics_service.yaml'));
    const monitor = parse(read('config/prometheus/service_monitor.yaml'));
    assert.equal(monitor.metadata.namespace, metadata.namespace);
    assert.deepEqual(monitor.spec.selector.matchLabels, metadata.labels);
    assert.deepEqual(
      monitor.spec.endpoints.map(({ port }: { port: string }) => port),
      [spec.ports[0].name],
    );
    // The rules select this job.
    assert.equal(metadata.labels[monitor.spec.jobLabel], 'windowspool-operator');
  });

  it('are all tested', () => {
    const firing = alertCases.filter(({ fires }) => fires).map(({ alert }) => alert);
    assert.deepEqual([...new Set(firing)].sort(), [...alerts.keys()].sort());
  });

  for (const one of alertCases) {
    it(`${one.alert} fires ${one.when}`, async () => {
      await writeFile(join(folder, 'test.yaml'), stringify(testOf(one)));
      const { stdout, stderr, code } = await run('test', 'rules', 'test.yaml');
      assert.equal(code, 0, stdout + stderr);
    });
  }

  for (const scenario of scenarios) {
    it(`alert on ${scenario.what}: ${Object.keys(scenario.fires).join(', ') || 'nothing'}`, async () => {
      await writeFile(join(folder, 'test.yaml'), stringify(testOfScenario(scenario)));
      const { stdout, stderr, code } = await run('test', 'rules', 'test.yaml');
      assert.equal(code, 0, stdout + stderr);
    });
  }

  it('differ only in their durations when they are accelerated', () => {
    const plain = (file: typeof ruleFile) =>
      JSON.parse(
        JSON.stringify(file, (key, value) => {
          if (['for', 'keep_firing_for'].includes(key)) return undefined;
          return key === 'expr' ? value.replaceAll(/\[\w+\](?: offset \w+)?|> [\d.]+$/gm, '') : value;
        }),
      );
    const faster = hastened(ruleFile, 1_800);
    assert.deepEqual(plain(faster), plain(ruleFile));
    const waits = faster.groups.flatMap(({ rules }) => rules.flatMap((rule) => (rule.for ? [rule.for] : [])));
    assert.deepEqual([...new Set(waits)].sort(), ['1000ms', '12000ms', '167ms', '2000ms', '334ms', '500ms']);
    assert.doesNotMatch(JSON.stringify(faster), /_over_time[^[]*\[\d+[mhd]\]|offset \d+[mhd]\b|> (3600|86400)\b[^ ]/);
  });
});

/** The file that promtool reads. */
function testOf({ alert, interval = '1m', series, quiet, fires }: AlertCase): object {
  const { at, on = [] } = fires ?? {};
  return {
    rule_files: ['rules.yaml'],
    evaluation_interval: interval,
    tests: [
      {
        interval,
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [
          ...quiet.map((time) => ({ eval_time: time, alertname: alert, exp_alerts: [] })),
          ...(at === undefined ? [] : [at, ...on]).map((time) => ({
            eval_time: time,
            alertname: alert,
            exp_alerts: [expectedOf(alert, fires)],
          })),
        ],
      },
    ],
  };
}

/** Everything that fires at any time, and each alert when it fires first. */
function testOfScenario(scenario: Scenario): object {
  const { length, fires, step = 1 } = scenario;
  const firing = 'group by (alert) (label_join(ALERTS{alertstate="firing"}, "alert", "/", "alertname", "severity"))';
  const at = (minute: number, expr: string, names: readonly string[]) => ({
    expr,
    eval_time: `${minute}m`,
    exp_samples: names.map((name) => ({ labels: `{alert="${name}"}`, value: 1 })),
  });
  const begun = (minute: number) => Object.keys(fires).filter((name) => (fires[name] ?? 0) <= minute);
  return {
    rule_files: ['rules.yaml'],
    evaluation_interval: `${step}m`,
    tests: [
      {
        interval: `${step}m`,
        input_series: Object.entries(seriesOf(scenario)).map(([series, values]) => ({ series, values })),
        promql_expr_test: [
          at(length, `max_over_time((${firing})[${length}m:5m])`, Object.keys(fires)),
          ...Object.values(fires).flatMap((first) =>
            [first - 5, first].map((minute) => at(minute, firing, begun(minute))),
          ),
        ],
      },
    ],
  };
}

/** The alert as promtool expects it: the rule says the words, and the case the labels and the value in them. */
function expectedOf(alert: string, { labels, value }: Partial<NonNullable<AlertCase['fires']>> = {}): object {
  const rules = alerts.get(alert) ?? [];
  const { labels: ofRule, annotations = {} } =
    rules.find((rule) => rule.labels?.severity === labels?.severity) ?? rules[0] ?? assert.fail(alert);
  const isUsed = Object.values(annotations).some((text) => VALUE.test(text));
  assert.equal(isUsed, value !== undefined, `${alert}: the value in its texts`);
  const filledIn = (text: string) =>
    text
      .replaceAll(new RegExp(VALUE, 'g'), () => value ?? '')
      .replaceAll(/{{ \$labels\.(\w+) }}/g, (_, name: string) => labels?.[name] ?? assert.fail(`${alert}: ${name}`));
  return {
    exp_labels: { ...ofRule, ...labels },
    exp_annotations: Object.fromEntries(Object.entries(annotations).map(([key, text]) => [key, filledIn(text)])),
  };
}
