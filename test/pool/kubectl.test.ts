/** The commands of kubectl that a user types, against a real API server and a running operator. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1Pod } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import { type Outcome, runCommand } from '../../hack/controlplane/command.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { blocksOf } from '../docs/markdown.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { freezeAws, withOperator } from '../sharedWorld.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DEBUG_PODS = ['pods', '--namespace=default', '--selector=app.kubernetes.io/managed-by=kubectl-debug'];

/** The profiles of `kubectl debug`. */
const PROFILES = ['baseline', 'general', 'netadmin', 'restricted', 'sysadmin'];
/** One more, of older versions. */
const LEGACY_PROFILE = 'legacy';

/** The ConfigMap that `kubectl apply --applyset` creates. */
const APPLY_SET = 'pools';

/** The container of a Windows HostProcess pod, for `kubectl debug --custom`. */
const HOST_PROCESS = {
  securityContext: { windowsOptions: { hostProcess: true, runAsUserName: 'NT AUTHORITY\\SYSTEM' } },
};

describe('the kubectl commands for pools', () => {
  const fixture = withOperator('--resync-interval=1s');
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let kubectl: string;
  let blocks: readonly string[];

  before(async () => {
    const { controlPlane } = fixture.world;
    ({ kubectl } = await ensureBinaries((line) => console.log(`    ${line}`)));
    folder = await mkdtemp(join(tmpdir(), 'windowspool-kubectl-'));
    env = {
      ...process.env,
      PATH: [dirname(kubectl), process.env.PATH].join(delimiter),
      KUBECONFIG: controlPlane.adminKubeconfig,
      KUBECACHEDIR: join(controlPlane.dir, 'kubectl-cache'),
    };
    const page = await readFile(join(ROOT, 'docs/how-to/kubectl.md'), 'utf8');
    blocks = blocksOf(page).map(({ text }) => text);
    await writePool('windowspool.yaml', {});
  });
  after(async () => {
    await fixture.world?.kubectl('delete', ...DEBUG_PODS, '--wait=false');
    await fixture.world?.kubectl('delete', 'configmap', APPLY_SET, '--namespace=default', '--ignore-not-found');
    if (folder) await rm(folder, { recursive: true });
  });

  const run = (script: string): Promise<Outcome> =>
    runCommand('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: folder, env, timeoutMs: 90_000 });
  /** What the commands print. Throws if one fails. */
  async function typed(script: string): Promise<string> {
    const { stdout, stderr, code } = await run(script);
    if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${stdout}${stderr}${fixture.operator.tail()}`);
    return stdout;
  }
  /** The error message of a command that must fail. */
  async function failing(script: string): Promise<string> {
    const { stdout, stderr, code } = await run(script);
    assert.equal(code, 1, `${script}: ${stdout}${stderr}`);
    return stderr.trim();
  }
  /** The block of docs/how-to/kubectl.md that contains the words. */
  const block = (words: string) =>
    blocks.find((text) => text.includes(words)) ?? assert.fail(`docs/how-to/kubectl.md has no block with ${words}`);
  const writePool = (
    file: string,
    scaling: object,
    name = 'web',
    labels: Readonly<Record<string, string>> = {},
    spec: object = {},
  ) => {
    const { metadata, ...rest } = poolManifest(name, { nodeGroup: { scaling: { ...scaling } }, ...spec }) as {
      metadata: object;
    };
    return writeFile(join(folder, file), stringify({ ...rest, metadata: { ...metadata, labels } }));
  };
  /** The table that a command prints, as the words of each line. */
  const table = async (script: string) =>
    (await typed(script))
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ {2,}/));

  const anyNode = () =>
    typed("kubectl get nodes --selector winpool.dev/pool=web --output jsonpath='{.items[0].metadata.name}'");
  const debugPods = async (): Promise<readonly Wire<V1Pod>[]> =>
    JSON.parse(await fixture.world.kubectl('get', ...DEBUG_PODS, '--output=json')).items;

  /** Waits until the command shows the events, which follow the status. Fails if it shows those of another object. */
  async function showsEvents(command: string, object: string, expected: readonly string[]): Promise<void> {
    let lines: string[][] = [];
    const shown = async () => {
      lines = (await table(command)).slice(1);
      return expected.every((reason) => lines.some((words) => words[2] === reason));
    };
    const explain = () => lines.map((words) => words.join(' ')).join('\n');
    await waitFor(shown, { what: `${command} to show ${expected}`, intervalMs: 200, explain });
    assert.deepEqual([...new Set(lines.map((words) => words[3]))], [object]);
  }

  it('diff shows a pool that does not exist', async () => {
    const { stdout, code } = await run('kubectl diff --server-side --filename windowspool.yaml');
    assert.equal(code, 1);
    assert.match(stdout, /^\+kind: WindowsPool$/m);
  });

  it('get --watch shows the pool become Ready, after which wait returns', async () => {
    const watch = spawn(kubectl, ['get', 'windowspools', '--watch'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    watch.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    const shows = (what: string, line: RegExp) =>
      waitFor(() => line.test(printed), { what: `the line of a ${what} pool`, explain: () => printed });
    const restoreSpeed = freezeAws(fixture.world);
    try {
      const applied = typed(block('--for=condition=Ready'));
      await Promise.race([applied, shows('new', /^web +False +Creating +0\/1 +0\/0 /m)]);
      restoreSpeed();
      await applied;
      await shows('Ready', /^web +True +EnoughNodesVerified +1\/1 +1\/1 /m);
    } finally {
      restoreSpeed();
      watch.kill();
    }
  });

  it('diff prints nothing after apply, and shows a change of the manifest', async () => {
    const diff = 'kubectl diff --server-side --filename windowspool.yaml';
    assert.equal(await typed(diff), '');
    await writePool('windowspool.yaml', { maxSize: 4 });
    const { stdout, code } = await run(diff);
    assert.equal(code, 1);
    const changes = stdout.split('\n').filter((line) => /^[-+] .*: /.test(line));
    assert.deepEqual(
      changes.map((line) => line.replace(/ +/, ' ')),
      ['- generation: 1', '+ generation: 2', '- maxSize: 3', '+ maxSize: 4'],
    );
  });

  it('wait does not return before the operator has observed a change', async () => {
    const wait = 'kubectl wait --for=condition=Ready windowspool/web --timeout=';
    const generations = () =>
      typed("kubectl get wp web --output jsonpath='{.metadata.generation} {.status.observedGeneration}'");
    await fixture.operator.stop();
    try {
      await typed('kubectl apply --server-side --filename windowspool.yaml');
      assert.match(await failing(`${wait}2s`), /timed out waiting .* windowspools\/web$/);
      assert.equal(await generations(), '2 1');
    } finally {
      await fixture.restart();
    }
    await typed(block(wait));
    assert.equal(await generations(), '2 2');
  });

  it('rollout status fails, because it supports only built-in kinds', async () => {
    assert.match(
      await failing('kubectl rollout status windowspool/web'),
      /^error: no kind "WindowsPool" is registered /,
    );
  });

  it('get accepts the short name, the category and custom columns with reasons of conditions', async () => {
    for (const name of ['wp', 'windowspool', 'winpool'])
      assert.match(await typed(`kubectl get ${name} --output name`), /^windowspool.winpool.dev\/web$/m);
    const reason = (type: string) => `.status.conditions[?(@.type=="${type}")].reason`;
    const columns = `NAME:.metadata.name,READY:${reason('Ready')},UPTODATE:${reason('UpToDate')},STALLED:${reason('Stalled')}`;
    await typed(
      'kubectl wait windowspool/web --for=jsonpath=\'{.status.conditions[?(@.type=="UpToDate")].status}\'=True --timeout=30s',
    );
    assert.deepEqual(await table(`kubectl get wp --output custom-columns='${columns}'`), [
      ['NAME', 'READY', 'UPTODATE', 'STALLED'],
      ['web', 'EnoughNodesVerified', 'MatchesSpec', '<none>'],
    ]);
  });

  it('get shows all columns without the metrics API, which top needs', async () => {
    assert.equal(await failing('kubectl top node'), 'error: Metrics API not available');
    const [header, row] = await table('kubectl get wp web');
    assert.deepEqual(header, ['NAME', 'READY', 'REASON', 'NODES', 'VERIFIED', 'WINDOWS', 'BUILD', 'AGE']);
    assert.deepEqual(row?.slice(0, 6), ['web', 'True', 'EnoughNodesVerified', '1/1', '1/1', 'Windows2022']);
    assert.equal(row?.length, 8);
  });

  it('events --for shows the events of the pool, which are in the namespace default', async () => {
    const expected = ['NodeGroupCreated', 'RuntimeClassCreated', 'EnoughNodesVerified'];
    for (const command of [block('kubectl events'), 'kubectl events --for wp/web'])
      await showsEvents(command, 'WindowsPool/web', expected);
    const everywhere = await table('kubectl events --for windowspool/web --all-namespaces');
    assert.deepEqual([...new Set(everywhere.map(([namespace]) => namespace))], ['NAMESPACE', 'default']);
    const other = await run('kubectl events --for windowspool/web --namespace winpool-system');
    assert.deepEqual([other.stdout, other.stderr.trim()], ['', 'No events found in winpool-system namespace.']);
  });

  it('scale sets the desired size, and rejects one that is greater than maxSize', async () => {
    await typed('kubectl scale wp web --replicas=2');
    await typed("kubectl wait windowspool/web --for=jsonpath='{.status.nodes.verified}'=2 --timeout=60s");
    assert.match(
      await failing('kubectl scale wp web --replicas=9'),
      /desiredSize: Invalid value: .* between minSize and maxSize\./,
    );
    assert.equal(await typed('kubectl diff --server-side --filename windowspool.yaml'), '');
  });

  it('debug creates no HostProcess container with any of its profiles', async () => {
    const [, listed = ''] = /Options are ((?:"\w+"(?:, | or )?)+)\./.exec(await typed('kubectl debug --help')) ?? [];
    const profiles = [...listed.matchAll(/\w+(?=")/g)].map(([profile]) => profile);
    assert.deepEqual(profiles.filter((profile) => profile !== LEGACY_PROFILE).sort(), PROFILES);
    const node = await anyNode();
    for (const profile of profiles)
      await typed(`kubectl debug node/${node} --profile=${profile} --image=registry.example/debug --attach=false`);
    const pods = await debugPods();
    assert.equal(pods.length, profiles.length);
    assert.doesNotMatch(JSON.stringify(pods.map(({ spec }) => spec)), /windowsOptions/);
    await fixture.world.kubectl('delete', ...DEBUG_PODS);
  });

  it('debug creates a HostProcess pod on a tainted node, and the pod blocks the replacement of the node', async () => {
    await writeFile(join(folder, 'host-process.yaml'), stringify(HOST_PROCESS));
    const node = await anyNode();
    const flags = '--profile=general --custom=host-process.yaml --image=registry.example/host-process --attach=false';
    await typed(`kubectl debug node/${node} ${flags} -- powershell`);
    const [pod] = await debugPods();
    const { nodeName, hostNetwork, tolerations, containers } = pod?.spec ?? assert.fail('there is no pod');
    assert.deepEqual(
      [nodeName, hostNetwork, tolerations, containers[0]?.securityContext],
      [node, true, [{ operator: 'Exists' }], HOST_PROCESS.securityContext],
    );
    await typed(`kubectl annotate node ${node} winpool.dev/replace=true`);
    const leaving = '{.status.conditions[?(@.type=="Disrupting")]';
    await typed(`kubectl wait windowspool/web --for=jsonpath='${leaving}.reason}'=DrainBlocked --timeout=60s`);
    const message = await typed(`kubectl get wp web --output jsonpath='${leaving}.message}'`);
    assertNames(message, `pod default/${pod?.metadata?.name}`, 'no controller');
    await fixture.world.kubectl('delete', ...DEBUG_PODS);
    await typed(`kubectl wait --for=delete node/${node} --timeout=60s`);
    await showsEvents(`kubectl events --for node/${node}`, `Node/${node}`, ['NodeCordoned', 'InstanceTerminated']);
  });

  const prunings: readonly (readonly [how: string, command: () => string])[] = [
    ['a label selector', () => block('--prune')],
    [
      'an ApplySet',
      () =>
        `KUBECTL_APPLYSET=true kubectl apply --filename pools --prune --applyset=configmaps/${APPLY_SET} --namespace=default`,
    ],
  ];
  for (const [how, command] of prunings)
    it(`apply --prune with ${how} deletes pools whose manifests were removed, and their node groups unless they are retained`, async () => {
      await mkdir(join(folder, 'pools'), { recursive: true });
      for (const name of ['one', 'two']) await writePool(`pools/${name}.yaml`, {}, name, { team: 'shop' });
      await writePool('pools/kept.yaml', {}, 'kept', { team: 'shop' }, { deletionPolicy: 'Retain' });
      await typed(command());
      await typed('kubectl wait windowspool/one windowspool/two windowspool/kept --for=condition=Ready --timeout=60s');
      for (const name of ['two', 'kept']) await rm(join(folder, `pools/${name}.yaml`));
      const printed = await typed(command());
      for (const name of ['two', 'kept'])
        assert.match(printed, new RegExp(`^windowspool.winpool.dev/${name} pruned$`, 'm'));
      await typed('kubectl wait windowspool/two windowspool/kept --for=delete --timeout=60s');
      const { groups } = fixture.world.cloud.state;
      assert.deepEqual([groups.get('two'), groups.get('kept')?.nodegroup.status], [undefined, 'ACTIVE']);
      fixture.world.cloud.faults.consoleDelete({ group: 'kept' });
      await waitFor(() => !groups.has('kept'), { what: 'the retained group to be deleted' });
      const left = await typed('kubectl get wp one web --output name');
      assert.equal(left, 'windowspool.winpool.dev/one\nwindowspool.winpool.dev/web\n');
    });
});
