/** Every alert on a real Prometheus: it fires when its cause occurs in a running operator, and resolves when the cause is gone. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../../cmd/operator/serving/selfSigned.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { freePort } from '../../hack/controlplane/ports.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { READY, startTestEnv, type TestEnv, UP_TO_DATE } from '../fakes/testenv/testEnv.ts';
import { withoutPermission } from '../lessPermissions.ts';
import { poolManifest } from '../pools.ts';
import { freezeAws } from '../sharedWorld.ts';
import { budget, controllerOf, podOn } from '../userObjects.ts';
import { alerts, hastened, ruleFile, ruleText } from './alertRules.ts';
import { PrometheusServer } from './prometheusServer.ts';
import { scrape } from './scraper.ts';
import { serveWindowsExposition } from './windowsExposition.ts';

/** Half an hour is a second. */
const TIMES = 1_800;
const DAY_MS = 86_400_000;
/** Release dates in the format of EKS: one whose AMI becomes private within 21 days, and one that is older than 30 days and becomes private later. */
const [NEAR_END, OLDISH] = [releaseOf(110), releaseOf(60)];
const LEASE = ['lease', 'windowspool-operator', '-n', 'kube-system'] as const;

describe('alerts on a real Prometheus', function () {
  this.timeout(120_000);
  let world: TestEnv;
  let operator: OperatorProcess;
  let prometheus: PrometheusServer;
  let token: string;
  let port: number;
  const fired = new Set<string>();
  const exporters = new Map<string, Awaited<ReturnType<typeof serveWindowsExposition>>>();
  /** What the exporter of each node of the pool web changes in its metrics. Until a test sets it, they serve none. */
  const changes = new Map<string, (text: string) => string>();

  /** Uses its own environment, because new releases would disturb other suites. */
  before(async function () {
    this.timeout(900_000);
    world = await startTestEnv({ speed: 8, log: (line) => console.log(`    ${line}`) });
    for (const date of [NEAR_END, OLDISH]) world.cloud.faults.release({ date });
    port = await freePort();
    operator = await startOperator();
    await world.kubectl('create', 'serviceaccount', 'prometheus', '-n', 'default');
    await world.kubectl(
      ...'create clusterrolebinding prometheus --serviceaccount=default:prometheus'.split(' '),
      '--clusterrole=windowspool-operator-metrics-reader',
    );
    token = (await world.kubectl('create', 'token', 'prometheus', '-n', 'default')).trim();
    for (const node of ['win-1', 'win-2'])
      exporters.set(node, await serveWindowsExposition((text) => changes.get(node)?.(text) ?? ''));
    const jobs = [...exporters].map(([node, exporter]) => ({
      job_name: `windows-exporter-${node}`,
      static_configs: [{ targets: [`127.0.0.1:${exporter.port}`], labels: { node, pool: 'web' } }],
    }));
    prometheus = await PrometheusServer.start({ rules: ruleText(hastened(ruleFile, TIMES)), port, token, jobs });
  });
  after(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    for (const exporter of exporters.values()) await exporter.stop();
    await world?.stop();
  });

  /** On the port that Prometheus scrapes. */
  const launch = (...flags: readonly string[]) =>
    world.operator([
      ...flags,
      '--metrics-secure=true',
      `--metrics-address=127.0.0.1:${port}`,
      '--resync-interval=5s',
      '--create-retry-interval=5s',
      '--denied-retry-interval=5s',
      '--retry-base=50ms',
      '--retry-max=500ms',
      '--poll-interval=200ms',
    ]);
  const startOperator = (...flags: readonly string[]) => launch(...flags).ready();
  const faults = () => world.cloud.faults;

  async function statesOf(name: string, labels: Readonly<Record<string, string>>): Promise<string[]> {
    const active = await prometheus.alerts();
    const hasLabels = (one: Readonly<Record<string, string>>) =>
      one.alertname === name && Object.entries(labels).every(([label, value]) => one[label] === value);
    return active.filter((alert) => hasLabels(alert.labels)).map(({ state }) => state);
  }

  const explain = () => `${prometheus.tail()}\n${operator.tail()}`;

  async function fires(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const isFiring = async () => (await statesOf(name, labels)).includes('firing');
    await waitFor(isFiring, { what: `${name} to fire`, intervalMs: 200, explain });
    fired.add(name);
  }

  async function ends(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const isQuiet = async () => (await statesOf(name, labels)).length === 0;
    await waitFor(isQuiet, { what: `${name} to resolve`, intervalMs: 200, explain });
  }

  async function waitForNoAlerts(): Promise<void> {
    const names = async () => (await prometheus.alerts()).map(({ labels }) => labels.alertname);
    let left = await names();
    const isQuiet = async () => {
      left = await names();
      return left.length === 0;
    };
    await waitFor(isQuiet, { what: 'all alerts to resolve', intervalMs: 200, explain: () => left.join() });
  }

  const becomes = (name: string, ...conditions: readonly string[]) => world.waitForConditions(name, ...conditions);
  async function ready(name: string, spec: Parameters<typeof poolManifest>[1] = {}): Promise<void> {
    await world.apply(poolManifest(name, spec));
    await becomes(name, READY);
    await becomes(name, UP_TO_DATE);
  }
  const kernelOf = (node: string) =>
    world.kubectl('get', 'node', node, '-o', 'jsonpath={.status.nodeInfo.kernelVersion}');
  const patch = (name: string, spec: object) => world.patchPool(name, spec);
  const yesterday = () => new Date(Date.now() - DAY_MS).toISOString();
  /** Changes what the operator remembers of the node group. */
  const patchGroup = (name: string, nodeGroup: object) => world.patchPoolStatus(name, { nodeGroup });

  it('none fires for healthy pools, and promtool accepts the metrics', async () => {
    await ready('web', {
      nodeGroup: { scaling: { minSize: 2, maxSize: 4 } },
      remediation: { maxUnhealthy: 1, policy: 'Replace' as const, unhealthyAfter: '2h' },
    });
    await waitFor(async () => (await prometheus.query('pool:windowspool_nodes:sum')).web === 2, {
      what: 'the recorded number of nodes',
      explain,
    });
    // Before the first scrape, Prometheus considers the operator down.
    await waitForNoAlerts();
    const { body } = await scrape(operator, { token });
    const promtool = await toolPath('promtool', (line) => console.log(`    ${line}`));
    const { stdout, stderr, code } = await runCommand(promtool, ['check', 'metrics'], {
      stdin: body,
      timeoutMs: 30_000,
    });
    // Exit code 3 is for metric names against the conventions: those of the process come from Node.js.
    const complaints = (stdout + stderr).split('\n').filter((line) => line !== '' && !line.startsWith('nodejs_'));
    assert.deepEqual(complaints, [], `ended with ${code}`);
  });

  it('AWS throttles more than a tenth of the calls; resolves when enough other calls succeeded', async () => {
    faults().calls.throttle({ count: 1_000_000 });
    try {
      await fires('WindowsPoolOperatorThrottled');
    } finally {
      faults().calls.clear();
    }
  });

  it('failing nodes: unverified, of mixed builds, too many for remediation, and the pool not Ready', async () => {
    const nodes = await world.nodeNamesOf('web');
    const kernels = await Promise.all(nodes.map(kernelOf));
    const [one = '', other = ''] = nodes;
    faults().patchKernel({ node: one, build: '10.0.17763' });
    await fires('WindowsPoolNodesUnverified', { pool: 'web' });
    await fires('WindowsPoolMixedBuilds', { pool: 'web' });
    assert.deepEqual(await statesOf('WindowsPoolRemediationShortCircuited', {}), []);
    faults().patchKernel({ node: other, build: '10.0.17763' });
    await fires('WindowsPoolNotReady', { pool: 'web' });
    await fires('WindowsPoolRemediationShortCircuited', { pool: 'web' });
    for (const [index, node] of nodes.entries()) faults().patchKernel({ node, kernelVersion: kernels[index] ?? '' });
    for (const name of ['NodesUnverified', 'MixedBuilds', 'NotReady', 'RemediationShortCircuited'])
      await ends(`WindowsPool${name}`);
  });

  it('Windows itself: a node without metrics, one without memory, and one with a full disk', async () => {
    const healthy = (text: string) => text;
    const gibibytes = (name: string, value: number) => (text: string) =>
      text.replace(new RegExp(`^(${name}) .*$`, 'm'), `$1 ${value * 2 ** 30}`);
    changes.set('win-1', healthy);
    await fires('WindowsPoolExporterMissing', { pool: 'web' });
    changes.set('win-2', healthy);
    await ends('WindowsPoolExporterMissing');
    changes.set('win-1', gibibytes('windows_memory_committed_bytes', 19));
    changes.set('win-2', gibibytes('windows_logical_disk_free_bytes{volume="C:"}', 5));
    await fires('WindowsPoolNodeCommitMemoryHigh', { pool: 'web', node: 'win-1' });
    await fires('WindowsPoolNodeDiskSpaceLow', { pool: 'web', node: 'win-2', volume: 'C:' });
    for (const node of exporters.keys()) changes.set(node, healthy);
    for (const name of ['CommitMemoryHigh', 'DiskSpaceLow']) await ends(`WindowsPoolNode${name}`);
    changes.clear();
  });

  it('a failed update: the pool is Stalled until a user requests a retry', async () => {
    const errorMessage = 'Couldn’t proceed with upgrade process';
    faults().updateFailure({ group: 'web', errors: [{ errorCode: 'NodeCreationFailure', errorMessage }] });
    await patch('web', { labels: { tier: 'web' } });
    await fires('WindowsPoolStalled', { pool: 'web' });
    await world.kubectl('annotate', 'windowspool', 'web', 'winpool.dev/retry=again');
    await ends('WindowsPoolStalled');
    await becomes('web', UP_TO_DATE);
  });

  it('a health issue: DEGRADED, and the code of the issue', async () => {
    const code = 'Ec2SecurityGroupNotFound';
    faults().healthIssue({ group: 'web', issues: [{ code, message: 'It is gone', resourceIds: ['sg-1'] }] });
    await fires('WindowsPoolNodeGroupDegraded', { pool: 'web', status: 'DEGRADED' });
    await fires('WindowsPoolNodeGroupHealthIssue', { pool: 'web', code });
    faults().healthIssue({ group: 'web', issues: [] });
    await ends('WindowsPoolNodeGroupDegraded');
    await ends('WindowsPoolNodeGroupHealthIssue');
  });

  it('an update that started yesterday and does not end', async () => {
    const restoreSpeed = freezeAws(world);
    try {
      await patch('web', { labels: { tier: 'db' } });
      await becomes('web', 'Reconciling=True/Updating');
      await patchGroup('web', { update: { startedAt: yesterday() } });
      await fires('WindowsPoolUpdateStuck', { pool: 'web' });
    } finally {
      restoreSpeed();
    }
    await ends('WindowsPoolUpdateStuck');
    await becomes('web', UP_TO_DATE);
  });

  it('a replacement of a node group that started yesterday', async () => {
    const spec = (type: string) => ({ nodeGroup: { immutableChangePolicy: 'Replace', instanceTypes: [type] } });
    await ready('moved', spec('m5.large'));
    const restoreSpeed = freezeAws(world);
    try {
      await patch('moved', spec('m5.xlarge'));
      await becomes('moved', 'Reconciling=True/Creating');
      await patchGroup('moved', { replacement: { startTime: yesterday() } });
      await fires('WindowsPoolReplacementStuck', { pool: 'moved' });
    } finally {
      restoreSpeed();
    }
    await ends('WindowsPoolReplacementStuck');
    await becomes('moved', UP_TO_DATE);
  });

  it('an old AMI release, until the pool has a newer one', async () => {
    const pinned = (release: string) => ({ nodeGroup: { releaseVersion: `1.36-${release}` } });
    await world.apply(poolManifest('old', pinned(NEAR_END)));
    await fires('WindowsPoolAmiNearEnd', { pool: 'old' });
    await fires('WindowsPoolReleaseOld', { pool: 'old' });
    assert.deepEqual(await statesOf('WindowsPoolAmiNearEnd', { pool: 'web' }), []);
    await becomes('old', READY);
    await patch('old', pinned(OLDISH));
    await ends('WindowsPoolAmiNearEnd');
    await ends('WindowsPoolReleaseOld');
    // The next test needs the share of the disruption budget that this update has.
    await world.waitForPool('old', 'to have released its share', (pool) => pool?.status?.disruption === undefined);
  });

  it('a new pool whose node group cannot be created: one alert, until it can', async () => {
    const resourceIds = ['subnet-9'];
    faults().createFailure({
      group: 'new',
      issues: [{ code: 'Ec2SubnetNotFound', message: 'No such subnet', resourceIds }],
    });
    await world.apply(poolManifest('new'));
    await becomes('new', 'Stalled=True/CreateFailed');
    await fires('WindowsPoolNodeGroupCreateFailed', { pool: 'new' });
    const active = (await prometheus.alerts()).filter(
      ({ labels, state }) => labels.pool === 'new' && state === 'firing',
    );
    assert.deepEqual(
      active.map(({ labels }) => labels.alertname),
      ['WindowsPoolNodeGroupCreateFailed'],
    );
    await becomes('new', READY);
    await ends('WindowsPoolNodeGroupCreateFailed');
  });

  it('a new pool that EKS creates forever, and whose deletion does not end', async () => {
    const restoreSpeed = freezeAws(world);
    try {
      await world.apply(poolManifest('slow'));
      await fires('WindowsPoolCreationStuck', { pool: 'slow', reason: 'Creating' });
      assert.deepEqual(await statesOf('WindowsPoolNotReady', { pool: 'slow' }), []);
      await world.kubectl('delete', 'windowspool', 'slow', '--wait=false');
      await fires('WindowsPoolDeletionStuck', { pool: 'slow' });
      await ends('WindowsPoolCreationStuck', { pool: 'slow' });
    } finally {
      restoreSpeed();
    }
    await ends('WindowsPoolDeletionStuck');
  });

  it('a node that EC2 does not start', async () => {
    const restoreSpeed = freezeAws(world);
    try {
      faults().edit({ group: 'web', scalingConfig: { desiredSize: 3 } });
      await fires('WindowsPoolNodesMissing', { pool: 'web' });
    } finally {
      restoreSpeed();
    }
    await ends('WindowsPoolNodesMissing');
  });

  it('a pool that has been paused since yesterday, which the status remembers', async () => {
    await patch('web', { paused: true });
    await becomes('web', 'Paused=True/Paused');
    const conditions = (await world.pool('web'))?.status?.conditions ?? [];
    assert.deepEqual(await statesOf('WindowsPoolPausedLong', {}), []);
    await world.patchPoolStatus('web', {
      conditions: conditions.map((one) => (one.type === 'Paused' ? { ...one, lastTransitionTime: yesterday() } : one)),
    });
    await fires('WindowsPoolPausedLong', { pool: 'web' });
    await patch('web', { paused: false });
    await ends('WindowsPoolPausedLong');
  });

  it('a node that cannot be drained, until its PodDisruptionBudget is deleted', async () => {
    const [node = ''] = await world.nodeNamesOf('web');
    await world.apply(podOn(node, 'default', 'kept', await controllerOf(world, 'default', 'kube-root-ca.crt')));
    await world.kubectl('wait', '--for=condition=Ready', 'pod/kept', '-n', 'default', '--timeout=30s');
    await world.apply(budget('default', 'kept', { minAvailable: 1 }));
    await world.kubectl('annotate', 'node', node, 'winpool.dev/replace=true');
    await fires('WindowsPoolDrainStuck', { pool: 'web' });
    await world.kubectl('delete', 'poddisruptionbudget', 'kept', '-n', 'default');
    await ends('WindowsPoolDrainStuck');
  });

  it('a status that cannot be written', async () => {
    assert.deepEqual(await statesOf('WindowsPoolStatusStale', {}), []);
    await withoutPermission(world, 'windowspools/status', undefined, async () => {
      await patch('web', { nodeGroup: { driftPolicy: 'Report' } });
      await fires('WindowsPoolStatusStale', { pool: 'web' });
    });
    await ends('WindowsPoolStatusStale');
  });

  it('AWS denies reading the group of a pool that stays Ready', async () => {
    await becomes('web', READY);
    assert.deepEqual(await statesOf('WindowsPoolPrerequisitesNotMet', { pool: 'web' }), []);
    faults().removeAction({ action: 'eks:DescribeNodegroup' });
    try {
      await fires('WindowsPoolPrerequisitesNotMet', { pool: 'web' });
      assert.deepEqual(await statesOf('WindowsPoolNotReady', { pool: 'web' }), []);
    } finally {
      faults().restoreAction();
    }
    await ends('WindowsPoolPrerequisitesNotMet');
  });

  it('an operator without the permission to watch nodes', async () => {
    assert.equal(await operator.stop(), 0);
    await withoutPermission(world, 'nodes', undefined, async () => {
      operator = launch();
      await fires('WindowsPoolOperatorCacheStale', { name: 'nodes' });
      assert.deepEqual(await statesOf('WindowsPoolOperatorCacheStale', { name: 'windowspools' }), []);
    });
    await ends('WindowsPoolOperatorCacheStale');
    await operator.ready();
  });

  it('an operator that is killed, and one that does not become the leader', async () => {
    await operator.kill();
    await fires('WindowsPoolOperatorDown', { severity: 'warning' });
    // A gated pool gets no new nodes without the operator.
    operator = await startOperator();
    await world.apply(poolManifest('gated', { paused: true, verification: { policy: 'Gate' } }));
    await becomes('gated', 'Paused=True/Paused');
    await waitFor(async () => (await prometheus.query('cluster:windowspool_gated_pools:count7d'))[''] === 1, {
      what: 'the gated pool to be counted',
      explain,
    });
    await operator.kill();
    await fires('WindowsPoolOperatorDown', { severity: 'critical' });
    const spec = {
      holderIdentity: 'a-laptop',
      leaseDurationSeconds: 3_600,
      renewTime: `${new Date().toISOString().slice(0, -1)}000Z`,
    };
    await world.kubectl('patch', ...LEASE, '--type=merge', '-p', JSON.stringify({ spec }));
    operator = await startOperator();
    await ends('WindowsPoolOperatorDown');
    await fires('WindowsPoolOperatorNoLeader');
    await world.kubectl('delete', ...LEASE);
    await ends('WindowsPoolOperatorNoLeader');
  });

  it('a CRD of another release than the operator', async () => {
    const label = (version: string) =>
      world.kubectl('label', '--overwrite', 'crd/windowspools.winpool.dev', `app.kubernetes.io/version=${version}`);
    await label('99.0.0');
    assert.equal(await operator.stop(), 0);
    operator = await startOperator();
    await fires('WindowsPoolOperatorCrdMismatch');
    await label(manifest.version);
    await ends('WindowsPoolOperatorCrdMismatch');
  });

  it('an operator whose certificate was not renewed', async () => {
    assert.equal(await operator.stop(), 0);
    const folder = await mkdtemp(join(tmpdir(), 'windowspool-certificate-'));
    // Valid for ten years.
    const { cert, key } = selfSigned(['localhost'], Date.now() - 9 * 365 * DAY_MS);
    await writeFile(join(folder, 'tls.crt'), cert);
    await writeFile(join(folder, 'tls.key'), key, { mode: 0o600 });
    operator = await startOperator(`--metrics-cert-dir=${folder}`);
    await fires('WindowsPoolOperatorCertificateExpiring');
    const renewed = selfSigned(['localhost'], Date.now());
    await writeFile(join(folder, 'tls.key'), renewed.key, { mode: 0o600 });
    await writeFile(join(folder, 'tls.crt'), renewed.cert);
    await ends('WindowsPoolOperatorCertificateExpiring');
    await rm(folder, { recursive: true, force: true });
  });

  it('all of them have fired, and at the end none does', async () => {
    assert.deepEqual([...fired].sort(), [...alerts.keys()].sort());
    await waitForNoAlerts();
  });
});

function releaseOf(daysAgo: number): string {
  return new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '.');
}
