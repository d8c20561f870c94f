/** `kubectl windowspool lint` and `diagnose`, against a real API server, scheduler and controllers. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LintedWorkload } from '../../cmd/kubectl-windowspool/lintResult.ts';
import { NODE_GROUP_LABEL } from '../../controllers/windowspool/api/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { assertGolden, normalized } from '../goldenText.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { deployment, namespaceCalled } from '../userObjects.ts';
import { KubectlPlugin } from './kubectlPlugin.ts';

const NAMESPACE = 'lint';
const LIMITS = { limits: { memory: '1Gi' } };

const workload = (name: string, spec: object) => deployment(NAMESPACE, name, 2, spec);

describe('kubectl windowspool lint and diagnose', () => {
  const fixture = withOperator('--resync-interval=1s');
  let plugin: KubectlPlugin;
  const lint = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await plugin.run(['lint', ...args, '--output=json']);
    const workloads: LintedWorkload[] = JSON.parse(stdout);
    const found = workloads.filter(({ findings }) => findings.length > 0);
    return {
      code,
      stderr,
      found: found.map(({ kind, name, findings }) => `${kind} ${name}: ${findings.map(({ rule }) => rule).join(', ')}`),
    };
  };
  const podsOf = async (app: string): Promise<string[]> => {
    const query = '{range .items[?(@.spec.nodeName)]}{.metadata.name}{"\\n"}{end}';
    const pods = ['get', 'pods', '-n', NAMESPACE, '-l', `app=${app}`, '-o', `jsonpath=${query}`];
    return (await fixture.world.kubectl(...pods)).split('\n').filter(Boolean);
  };

  before(async function () {
    this.timeout(300_000);
    const { world } = fixture;
    plugin = await KubectlPlugin.install(world);
    await world.apply(poolManifest('web', { runtimeClass: { name: 'web' } }));
    await world.waitForReady('web');
    await world.apply(namespaceCalled(NAMESPACE));
    const app = (image: string) => [{ name: 'app', image, resources: LIMITS }];
    await world.apply(workload('good', { runtimeClassName: 'web', containers: app('example.com/app:ltsc2022') }));
    await world.apply(workload('old', { runtimeClassName: 'web', containers: app('example.com/app:ltsc2019') }));
    // Its template does not say which build its nodes have.
    const labels = { 'kubernetes.io/os': 'windows', [NODE_GROUP_LABEL]: 'web' };
    const tolerations = [{ key: 'os', operator: 'Exists' }];
    const unclear = { nodeSelector: labels, tolerations, containers: app('example.com/app:ltsc2025') };
    await world.apply(workload('unclear', unclear));
    await world.apply(workload('bare', { nodeSelector: { 'kubernetes.io/os': 'windows' }, containers: app('app') }));
    for (const name of ['good', 'old', 'unclear'])
      await waitFor(async () => (await podsOf(name)).length === 2, { what: `the pods of ${name} to be scheduled` });
  });
  after(async () => {
    await fixture.world?.kubectl('delete', 'namespace', NAMESPACE, '--wait=false');
    // Otherwise they are on the nodes of the next suite that have the same names.
    await fixture.world?.kubectl('delete', 'pods', '--all', '-n', NAMESPACE, '--grace-period=0', '--force');
    await plugin?.remove();
  });

  it('--live finds workloads by their templates, and images by the build of the node on which a pod runs', async () => {
    const { code, found } = await lint('--live', '--namespace', NAMESPACE);
    const [pod = ''] = await podsOf('unclear');
    assert.equal(code, 1);
    assert.deepEqual(
      found.map((line) => line.replace(/unclear-\S+:/, 'unclear-POD:')),
      ['Deployment bare: NoToleration', 'Deployment old: ImageForOtherBuild', 'Pod unclear-POD: ImageForOtherBuild'],
      pod,
    );
  });

  it('--live finds Services and StorageClasses that serve workloads on Windows', async () => {
    const { world } = fixture;
    const labels = { app: 'good' };
    const inNamespace = (apiVersion: string, kind: string, spec: object) => ({
      ...{ apiVersion, kind, metadata: { name: 'good', namespace: NAMESPACE }, spec },
    });
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 60 } };
    const spec = { selector: labels, ports: [{ port: 80 }], sessionAffinity: 'ClientIP', sessionAffinityConfig };
    await world.apply(inNamespace('v1', 'Service', spec));
    const claim = {
      storageClassName: 'lint',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    };
    await world.apply(inNamespace('v1', 'PersistentVolumeClaim', claim));
    const parameters = { 'csi.storage.k8s.io/fstype': 'ext4' };
    const storageClass = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'lint' } };
    await world.apply({ ...storageClass, provisioner: 'csi.example.com', parameters });
    const podSpec = { runtimeClassName: 'web', containers: [{ name: 'app', image: 'app', resources: LIMITS }] };
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'good' } }];
    await world.apply({ ...workload('stored', { ...podSpec, volumes }) });
    try {
      const { code, found, stderr } = await lint('--live', '--namespace', NAMESPACE);
      assert.deepEqual([code, stderr], [1, '']);
      assert.deepEqual(
        found.filter((line) => /^(Service|StorageClass) /.test(line)),
        ['Service good: SessionAffinityTimeout', 'StorageClass lint: FileSystemType'],
      );
    } finally {
      for (const object of ['service/good', 'deployment/stored', 'persistentvolumeclaim/good', 'storageclass/lint'])
        await world.kubectl('delete', object, '-n', NAMESPACE, '--wait=false');
    }
  });

  it('diagnose shows why no Windows node can run a pod', async () => {
    const { world } = fixture;
    const spec = {
      nodeSelector: { 'kubernetes.io/os': 'windows' },
      containers: [{ name: 'app', image: 'app', resources: LIMITS }],
    };
    await world.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'untolerant', namespace: NAMESPACE }, spec });
    const diagnosed = async () => (await plugin.run(['diagnose', 'untolerant', '--namespace', NAMESPACE])).stdout;
    await waitFor(async () => (await diagnosed()).includes('The scheduler says: '), {
      what: 'the scheduler to reject the pod',
    });
    const text = await diagnosed();
    assert.match(text, /^Pod lint\/untolerant is Pending$/m);
    assert.match(text.replace(/\s+/g, ' '), /1\. 1 of 1 Windows nodes .*: \S+ has the taint os=windows:NoSchedule, /);
  });

  it('lint and diagnose fit a terminal of 80 columns', async () => {
    const inTerminal = async (...args: readonly string[]) => {
      const session = plugin.start([...args, '--namespace', NAMESPACE]);
      assert.equal(await session.ended, 1, session.shown());
      assert.ok(session.raw().includes('\x1b[31m'), session.raw());
      const isLong = (line: string) => line.length > 80 && line.trim().includes(' ');
      assert.deepEqual(session.shown().split('\n').filter(isLong), []);
      return session.shown();
    };
    const linted = (await inTerminal('lint', '--live')).replace(/unclear-\S+/, 'unclear-POD');
    // Where lines break depends on the length of the name of the node, and what the scheduler says on its version.
    const [diagnosed = ''] = (await inTerminal('diagnose', 'untolerant'))
      .split(/\s+/)
      .join(' ')
      .split(' 2. The scheduler');
    await assertGolden('plugin/terminal-lint', normalized(`${linted}\n${diagnosed}`));
  });

  it('diagnose names a pod that does not exist', async () => {
    const [pod = ''] = await podsOf('good');
    const rows: readonly (readonly [args: readonly string[], message: string | RegExp])[] = [
      [['nothing'], 'Pod "nothing" not found in namespace default.'],
      [[pod.slice(0, -1), '-n', NAMESPACE], `Did you mean "${pod}"?`],
      [['deployment/unclear', '-n', NAMESPACE], /Did you mean "unclear-\S+"\?/],
      [['nothing', '-n', 'lnt'], 'Namespace "lnt" not found. Did you mean "lint"?'],
    ];
    for (const [args, message] of rows) {
      const { code, stderr } = await plugin.run(['diagnose', ...args]);
      assert.equal(code, 1);
      assert.ok(typeof message === 'string' ? stderr.includes(message) : message.test(stderr), stderr);
    }
  });

  it('FILE knows the RuntimeClasses of the cluster', async () => {
    const file = join(plugin.folder, 'old.yaml');
    const spec = {
      runtimeClassName: 'web',
      containers: [{ name: 'app', image: 'example.com/app:ltsc2019', resources: LIMITS }],
    };
    await writeFile(file, JSON.stringify(workload('old', spec)));
    const { code, found, stderr } = await lint(file);
    assert.deepEqual([code, found, stderr], [1, ['Deployment old: ImageForOtherBuild'], '']);
  });

  it('--live and diagnose go on for a user who may read only a namespace', async () => {
    const { world } = fixture;
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
    await world.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'developer', namespace: NAMESPACE },
      roleRef,
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: NAMESPACE }],
    });
    const KUBECONFIG = await world.controlPlane.serviceAccountKubeconfig(NAMESPACE, 'default');
    const linted = await plugin.run(['lint', '--live', '--namespace', NAMESPACE], { KUBECONFIG });
    assert.match(linted.stdout, /^\d+ workloads checked: /m);
    const skipped = (stderr: string) => stderr.replace(/\n {6}/g, ' ').match(/(?<=^SKIP {2})[^:,]*/gm);
    assert.deepEqual(skipped(linted.stderr), [
      'The RuntimeClasses of the cluster are unknown',
      'The nodes are unknown',
    ]);
    const diagnosed = await plugin.run(['diagnose', 'untolerant', '--namespace', NAMESPACE], { KUBECONFIG });
    assert.match(diagnosed.stdout, /1\. The scheduler says: /);
    // The ClusterRole view may read events.k8s.io only in newer versions of Kubernetes.
    const unknown = skipped(diagnosed.stderr)?.filter((line) => !line.includes('events'));
    assert.deepEqual(unknown, ['The RuntimeClasses are unknown', 'The nodes are unknown']);
    const nothing = await plugin.run(['lint', '--live'], { KUBECONFIG });
    assert.equal(nothing.code, 1);
    assert.match(nothing.stderr, /^You may list neither workloads nor pods\. [^\n]* --namespace\.\n$/);
    const missing = await plugin.run(['lint', '--live', '--namespace', 'lnt']);
    assert.deepEqual([missing.code, missing.stderr], [1, 'Namespace "lnt" not found. Did you mean "lint"?\n']);
  });
});
