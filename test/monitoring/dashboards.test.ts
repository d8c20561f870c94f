/** Every query of the Grafana dashboards, run on a real Prometheus that scrapes an operator, and compared with the output of kubectl. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type PanelJson, parseDashboard, rowsOf } from '../../hack/grafana/model.ts';
import { subnetIds } from '../fakes/localaws/network.ts';
import { conditionOf } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { podOn } from '../userObjects.ts';
import { hastened, ruleFile, ruleText } from './alertRules.ts';
import { chosen, JOB, sorted } from './dashboardPanels.ts';
import { BUDGET, empty, type Facts, fromKubectl, type Row, within } from './dashboardValues.ts';
import { PrometheusServer } from './prometheusServer.ts';
import { serveWindowsExposition } from './windowsExposition.ts';

const boards = ['cluster', 'pool'].map((name) => ({
  name,
  board: parseDashboard(
    readFileSync(new URL(`../../config/grafana/windowspool-${name}.json`, import.meta.url), 'utf8'),
  ),
}));
/** The pools of the dashboards: all pools for the cluster, and for the other one the pool that has a value for every panel. */
const POOL = 'web';
/** The ServiceAccount of Prometheus. */
const READER = 'dashboards-prometheus';
/** A pod that blocks the drain of its node. */
const HOLDS = 'holds-its-node';
const OLD = '1.36-2026.03.17';
const NEW = '1.36-2026.04.18';

const isCalled =
  (name: string) =>
  ({ metadata }: WindowsPool) =>
    metadata.name === name;

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

describe('the dashboards on a real Prometheus', function () {
  this.timeout(180_000);
  // Runs before the hook of withOperator, which deletes the pools.
  after(async () => {
    await fixture.world.kubectl('delete', 'pod', HOLDS, '--ignore-not-found', '--force', '--grace-period=0');
    for (const id of subnetIds) fixture.world.cloud.faults.subnet({ id, freeAddresses: 251 });
    await prometheus?.[Symbol.asyncDispose]();
    const reader = ['clusterrolebinding,serviceaccount', READER, '-n', 'default'];
    await fixture.world.kubectl('delete', ...reader, '--ignore-not-found');
    await exporter?.stop();
  });
  const fixture = withOperator(
    '--leader-elect=true',
    '--metrics-secure=true',
    `--max-pools-updating=${BUDGET}`,
    '--resync-interval=2s',
  );
  let prometheus: PrometheusServer;
  /** Titles of the panels that were compared with kubectl. */
  const compared = new Set<string>();
  let exporter: Awaited<ReturnType<typeof serveWindowsExposition>>;

  before(async () => {
    exporter = await serveWindowsExposition();
    await fixture.world.kubectl('create', 'serviceaccount', READER, '-n', 'default');
    await fixture.world.kubectl(
      ...['create', 'clusterrolebinding', READER, `--serviceaccount=default:${READER}`],
      '--clusterrole=windowspool-operator-metrics-reader',
    );
    prometheus = await PrometheusServer.start({
      rules: ruleText(hastened(ruleFile, 1_800)),
      port: Number(fixture.operator.lines.find((line) => line.metricsPort !== undefined)?.metricsPort),
      token: (await fixture.world.kubectl('create', 'token', READER, '-n', 'default')).trim(),
      jobs: [exporters(exporter.port)],
    });
    await makePools();
  });

  /** One pool with a value for every panel, one in the middle of an update, one that is paused. */
  async function makePools(): Promise<void> {
    const { cloud } = fixture.world;
    const ready = (name: string) => fixture.world.waitForReady(name);
    await fixture.world.apply(
      poolManifest(POOL, {
        nodeGroup: { scaling: { minSize: 2, maxSize: 4 }, driftPolicy: 'Report' },
        labels: { tier: 'web' },
        verification: { policy: 'Quarantine', minimumRevision: 1 },
        remediation: { policy: 'Replace' as const, unhealthyAfter: '24h' },
      }),
    );
    // Its nodes are in one zone, of which the advice is shown.
    const subnets = [{ id: subnetIds[0] }];
    await fixture.world.apply(poolManifest('old', { nodeGroup: { releaseVersion: OLD, subnets } }));
    await fixture.world.apply(poolManifest('still', { paused: true }));
    await Promise.all([POOL, 'old'].map(ready));
    const broken = { code: 'Ec2SubnetNotFound', message: 'No such subnet', resourceIds: ['subnet-9'] } as const;
    cloud.faults.createFailure({ group: 'broken', issues: [{ ...broken, resourceIds: [...broken.resourceIds] }] });
    await fixture.world.apply(poolManifest('broken'));
    await fixture.world.waitForPool('broken', 'to be Stalled', (pool) =>
      conditionOf(pool, 'Stalled').startsWith('True/'),
    );

    cloud.faults.nextNode({ group: POOL, build: '10.0.17763' });
    await fixture.world.patchPool(POOL, { nodeGroup: { scaling: { desiredSize: 3 } } });
    await fixture.world.waitForPool(POOL, 'to fail', (pool) => pool?.status?.nodes?.quarantined === 1);
    for (const id of subnetIds) cloud.faults.subnet({ id, freeAddresses: 1 });
    cloud.faults.edit({ group: POOL, labels: { tier: 'db' } });
    const issue = { code: 'AsgInstanceLaunchFailures', message: 'No capacity', resourceIds: ['eks-asg'] } as const;
    cloud.faults.healthIssue({ group: POOL, issues: [{ ...issue, resourceIds: [...issue.resourceIds] }] });

    await holdNode();
    // Before the update begins: a node that joins is in a metric, and kubectl does not show why it is not ready yet.
    cloud.faults.speed({ speed: 0.001 });
    await fixture.world.patchPool('old', { nodeGroup: { releaseVersion: NEW } });
    await fixture.world.waitForPool(
      'old',
      'to be updated',
      ({ status } = {} as WindowsPool) =>
        status?.nodeGroup?.update?.status === 'InProgress' && status.nodeGroup.update.type === 'VersionUpdate',
    );
    await waitFor(async () => (await prometheus.alerts()).some(({ state }) => state === 'firing'), {
      what: 'an alert to fire',
      explain: () => prometheus.tail(),
    });
  }

  /** A user replaces a node with a pod that no controller recreates. */
  async function holdNode(): Promise<void> {
    const failing = (await fixture.world.pool(POOL))?.status?.failingNodes ?? [];
    const node = (await fixture.world.nodeNamesOf(POOL)).find((name) => !failing.some((other) => name === other.name));
    await fixture.world.apply(podOn(node ?? '', 'default', HOLDS));
    await fixture.world.kubectl('wait', '--for=condition=Ready', `pod/${HOLDS}`, '--timeout=20s');
    await fixture.world.kubectl('annotate', 'node', node ?? '', 'winpool.dev/replace=true');
    await fixture.world.waitForPool(POOL, 'to wait for the pod', (pool) =>
      conditionOf(pool, 'Disrupting').endsWith('/DrainBlocked'),
    );
  }

  async function readFacts(pools: readonly string[]): Promise<Facts> {
    const all = await fixture.world.list<WindowsPool>('windowspools');
    const nodes = await fixture.world.list<Facts['nodes'][number]>('nodes', '-l', 'kubernetes.io/os=windows');
    const chosen = all.filter(({ metadata }) => pools.length === 0 || pools.includes(metadata.name));
    const alerts = (await prometheus.alerts())
      .filter(({ state, labels }) => state === 'firing' && (!labels.pool || chosen.some(isCalled(labels.pool))))
      .map(({ labels }) => labels);
    return { pools: chosen, nodes, alerts, now: Date.now() / 1000 };
  }

  /** The series of a query, as Grafana runs it with these pools selected. */
  async function ask(expr: string, pools: readonly string[], now: number): Promise<Row[]> {
    const { result } = await prometheus.ask<{ result: Series[] }>('query', {
      query: chosen(expr, pools),
      time: now.toFixed(3),
    });
    return result.map(({ metric: { __name__, ...labels }, value: [, value] }) => [labels, Number(value)]);
  }

  /** The difference between a panel and its expected values; undefined if there is none. */
  async function wrongIn({ title, targets }: PanelJson, pools: readonly string[], facts: Facts): Promise<unknown> {
    const answers = await Promise.all(targets.map(({ expr }) => ask(expr, pools, facts.now)));
    const expected = fromKubectl[title]?.(facts);
    if (expected) {
      if (expected.some((rows) => rows.length > 0)) compared.add(title);
      const shown = answers.map(sorted);
      const sortedExpected = expected.map(sorted);
      return isDeepStrictEqual(shown, sortedExpected) ? undefined : { title, shown, expected: sortedExpected };
    }
    const bounds = within[title];
    if (!bounds) return empty.includes(title) ? undefined : { title, shown: 'no expected values' };
    const [least, most] = bounds;
    // A quantile of no values is NaN.
    const values = answers
      .flat()
      .map(([, value]) => value)
      .filter((value) => !Number.isNaN(value));
    const fine = values.length > 0 && values.every((value) => value >= least - 1e-9 && value <= most + 1e-9);
    return fine ? undefined : { title, answers, bounds };
  }

  for (const { name, board } of boards) {
    const pools = name === 'cluster' ? [] : [POOL];
    for (const [heading, panels] of rowsOf(board)) {
      it(`${name}: ${heading}`, async () => {
        let wrong: unknown[] = [];
        await waitFor(
          async () => {
            const facts = await readFacts(pools);
            wrong = (await Promise.all(panels.map((panel) => wrongIn(panel, pools, facts)))).filter(Boolean);
            return wrong.length === 0;
          },
          {
            what: 'the panels to show the values of kubectl',
            intervalMs: 500,
            explain: () => JSON.stringify(wrong, null, 1),
          },
        );
      });
    }
  }

  it('compare every panel whose values kubectl shows', () => {
    assert.deepEqual([...compared].sort(), Object.keys(fromKubectl).sort());
  });

  it('are installed as ConfigMaps with the label that the sidecar of Grafana selects', async () => {
    const folder = fileURLToPath(new URL('../../config/grafana', import.meta.url));
    await fixture.world.kubectl('apply', '-k', folder);
    assert.match(await fixture.world.kubectl('apply', '-k', folder), /^(configmap\/\S+ unchanged\n){3}$/);
    const labelled = ['configmaps', '-n', 'winpool-system', '-l', 'grafana_dashboard=1'];
    const maps: { data: object }[] = JSON.parse(await fixture.world.kubectl('get', ...labelled, '-o', 'json')).items;
    assert.deepEqual(
      maps.flatMap(({ data }) => Object.keys(data)),
      ['windowspool-cluster.json', 'windowspool-fleet.json', 'windowspool-pool.json'],
    );
    await fixture.world.kubectl('delete', ...labelled);
  });

  it('offer every value of their variables', async () => {
    const values = async (name: string) => {
      const variable = boards.flatMap(({ board }) => board.templating.list).find((other) => other.name === name);
      const { query = '' } = (variable?.query ?? {}) as { query?: string };
      const [, series = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? [];
      return prometheus.ask<string[]>(`label/${label}/values`, { 'match[]': chosen(series, [POOL]) });
    };
    assert.deepEqual(await values('job'), [JOB]);
    assert.deepEqual(await values('pool'), ['broken', 'old', 'still', POOL]);
    assert.deepEqual(await values('node'), ['win-1', 'win-2']);
    assert.deepEqual(await values('cluster'), []);
  });
});

/** Targets of windows_exporter with the relabeling of docs/how-to/monitoring.md#dashboards: two nodes of the pool. */
function exporters(port: number): object {
  return {
    job_name: 'windows-exporter',
    honor_labels: true,
    static_configs: ['win-1', 'win-2'].map((node) => ({
      targets: [`127.0.0.1:${port}`],
      labels: { node, instance: `${node}:9182`, pool: POOL, namespace: 'monitoring', pod: `windows-exporter-${node}` },
    })),
  };
}
