/** `make e2e` against the local Kubernetes and the local AWS: the same program that runs against a real account. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EKS } from '@aws-sdk/client-eks';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { isWrite } from '../awsCalls.ts';
import { accountId, nodeRoleArn, subnetIds } from '../fakes/localaws/network.ts';
import { ADMINISTRATOR } from '../fakes/localaws/wire/calls.ts';
import { readAudit } from '../fakes/testenv/audit.ts';
import { CLUSTER_NAME, REGION, startTestEnv, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { freezeAws, setSwitch, theWorld } from '../sharedWorld.ts';

const MAIN = fileURLToPath(new URL('../../hack/e2e/main.ts', import.meta.url));

/** The identities of the caller and of the operator in the local AWS: the operator has the shipped policy. */
const CREDENTIALS = [
  ['caller', ADMINISTRATOR],
  ['operator-role', 'local'],
]
  .map(([profile, key]) => `[${profile}]\naws_access_key_id = ${key}\naws_secret_access_key = local\n`)
  .join('');

/** The questions that only a run with E2E_MACHINE=1 answers. */
const MACHINE_QUESTIONS = [
  'reservedTaints',
  'customNodeGroup',
  'kubeletArguments',
  'userDataAccount',
  'settingsOfCustomNodes',
  'templateUpdate',
  'rolloutGrowth',
] as const;

interface Report {
  readonly outcome: string;
  readonly steps: readonly { readonly name: string; readonly state: string; readonly message?: string }[];
  readonly answers: Readonly<
    Record<string, { readonly state: string; readonly answer?: unknown; readonly why?: string }>
  >;
  readonly calls: readonly { readonly operation: string }[];
  readonly left: readonly { readonly what: string }[];
  readonly kept: readonly { readonly what: string }[];
}

/** A run of the program, from its start. */
interface Running {
  readonly child: ChildProcess;
  /** Its output so far. */
  output(): string;
  ended(): Promise<{ readonly code: number | null; readonly report: Report | undefined; readonly text: string }>;
}

describe('make e2e', function () {
  this.timeout(300_000);
  let world: TestEnv;
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
      // A process group of its own, as in a terminal: Ctrl-C reaches all of its processes.
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

  /** Waits until the run has created its node group, and returns its name. */
  async function nodeGroupOf(run: Running, { cloud } = world): Promise<string> {
    const group = () => [...cloud.state.groups.keys()].find((name) => name.startsWith('e2e-'));
    return waitFor(group, { what: 'the node group to be created', timeoutMs: 120_000, explain: run.output });
  }

  /** Requests by kubectl that changed something, after this many requests in the log. */
  async function writesSince(count: number): Promise<string[]> {
    const events = (await readAudit(world.controlPlane.auditLog, '"userAgent":"kubectl/')).slice(count);
    return events.flatMap(({ verb, requestURI }) => (/^(get|list|watch)$/.test(verb) ? [] : `${verb} ${requestURI}`));
  }

  /** What a run created and would have left behind. */
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

  it('creates, changes and deletes one pool, answers the open questions, and leaves nothing behind', async () => {
    // So that EKS writes the access of the node role.
    world.cloud.faults.accessEntry({ exists: false });
    const run = await start();
    const { code, report, text } = await run.ended();
    assert.deepEqual(
      report?.steps.filter(({ state }) => state !== 'passed').map(({ name, state, message }) => [name, state, message]),
      [['Read the Windows node groups that exist', 'skipped', 'the cluster has no managed Windows node group']],
      run.output(),
    );
    assert.deepEqual([code, report?.outcome, report?.left], [0, 'passed', []], run.output());
    assert.match(run.output(), /Estimated cost: typically less than USD \d/);
    assert.deepEqual(await leftovers(), []);
    assertRedacted(text);
    const states = Object.entries(report?.answers ?? {}).map(([id, { state }]) => [id, state]);
    assert.deepEqual(Object.fromEntries(states), {
      accessWrittenByEks: 'answered',
      missingAddOnArn: 'answered',
      missingGroupArn: 'unknown',
      registration: 'answered',
      olderKubernetesVersion: 'answered',
      unknownRelease: 'answered',
      newestRelease: 'answered',
      releaseParameter: 'answered',
      images: 'answered',
      reservedMemory: 'answered',
      runtimeHandlers: 'answered',
      scalingGroupTags: 'answered',
      warmPool: 'not asked',
      nodeEvents: 'answered',
      podWebhook: 'answered',
      autoMode: 'not asked',
      partition: 'not asked',
      passRoleToAccessEntry: 'not asked',
      ...Object.fromEntries(MACHINE_QUESTIONS.map((id) => [id, 'not asked'])),
    });
    assertAnswers(report?.answers ?? {});
    assert.deepEqual(
      report?.kept.map(({ what }) => what),
      ['access entry of arn:aws:iam::<account>:role/<node-role>'],
    );
    assertNames(run.output(), 'aws eks delete-access-entry --cluster-name demo');
    // What other users have remains.
    assert.notEqual(await world.kubectl('get', 'crd', 'windowspools.winpool.dev', '--output=name'), '');
    for (const namespace of ['winpool-system', 'winpool-node-pods'])
      assert.notEqual(await world.kubectl('get', 'namespace', namespace, '--output=name'), '');
  });

  describe('with E2E_MACHINE=1', () => {
    type Added = { readonly secondsOnExistingNodes?: object };
    const RESULT = { account: 'Administrator', isSystem: false, isAdministrator: true, powershell: '5.1', logs: [] };

    /** A run whose HostProcess pod the test ends, because no node here runs the script. */
    async function machineRun(): Promise<Awaited<ReturnType<Running['ended']>> & { readonly output: string }> {
      const run = await start({ E2E_MACHINE: '1' });
      const ended = run.ended();
      const pod = await Promise.race([ended.then(() => undefined), readerPod(run)]);
      if (pod !== undefined) {
        const terminated = { exitCode: 1, reason: 'Error', message: JSON.stringify(RESULT) };
        const image = 'reader';
        const container = {
          name: 'reader',
          image,
          imageID: image,
          ready: false,
          restartCount: 0,
          state: { terminated },
        };
        const patch = JSON.stringify({ status: { phase: 'Failed', containerStatuses: [container] } });
        await world.kubectl('patch', pod, '--subresource=status', '--type=merge', '--patch', patch);
      }
      return { ...(await ended), output: run.output() };
    }

    function readerPod(run: Running): Promise<string> {
      const query = '{range .items[?(@.spec.hostNetwork==true)]}{.metadata.name} {.status.phase}{"\\n"}{end}';
      const running = async () => {
        const lines = (await world.kubectl('get', 'pods', '--output', `jsonpath=${query}`)).split('\n');
        const name = lines.find((line) => /^e2e-.* Running$/.test(line))?.split(' ')[0];
        return name === undefined ? undefined : `pod/${name}`;
      };
      return waitFor(running, { what: 'the HostProcess pod to run', timeoutMs: 120_000, explain: run.output });
    }

    async function assertNothingLeft(): Promise<void> {
      const templates = [...world.cloud.state.launchTemplates.values()].map(({ name }) => name);
      const maps = await world.kubectl('get', 'configmaps', '--namespace=winpool-system', '--output=name');
      assert.deepEqual(await leftovers(), []);
      assert.deepEqual(
        [...templates, ...maps.split('\n')].filter((name) => name.includes('e2e-')),
        [],
      );
    }

    it('changes the machines of a pool, and answers seven more questions', async () => {
      world.cloud.faults.accessEntry({ exists: false });
      const { code, report, text, output } = await machineRun();
      assert.deepEqual([code, report?.outcome, report?.left], [0, 'passed', []], output);
      assert.match(output, /Estimated cost: typically less than USD 1\.50/);
      await assertNothingLeft();
      assertRedacted(text);
      const answers = report?.answers ?? {};
      for (const id of [...MACHINE_QUESTIONS, 'registration'])
        assert.equal(answers[id]?.state, 'answered', `${id}: ${answers[id]?.why}`);
      assert.deepEqual(answers.reservedTaints?.answer, {
        'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate': 'accepted',
        'readiness.k8s.io/winpool-e2e': 'accepted',
      });
      assert.partialDeepStrictEqual(answers.customNodeGroup?.answer, { amiType: 'CUSTOM', version: '1.36' });
      assert.deepEqual(answers.kubeletArguments?.answer, { maxPods: [30, 31], capacity: ['30', '31'] });
      assert.deepEqual(answers.userDataAccount?.answer, RESULT);
      const { secondsOnExistingNodes: added = {} } = (answers.settingsOfCustomNodes?.answer ?? {}) as Added;
      assert.deepEqual(Object.keys(added).sort(), [
        'e2e.example.com/step-late',
        'readiness.k8s.io/winpool-e2e:NoSchedule',
      ]);
      assert.partialDeepStrictEqual(answers.templateUpdate?.answer, {
        type: 'VersionUpdate',
        status: 'Successful',
        parameters: { LaunchTemplateVersion: '2' },
      });
      assert.partialDeepStrictEqual(answers.rolloutGrowth?.answer, { scalingConfig: 'hidden' });
      assert.equal(answers.accessWrittenByEks?.state, 'unknown');
      assert.deepEqual(
        report?.kept.map(({ what }) => what),
        ['access entry of arn:aws:iam::<account>:role/<node-role>'],
      );
    });

    it('goes on without the taints that EKS rejects, with its words', async () => {
      const restore = [
        setSwitch(world, 'reservedTaints', 'subdomains'),
        setSwitch(world, 'settingsOfCustomNodes', 'never'),
        setSwitch(world, 'rolloutGrowth', 'shown'),
      ];
      try {
        const { code, report, output } = await machineRun();
        assert.deepEqual([code, report?.outcome, report?.left], [0, 'passed', []], output);
        await assertNothingLeft();
        const answers = report?.answers ?? {};
        const taints = (answers.reservedTaints?.answer ?? {}) as Readonly<Record<string, string>>;
        const { 'readiness.k8s.io/winpool-e2e': rejection, ...gate } = taints;
        assert.deepEqual(gate, { 'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate': 'rejected' });
        assertNames(rejection, 'Taint cannot contain reserved prefixes', 'readiness.k8s.io/winpool-e2e');
        assert.deepEqual(answers.settingsOfCustomNodes?.answer, { secondsOnExistingNodes: {}, secondsOnNewNodes: {} });
        assert.partialDeepStrictEqual(answers.rolloutGrowth?.answer, { scalingConfig: 'shown' });
      } finally {
        for (const each of restore) each();
      }
    });

    it('removes the launch template and the script after Ctrl-C, if the operator may not', async () => {
      const { faults } = world.cloud;
      faults.removeAction({ action: 'ec2:DeleteLaunchTemplate' });
      try {
        const run = await start({ E2E_MACHINE: '1', E2E_TIMEOUT_FACTOR: '0.01' });
        await nodeGroupOf(run);
        process.kill(-(run.child.pid ?? 0), 'SIGINT');
        const { code, report } = await run.ended();
        assert.deepEqual([code, report?.outcome, report?.left], [1, 'stopped', []], run.output());
        assert.match(run.output(), /The operator did not delete WindowsPool e2e-/);
        await assertNothingLeft();
      } finally {
        faults.restoreAction();
      }
    });
  });

  it('only reads with --read-only, including the node groups of other owners', async () => {
    const eks = asAdministrator();
    const group = { clusterName: CLUSTER_NAME, nodegroupName: 'their-group' };
    await eks.createNodegroup({
      ...group,
      amiType: 'WINDOWS_CORE_2022_x86_64',
      subnets: [...subnetIds],
      nodeRole: nodeRoleArn,
      scalingConfig: { minSize: 0, desiredSize: 0, maxSize: 1 },
    });
    world.cloud.resetCalls();
    const before = (await readAudit(world.controlPlane.auditLog, '"userAgent":"kubectl/')).length;
    const run = await start({
      E2E_READ_ONLY: '1',
      NODE_ROLE_NAME: undefined,
      SUBNETS: undefined,
      E2E_CONFIRM: undefined,
    });
    const { code, report, text } = await run.ended();
    assert.deepEqual([code, report?.outcome], [0, 'passed'], run.output());
    assertRedacted(text);
    const writes = world.cloud.calls().filter(isWrite);
    assert.deepEqual([writes, await writesSince(before)], [[], []]);
    assert.deepEqual(await leftovers(), []);
    assert.deepEqual(
      report?.steps.map(({ state }) => state),
      ['passed', 'passed'],
    );
    assert.doesNotMatch(text, /their-group/);
    for (const id of ['missingAddOnArn', 'releaseParameter', 'images'])
      assert.equal(report?.answers[id]?.state, 'answered');
    assert.equal(report?.answers.scalingGroupTags?.state, 'answered');
    assert.equal(report?.answers.accessWrittenByEks?.state, 'unknown');
    assert.equal(report?.answers.registration?.state, 'not asked');
    await eks.deleteNodegroup(group);
    await groupIsGone(eks, group.nodegroupName);
    eks.destroy();
  });

  it('stops and ends when nobody reads its output, as when its terminal is closed', async () => {
    const run = await start({ E2E_READ_ONLY: '1' });
    run.child.stdout?.destroy();
    run.child.stderr?.destroy();
    const { code, report } = await run.ended();
    assert.deepEqual([code, report?.outcome], [1, 'stopped']);
  });

  it('rejects an account other than the given one', async () => {
    world.cloud.resetCalls();
    const run = await start({ E2E_ACCOUNT: '444455556666' });
    const { code, report } = await run.ended();
    assert.equal(code, 1);
    assertNames(report?.steps[0]?.message, 'E2E_ACCOUNT', /<account>.*<account>/);
    assertNames(run.output(), 'E2E_ACCOUNT is 444455556666', accountId);
    assert.deepEqual(
      world.cloud.calls().map(({ operation }) => operation),
      ['GetCallerIdentity'],
    );
  });

  describe('rejects, before it changes anything,', () => {
    const pool = {
      apiVersion: 'winpool.dev/v1alpha1',
      kind: 'WindowsPool',
      metadata: { name: 'their-pool' },
      spec: {
        windowsVersion: 'Windows2022',
        nodeGroup: { nodeRole: nodeRoleArn, subnets: [{ id: subnetIds[0] }], scaling: { minSize: 1, maxSize: 1 } },
      },
    };
    const labels = { 'app.kubernetes.io/name': 'windowspool-operator' };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'their-operator', namespace: 'default', labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'operator', image: 'example.com/operator' }] } },
      },
    };
    const view = ['clusterrole', 'windowspool-operator-windowspools-view'];
    const table: readonly {
      readonly what: string;
      readonly given?: () => Promise<unknown>;
      readonly undo?: () => Promise<unknown>;
      readonly env?: () => NodeJS.ProcessEnv;
      readonly message: RegExp;
    }[] = [
      {
        what: 'a cluster with pools, which it does not name in the report',
        given: () => world.apply(pool),
        undo: () => world.kubectl('delete', 'windowspool', 'their-pool'),
        message: /WindowsPools.*: <other-pool>\./,
      },
      {
        what: 'an operator in any namespace',
        given: () => world.apply(deployment),
        undo: () => world.kubectl('delete', 'deployment', 'their-operator', '--namespace=default'),
        message: /Deployment <namespace>\/<operator>\./,
      },
      {
        what: 'an installation that is incomplete',
        given: () => world.kubectl('delete', ...view),
        undo: () => world.install(),
        message: /ServiceAccount.* Missing: clusterrole\S+-view\./,
      },
      {
        what: 'credentials that expire before the cleanup',
        env: () => ({
          AWS_PROFILE: undefined,
          AWS_ACCESS_KEY_ID: ADMINISTRATOR,
          AWS_SECRET_ACCESS_KEY: 'local',
          AWS_SESSION_TOKEN: 'local',
          AWS_CREDENTIAL_EXPIRATION: new Date(Date.now() + 300_000).toISOString(),
        }),
        message: /credentials expire in \d min\b.*\d+ min\b/,
      },
    ];
    for (const { what, given, undo, env, message } of table)
      it(what, async () => {
        await given?.();
        try {
          world.cloud.resetCalls();
          const before = (await readAudit(world.controlPlane.auditLog, '"userAgent":"kubectl/')).length;
          const run = await start(env?.());
          const { code, report } = await run.ended();
          assert.deepEqual([code, report?.outcome, report?.left], [1, 'failed', []], run.output());
          assert.match(report?.steps.at(-1)?.message ?? '', message);
          const writes = world.cloud.calls().filter(isWrite);
          assert.deepEqual([writes, await writesSince(before)], [[], []]);
        } finally {
          await undo?.();
        }
      });
  });

  it('creates nothing unless the user accepts the costs', async () => {
    world.cloud.resetCalls();
    const run = await start({ E2E_CONFIRM: undefined });
    assert.equal((await run.ended()).code, 2);
    assert.match(run.output(), /E2E_CONFIRM=yes/);
    assert.deepEqual(world.cloud.calls(), []);
  });

  it('removes what it created after a step has failed, in the same cluster, and without the operator if that is denied', async () => {
    const { faults } = world.cloud;
    faults.removeAction({ action: 'eks:DeleteNodegroup' });
    const refusal = { name: 'InvalidParameterException', message: 'No such label.', count: 1_000 };
    faults.calls.error({ operation: 'UpdateNodegroupConfig', ...refusal });
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, await readFile(world.controlPlane.adminKubeconfig));
    const run = await start({ E2E_TIMEOUT_FACTOR: '0.01', KUBECONFIG: kubeconfig });
    try {
      await nodeGroupOf(run);
      // The caller switches to another cluster.
      await writeFile(kubeconfig, 'apiVersion: v1\nkind: Config\n');
      const { code, report, text } = await run.ended();
      assert.deepEqual([code, report?.outcome, report?.left], [1, 'failed', []], run.output());
      assert.equal(report?.steps.at(-1)?.state, 'failed');
      assert.equal(report?.steps.at(-1)?.name, 'Change a label of the nodes');
      assert.match(report?.steps.at(-1)?.message ?? '', /^WindowsPool <pool> is stalled: .*No such label\./);
      assert.match(run.output(), /The operator did not delete WindowsPool e2e-/);
      assert.deepEqual(await leftovers(), []);
      assertRedacted(text);
    } finally {
      faults.restoreAction();
      faults.calls.clear();
    }
  });

  it('removes what it created and installed after Ctrl-C', async () => {
    const bare = await startTestEnv({ bare: true });
    try {
      const run = await start({}, bare);
      await nodeGroupOf(run, bare);
      process.kill(-(run.child.pid ?? 0), 'SIGINT');
      const { code, report } = await run.ended();
      assert.deepEqual([code, report?.outcome, report?.left], [1, 'stopped', []], run.output());
      assert.equal(bare.cloud.state.groups.size, 0);
      const kinds = 'crds,namespaces,clusterroles,clusterrolebindings';
      const left = (await bare.kubectl('get', kinds, '--output=name')).split('\n');
      assert.deepEqual(
        left.filter((name) => /windowspool|winpool-/.test(name)),
        [],
      );
    } finally {
      await bare.stop();
    }
  });

  it('leaves no process and no credentials after the second Ctrl-C, and prints the commands that remove the rest', async () => {
    const restoreSpeed = freezeAws(world);
    const temporary = join(folder, 'temporary');
    await mkdir(temporary);
    const run = await start({ TMPDIR: temporary });
    const group = await nodeGroupOf(run);
    assert.notDeepEqual(await processesWith(temporary), []);
    process.kill(-(run.child.pid ?? 0), 'SIGINT');
    await waitFor(() => run.output().includes('Removing WindowsPool'), {
      what: 'the cleanup to start',
      explain: run.output,
    });
    process.kill(run.child.pid ?? 0, 'SIGINT');
    const { code, report } = await run.ended();
    const left = report?.left.map(({ what }) => what);
    assert.deepEqual([code, report?.outcome, left], [1, 'stopped', ['WindowsPool <pool> and its node group']]);
    assert.deepEqual([await processesWith(temporary), await readdir(temporary)], [[], []]);
    restoreSpeed();
    const commands =
      run
        .output()
        .split('LEFT BEHIND')[1]
        ?.split('\n')
        .filter((line) => line.startsWith('  ')) ?? [];
    assert.deepEqual(
      commands.map((line) =>
        line
          .trim()
          .replace(/ --(context|cluster-name) \S+/, '')
          .split(' ', 3)
          .join(' '),
      ),
      ['kubectl delete windowspools.winpool.dev', 'aws eks delete-nodegroup', 'kubectl patch windowspools.winpool.dev'],
    );
    for (const command of commands) await typed(command, group);
    await waitFor(async () => (await leftovers()).length === 0, {
      what: 'nothing to remain',
      explain: () => commands.join('\n'),
    });
  });

  /** AWS as the administrator of the account. */
  const asAdministrator = () =>
    new EKS({
      region: REGION,
      endpoint: world.cloud.url,
      credentials: { accessKeyId: ADMINISTRATOR, secretAccessKey: 'local' },
    });

  const groupIsGone = (eks: EKS, nodegroupName: string) =>
    waitFor(
      () =>
        eks.describeNodegroup({ clusterName: CLUSTER_NAME, nodegroupName }).then(
          () => false,
          ({ name }) => name === 'ResourceNotFoundException',
        ),
      { what: `node group ${nodegroupName} to be deleted` },
    );

  /** Processes whose command line has this text. */
  async function processesWith(text: string): Promise<string[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
    return lines.filter((line) => line.includes(text));
  }

  /** Runs a command as a caller types it; the AWS CLI is not installed here. */
  async function typed(command: string, group: string): Promise<void> {
    const { controlPlane } = world;
    if (command.includes('aws eks delete-nodegroup')) {
      assert.ok(
        command.includes(`--cluster-name ${CLUSTER_NAME} --nodegroup-name ${group} --region ${REGION}`),
        command,
      );
      const eks = asAdministrator();
      await eks.deleteNodegroup({ clusterName: CLUSTER_NAME, nodegroupName: group });
      await groupIsGone(eks, group);
      eks.destroy();
      return;
    }
    const { kubectl } = await ensureBinaries(() => undefined);
    const env = {
      HOME: process.env.HOME,
      PATH: `${dirname(kubectl)}${delimiter}${process.env.PATH}`,
      KUBECONFIG: controlPlane.adminKubeconfig,
    };
    const { code, stderr } = await runCommand('/bin/sh', ['-c', command], { env, timeoutMs: 60_000 });
    assert.equal(code, 0, `${command}: ${stderr}`);
  }
});

/** The answers of the local AWS, which `test/fakes/localaws` assumes to be the likely ones. */
function assertAnswers(answers: Report['answers']): void {
  assert.deepEqual(answers.newestRelease?.answer, { release: '1.36-2026.04.18', accepted: true });
  assert.partialDeepStrictEqual(answers.accessWrittenByEks?.answer, {
    authenticationMode: 'API_AND_CONFIG_MAP',
    before: { entryGroups: [] },
    after: { entryType: 'EC2_WINDOWS' },
  });
  assert.partialDeepStrictEqual(answers.missingAddOnArn?.answer, { kind: 'denied', name: 'AccessDeniedException' });
  assert.match(
    JSON.stringify(answers.missingAddOnArn?.answer),
    /:\/clusters\/<cluster>\/addons\/aws-efs-csi-driver-e2e/,
  );
  assert.match(answers.missingGroupArn?.why ?? '', /^ResourceNotFoundException\. /);
  assert.partialDeepStrictEqual(answers.olderKubernetesVersion?.answer, {
    cluster: '1.36',
    asked: '1.35',
    accepted: false,
    name: 'InvalidParameterException',
  });
  assert.partialDeepStrictEqual(answers.unknownRelease?.answer, {
    accepted: false,
    name: 'InvalidParameterException',
  });
  assert.equal(answers.podWebhook?.answer, 'exists');
  assert.deepEqual(answers.reservedMemory?.answer, { mebibytes: [500], capacity: '8Gi', allocatable: '7692Mi' });
  assert.partialDeepStrictEqual(answers.runtimeHandlers?.answer, { handlers: ['(default)', 'runhcs-wcow-process'] });
  assert.match(
    JSON.stringify(answers.registration?.answer),
    /"labels":\[.*"eks\.amazonaws\.com\/nodegroup".*"taints":\["os:NoSchedule"/,
  );
  assert.partialDeepStrictEqual(answers.scalingGroupTags?.answer, {
    propagated: ['eks:cluster-name', 'eks:nodegroup-name'],
    instance: { keys: ['aws:autoscaling:groupName', 'eks:cluster-name', 'eks:nodegroup-name'], others: 0 },
  });
  // Which events exist by then depends on the timing.
  const { answer: events } = answers.nodeEvents ?? {};
  assert.ok(Array.isArray(events) && events.every((event) => /^[\w./-]+: \w+$/.test(event)), `${events}`);
}
