/**
 * The API server, or a proxy before it, answers slowly, endlessly, with huge lists, with HTML, and asks to wait for 30 years. The memory of the operator
 * stays bounded, and it works again soon after the answers do.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { conditionOf, hasConditions, READY, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';
import {
  answerHtml,
  type Breakage,
  BrokenServer,
  endlessLine,
  listOf,
  refuseForYears,
  trickle,
} from './brokenServer.ts';
import { isSettled } from './pausedWrites.ts';

/** Below the limit of the Deployment, 512 MiB. */
const MOST_MEMORY_MB = 400;
const RECOVERY_MS = 120_000;
const NODES = 8;
const FLAGS = [
  '--poll-interval=200ms',
  '--retry-base=50ms',
  '--retry-max=1s',
  '--leader-elect=false',
  '--max-pools-updating=2',
];
const [OLD, NEW] = ['1.36-2026.02.17', '1.36-2026.03.17'];
const [DRAINED, UPDATED, CREATED] = ['fat-drained', 'fat-updated', 'fat-created'];

const many = (count: number, item: (index: number) => object): object[] =>
  Array.from({ length: count }, (_, index) => item(index));

/** Each is as large as etcd accepts. */
const fatPods = many(20, (index) => ({
  metadata: {
    namespace: 'default',
    name: `fat-${index}`,
    uid: `fat-${index}`,
    creationTimestamp: '2026-01-01T00:00:00Z',
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'fat', uid: 'fat', controller: true }],
  },
  spec: { containers: [{ name: 'main', image: 'main', env: [{ name: 'FAT', value: 'x'.repeat(1_400_000) }] }] },
  status: { phase: 'Running' },
}));
const fatBudgets = many(500, (index) => ({
  metadata: { namespace: 'default', name: `fat-${index}`, annotations: { fat: 'x'.repeat(120_000) } },
  spec: { selector: { matchLabels: { app: `fat-${index}` } } },
  status: { disruptionsAllowed: 0 },
}));

const pods: Breakage = {
  requests: /^GET \/api\/v1\/pods\?.*spec\.nodeName/,
  answer: listOf('PodList', fatPods, fatPods.length),
};
/** 300 MB. */
const budgets: Breakage = {
  requests: /^GET \/apis\/policy\/v1\/poddisruptionbudgets/,
  answer: listOf('PodDisruptionBudgetList', fatBudgets, 5 * fatBudgets.length),
};
const large = [pods, budgets];
const broken: readonly Breakage[] = [
  { requests: /^GET \/apis\/winpool\.dev\/v1alpha1\/windowspools\?/, answer: endlessLine },
  { requests: /^GET \/api\/v1\/nodes\?/, answer: refuseForYears },
  { requests: /^GET \/apis\/node\.k8s\.io\/v1\/runtimeclasses\?/, answer: answerHtml },
  { requests: /^(?:GET \/api\/v1\/nodes\/|PUT |PATCH |POST \/apis\/events)/, answer: trickle },
];

describe('an API server that answers as none does', function () {
  this.timeout(240_000);
  let world: TestEnv;
  let server: BrokenServer;
  let operator: OperatorProcess;

  before(async () => {
    world = await theWorld();
    server = await BrokenServer.start(world.controlPlane, world.operatorKubeconfig);
    operator = await world.operator(FLAGS, { credentials: server.kubeconfig }).ready();
    const sized = (minSize: number) => ({ nodeGroup: { scaling: { minSize, maxSize: NODES }, releaseVersion: OLD } });
    const items = [
      poolManifest(DRAINED, { ...sized(NODES), disruption: { maxUnavailable: NODES } }),
      poolManifest(UPDATED, sized(1)),
    ];
    await world.apply({ apiVersion: 'v1', kind: 'List', items });
    for (const pool of [DRAINED, UPDATED]) await world.waitForPool(pool, 'to be settled', isSettled);
    const isWhole = (pool: WindowsPool | undefined) => pool?.status?.nodes?.verified === NODES;
    await world.waitForPool(DRAINED, `to have ${NODES} nodes`, isWhole);
  });
  after(async () => {
    server?.repair();
    await world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
    await operator?.stop();
    await server?.[Symbol.asyncDispose]();
  });

  const answeredAll = (breakages: readonly Breakage[], times: number, timeoutMs: number) => {
    const missing = () => breakages.filter((breakage) => server.answered(breakage) < times);
    return waitFor(() => missing().length === 0, {
      what: `${times} answers of each kind`,
      timeoutMs,
      explain: () => `${missing().map(({ requests }) => requests)}\n${operator.tail()}`,
    });
  };
  /** The most memory that the process has had, in MB: proc_pid_status(5). */
  async function mostMemory(): Promise<number> {
    const status = await readFile(`/proc/${operator.pid}/status`, 'utf8');
    return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_000);
  }
  async function assertBounded(): Promise<void> {
    const memory = await mostMemory();
    assert.ok(memory < MOST_MEMORY_MB, `the operator had ${memory} MB`);
    assert.ok(operator.running, operator.tail());
  }

  it(`with ${NODES} nodes of fat pods and 300 MB of budgets leaves the operator below ${MOST_MEMORY_MB} MB`, async () => {
    server.break(large);
    world.cloud.faults.blockDrain({ group: UPDATED });
    await world.patchPool(UPDATED, { nodeGroup: { releaseVersion: NEW } });
    await answeredAll([budgets], 5, 60_000);
    const isFailed = (pool: WindowsPool | undefined) => conditionOf(pool, 'UpToDate') === 'False/UpdateFailed';
    await world.waitForPool(UPDATED, 'to report that the update failed', isFailed, 90_000);
    const before = server.answered(pods);
    const ofPool = ['nodes', '-l', `eks.amazonaws.com/nodegroup=${DRAINED}`];
    await world.kubectl('annotate', ...ofPool, 'winpool.dev/replace=true');
    await answeredAll([pods], before + 3 * NODES, 60_000);
    await assertBounded();
  });

  it(`with endless, slow and false answers leaves it below ${MOST_MEMORY_MB} MB, and it works again within ${RECOVERY_MS / 1_000} s`, async () => {
    server.break([...large, ...broken]);
    await world.apply(poolManifest(CREATED));
    await answeredAll(broken, 1, 60_000);
    await answeredAll(broken.slice(0, 1), 3, 60_000);
    server.repair();
    await world.waitForPool(CREATED, 'to be Ready', (pool) => hasConditions(pool, READY), RECOVERY_MS);
    await world.waitForPool(DRAINED, 'to be settled', isSettled, RECOVERY_MS);
    await assertBounded();
  });
});
