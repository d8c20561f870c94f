import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertGolden } from '../../test/goldenText.ts';
import { EXIT, Failure } from './failure.ts';
import { type LintFlags, lint } from './lint.ts';
import type { LintedWorkload } from './lintResult.ts';
import type { Registries } from './registry/registries.ts';
import type { Terminal } from './terminal.ts';
import { FakeApi } from './testing/fakeApi.ts';
import { FakeRegistry, registriesOf } from './testing/fakeRegistry.ts';
import { recordedTerminal } from './testing/recordedTerminal.ts';
import { plain } from './text.ts';

const CLASS = `apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: { name: windows-2022 }
handler: runhcs-wcow-process
scheduling:
  nodeSelector: { kubernetes.io/os: windows, node.kubernetes.io/windows-build: 10.0.20348 }
`;
const template = (spec: object) => ({ template: { spec } });
const container = (image: string) => ({ name: 'app', image, resources: { limits: { memory: '1Gi' } } });
const WORKLOADS = {
  'cart.yaml': {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: template({ runtimeClassName: 'windows-2022', hostPID: true, containers: [container('cart:1-ltsc2019')] }),
  },
  'jobs.json': {
    kind: 'List',
    items: [
      {
        kind: 'CronJob',
        metadata: { name: 'report' },
        spec: {
          jobTemplate: {
            spec: template({
              nodeSelector: { 'kubernetes.io/os': 'windows' },
              volumes: [{ name: 'config', configMap: { name: 'report', defaultMode: 0o400 } }],
              containers: [container('report:ltsc2022')],
            }),
          },
        },
      },
      { kind: 'ConfigMap', metadata: { name: 'report' } },
      { kind: 'Pod', metadata: { name: 'broken' }, spec: {} },
    ],
  },
  'web.yml': {
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { runtimeClassName: 'windows-2022', containers: [container('web:ltsc2022')] },
  },
};

describe('kubectl windowspool lint', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windowspool-lint-'));
  const pathOf = (name: string) => join(folder, name);
  before(() => {
    for (const [name, manifest] of Object.entries(WORKLOADS)) writeFileSync(pathOf(name), JSON.stringify(manifest));
    writeFileSync(pathOf('runtime-class.yaml'), CLASS);
    writeFileSync(pathOf('README.md'), 'Not a manifest.');
  });
  after(() => rmSync(folder, { recursive: true }));

  /** What the command prints without a cluster, and its exit code. */
  async function run(files: readonly string[], flags: LintFlags = {}, registries?: Registries) {
    const [printed, errors]: [string[], string[]] = [[], []];
    const terminal = {
      columns: 80,
      paint: plain,
      print: (text: string) => printed.push(text),
      printError: (text: string) => errors.push(text),
    } as unknown as Terminal;
    const connect = () => Promise.reject(new Failure('Cannot reach the cluster: there is none.'));
    const code = await lint(connect, terminal, files, flags, registries).then(
      () => 0,
      (error: Failure) => {
        if (error.message) errors.push(error.message);
        return error.code;
      },
    );
    const short = (lines: string[]) => lines.join('\n').replaceAll(folder, 'shop');
    return { code, printed: short(printed), errors: short(errors) };
  }

  it('shows the findings of each workload in a folder, by the RuntimeClasses in it, and fails', async () => {
    const { code, printed, errors } = await run([folder]);
    assert.deepEqual([code, errors], [EXIT.failed, '']);
    await assertGolden('plugin/lint', `${printed}\n`);
  });

  it('succeeds without findings', async () => {
    const { code, printed, errors } = await run([pathOf('web.yml'), pathOf('runtime-class.yaml')]);
    assert.deepEqual([code, printed, errors], [0, '1 workload checked: 0 cannot run on Windows, 0 with advice', '']);
  });

  it('asks the cluster only for a RuntimeClass that the files do not have', async () => {
    const { code, errors } = await run([pathOf('web.yml')]);
    assert.equal(code, 0);
    assert.match(
      errors,
      /^SKIP {2}The RuntimeClasses of the cluster .*\n.*: Cannot reach the cluster: there is none\.$/,
    );
  });

  it('does not use a RuntimeClass without a name', async () => {
    writeFileSync(pathOf('nameless.yaml'), 'kind: RuntimeClass\nhandler: a\n');
    const { printed } = await run([pathOf('nameless.yaml'), pathOf('web.yml'), pathOf('runtime-class.yaml')]);
    rmSync(pathOf('nameless.yaml'));
    assert.equal(printed, '1 workload checked: 0 cannot run on Windows, 0 with advice');
  });

  it('prints all findings for scripts', async () => {
    const { printed } = await run([folder], { output: 'json' });
    const workloads: LintedWorkload[] = JSON.parse(printed);
    assert.deepEqual(
      workloads.map(({ kind, name, findings, error }) => [
        kind,
        name,
        findings.map(({ rule }) => rule),
        Boolean(error),
      ]),
      [
        ['Deployment', 'cart', ['ImageForOtherBuild', 'HostPID'], false],
        ['CronJob', 'report', ['DefaultMode'], false],
        ['Pod', 'broken', [], true],
        ['Pod', 'web', [], false],
      ],
    );
  });

  const rejected: readonly (readonly [what: string, files: readonly string[], text: string, code: number])[] = [
    [
      'a file that does not exist',
      ['missing.yaml'],
      'Cannot read missing.yaml: no such file or directory.',
      EXIT.failed,
    ],
    ['a file that is not YAML', [pathOf('broken.yaml')], 'shop/broken.yaml is not YAML: ', EXIT.failed],
  ];
  for (const [what, files, text, code] of rejected)
    it(`rejects ${what}`, async () => {
      if (what.endsWith('not YAML')) writeFileSync(pathOf('broken.yaml'), 'kind: [');
      const result = await run(files);
      rmSync(pathOf('broken.yaml'), { force: true });
      assert.equal(result.code, code);
      assert.ok(result.errors.startsWith(text), result.errors);
    });

  it('checks the other files of a folder that has one which is no manifest, and RuntimeClasses of Docker', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windowspool-lint-'));
    try {
      writeFileSync(join(folder, 'broken.yaml'), 'kind: [');
      const docker = CLASS.replace('node.k8s.io/v1', 'node.k8s.io/v1beta1').replace('runhcs-wcow-process', 'docker');
      writeFileSync(join(folder, 'class.yaml'), docker);
      writeFileSync(join(folder, 'cart.json'), JSON.stringify(WORKLOADS['cart.yaml']));
      const { code, printed } = await run([folder]);
      assert.equal(code, EXIT.failed);
      for (const text of [
        'File broken.yaml',
        'is not YAML',
        'APIVersionRemoved',
        'DockerHandler',
        'Deployment shop/cart',
      ])
        assert.ok(printed.includes(text), `${text} in ${printed}`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  describe('--images', () => {
    let registry: FakeRegistry;
    before(async () => {
      registry = await FakeRegistry.start();
      registry.addIndex('cart', 'stable', 'windows/amd64 10.0.17763.4131', 'linux/amd64');
      registry.addIndex('web', '1', 'windows/amd64 10.0.17763.4131', 'windows/amd64 10.0.20348.2762');
      registry.addImage('agent', '1', 'linux/amd64');
      registry.intercept = ({ path }) => (path.startsWith('/v2/busy/') ? { status: 503 } : undefined);
    });
    after(() => registry[Symbol.asyncDispose]());

    /** What the command prints about manifests in a folder of their own, with the address of the registry replaced by one of the same length. */
    async function runWith(manifests: readonly object[], flags: LintFlags = {}) {
      const own = mkdtempSync(join(folder, 'images-'));
      writeFileSync(join(own, 'shop.json'), JSON.stringify({ kind: 'List', items: manifests }));
      writeFileSync(join(own, 'runtime-class.yaml'), CLASS);
      const { code, printed, errors } = await run([own], flags, registriesOf());
      rmSync(own, { recursive: true });
      const short = (text: string) =>
        text.replace(/shop\/images-\w+/g, 'shop').replaceAll(registry.host, 'reg.example.com');
      return { code, printed: short(printed), errors: short(errors) };
    }
    const pod = (name: string, ...images: readonly string[]) => ({
      kind: 'Pod',
      metadata: { name },
      spec: {
        runtimeClassName: 'windows-2022',
        containers: images.map((image, index) => ({ ...container(image), name: `c${index}` })),
      },
    });
    const own = (name: string) => `${registry.host}/${name}`;

    it('shows what the registry says of the images of workloads and pools, and what it could not be asked', async () => {
      const verification = { requiredImages: [own('web:1'), own('agent:1')], smokeTest: { image: own('missing:1') } };
      const { code, printed, errors } = await runWith([
        pod('cart', own('cart:stable'), own('web:1')),
        pod('busy', own('busy:ltsc2019')),
        { kind: 'WindowsPool', metadata: { name: 'web' }, spec: { windowsVersion: 'Windows2022', verification } },
      ]);
      assert.equal(code, EXIT.failed);
      await assertGolden('plugin/lint-images', `${errors}\n${printed}\n`);
    });

    it('succeeds if the images fit, and prints the answers for scripts', async () => {
      const { code, printed, errors } = await runWith([pod('web', own('web:1'))], { output: 'json' });
      const [workload]: LintedWorkload[] = JSON.parse(printed);
      assert.deepEqual([code, errors, workload?.findings], [0, '', []]);
      const [answer] = workload?.images ?? [];
      assert.equal(
        answer?.kind === 'found' && answer.variants.map(({ osVersion }) => osVersion).join(),
        '10.0.17763.4131,10.0.20348.2762',
      );
      assert.match(answer?.kind === 'found' ? answer.digest : '', /^sha256:[0-9a-f]{64}$/);
    });
  });

  it('compares the images of a pool with its Windows version by their tags', async () => {
    const pool = (spec: object) => ({
      kind: 'WindowsPool',
      metadata: { name: 'web' },
      spec: { windowsVersion: 'Windows2025', ...spec },
    });
    const verification = {
      requiredImages: ['a:ltsc2025', 'b:ltsc2022', 'c:ltsc2019', 5],
      smokeTest: { image: 'd:1809-ltsc2019' },
    };
    const items = [
      pool({ verification }),
      pool({ verification, runtimeClass: { handler: 'runhcs-wcow-hypervisor' } }),
      pool({}),
      pool({ windowsVersion: 'Windows2016', verification }),
      pool({ windowsVersion: 'constructor', verification }),
      { kind: 'WindowsPool' },
    ];
    writeFileSync(pathOf('pool.json'), JSON.stringify({ kind: 'List', items }));
    const { printed } = await run([pathOf('pool.json')], { output: 'json' });
    rmSync(pathOf('pool.json'));
    const workloads: LintedWorkload[] = JSON.parse(printed);
    assert.deepEqual(
      workloads.map(({ kind, findings }) => [
        kind,
        ...findings.map(({ rule, names }) => `${rule} ${names.join(', ')}`),
      ]),
      [
        [
          'WindowsPool',
          'ImageForOtherBuild requiredImages[2], smokeTest.image',
          'ImageForOlderBuild requiredImages[1]',
        ],
        ['WindowsPool', 'ImageForOtherBuild smokeTest.image'],
      ],
    );
  });

  it('shows the objects that serve workloads on Windows, and removed API versions', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windowspool-lint-'));
    const pods = { nodeSelector: { 'kubernetes.io/os': 'windows' }, containers: [container('web:ltsc2022')] };
    const metadata = { name: 'web', namespace: 'shop' };
    const template = { metadata: { labels: { app: 'web' } }, spec: pods };
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 60 } };
    const objects = [
      { apiVersion: 'extensions/v1beta1', kind: 'Deployment', metadata, spec: { template } },
      {
        apiVersion: 'extensions/v1beta1',
        kind: 'Deployment',
        metadata,
        spec: { template: { spec: { containers: [] } } },
      },
      { kind: 'Service', metadata, spec: { selector: { app: 'web' }, sessionAffinityConfig } },
      { kind: 'Service', metadata, spec: { selector: { app: 'web' } } },
    ];
    try {
      writeFileSync(join(folder, 'web.json'), JSON.stringify({ kind: 'List', items: objects }));
      const { code, printed } = await run([folder]);
      assert.equal(code, EXIT.failed);
      assert.match(
        printed,
        /APIVersionRemoved: No Kubernetes since 1[.]25 serves Deployment in\s+extensions[/]v1beta1[.] Use apps[/]v1[.]/,
      );
      assert.match(printed, /Service shop[/]web\n {4}ADVICE {2}SessionAffinityTimeout [(]web[)]: /);
      assert.match(
        printed,
        /\n2 workloads checked: 1 cannot run on Windows, 0 with advice; 1 other object with findings$/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('--live leaves out only what a listed workload created', async () => {
    const api = new FakeApi();
    const pods = {
      nodeSelector: { 'kubernetes.io/os': 'windows' },
      containers: [container('web:ltsc2022')],
      hostPID: true,
    };
    const metadata = (name: string, apiVersion: string, kind: string) => ({
      ...{ name, namespace: 'shop' },
      ownerReferences: [{ apiVersion, kind, name: 'owner', uid: kind, controller: true }],
    });
    const template = { spec: pods };
    const add = (resource: string, name: string, apiVersion: string, kind: string, spec: object) =>
      api.add(resource, { metadata: metadata(name, apiVersion, kind), spec: spec as Record<string, unknown> });
    add('statefulsets', 'prometheus', 'monitoring.coreos.com/v1', 'Prometheus', { template });
    add('replicasets', 'rollout', 'argoproj.io/v1alpha1', 'Rollout', { template, replicas: 1 });
    add('replicasets', 'old-rollout', 'argoproj.io/v1alpha1', 'Rollout', { template, replicas: 0 });
    add('replicasets', 'deployed', 'apps/v1', 'Deployment', { template });
    add('pods', 'task', 'tekton.dev/v1', 'TaskRun', pods);
    add('pods', 'batch', 'batch.volcano.sh/v1alpha1', 'Job', pods);
    add('pods', 'replica', 'apps/v1', 'ReplicaSet', pods);
    await using served = await api.serve();
    const terminal = recordedTerminal();
    await lint(async () => served.cluster, terminal, [], { live: true, output: 'json' }).catch(() => undefined);
    const workloads: LintedWorkload[] = JSON.parse(terminal.lines.join('\n'));
    assert.deepEqual(
      workloads.map(({ kind, name, findings }) => `${kind} ${name} ${findings.map(({ rule }) => rule).join()}`),
      ['StatefulSet prometheus HostPID', 'ReplicaSet rollout HostPID', 'Pod task HostPID', 'Pod batch HostPID'],
    );
  });

  it('says that files without workloads have none', async () => {
    const { code, printed } = await run([pathOf('runtime-class.yaml')]);
    assert.deepEqual([code, printed], [0, 'No workloads found in shop/runtime-class.yaml.']);
  });
});
