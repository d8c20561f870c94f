/** The dashboards against Grafana's schema, and every query of them on a real Prometheus with the data of two clusters. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../hack/controlplane/command.ts';
import { freePort } from '../../hack/controlplane/ports.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { panelsOf, parseDashboard, rowsOf } from '../../hack/grafana/model.ts';
import { schemaPath } from '../../hack/grafana/schema/program.ts';
import { hastened, ruleFile, ruleText } from './alertRules.ts';
import { chosen, JOB, sorted } from './dashboardPanels.ts';
import type { Row } from './dashboardValues.ts';
import { PrometheusServer } from './prometheusServer.ts';
import { serveWindowsExposition } from './windowsExposition.ts';

const DAY = 24 * 60 * 60;
const now = Math.floor(Date.now() / 1_000);
const END_2019 = Date.parse('2029-01-09') / 1_000;
const END_2022 = Date.parse('2031-10-14') / 1_000;

interface Pool {
  readonly windows: string;
  readonly end: number;
  readonly ready?: string;
  readonly verified: number;
  readonly desired?: number;
  /** Capacity type, and age of the AMI release in days; the newest is 10 days old. */
  readonly group?: readonly [capacity: 'OnDemand' | 'Spot', age: number];
}

const clusters: Readonly<Record<string, Readonly<Record<string, Pool>>>> = {
  north: {
    web: { windows: 'Windows2022', end: END_2022, verified: 6, desired: 6, group: ['OnDemand', 10] },
    batch: { windows: 'Windows2022', end: END_2022, verified: 2, desired: 2, group: ['Spot', 100] },
  },
  south: {
    web: { windows: 'Windows2019', end: END_2019, ready: 'NodesMissing', verified: 1, desired: 3, group: ['Spot', 40] },
    edge: { windows: 'Windows2022', end: END_2022, verified: 1 },
  },
};

/** What the operator of a cluster serves, as far as the dashboard of the fleet shows it. */
function exposition(pools: Readonly<Record<string, Pool>>): string {
  const lines = Object.entries(pools).flatMap(([name, { windows, end, ready, verified, desired, group }]) => {
    const line = (metric: string, labels: string, value: number) =>
      `windowspool_${metric}{pool="${name}"${labels && `,${labels}`}} ${value}`;
    const is = (status: string) => Number(status === (ready ? 'False' : 'True'));
    return [
      line(
        'info',
        `windows_version="${windows}",source="${group ? 'nodeGroup' : 'existingNodes'}",verification_policy="Gate"`,
        1,
      ),
      line('windows_version_end_timestamp_seconds', '', end),
      ...['True', 'False', 'Unknown'].map((status) =>
        line('status_condition', `type="Ready",status="${status}"`, is(status)),
      ),
      line('status_condition_reason', `type="Ready",reason="${ready ?? 'EnoughNodesVerified'}"`, 1),
      line('status_confirmed_timestamp_seconds', '', now),
      ...(ready ? [line('node_group_health_issues', 'code="AsgInstanceLaunchFailures"', 1)] : []),
      line('nodes', 'state="verified"', verified),
      line('nodes', 'state="joining"', 0),
      ...(desired === undefined ? [] : [line('nodes_desired', '', desired)]),
      ...(group
        ? [
            line(
              'node_group_info',
              `node_group="${name}",ami_type="x",capacity_type="${group[0]}",kubernetes_version="1.36",release_version="x"`,
              1,
            ),
            line('node_group_release_timestamp_seconds', '', now - group[1] * DAY),
            line('node_group_release_end_timestamp_seconds', '', now + (120 - group[1]) * DAY),
            line('node_group_latest_release_timestamp_seconds', '', now - 10 * DAY),
          ]
        : []),
    ];
  });
  const own = [
    'windowspool_build_info{version="0.1.0",node_version="v24"} 1',
    'leader_election_master_status{name="windowspool-operator"} 1',
  ];
  return `${[...lines, ...own].join('\n')}\n`;
}

/** The values of the panels of the dashboard of the fleet, by title: a list for each query. */
const expected: Readonly<Record<string, readonly (readonly Row[])[]>> = {
  Clusters: [[[{}, 2]]],
  'Pools not Ready': [[[{}, 1]]],
  'Stalled pools': [[]],
  // 6 of 9 nodes with a release: those of north/web; the release of south/web is 40 days old.
  'Patched nodes': [[[{}, 0.78]]],
  'Spot nodes': [[[{}, 0.3]]],
  'Clusters by state': [
    [
      [{ cluster: 'north' }, 2],
      [{ cluster: 'south' }, 2],
    ],
    [
      [{ cluster: 'north' }, 0],
      [{ cluster: 'south' }, 1],
    ],
    [
      [{ cluster: 'north' }, 8],
      [{ cluster: 'south' }, 2],
    ],
    [
      [{ cluster: 'north' }, 8],
      [{ cluster: 'south' }, 2],
    ],
    [
      [{ cluster: 'north' }, 0.75],
      [{ cluster: 'south' }, 1],
    ],
    [
      [{ cluster: 'north' }, 0.25],
      [{ cluster: 'south' }, 0.5],
    ],
  ],
  'Pools that are not Ready': [[[{ cluster: 'south', pool: 'web', reason: 'NodesMissing' }, 1]]],
  'Versions and end of support': [
    [
      [{ windows_version: 'Windows2019' }, 1],
      [{ windows_version: 'Windows2022' }, 3],
    ],
    [
      [{ windows_version: 'Windows2019' }, 1],
      [{ windows_version: 'Windows2022' }, 9],
    ],
    [
      [{ windows_version: 'Windows2019' }, END_2019 * 1_000],
      [{ windows_version: 'Windows2022' }, END_2022 * 1_000],
    ],
  ],
  'Versions by cluster': [
    [
      [{ cluster: 'north', windows_version: 'Windows2022' }, 8],
      [{ cluster: 'south', windows_version: 'Windows2019' }, 1],
      [{ cluster: 'south', windows_version: 'Windows2022' }, 1],
    ],
  ],
  'Patched nodes by cluster': [
    [
      [{ cluster: 'north' }, 0.75],
      [{ cluster: 'south' }, 1],
    ],
  ],
  'Nodes by capacity type': [
    [
      [{ capacity_type: 'OnDemand' }, 6],
      [{ capacity_type: 'Spot' }, 3],
    ],
  ],
  'Spot nodes by cluster': [
    [
      [{ cluster: 'north' }, 0.25],
      [{ cluster: 'south' }, 0.5],
    ],
  ],
  'Missing nodes by cluster': [
    [
      [{ cluster: 'north' }, 0],
      [{ cluster: 'south' }, 2],
    ],
  ],
  'Nodes by cluster': [
    [
      [{ cluster: 'north' }, 8],
      [{ cluster: 'south' }, 2],
    ],
  ],
  'Operators by version': [
    [
      [{ cluster: 'north', version: '0.1.0' }, 1],
      [{ cluster: 'south', version: '0.1.0' }, 1],
    ],
    [
      [{ cluster: 'north' }, 1],
      [{ cluster: 'south' }, 1],
    ],
  ],
};
/** Alerts, and ages: they are compared in the order of their rows, or only run. */
const others = ['Firing alerts', 'Oldest AMI releases'];

const boards = ['fleet', 'cluster', 'pool'].map((name) => {
  const text = readFileSync(new URL(`../../config/grafana/windowspool-${name}.json`, import.meta.url), 'utf8');
  return { name, text, board: parseDashboard(text) };
});
const fleet = boards[0]?.board ?? assert.fail();

describe("Grafana's schema", function () {
  // The program may have to be built.
  this.timeout(900_000);
  const check = async (text: string) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'dashboard-'));
    const path = join(folder.path, 'board.json');
    await writeFile(path, text);
    const program = await schemaPath((line) => console.log(`    ${line}`));
    const { code, stderr } = await runCommand(program, [path], { timeoutMs: 60_000 });
    return { code, stderr: stderr.replace(path, '').trim() };
  };

  for (const { name, text } of boards)
    it(`is met by ${name}`, async () => assert.deepEqual(await check(text), { code: 0, stderr: '' }));

  it('is compared with the panels of collapsed rows, their options and their queries', async () => {
    const broken = [
      ['"refresh"', '"refreshInterval"', "unexpected field 'refreshInterval'"],
      ['"colorMode"', '"colourMode"', "options.Options: unexpected field 'colourMode'"],
      ['"expr"', '"expression"', "Dataquery: unexpected field 'expression'"],
      ['"fillOpacity"', '"opacity"', "custom.GraphFieldConfig: unexpected field 'opacity'"],
    ] as const;
    for (const [field, other, message] of broken) {
      const { code, stderr } = await check((boards[0]?.text ?? '').replace(field, other));
      assert.equal(code, 1, field);
      assert.ok(stderr.includes(message), stderr);
    }
  });
});

describe('the dashboards with two clusters', function () {
  // Prometheus may have to be built.
  this.timeout(900_000);
  let prometheus: PrometheusServer;
  const served: Awaited<ReturnType<typeof serveWindowsExposition>>[] = [];
  before(async () => {
    const jobs = [];
    for (const [cluster, pools] of Object.entries(clusters)) {
      const exporter = await serveWindowsExposition(() => exposition(pools));
      served.push(exporter);
      const labels = { cluster, job: JOB, namespace: 'winpool-system', instance: 'operator-0' };
      jobs.push({ job_name: cluster, static_configs: [{ targets: [`127.0.0.1:${exporter.port}`], labels }] });
    }
    const rules = ruleText(hastened(ruleFile, 1_800));
    prometheus = await PrometheusServer.start({ rules, port: await freePort(), token: 'none', jobs });
    const firing = 'count(count by (cluster) (ALERTS{alertstate="firing", pool!=""}))';
    await waitFor(async () => (await prometheus.query(firing))[''] === 2, {
      what: 'an alert of each cluster',
      explain: () => prometheus.tail(),
    });
  });
  after(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    for (const exporter of served) await exporter.stop();
  });

  interface Series {
    readonly metric: Readonly<Record<string, string>>;
    readonly value: readonly [at: number, value: string];
  }

  async function ask(expr: string, cluster: string): Promise<Row[]> {
    const { result } = await prometheus.ask<{ result: Series[] }>('query', { query: chosen(expr, [], cluster) });
    return result.map(({ metric: { __name__, ...labels }, value: [, value] }) => [labels, Number(value)]);
  }

  it('fleet: all panels are compared', () => {
    const titles = panelsOf(fleet).map(({ title }) => title);
    assert.deepEqual([...titles].sort(), [...Object.keys(expected), ...others].sort());
  });

  for (const [heading, panels] of rowsOf(fleet)) {
    it(`fleet: ${heading}`, async () => {
      for (const { title, targets } of panels) {
        const answers = await Promise.all(targets.map(({ expr }) => ask(expr, '.*')));
        for (const [index, rows] of (expected[title] ?? []).entries())
          assert.deepEqual(sorted(answers[index] ?? []), sorted(rows), `${title}, query ${index}`);
      }
    });
  }

  it('fleet: the oldest releases come first, and one selected cluster hides the other', async () => {
    const panel = panelsOf(fleet).find(({ title }) => title === 'Oldest AMI releases');
    const [ages = []] = await Promise.all((panel?.targets ?? []).map(({ expr }) => ask(expr, '.*')));
    assert.deepEqual(
      ages.map(([{ cluster, pool }, age]) => [cluster, pool, Math.floor(age / DAY)]),
      [
        ['north', 'batch', 100],
        ['south', 'web', 40],
        ['north', 'web', 10],
      ],
    );
    const [versions] = panelsOf(fleet).filter(({ title }) => title === 'Nodes by cluster');
    assert.deepEqual(await ask(versions?.targets[0]?.expr ?? '', 'south'), [[{ cluster: 'south' }, 2]]);
  });

  for (const { name, board } of boards.slice(1)) {
    it(`${name}: every query shows only the selected cluster, without errors or warnings`, async () => {
      const ofCluster = (cluster: string) =>
        Promise.all(panelsOf(board).flatMap(({ targets }) => targets.map(({ expr }) => ask(expr, cluster))));
      const [north, south, none] = await Promise.all(['north', 'south', 'west'].map(ofCluster));
      const values = (answers: readonly (readonly Row[])[] = []) => answers.filter((rows) => rows.length > 0).length;
      assert.ok(values(north) > 10 && values(south) > 10, `${values(north)}, ${values(south)}`);
      // Counts of alerts are 0.
      assert.ok(values(none) <= 2, `${values(none)}`);
    });
  }

  it('offer both clusters in their variables', async () => {
    for (const { name, board } of boards) {
      const { query } = (board.templating.list.find((variable) => variable.name === 'cluster')?.query ?? {}) as {
        query?: string;
      };
      const [, series = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(query ?? '') ?? [];
      assert.deepEqual(await prometheus.ask(`label/${label}/values`, { 'match[]': series }), ['north', 'south'], name);
    }
  });
});
