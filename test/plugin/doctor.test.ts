/** `kubectl windowspool doctor` and completion, against a real API server and a running operator that leads. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Check } from '../../cmd/kubectl-windowspool/check.ts';
import { localAws } from '../fakes/testenv/operatorProcess.ts';
import { windowsIpam } from '../fakes/testenv/testEnv.ts';
import { assertGolden, normalized } from '../goldenText.ts';
import { existingPool, poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { KubectlPlugin } from './kubectlPlugin.ts';

describe('kubectl windowspool doctor and completion', () => {
  const fixture = withOperator('--resync-interval=1s', '--leader-elect=true');
  let plugin: KubectlPlugin;
  before(async function () {
    this.timeout(300_000);
    const { world } = fixture;
    plugin = await KubectlPlugin.install(world);
    await world.apply(poolManifest('web'));
    await world.waitForReady('web');
  });
  after(async () => {
    await fixture.world?.apply(windowsIpam(true));
    await plugin?.remove();
  });
  const checks = async (env: NodeJS.ProcessEnv = {}): Promise<readonly Check[]> =>
    JSON.parse((await plugin.run(['doctor', '--output=json'], env)).stdout);
  const resultOf = async (name: string) => (await checks()).find((check) => check.name === name);

  /** A ready Deployment of the operator, which runs as a process here. */
  async function createDeployment(name: string, namespace: string): Promise<void> {
    const labels = { 'app.kubernetes.io/name': 'windowspool-operator' };
    const template = {
      metadata: { labels },
      spec: {
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        // What pod security requires in winpool-system.
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'operator',
            image: 'operator',
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          },
        ],
      },
    };
    const metadata = { name, namespace, labels };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    await fixture.world.apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    const available = ['--for=condition=Available', '--timeout=60s'];
    await fixture.world.kubectl('wait', `deployment/${name}`, '-n', namespace, ...available);
  }

  it('shows all checks, with the command that fixes what fails', async () => {
    await fixture.world.apply(windowsIpam(false));
    await fixture.world.waitForConditions('web', 'PrerequisitesMet=False/WindowsIPAMDisabled');
    await createDeployment('windowspool-operator', 'winpool-system');
    const session = plugin.start(['doctor'], localAws(fixture.world.cloud.url));
    assert.equal(await session.ended, 1);
    await fixture.world.kubectl('delete', 'deployment/windowspool-operator', '-n', 'winpool-system');
    const text = session
      .shown()
      .replace(/Kubernetes v\S+/, 'Kubernetes v1.36.3')
      .replace(/Leader: \S+ renewed its\s+Lease \d+s\s+ago/, 'Leader: POD renewed its Lease 0s ago');
    await assertGolden('plugin/terminal-doctor', normalized(text));
  });

  it('the command that it shows fixes the check', async () => {
    // Without AWS, it is not known who manages the setting.
    assert.equal((await resultOf('Cluster, windows-ipam'))?.fix, undefined);
    const { fix = '' } = (await resultOf('Pool web, windows-ipam')) ?? {};
    assert.match(fix, /^kubectl -n kube-system patch configmap amazon-vpc-cni --type merge -p '(.*)'$/);
    const [, patch = ''] = /-p '(.*)'$/.exec(fix) ?? [];
    const configMap = ['configmap', 'amazon-vpc-cni', '-n', 'kube-system'];
    await fixture.world.kubectl('patch', ...configMap, '--type', 'merge', '-p', patch);
    assert.equal((await resultOf('Cluster, windows-ipam'))?.result, 'PASS');
  });

  it('finds a ready Deployment in another namespace, as report and version do', async () => {
    await createDeployment('renamed', 'default');
    try {
      const { stdout } = await plugin.run(['doctor', '--output=json']);
      const results = (JSON.parse(stdout) as Check[]).map(({ name, result }) => `${result} ${name}`);
      // All installations have the same Lease.
      assert.deepEqual(results.slice(2, 4), ['PASS Operator', 'PASS Leader']);
      const version = await plugin.run(['version']);
      assert.match(version.stdout, /^Operator Version: unknown \(default\/renamed\)$/m);
      const folder = join(plugin.folder, 'report');
      const report = await plugin.run(['report', '--output-directory', folder]);
      assert.equal(report.code, 0, report.stderr);
      const deployment = parse(await readFile(join(folder, 'operator/deployment.yaml'), 'utf8'));
      assert.deepEqual([deployment.metadata.namespace, deployment.metadata.managedFields], ['default', undefined]);
    } finally {
      await fixture.world.kubectl('-n', 'default', 'delete', 'deployment', 'renamed');
    }
  });

  it('finds the webhooks of gMSA once the cluster knows credential specs', async () => {
    assert.equal((await resultOf('gMSA'))?.result, 'SKIP');
    const { world } = fixture;
    const [crd, spec, ...webhooks] = gmsaObjects();
    try {
      await world.apply(crd);
      await world.kubectl('wait', '--for=condition=Established', `crd/${crd.metadata.name}`, '--timeout=60s');
      await world.apply(spec);
      const without = await resultOf('gMSA');
      assert.equal(without?.result, 'FAIL', without?.detail);
      for (const webhook of webhooks) await world.apply(webhook);
      const { result, detail = '' } = (await resultOf('gMSA')) ?? {};
      assert.equal(result, 'PASS', detail);
      assert.match(detail, /^1 credential spec .* one needs nodes /);
    } finally {
      for (const { kind, metadata } of [...webhooks, crd])
        await world.kubectl('delete', kind, metadata.name, '--ignore-not-found');
    }
  });

  it('fails when no operator renews the Lease', async () => {
    await fixture.operator.stop();
    try {
      const expired = '{"spec":{"holderIdentity":"gone","renewTime":"2026-01-01T00:00:00.000000Z"}}';
      const lease = ['-n', 'kube-system', 'patch', 'lease', 'windowspool-operator', '--type=merge', '-p'] as const;
      await fixture.world.kubectl(...lease, expired);
      const { result, detail = '' } = (await resultOf('Leader')) ?? {};
      assert.equal(result, 'FAIL');
      assert.match(detail, /^gone renewed its Lease \d+s ago, so no replica leads\.$/);
    } finally {
      await fixture.world.kubectl('-n', 'kube-system', 'delete', 'lease', 'windowspool-operator');
      await fixture.restart();
    }
  });

  it('checks nothing of EKS and AWS for a pool of existing nodes', async () => {
    await fixture.world.apply(existingPool('onprem', { matchLabels: { site: 'ams' } }));
    await fixture.world.waitForPool('onprem', 'to be observed', (pool) => (pool?.status?.observedGeneration ?? -1) > 0);
    const { stdout } = await plugin.run(['doctor', 'onprem', '--output=json']);
    const found = JSON.parse(stdout) as Check[];
    assert.deepEqual(
      found.filter(({ name }) => name.startsWith('Cluster, ')),
      [],
    );
    assert.deepEqual(
      found.find(({ name }) => name === 'EKS'),
      { name: 'EKS', result: 'SKIP', detail: 'no pool has a nodeGroup, so none needs AWS' },
    );
    await fixture.world.kubectl('delete', 'windowspool', 'onprem', '--timeout=30s');
  });

  it('skips what the user may not read, and fails if the user may not read pools', async () => {
    const kubeconfig = await fixture.world.controlPlane.serviceAccountKubeconfig('default', 'default');
    const { code, stdout } = await plugin.run(['doctor', '--kubeconfig', kubeconfig, '--output=json']);
    assert.equal(code, 1);
    const found = (JSON.parse(stdout) as Check[]).map(({ name, result }) => `${result} ${name}`);
    assert.deepEqual(found, [
      'PASS API server',
      'PASS CRD',
      'SKIP Operator',
      'SKIP Leader',
      'FAIL Your permission to read',
      'SKIP Your permission to change pools',
      'SKIP Your permission to change nodes',
      'SKIP Cluster, a-linux-node',
      'SKIP Cluster, windows-ipam',
      'SKIP Cluster, legacy-controllers',
      'SKIP Cluster, pod-webhook',
      'SKIP windows_exporter',
      'SKIP gMSA',
      'SKIP EKS',
      'SKIP Pools',
    ]);
  });

  it('kubectl completes commands, flags, pools and nodes', async () => {
    const complete = async (...words: readonly string[]) => {
      const { stdout, stderr } = await plugin.kubectl(['__complete', 'windowspool', ...words]);
      return [
        ...stdout
          .trimEnd()
          .split('\n')
          .map((line) => line.split('\t')[0]),
        stderr.includes('NoFileComp'),
      ];
    };
    const nodes = await fixture.world.nodeNamesOf('web');
    assert.deepEqual(await complete('re'), ['replace', 'remove', 'retry', 'resume', 'report', ':4', true]);
    assert.deepEqual(await complete('status', ''), ['web', ':4', true]);
    assert.deepEqual(await complete('status', 'x'), [':4', true]);
    assert.deepEqual(await complete('replace', 'ip-'), [...nodes, ':4', true]);
    assert.deepEqual(await complete('nodes', '--output', 'w'), ['wide', ':4', true]);
    assert.deepEqual(await complete('status', '--wa'), ['--watch', ':4', true]);
  });
});

/** The CRD of gMSA, a credential spec, and the webhooks, which select no pod. */
function gmsaObjects() {
  const versions = [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    },
  ];
  const names = { kind: 'GMSACredentialSpec', plural: 'gmsacredentialspecs' };
  const webhooks = [
    {
      name: 'admission-webhook.windows-gmsa.sigs.k8s.io',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { service: { name: 'gmsa', namespace: 'gmsa' } },
      objectSelector: { matchLabels: { 'example.com/none': '' } },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    },
  ];
  const configuration = (kind: string) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: 'gmsa' },
    webhooks,
  });
  return [
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: 'gmsacredentialspecs.windows.k8s.io',
        // Groups under k8s.io need it: https://github.com/kubernetes/enhancements/pull/1111
        annotations: { 'api-approved.kubernetes.io': 'unapproved, a stand-in' },
      },
      spec: { group: 'windows.k8s.io', scope: 'Cluster', names, versions },
    },
    {
      apiVersion: 'windows.k8s.io/v1',
      kind: 'GMSACredentialSpec',
      metadata: { name: 'web' },
      credspec: { ActiveDirectoryConfig: { GroupManagedServiceAccounts: [{ Name: 'web', Scope: 'example.com' }] } },
    },
    configuration('MutatingWebhookConfiguration'),
    configuration('ValidatingWebhookConfiguration'),
  ] as const;
}
