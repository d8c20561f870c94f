/** The output of the Helm chart, compared with kustomize, and the values that its schema rejects. */
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import manifest from '../../package.json' with { type: 'json' };
import { blocksOf } from '../docs/markdown.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHART = join(ROOT, 'config/charts/windowspool-operator');
const VALUES = ['--values', join(CHART, 'ci/values.yaml')];

/** The fields of a Kubernetes object that the comparison reads. */
interface KubeObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  readonly [field: string]: unknown;
}

/** The labels and annotations that Helm adds. */
const HELM_LABELS = [
  'app.kubernetes.io/name',
  'app.kubernetes.io/instance',
  'app.kubernetes.io/version',
  'app.kubernetes.io/managed-by',
  'helm.sh/chart',
];
const HELM_ANNOTATIONS = ['helm.sh/resource-policy'];

const NOT_SYSTEM = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system'] };

describe('the Helm chart', function () {
  this.timeout(600_000);
  let helm: string;
  let kubectl: string;
  before(async () => {
    const say = (line: string) => console.log(`    ${line}`);
    helm = await toolPath('helm', say);
    ({ kubectl } = await ensureBinaries(say));
  });

  async function run(program: string, ...args: readonly string[]): Promise<string> {
    const { stdout, stderr, code } = await runCommand(program, args, { timeoutMs: 60_000 });
    if (code !== 0) throw new Error(`${stderr}${stdout}`.trim());
    return stdout;
  }

  const template = (...args: readonly string[]) =>
    run(helm, 'template', 'windowspool-operator', CHART, '--namespace', 'winpool-system', ...args);
  const rendered = async (...args: readonly string[]) => objectsOf(await template(...VALUES, ...args));

  const overlays: readonly (readonly [overlay: string, values: readonly string[]])[] = [
    ['default', []],
    ['ha', ['--values', join(CHART, 'values-ha.yaml')]],
  ];
  for (const [overlay, values] of overlays) {
    it(`renders the same objects as config/${overlay}`, async () => {
      const [ours, theirs] = [
        await rendered(...values),
        objectsOf(await run(kubectl, 'kustomize', join(ROOT, 'config', overlay))),
      ];
      // Helm creates the namespace with --create-namespace, or it exists.
      theirs.delete('Namespace winpool-system');
      assert.deepEqual([...ours.keys()].sort(), [...theirs.keys()].sort());
      for (const [key, object] of ours) assert.deepEqual(object, theirs.get(key), key);
    });
  }

  const policies: readonly (readonly [what: string, sets: readonly string[], overlay: object])[] = [
    ['config/policies with workloadPolicies.enabled', ['enabled=true'], { resources: ['policies'] }],
    [
      'config/policies/deny with workloadPolicies.action=Deny',
      ['enabled=true', 'action="Deny"'],
      { resources: ['policies'], components: ['policies/deny'] },
    ],
    [
      'config/policies/runtime-class-defaulting with workloadPolicies.runtimeClassDefaulting',
      ['runtimeClassDefaulting=true'],
      { resources: ['policies/runtime-class-defaulting'] },
    ],
    [
      'config/policies with the patch of the documentation with workloadPolicies.namespaceSelector',
      ['enabled=true', `namespaceSelector=${JSON.stringify({ matchExpressions: [NOT_SYSTEM] })}`],
      { resources: ['policies'], patches: 'documented' },
    ],
  ];
  for (const [what, sets, overlay] of policies) {
    it(`renders the same as ${what}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'windowspool-policies-'));
      try {
        const blocks = blocksOf(await readFile(join(ROOT, 'docs/windows-workloads.md'), 'utf8'));
        const { patches } = parse(blocks.find(({ text }) => text.includes('patches:'))?.text ?? '');
        await symlink(join(ROOT, 'config/policies'), join(folder, 'policies'));
        const documented = 'patches' in overlay ? { ...overlay, patches } : overlay;
        await writeFile(join(folder, 'kustomization.yaml'), stringify(documented));
        const plain = [...(await rendered()).keys()];
        const values = sets.flatMap((set) => ['--set-json', `workloadPolicies.${set}`]);
        const added = [...(await rendered(...values))].filter(([key]) => !plain.includes(key));
        const theirs = objectsOf(await run(kubectl, 'kustomize', folder));
        assert.ok(theirs.size > 0);
        assert.deepEqual(added.sort(), [...theirs].sort());
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  }

  it('renders the same as config/prometheus with prometheus.enabled, with the given labels', async () => {
    const sets = ['--set', 'prometheus.enabled=true', '--set', 'prometheus.labels.release=stack'];
    const plain = [...(await rendered()).keys()];
    const added = [...(await rendered(...sets))].filter(([key]) => !plain.includes(key));
    const theirs = objectsOf(await run(kubectl, 'kustomize', join(ROOT, 'config/prometheus')));
    for (const { metadata } of theirs.values()) metadata.labels = { release: 'stack' };
    assert.deepEqual(added.sort(), [...theirs].sort());
  });

  it('configures the given TLS verification for Prometheus, and none by default', async () => {
    const [example] = blocksOf(await readFile(join(ROOT, 'docs/metrics-endpoint.md'), 'utf8')).filter(({ text }) =>
      text.startsWith('tlsConfig:'),
    );
    const { tlsConfig } = parse(example?.text ?? '');
    assert.equal(typeof tlsConfig.serverName, 'string');
    const monitor = async (value: object) => {
      const sets = ['--set', 'prometheus.enabled=true', '--set-json', `prometheus.tlsConfig=${JSON.stringify(value)}`];
      const object = (await rendered(...sets)).get('ServiceMonitor winpool-system/windowspool-operator');
      const spec = object?.spec as { readonly endpoints: readonly { readonly tlsConfig: object }[] } | undefined;
      return spec?.endpoints[0] ?? assert.fail('no endpoint');
    };
    const unverified = await monitor({});
    assert.deepEqual(unverified.tlsConfig, { insecureSkipVerify: true });
    assert.deepEqual(await monitor(tlsConfig), { ...unverified, tlsConfig });
  });

  it('renders the same as config/grafana with dashboards.enabled', async () => {
    const plain = [...(await rendered()).keys()];
    const added = [...(await rendered('--set', 'dashboards.enabled=true'))].filter(([key]) => !plain.includes(key));
    const theirs = objectsOf(await run(kubectl, 'kustomize', join(ROOT, 'config/grafana')));
    assert.deepEqual(added.sort(), [...theirs].sort());
  });

  it('links messages, alerts and dashboards to the pages below docsURL', async () => {
    const sets = ['prometheus.enabled=true', 'dashboards.enabled=true', 'docsURL=https://docs.example.com/windows'];
    const text = await template(...VALUES, ...sets.flatMap((set) => ['--set', set]));
    const folders = [...text.matchAll(/https:[^\s"]*\/runbooks\//g)].map(([folder]) => folder);
    assert.ok(folders.length > 40);
    assert.deepEqual([...new Set(folders)], ['https://docs.example.com/windows/runbooks/']);
    assert.match(text, /^ +- --docs-url=https:\/\/docs\.example\.com\/windows$/m);
  });

  it('renders the same Deployment as config/metrics-cert with metrics.certSecret', async () => {
    // kustomize accepts no absolute paths.
    await mkdir(join(ROOT, 'build'), { recursive: true });
    const folder = await mkdtemp(join(ROOT, 'build/kustomize-'));
    try {
      const overlay = { resources: ['../../config/default'], components: ['../../config/metrics-cert'] };
      await writeFile(join(folder, 'kustomization.yaml'), stringify(overlay));
      const ours = await rendered('--set', 'metrics.certSecret=windowspool-operator-metrics-cert');
      const theirs = objectsOf(await run(kubectl, 'kustomize', folder));
      const key = 'Deployment winpool-system/windowspool-operator';
      assert.deepEqual(ours.get(key), theirs.get(key));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('adds the flag and the Role of config/windows-ipam with windowsIpam.enabled', async () => {
    await mkdir(join(ROOT, 'build'), { recursive: true });
    const folder = await mkdtemp(join(ROOT, 'build/kustomize-'));
    try {
      const overlay = { resources: ['../../config/default'], components: ['../../config/windows-ipam'] };
      await writeFile(join(folder, 'kustomization.yaml'), stringify(overlay));
      const ours = await rendered('--set', 'windowsIpam.enabled=true');
      const theirs = objectsOf(await run(kubectl, 'kustomize', folder));
      theirs.delete('Namespace winpool-system');
      assert.deepEqual([...ours].sort(), [...theirs].sort());
      const plain = await rendered();
      const added = [...ours.keys()].filter((key) => !plain.has(key));
      assert.deepEqual(added.sort(), [
        'Role kube-system/windowspool-operator-windows-ipam',
        'RoleBinding kube-system/windowspool-operator-windows-ipam',
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('installs everything in the namespace of the release, and binds the roles to its ServiceAccount', async () => {
    const options = ['--set', 'prometheus.enabled=true', '--set', 'windowsIpam.enabled=true'];
    const text = await run(helm, 'template', 'x', CHART, '--namespace', 'elsewhere', ...VALUES, ...options);
    assert.doesNotMatch(text.replace(/^ *(description|#).*$/gm, ''), /winpool-system/);
    const bound = [...objectsOf(text).values()].flatMap(({ subjects }) => (subjects as object[] | undefined) ?? []);
    assert.notEqual(bound.length, 0);
    for (const subject of bound)
      assert.deepEqual(subject, { kind: 'ServiceAccount', name: 'windowspool-operator', namespace: 'elsewhere' });
  });

  it('renders the same objects in another namespace as config/other-namespace', async () => {
    await mkdir(join(ROOT, 'build'), { recursive: true });
    const folder = await mkdtemp(join(ROOT, 'build/kustomize-'));
    try {
      const overlay = { resources: ['../../config/default'], components: ['../../config/other-namespace'] };
      await writeFile(join(folder, 'kustomization.yaml'), stringify(overlay));
      const ours = objectsOf(await run(helm, 'template', 'x', CHART, '--namespace', 'ops', ...VALUES));
      const theirs = objectsOf(await run(kubectl, 'kustomize', folder));
      assert.ok(theirs.delete('Namespace ops'));
      assert.deepEqual([...ours].sort(), [...theirs].sort());
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('lets the operator run pods on nodes only in nodePods.namespace', async () => {
    const sets = ['--set', 'nodePods.namespace=tests'];
    const plain = await rendered();
    const moved = await rendered(...sets);
    const role = 'windowspool-operator-node-pods';
    assert.deepEqual([...moved.keys()].filter((key) => !plain.has(key)).sort(), [
      'Namespace tests',
      `Role tests/${role}`,
      `RoleBinding tests/${role}`,
    ]);
    const text = await template(...VALUES, ...sets);
    assert.doesNotMatch(text, /winpool-node-pods/);
    assert.match(text, /^ +- --node-pod-namespace=tests$/m);
    assert.match(text, /request\.namespace == 'tests'/);
    assert.doesNotMatch(await template(...VALUES), /--node-pod-namespace/);
    const without = await rendered(...sets, '--set', 'nodePods.createNamespace=false');
    assert.deepEqual(
      [...moved.keys()].filter((key) => !without.has(key)),
      ['Namespace tests'],
    );
  });

  it('can be a dependency of another chart, which can disable it', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'windowspool-parent-'));
    try {
      const name = 'windowspool-operator';
      const dependencies = [{ name, version: manifest.version, condition: `${name}.enabled` }];
      const chart = { apiVersion: 'v2', name: 'platform', version: '0.1.0', dependencies };
      await writeFile(join(parent, 'Chart.yaml'), JSON.stringify(chart));
      const values = { ...parse(await readFile(join(CHART, 'ci/values.yaml'), 'utf8')), enabled: true };
      await writeFile(join(parent, 'values.yaml'), JSON.stringify({ global: { team: 'a' }, [name]: values }));
      await cp(CHART, join(parent, 'charts', name), { recursive: true });
      const render = (...args: readonly string[]) =>
        run(helm, 'template', name, parent, '--namespace', 'winpool-system', ...args);
      assert.deepEqual([...objectsOf(await render()).keys()].sort(), [...(await rendered()).keys()].sort());
      assert.equal((await render('--set', `${name}.enabled=false`)).trim(), '');
    } finally {
      await rm(parent, { recursive: true });
    }
  });

  it('passes helm lint with its own values and with two replicas', async () => {
    for (const [, values] of overlays) {
      const output = await run(helm, 'lint', '--strict', CHART, ...VALUES, ...values);
      assert.match(output, /1 chart\(s\) linted, 0 chart\(s\) failed/);
    }
  });

  it('has the version of the operator', async () => {
    const { version, appVersion } = parse(await readFile(join(CHART, 'Chart.yaml'), 'utf8'));
    assert.deepEqual([version, appVersion], [manifest.version, manifest.version]);
  });

  it('contains every object of config/rbac, and no other', async () => {
    const names = (await readdir(join(ROOT, 'config/rbac'))).filter(
      (name) => name !== 'kustomization.yaml' && name !== 'service_account.yaml',
    );
    assert.deepEqual((await readdir(join(CHART, 'files/rbac'))).sort(), names.sort());
  });

  it('applies each value as the schema describes', async () => {
    const pod = async (...sets: readonly string[]) => {
      const objects = await rendered(...sets.flatMap((set) => ['--set-json', set]));
      const spec = objects.get('Deployment winpool-system/windowspool-operator')?.spec as {
        template: { metadata: object; spec: Record<string, unknown> & { containers: Record<string, unknown>[] } };
      };
      return { ...spec.template, container: spec.template.spec.containers[0] ?? {} };
    };
    const digest = `sha256:${'0'.repeat(64)}`;
    const image = '111122223333.dkr.ecr.eu-west-1.amazonaws.com/windowspool-operator';
    assert.equal((await pod('image.tag="1.2.3"')).container.image, `${image}:1.2.3`);
    assert.equal((await pod(`image.digest="${digest}"`, 'image.tag="1.2.3"')).container.image, `${image}@${digest}`);
    assert.equal((await pod('image.pullPolicy="Always"')).container.imagePullPolicy, 'Always');
    const args = (await pod('extraArgs=["--log-level=debug"]')).container.args as string[];
    assert.equal(args.at(-1), '--log-level=debug');
    const env = (await pod('extraEnv=[{"name":"HTTPS_PROXY","value":"http://proxy"}]')).container.env as object[];
    assert.deepEqual(env.at(-1), { name: 'HTTPS_PROXY', value: 'http://proxy' });
    const resources = { limits: { memory: '1Gi' } };
    assert.partialDeepStrictEqual((await pod(`resources=${JSON.stringify(resources)}`)).container.resources, resources);
    const { spec, metadata } = await pod(
      'imagePullSecrets=[{"name":"registry"}]',
      'priorityClassName=""',
      'nodeSelector={"pool":"system","kubernetes.io/arch":"amd64"}',
      'tolerations=[]',
      'affinity={"nodeAffinity":{}}',
      'podAnnotations={"a":"b"}',
      'podLabels={"c":"d"}',
    );
    assert.deepEqual(
      [spec.imagePullSecrets, spec.priorityClassName, spec.tolerations, spec.affinity],
      [[{ name: 'registry' }], undefined, undefined, { nodeAffinity: {} }],
    );
    assert.deepEqual(spec.nodeSelector, { pool: 'system', 'kubernetes.io/arch': 'amd64', 'kubernetes.io/os': 'linux' });
    assert.partialDeepStrictEqual(metadata, {
      annotations: { a: 'b' },
      labels: { c: 'd', 'app.kubernetes.io/name': 'windowspool-operator' },
    });
  });

  it('does not repeat its own labels if the values have them, because kustomize and Flux reject duplicate keys', async () => {
    const sets = [
      'nodeSelector={"kubernetes.io/os":"linux"}',
      'podLabels={"app.kubernetes.io/name":"mine"}',
      'podAnnotations={"checksum/cluster":"mine"}',
    ];
    const text = await template(...VALUES, ...sets.flatMap((set) => ['--set-json', set]));
    assert.deepEqual(
      parseAllDocuments(text).flatMap(({ errors }) => errors),
      [],
    );
    assert.doesNotMatch(text, /: "?mine/);
  });

  it('treats a value whose lines are all comments as empty', async () => {
    const defaults = await template(...VALUES);
    for (const set of [
      'serviceAccount.annotations=null',
      'prometheus.labels=null',
      'prometheus.tlsConfig=null',
      'metrics.certSecret=null',
    ])
      assert.equal(await template(...VALUES, '--set-json', set), defaults, set);
    const withDashboards = ['--set', 'dashboards.enabled=true'];
    const [map] = [...(await rendered(...withDashboards, '--set-json', 'dashboards.labels=null')).values()].filter(
      ({ metadata }) => metadata.name === 'windowspool-dashboard-fleet',
    );
    assert.equal(map?.kind, 'ConfigMap');
  });

  it('omits disabled parts, and annotates the ServiceAccount', async () => {
    const kinds = async (set: string) => [...(await rendered('--set-json', set)).keys()];
    const all = [...(await rendered()).keys()];
    const without = async (set: string) => {
      const left = await kinds(set);
      return all.filter((key) => !left.includes(key));
    };
    assert.deepEqual(await without('networkPolicy.enabled=false'), [
      'NetworkPolicy winpool-system/windowspool-operator',
    ]);
    assert.deepEqual(await without('crds.enabled=false'), ['CustomResourceDefinition windowspools.winpool.dev']);
    assert.deepEqual((await without('rbac.aggregate=false')).sort(), [
      'ClusterRole windowspool-operator-windowspools-edit',
      'ClusterRole windowspool-operator-windowspools-view',
    ]);
    const account = (
      await rendered('--set-json', 'serviceAccount.annotations={"eks.amazonaws.com/role-arn":"arn"}')
    ).get('ServiceAccount winpool-system/windowspool-operator');
    assert.deepEqual(account?.metadata.annotations, { 'eks.amazonaws.com/role-arn': 'arn' });
    // The CRD, and the namespace with the image pull Secrets.
    const kept = async (...sets: readonly string[]) =>
      [...(await template(...VALUES, ...sets)).matchAll(/helm.sh\/resource-policy"?: keep/g)].length;
    assert.equal(await kept(), 2);
    assert.equal(await kept('--set', 'crds.keep=false'), 1);
    assert.equal(await kept('--set', 'crds.keep=false,nodePods.createNamespace=false'), 0);
  });

  const refused: readonly (readonly [what: string, set: string, words: RegExp])[] = [
    ['a value that does not exist', 'replica=2', /additional properties 'replica' not allowed/],
    [
      'a nested value that does not exist',
      'image.version="1"',
      /at '\/image': additional properties 'version' not allowed/,
    ],
    ['a zone as region', 'region="eu-west-1a"', /at '\/region': .*does not match pattern/],
    ['an ARN as cluster', 'clusterName="arn:aws:eks:x"', /at '\/clusterName': .*does not match pattern/],
    ['an image with a tag', 'image.repository="example.com/operator:1"', /at '\/image\/repository': .*pattern/],
    ['an incomplete digest', 'image.digest="sha256:12"', /at '\/image\/digest': .*does not match pattern/],
    ['replicas as a string', 'replicas="2"', /at '\/replicas': got string, want integer/],
    ['a namespace that cannot exist', 'nodePods.namespace="Node_Pods"', /at '\/nodePods\/namespace': .*pattern/],
    ['a namespace of digits, which YAML reads as a number', 'nodePods.namespace="123"', /\/namespace': .*pattern/],
    ['its own namespace for pods on nodes', 'nodePods.namespace="winpool-system"', /contains nothing else/],
    ['kube-system for pods on nodes', 'nodePods.namespace="kube-system"', /contains nothing else/],
    ['a crowd', 'replicas=9', /at '\/replicas': maximum: got 9, want 5/],
    ['an unknown pull policy', 'image.pullPolicy="Sometimes"', /at '\/image\/pullPolicy': value must be one of/],
    ['an argument that is not a flag', 'extraArgs=["debug"]', /at '\/extraArgs\/0': .*does not match pattern/],
    ['a section whose lines are all comments', 'networkPolicy=null', /missing property 'networkPolicy'/],
    ['an empty switch', 'crds.enabled=null', /at '\/crds': missing property 'enabled'/],
    ['a string as a switch', 'crds.keep="yes"', /at '\/crds\/keep': got string, want boolean/],
  ];
  for (const [what, set, words] of refused) {
    it(`rejects ${what}`, () => assert.rejects(rendered('--set-json', set), words));
  }

  it('names missing values', () =>
    assert.rejects(template(), /'clusterName', 'region'[\s\S]*'\/image': .*'repository'/));
});

/** The objects of a YAML stream by kind, namespace and name, without fields that only Helm or only kustomize writes. */
function objectsOf(text: string): Map<string, KubeObject> {
  // The generator's hash restarts the pods on a change, as the chart's checksum does.
  const plain = text.replace(/(windowspool-operator-cluster)-[0-9a-z]{10}\b/g, '$1');
  const objects = parseAllDocuments(plain).map((document): KubeObject | null => document.toJS());
  return new Map(
    objects.flatMap((object) => {
      if (!object) return [];
      const { kind, metadata } = object;
      without(metadata, 'labels', HELM_LABELS);
      without(metadata, 'annotations', HELM_ANNOTATIONS);
      if (kind === 'Deployment') {
        const { template } = object.spec as { template: { metadata: KubeObject['metadata'] } };
        without(template.metadata, 'annotations', ['checksum/cluster']);
      }
      return [[[kind, [metadata.namespace, metadata.name].filter(Boolean).join('/')].join(' '), object] as const];
    }),
  );
}

function without(metadata: KubeObject['metadata'], field: 'labels' | 'annotations', keys: readonly string[]): void {
  const left = Object.entries(metadata[field] ?? {}).filter(([key]) => !keys.includes(key));
  if (left.length > 0) metadata[field] = Object.fromEntries(left);
  else delete metadata[field];
}
