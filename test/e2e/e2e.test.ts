/** `make e2e` against the local Kubernetes and the local AWS: the same program that runs against a real account. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { accountId, subnetIds } from '../../hack/cloud/network.ts';
import { ADMINISTRATOR } from '../../hack/cloud/wire/calls.ts';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { CLUSTER_NAME, REGION, startWorld, type World } from '../../hack/world/world.ts';
import { theWorld } from '../sharedWorld.ts';

const MAIN = fileURLToPath(new URL('../../hack/e2e/main.ts', import.meta.url));

/** As whom the caller and the operator come to the local AWS: the operator has the policy that ships. */
const CREDENTIALS = [
  ['caller', ADMINISTRATOR],
  ['operator-role', 'local'],
]
  .map(([profile, key]) => `[${profile}]\naws_access_key_id = ${key}\naws_secret_access_key = local\n`)
  .join('');

interface Report {
  readonly outcome: string;
  readonly steps: readonly { readonly name: string; readonly state: string; readonly message?: string }[];
  readonly answers: Readonly<
    Record<string, { readonly state: string; readonly answer?: unknown; readonly why?: string }>
  >;
  readonly calls: readonly { readonly operation: string }[];
  readonly left: readonly unknown[];
}

/** A run of the program, from its start. */
interface Running {
  readonly child: ChildProcess;
  /** All that it printed so far. */
  output(): string;
  ended(): Promise<{ readonly code: number | null; readonly report: Report | undefined; readonly text: string }>;
}

describe('make e2e', function () {
  this.timeout(300_000);
  let world: World;
  let folder: string;
  before(async () => {
    world = await theWorld();
    folder = await mkdtemp(join(tmpdir(), 'winpool-e2e-test-'));
    await writeFile(join(folder, 'credentials'), CREDENTIALS);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function start(env: NodeJS.ProcessEnv = {}, { cloud, controlPlane } = world): Promise<Running> {
    const { kubectl } = await ensureBinaries(() => undefined);
    const report = join(folder, 'report/e2e.json');
    await rm(report, { force: true });
    const { url } = cloud;
    const child = spawn(process.execPath, [MAIN], {
      // A group of its own, as a terminal gives it: Ctrl-C reaches all of it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        KUBECONFIG: controlPlane.adminKubeconfig,
        KUBECTL: kubectl,
        AWS_PROFILE: 'caller',
        AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
        E2E_OPERATOR_PROFILE: 'operator-role',
        ...Object.fromEntries(
          ['EKS', 'EC2', 'SSM', 'AUTO_SCALING', 'STS', 'IAM'].map((name) => [`AWS_ENDPOINT_URL_${name}`, url]),
        ),
        E2E_ACCOUNT: accountId,
        CLUSTER_NAME,
        AWS_REGION: REGION,
        NODE_ROLE_NAME: 'windows-nodes',
        SUBNETS: `${subnetIds[0]},${subnetIds[1]}`,
        E2E_CONFIRM: 'yes',
        E2E_REPORT: report,
        E2E_TIMEOUT_FACTOR: '0.05',
        E2E_OPERATOR_FLAGS: '--poll-interval=200ms --retry-base=100ms --resync-interval=1s',
        ...env,
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text));
    const exit = once(child, 'close');
    return {
      child,
      output: () => output,
      ended: async () => {
        const [code] = await exit;
        const text = await readFile(report, 'utf8').catch(() => '');
        return { code, text, report: text === '' ? undefined : JSON.parse(text) };
      },
    };
  }

  /** What a run made and would have left. */
  async function leftovers(): Promise<string[]> {
    const kinds = ['windowspools', 'runtimeclasses', 'pods'];
    const objects = await Promise.all(kinds.map((kind) => world.kubectl('get', kind, '--output=name')));
    const groups = [...world.cloud.state.groups.keys()];
    return [...objects.flatMap((text) => text.split('\n')), ...groups].filter((name) => name.includes('e2e-'));
  }

  function assertRedacted(text: string): void {
    assert.doesNotMatch(text, new RegExp(accountId));
    for (const name of [CLUSTER_NAME, 'windows-nodes', ...subnetIds, ADMINISTRATOR])
      assert.doesNotMatch(text, new RegExp(`(?<![\\w-])${name}(?![\\w-])`), name);
    assert.doesNotMatch(text, /\bi-[0-9a-f]{8,}/);
    assert.doesNotMatch(text, /eyJ/);
  }

  it('lives the life of one pool, answers the open questions, and leaves nothing', async () => {
    const run = await start();
    const { code, report, text } = await run.ended();
    assert.deepEqual(
      report?.steps.filter(({ state }) => state !== 'passed').map(({ name, state, message }) => [name, state, message]),
      [['Read the Windows node groups that exist', 'skipped', 'the cluster has no managed Windows node group']],
      run.output(),
    );
    assert.deepEqual([code, report?.outcome, report?.left], [0, 'passed', []], run.output());
    assert.match(run.output(), /Estimated cost: less than USD \d/);
    assert.deepEqual(await leftovers(), []);
    assertRedacted(text);
    const states = Object.entries(report?.answers ?? {}).map(([id, { state }]) => [id, state]);
    assert.deepEqual(Object.fromEntries(states), {
      accessWrittenByEks: 'answered',
      missingAddOnArn: 'answered',
      missingGroupArn: 'answered',
      registration: 'answered',
      olderKubernetesVersion: 'answered',
      unknownRelease: 'answered',
      newestRelease: 'answered',
      reservedMemory: 'answered',
      runtimeHandlers: 'answered',
      scalingGroupTags: 'answered',
      warmPool: 'not asked',
      nodeEvents: 'answered',
      podWebhook: 'answered',
      autoMode: 'not asked',
      partition: 'not asked',
      passRoleToAccessEntry: 'not asked',
    });
    assert.deepEqual(report?.answers.newestRelease?.answer, { release: '1.36-2026.04.18', accepted: true });
    // What others use stays.
    assert.notEqual(await world.kubectl('get', 'crd', 'windowspools.winpool.dev', '--output=name'), '');
    assert.notEqual(await world.kubectl('get', 'namespace', 'winpool-system', '--output=name'), '');
  });

  it('only reads when it is told to', async () => {
    world.cloud.resetCalls();
    const run = await start({
      E2E_READ_ONLY: '1',
      NODE_ROLE_NAME: undefined,
      SUBNETS: undefined,
      E2E_CONFIRM: undefined,
    });
    const { code, report, text } = await run.ended();
    assert.deepEqual([code, report?.outcome], [0, 'passed'], run.output());
    assertRedacted(text);
    const writes = world.cloud.calls().filter(({ operation }) => !/^(Describe|Get|List)/.test(operation));
    assert.deepEqual(writes, []);
    assert.deepEqual(await leftovers(), []);
    assert.equal(report?.answers.missingGroupArn?.state, 'answered');
    assert.equal(report?.answers.registration?.state, 'not asked');
  });

  it('refuses another account than the one it is told', async () => {
    world.cloud.resetCalls();
    const run = await start({ E2E_ACCOUNT: '444455556666' });
    const { code, report } = await run.ended();
    assert.equal(code, 1);
    assert.match(
      report?.steps[0]?.message ?? '',
      /^E2E_ACCOUNT is <account>, and your credentials belong to account <account>\. Switch credentials/,
    );
    assert.match(
      run.output(),
      new RegExp(`E2E_ACCOUNT is 444455556666, and your credentials belong to account ${accountId}`),
    );
    assert.deepEqual(
      world.cloud.calls().map(({ operation }) => operation),
      ['GetCallerIdentity'],
    );
  });

  it('names what is missing, and asks AWS for nothing', async () => {
    world.cloud.resetCalls();
    const run = await start({ E2E_ACCOUNT: undefined, SUBNETS: 'here' });
    const { code, report } = await run.ended();
    assert.deepEqual([code, report], [2, undefined]);
    assert.match(run.output(), /^E2E_ACCOUNT is not set\..*\nSUBNETS is 'here': must be subnet IDs/);
    assert.deepEqual(world.cloud.calls(), []);
  });

  it('makes nothing where nobody accepts the costs', async () => {
    world.cloud.resetCalls();
    const run = await start({ E2E_CONFIRM: undefined });
    assert.equal((await run.ended()).code, 2);
    assert.match(run.output(), /E2E_CONFIRM=yes/);
    assert.deepEqual(world.cloud.calls(), []);
  });

  it('removes what it made after a step has failed', async () => {
    world.cloud.faults.removeAction({ action: 'eks:UpdateNodegroupConfig' });
    const run = await start({ E2E_TIMEOUT_FACTOR: '0.01' });
    try {
      const { code, report, text } = await run.ended();
      assert.deepEqual([code, report?.outcome, report?.left], [1, 'failed', []], run.output());
      assert.equal(report?.steps.at(-1)?.state, 'failed');
      assert.equal(report?.steps.at(-1)?.name, 'Change a label of the nodes');
      assert.match(report?.steps.at(-1)?.message ?? '', /eks:UpdateNodegroupConfig/);
      assert.deepEqual(await leftovers(), []);
      assertRedacted(text);
    } finally {
      world.cloud.faults.restoreAction();
    }
  });

  it('removes what it made after Ctrl-C, also what it installed', async () => {
    const bare = await startWorld({ bare: true });
    try {
      const run = await start({}, bare);
      await waitFor(() => bare.cloud.state.groups.size > 0, {
        what: 'the node group to be created',
        timeoutMs: 120_000,
        explain: run.output,
      });
      process.kill(-(run.child.pid ?? 0), 'SIGINT');
      const { code, report } = await run.ended();
      assert.deepEqual([code, report?.outcome, report?.left], [1, 'stopped', []], run.output());
      assert.equal(bare.cloud.state.groups.size, 0);
      const kinds = 'crds,namespaces,clusterroles,clusterrolebindings';
      const left = (await bare.kubectl('get', kinds, '--output=name')).split('\n');
      assert.deepEqual(
        left.filter((name) => /windowspool|winpool-system/.test(name)),
        [],
      );
    } finally {
      await bare.stop();
    }
  });
});
