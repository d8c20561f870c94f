/** The output of the Helm chart, compared with kustomize, and the values that its schema rejects. */
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import manifest from '../../package.json' with { type: 'json' };
import { blocksOf } from '../docs/markdown.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHART = join(ROOT, 'config/charts/windowspool-operator');

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

const PROMETHEUS = ['monitor', 'rules', 'alertmanagerConfig'].flatMap((part) => [
  '--set',
  `prometheus.${part}.enabled=true`,
]);

/** They refer to the release by the URL of the repository. */
const OVERLAYS = ['config/samples/overlay/kustomization.yaml', 'config/argocd/cluster/kustomization.yaml'];

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
  const rendered = async (...args: readonly string[]) => objectsOf(await template(...args));

  const overlays: readonly (readonly [overlay: string, values: readonly string[]])[] = [
    ['default', []],
    ['ha', ['--set', 'replicas=2']],
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
        const blocks = blocksOf(await readFile(join(ROOT, 'docs/how-to/lint-workloads.md'), 'utf8'));
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

  it('renders the same as config/prometheus with its three parts, with the given labels', async () => {
    const sets = [...PROMETHEUS, '--set', 'prometheus.labels.release=stack'];
    const plain = [...(await rendered()).keys()];
    const added = [...(await rendered(...sets))].filter(([key]) => !plain.includes(key));
    const theirs = objectsOf(await run(kubectl, 'kustomize', join(ROOT, 'config/prometheus')));
    for (const { metadata } of theirs.values()) metadata.labels = { release: 'stack' };
    assert.deepEqual(added.sort(), [...theirs].sort());
  });

  it('configures the given TLS verification for Prometheus, and none by default', async () => {
    const [example] = blocksOf(await readFile(join(ROOT, 'docs/how-to/monitoring.md'), 'utf8')).filter(({ text }) =>
      text.startsWith('tlsConfig:'),
    );
    const { tlsConfig } = parse(example?.text ?? '');
    assert.equal(typeof tlsConfig.serverName, 'string');
    const monitor = async (value: object) => {
      const sets = [...PROMETHEUS, '--set-json', `prometheus.monitor.tlsConfig=${JSON.stringify(value)}`];
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
    const sets = ['dashboards.enabled=true', 'docsURL=https://docs.example.com/windows'];
    const text = await template(...PROMETHEUS, ...sets.flatMap((set) => ['--set', set]));
    const folders = [...text.matchAll(/https:[^\s"]*\/runbooks\//g)].map(([folder]) => folder);
    assert.ok(folders.length > 40);
    assert.deepEqual([...new Set(folders)], ['https://docs.example.com/windows/operate/runbooks/']);
    assert.match(text, /^ +- --docs-url=https:\/\/docs\.example\.com\/windows$/m);
  });

  const mounts: readonly (readonly [what: string, values: readonly string[], components: readonly string[]])[] = [
    ['metrics.certSecret', ['metrics.certSecret=windowspool-operator-metrics-cert'], ['metrics-cert']],
    [
      'metrics.certSecret and machineSets.kubeconfigSecret',
      [
        'metrics.certSecret=windowspool-operator-metrics-cert',
        'machineSets.kubeconfigSecret=windowspool-operator-machines-kubeconfig',
      ],
      ['metrics-cert', 'management-cluster'],
    ],
  ];
  for (const [what, values, components] of mounts)
    it(`renders the same Deployment as ${components.join(' and ')} with ${what}`, async () => {
      // kustomize accepts no absolute paths.
      await mkdir(join(ROOT, 'build'), { recursive: true });
      const folder = await mkdtemp(join(ROOT, 'build/kustomize-'));
      try {
        const paths = components.map((component) => `../../config/${component}`);
        await writeFile(
          join(folder, 'kustomization.yaml'),
          stringify({ resources: ['../../config/default'], components: paths }),
        );
        const ours = await rendered(...values.flatMap((value) => ['--set', value]));
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

  it('adds the roles of config/machines with machineSets.enabled', async () => {
    const plain = await rendered();
    const added = [...(await rendered('--set', 'machineSets.enabled=true')).keys()].filter((key) => !plain.has(key));
    assert.deepEqual(added.sort(), [
      'ClusterRole windowspool-operator-machines',
      'ClusterRoleBinding windowspool-operator-machines',
    ]);
  });

  it('adds the roles of config/machine-templates with machineSets.templates', async () => {
    const plain = await rendered();
    const added = [...(await rendered('--set', 'machineSets.templates=true')).keys()].filter((key) => !plain.has(key));
    assert.deepEqual(added.sort(), [
      'ClusterRole windowspool-operator-machine-templates',
      'ClusterRoleBinding windowspool-operator-machine-templates',
    ]);
  });

  it('installs everything in the namespace of the release, and binds the roles to its ServiceAccount', async () => {
    const options = [
      ...PROMETHEUS,
      ...['--set', 'windowsIpam.enabled=true'],
      ...['--set', 'machineSets.enabled=true,machineSets.templates=true'],
    ];
    const text = await run(helm, 'template', 'x', CHART, '--namespace', 'elsewhere', ...options);
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
      const overlay = {
        resources: ['../../config/default', 'namespace.yaml'],
        components: ['../../config/other-namespace'],
      };
      const name = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'windowspool-operator-namespace',
          annotations: { 'config.kubernetes.io/local-config': 'true' },
        },
        data: { namespace: 'ops' },
      };
      await writeFile(join(folder, 'kustomization.yaml'), stringify(overlay));
      await writeFile(join(folder, 'namespace.yaml'), stringify(name));
      const ours = objectsOf(await run(helm, 'template', 'x', CHART, '--namespace', 'ops'));
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
    const text = await template(...sets);
    assert.doesNotMatch(text, /winpool-node-pods/);
    assert.match(text, /^ +- --node-pod-namespace=tests$/m);
    assert.match(text, /request\.namespace == 'tests'/);
    assert.doesNotMatch(await template(), /--node-pod-namespace/);
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
      const values = { enabled: true };
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
      const output = await run(helm, 'lint', '--strict', CHART, ...values);
      assert.match(output, /1 chart\(s\) linted, 0 chart\(s\) failed/);
    }
  });

  it('has the version of the operator', async () => {
    const { version, appVersion } = parse(await readFile(join(CHART, 'Chart.yaml'), 'utf8'));
    assert.deepEqual([version, appVersion], [manifest.version, manifest.version]);
    const named = [
      'README.md',
      'docs/how-to/install.md',
      'docs/tutorials/first-pool.md',
      'config/charts/windowspool-operator/README.md',
      ...OVERLAYS,
    ].map(async (file) => (await readFile(join(ROOT, file), 'utf8')).match(/(?<=\?ref=v|--version )\d[\d.]*\d/g) ?? []);
    const versions = await Promise.all(named);
    assert.ok(versions.every((found) => found.length > 0));
    assert.deepEqual([...new Set(versions.flat())], [manifest.version]);
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
    const image = 'ghcr.io/windowspool-operator/windowspool-operator';
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

  it('sets what platform teams require of pods', async () => {
    const sets = (values: object) =>
      Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`]);
    const volumes = [{ name: 'ca', configMap: { name: 'proxy-ca' } }];
    const volumeMounts = [{ name: 'ca', mountPath: '/etc/proxy-ca', readOnly: true }];
    const spread = { topologyKey: 'kubernetes.io/hostname', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' };
    const dnsConfig = { options: [{ name: 'ndots', value: '2' }] };
    const strategy = { type: 'Recreate' };
    const objects = await rendered(
      ...sets({
        replicas: 2,
        strategy,
        revisionHistoryLimit: 3,
        logLevel: 'debug',
        defaultTags: { team: 'shop', 'cost-center': '42' },
        extraVolumes: volumes,
        extraVolumeMounts: volumeMounts,
        'metrics.certSecret': 'metrics',
        topologySpreadConstraints: [spread],
        hostNetwork: true,
        dnsPolicy: 'None',
        dnsConfig,
        podSecurityContext: { runAsUser: 1234 },
        securityContext: { privileged: false },
        commonLabels: { team: 'shop', 'app.kubernetes.io/name': 'mine' },
        'podDisruptionBudget.minAvailable': '50%',
      }),
    );
    const { spec } = (objects.get('Deployment winpool-system/windowspool-operator') ?? assert.fail()) as unknown as {
      spec: { template: { metadata: KubeObject['metadata']; spec: { containers: object[]; volumes: object[] } } };
    };
    const { metadata, spec: pod } = spec.template;
    const matchLabels = { 'app.kubernetes.io/name': 'windowspool-operator' };
    assert.partialDeepStrictEqual(spec, { strategy, revisionHistoryLimit: 3 });
    assert.partialDeepStrictEqual(pod, {
      topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels } }],
      hostNetwork: true,
      dnsPolicy: 'None',
      dnsConfig,
      securityContext: { runAsNonRoot: true, runAsUser: 1234, seccompProfile: { type: 'RuntimeDefault' } },
    });
    assert.deepEqual([pod.volumes.length, pod.volumes.at(-1)], [2, volumes[0]]);
    const [container] = pod.containers as { args: string[]; volumeMounts: object[]; securityContext: object }[];
    assert.deepEqual(container?.volumeMounts.at(-1), volumeMounts[0]);
    assert.partialDeepStrictEqual(container?.securityContext ?? {}, {
      privileged: false,
      readOnlyRootFilesystem: true,
    });
    assert.deepEqual(
      container?.args.filter((arg) => /log-level|default-tags/.test(arg)),
      ['--default-tags=cost-center=42,team=shop', '--log-level=debug'],
    );
    assert.deepEqual(metadata.labels, { ...matchLabels, team: 'shop' });
    for (const [key, { metadata: of }] of objects) assert.equal(of.labels?.team, 'shop', key);
    const budget = objects.get('PodDisruptionBudget winpool-system/windowspool-operator');
    assert.partialDeepStrictEqual(budget?.spec, { minAvailable: '50%' });
    assert.ok(!('maxUnavailable' in ((budget?.spec ?? {}) as object)));
    const without = await rendered('--set', 'replicas=2,podDisruptionBudget.enabled=false');
    assert.ok(!without.has('PodDisruptionBudget winpool-system/windowspool-operator'));
  });

  it('names all objects as the values say, and every reference to them follows', async () => {
    const cases: readonly (readonly [release: string, values: string, name: string, account: string])[] = [
      ['windowspool', 'replicas=1', 'windowspool-operator', 'windowspool-operator'],
      ['blue', 'fullnameOverride=win', 'win', 'win'],
      ['blue', 'nameOverride=windows', 'blue-windows', 'blue-windows'],
      ['blue-windows', 'nameOverride=windows', 'blue-windows', 'blue-windows'],
      ['blue', 'fullnameOverride=win,serviceAccount.name=aws', 'win', 'aws'],
      ['blue', 'serviceAccount.create=false,serviceAccount.name=aws', 'windowspool-operator', 'aws'],
    ];
    for (const [release, values, name, account] of cases) {
      const options = ['--set', `${values},windowsIpam.enabled=true`, ...PROMETHEUS];
      const text = await run(helm, 'template', release, CHART, '--namespace', 'ops', ...options);
      const objects = [...objectsOf(text).values()];
      const named = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      const wrong = named.filter((each) => each.includes('windowspool-operator') && name !== 'windowspool-operator');
      assert.deepEqual(
        wrong,
        ['PriorityClass windowspool-operator-node-pods'].slice(name === 'windowspool-operator' ? 1 : 0),
      );
      assert.equal(named.includes(`ServiceAccount ${account}`), !values.includes('create=false'));
      for (const object of objects) {
        const { roleRef, subjects, spec } = object as KubeObject & {
          roleRef?: { kind: string; name: string };
          subjects?: object[];
          spec?: Record<string, string>;
        };
        if (roleRef) assert.ok(named.includes(`${roleRef.kind} ${roleRef.name}`), roleRef.name);
        if (subjects) assert.deepEqual(subjects, [{ kind: 'ServiceAccount', name: account, namespace: 'ops' }]);
        if (object.kind === 'ValidatingAdmissionPolicyBinding')
          assert.ok(named.includes(`ValidatingAdmissionPolicy ${spec?.policyName}`));
      }
      assert.match(text, new RegExp(`^ +serviceAccountName: ${account}$`, 'm'));
      assert.match(text, new RegExp(`configMapKeyRef: \\{ name: ${name}-cluster,`));
      assert.match(text, new RegExp(`expression: request.userInfo.username == 'system:serviceaccount:ops:${account}'`));
      // For which the operators of all releases compete.
      assert.match(text, /resourceNames:\n +- windowspool-operator\n/);
    }
  });

  it('creates the monitor of the values', async () => {
    const monitor = async (kind: string, values: object) => {
      const sets = ['--set-json', `prometheus.monitor=${JSON.stringify({ enabled: true, kind, ...values })}`];
      const object = (await rendered(...sets)).get(`${kind} winpool-system/windowspool-operator`) ?? assert.fail(kind);
      const { endpoints, podMetricsEndpoints, ...spec } = object.spec as Record<string, object[]>;
      return { spec, endpoint: (endpoints ?? podMetricsEndpoints)?.[0] };
    };
    const plain = await monitor('ServiceMonitor', {});
    const relabelings = [{ targetLabel: 'cluster', replacement: 'prod' }];
    const values = { interval: '30s', scrapeTimeout: '10s', relabelings, metricRelabelings: relabelings };
    assert.deepEqual(await monitor('ServiceMonitor', values), { ...plain, endpoint: { ...plain.endpoint, ...values } });
    const authorization = { credentials: { name: 'scraper', key: 'token' } };
    const { bearerTokenFile, ...endpoint } = plain.endpoint as Record<string, unknown>;
    assert.equal(typeof bearerTokenFile, 'string');
    for (const kind of ['ServiceMonitor', 'PodMonitor'])
      assert.deepEqual(await monitor(kind, { authorization }), { ...plain, endpoint: { ...endpoint, authorization } });
  });

  it('disables single alerts, and changes each threshold in the rule and in its words', async () => {
    const rules = async (alerts: object) => {
      const sets = [
        '--set',
        'prometheus.rules.enabled=true',
        '--set-json',
        `prometheus.rules.alerts=${JSON.stringify(alerts)}`,
      ];
      const object =
        (await rendered(...sets)).get('PrometheusRule winpool-system/windowspool-operator') ?? assert.fail();
      const { groups } = object.spec as {
        groups: { rules: { alert?: string; expr: string; annotations?: object }[] }[];
      };
      return groups.flatMap((group) => group.rules);
    };
    const before = await rules({});
    const off = await rules({ WindowsPoolMixedBuilds: { enabled: false } });
    assert.deepEqual(
      before.filter(({ alert }) => alert !== 'WindowsPoolMixedBuilds'),
      off,
    );
    const thresholds = parse(await readFile(join(CHART, 'files/alert-thresholds.yaml'), 'utf8')) as Record<
      string,
      { before: string; default: string; words?: string }
    >;
    for (const [alert, threshold] of Object.entries(thresholds)) {
      const after = await rules({ [alert]: { threshold: 0.5 } });
      const changed = after.filter((rule, index) => !isDeepStrictEqual(rule, before[index]));
      assert.deepEqual([...new Set(changed.map((rule) => rule.alert))], [alert]);
      const text = JSON.stringify(changed);
      assert.ok(text.includes(`${threshold.before}0.5`), text);
      assert.ok(threshold.words === undefined || !text.includes(threshold.words), text);
    }
  });

  it('adds the annotations of the folder to the dashboards', async () => {
    const sets = ['--set', 'dashboards.enabled=true,dashboards.annotations.grafana_folder=Windows'];
    const map = (await rendered(...sets)).get('ConfigMap winpool-system/windowspool-dashboard-fleet');
    assert.deepEqual(map?.metadata.annotations, { grafana_folder: 'Windows' });
  });

  it('accepts the values of its page, once their placeholder is replaced', async () => {
    const [values] = blocksOf(await readFile(join(CHART, 'README.md'), 'utf8')).filter(({ info }) => info === 'yaml');
    const folder = await mkdtemp(join(tmpdir(), 'windowspool-values-'));
    try {
      const file = join(folder, 'values.yaml');
      await writeFile(file, values?.text ?? '');
      await assert.rejects(rendered('--values', file), /the IAM role arn:aws:iam::ACCOUNT_ID:\S+ with a placeholder/);
      await writeFile(file, (values?.text ?? '').replace('ACCOUNT_ID', '444455556666'));
      const plain = await rendered();
      const added = [...(await rendered('--values', file)).keys()].filter((key) => !plain.has(key));
      assert.equal(added.length, 5);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('does not repeat its own labels if the values have them, because kustomize and Flux reject duplicate keys', async () => {
    const sets = [
      'nodeSelector={"kubernetes.io/os":"linux"}',
      'podLabels={"app.kubernetes.io/name":"mine"}',
      'podAnnotations={"checksum/cluster":"mine"}',
    ];
    const text = await template(...sets.flatMap((set) => ['--set-json', set]));
    assert.deepEqual(
      parseAllDocuments(text).flatMap(({ errors }) => errors),
      [],
    );
    assert.doesNotMatch(text, /: "?mine/);
  });

  it('treats a value whose lines are all comments as empty', async () => {
    const defaults = await template();
    for (const set of [
      'serviceAccount.annotations=null',
      'prometheus.labels=null',
      'prometheus.monitor.tlsConfig=null',
      'prometheus.rules.alerts=null',
      'commonLabels=null',
      'defaultTags=null',
      'clusterName=null',
      'logLevel=null',
      'podDisruptionBudget.minAvailable=null',
      'topologySpreadConstraints=null',
      'metrics.certSecret=null',
    ])
      assert.equal(await template('--set-json', set), defaults, set);
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
      [...(await template(...sets)).matchAll(/helm.sh\/resource-policy"?: keep/g)].length;
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
    ['a cluster without its Region', 'clusterName="prod"', /region is missing, and clusterName is prod/],
    ['a placeholder as cluster', 'clusterName="CLUSTER_NAME"', /clusterName is CLUSTER_NAME, the placeholder/],
    ['a placeholder as region', 'region="REGION"', /region is REGION, the placeholder/],
    [
      'a placeholder in the image',
      'image.repository="111122223333.dkr.ecr.eu-west-1.amazonaws.com/windowspool-operator"',
      /image\.repository is 111122223333\.dkr.* with a placeholder/,
    ],
    [
      'a placeholder in the IAM role',
      'serviceAccount.annotations={"eks.amazonaws.com/role-arn":"arn:aws:iam::ACCOUNT_ID:role/x"}',
      /the IAM role arn:aws:iam::ACCOUNT_ID:role\/x, with a placeholder/,
    ],
    ['a tag with a comma', 'defaultTags={"a":"b,c"}', /defaultTags has a: b,c, which AWS does not accept/],
    ['a tag of AWS', 'defaultTags={"aws:x":"y"}', /defaultTags has aws:x, a key that is reserved/],
    [
      'misspelled limits',
      'resources.limit.memory="1Gi"',
      /at '\/resources': additional properties 'limit' not allowed/,
    ],
    ['no ServiceAccount without a name', 'serviceAccount.create=false', /set serviceAccount\.name to the name of/],
    ['a mount without a volume', 'extraVolumeMounts=[{"name":"ca","mountPath":"/ca"}]', /extraVolumes is empty/],
    ['a long name', `fullnameOverride="${'a'.repeat(51)}"`, /at '\/fullnameOverride': maxLength/],
    ['a log level that does not exist', 'logLevel="verbose"', /at '\/logLevel': value must be one of/],
    [
      'an alert that does not exist',
      'prometheus.rules={"enabled":true,"alerts":{"WindowsPoolReady":{"enabled":false}}}',
      /alerts\.WindowsPoolReady does not exist\. The alerts are: WindowsPoolAmiNearEnd, /,
    ],
    [
      'a threshold of an alert without one',
      'prometheus.rules={"enabled":true,"alerts":{"WindowsPoolMixedBuilds":{"threshold":3}}}',
      /WindowsPoolMixedBuilds\.threshold is set, and this alert has no threshold.*: WindowsPoolAmiNearEnd, /,
    ],
    [
      'a PodMonitor without a token',
      'prometheus.monitor={"enabled":true,"kind":"PodMonitor"}',
      /set prometheus\.monitor\.authorization\.credentials/,
    ],
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
      if (kind === 'ValidatingAdmissionPolicy') onlyOperator(object);
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

/** Removes whose writes the policy about the operator checks: an overlay may rename the ServiceAccount, and the chart knows its name. */
function onlyOperator({ metadata, spec }: KubeObject): void {
  if (metadata.name !== 'windowspool-operator') return;
  const [condition] = (spec as { matchConditions: { name: string; expression?: string }[] }).matchConditions;
  if (condition) delete condition.expression;
}
