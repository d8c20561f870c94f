/** The policies of config/policies on a real API server, which gives the same answers as the linter. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findingsOf } from '../../controllers/workloads/lint.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { container, type Manifest, RUNTIME_CLASSES, SELECTOR, windowsSpec, workload } from './build.ts';
import { CASES } from './cases.ts';
import { SAMPLES } from './samples.ts';
import { WarningsClient } from './warningsClient.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FAILING = windowsSpec({ shareProcessNamespace: true });

describe('the policies for workloads', function () {
  this.timeout(300_000);
  let plane: ControlPlane;
  let client: WarningsClient;
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-policies-'));
    await symlink(join(ROOT, 'config/policies'), join(folder, 'policies'));
    plane = await startControlPlane();
    client = await WarningsClient.connect(plane);
    await apply(...RUNTIME_CLASSES, ...['checked', 'exempt'].map(namespace));
    await plane.kubectlOutput(['apply', '-k', join(ROOT, 'config/policies')]);
    const byClass = { runtimeClassName: 'windows-2022', hostPID: true, containers: [container({ resources: {} })] };
    const linux = { tolerations: [{ operator: 'Exists' }], containers: [container()] };
    const probes = [
      [workload('Deployment', windowsSpec({ ...byClass, runtimeClassName: undefined })), 2],
      [workload('Deployment', byClass), 2],
      [workload('Deployment', linux), 1],
    ] as const;
    for (const [manifest, warnings] of probes)
      await waitFor(async () => (await client.create(manifest)).warnings.length === warnings, {
        what: `${warnings} warnings about ${JSON.stringify(manifest.spec)}`,
        explain: async () => JSON.stringify(await client.create(manifest)),
      });
  });
  after(async () => {
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const apply = (...items: readonly object[]) =>
    plane.kubectlOutput(['apply', '-f', '-'], { stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });

  /** The messages of the warnings, and of the linter. */
  async function compared(manifest: Manifest): Promise<readonly string[]> {
    const { status, warnings, body } = await client.create(manifest);
    assert.equal(status, 201, body.message);
    assert.deepEqual(
      [...warnings].sort(),
      findingsOf(manifest, RUNTIME_CLASSES)
        .map(({ message }) => message)
        .sort(),
    );
    return warnings.map((warning) => /^\w+/.exec(warning)?.[0] ?? warning).sort();
  }

  describe('warn as the linter does', () => {
    for (const { what, manifest, rules } of CASES)
      it(`${what}: ${rules.join(', ') || 'nothing'}`, async () => assert.deepEqual(await compared(manifest), rules));
    for (const { what, manifest, advice } of SAMPLES)
      it(`${what}: ${advice.join(', ') || 'nothing'}`, async () => assert.deepEqual(await compared(manifest), advice));
  });

  it('find every violation that the API server finds only with os.name', async () => {
    const pods = CASES.filter(({ manifest: { kind, spec } }) => kind === 'Pod' && isWindows(spec));
    assert.ok(pods.length > 60);
    const refused: string[] = [];
    for (const { what, manifest, rules } of pods) {
      const { status, warnings } = await client.create({
        ...manifest,
        spec: { ...(manifest.spec as object), os: { name: 'windows' } },
      });
      if (status !== 201) refused.push(...rules);
      // A field with a value that changes nothing is refused as well, so that such a pod has no violation.
      else if (rules.length > 0) assert.notDeepEqual(warnings, [], what);
    }
    assert.deepEqual([...new Set(refused)].sort(), REFUSED_WITH_OS_NAME);
  });

  it('have no type errors', async () => {
    const policies = async () => {
      const { items } = JSON.parse(await plane.kubectlOutput(['get', 'validatingadmissionpolicies', '-o', 'json']));
      return items as readonly Policy[];
    };
    // The type checker compiles each policy for each kind that it selects: seconds of CPU, minutes beside other suites.
    await waitFor(async () => (await policies()).every(({ status }) => status?.observedGeneration), {
      what: 'the type checker',
      timeoutMs: 240_000,
      explain: async () =>
        (await policies())
          .filter(({ status }) => !status?.observedGeneration)
          .map(({ metadata }) => metadata.name)
          .join(', '),
    });
    for (const { metadata, status } of await policies())
      assert.deepEqual(status?.typeChecking?.expressionWarnings ?? [], [], metadata.name);
  });

  it('are in the audit log', async () => {
    await client.create(workload('Deployment', FAILING, 'audited'));
    const log = await readFile(plane.auditLog, 'utf8');
    const annotations = log.split('\n').filter((line) => line.includes('validation_failure'));
    assert.match(annotations.at(-1) ?? '', /ShareProcessNamespace: shareProcessNamespace /);
  });

  it('evaluate only the ephemeral containers that are added', async () => {
    const pod = workload('Pod', FAILING, 'debugged');
    await client.create(pod, { dryRun: false });
    const debug = (fields: object) =>
      client.patch(
        pod,
        { spec: { ephemeralContainers: [{ name: 'debug', image: 'a', ...fields }] } },
        'ephemeralcontainers',
      );
    assert.deepEqual((await debug({})).warnings, []);
    const { warnings } = await debug({ securityContext: { privileged: true } });
    assert.deepEqual(
      warnings.map((warning) => warning.split(':', 1)[0]),
      ['Privileged (debug)'],
    );
  });

  it('ignore what Kubernetes creates from a template that was evaluated', async () => {
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'app', uid: 'u', controller: true };
    const owned = (kind: 'ReplicaSet' | 'Pod'): Manifest => {
      const manifest = workload(kind, FAILING);
      return { ...manifest, metadata: { ...manifest.metadata, ownerReferences: [owner] } as Manifest['metadata'] };
    };
    assert.deepEqual((await client.create(owned('ReplicaSet'))).warnings, []);
    assert.equal((await client.create(owned('Pod'))).warnings.length, 1);
  });

  describe('with the component deny', () => {
    const deployed = workload('Deployment', FAILING, 'deployed');
    const exempt = workload('Deployment', FAILING, 'exempt');

    before(async () => {
      await client.create(deployed, { dryRun: false });
      const patch = [
        { op: 'add', path: '/spec/matchResources', value: { namespaceSelector: { matchExpressions: [NOT_EXEMPT] } } },
      ];
      const overlay = {
        resources: ['policies'],
        components: ['policies/deny'],
        patches: [
          {
            target: { kind: 'ValidatingAdmissionPolicyBinding', name: 'windowspool-workloads-.*' },
            patch: JSON.stringify(patch),
          },
        ],
      };
      await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(overlay));
      await plane.kubectlOutput(['apply', '-k', folder]);
      await waitFor(async () => (await client.create(workload('Pod', FAILING))).status !== 201, {
        what: 'a pod to be rejected',
      });
    });

    it('reject what fails, with the reason', async () => {
      for (const kind of ['Pod', 'CronJob'] as const) {
        const { status, body } = await client.create(workload(kind, FAILING));
        assert.equal(status, 422);
        assert.match(body.message ?? '', /denied request: ShareProcessNamespace: /);
      }
    });

    it('warn about advice', async () => {
      const { status, warnings } = await client.create(workload('Pod', windowsSpec({ hostUsers: false })));
      assert.equal(status, 201);
      assert.deepEqual(
        warnings.map((warning) => warning.split(':', 1)[0]),
        ['HostUsers'],
      );
    });

    it('accept updates that do not change the pod spec, and reject the others', async () => {
      const updates: readonly (readonly [patch: object, status: number])[] = [
        [{ metadata: { finalizers: ['example.com/hold'] } }, 200],
        [{ metadata: { annotations: { note: 'x' } } }, 200],
        [{ spec: { replicas: 3 } }, 200],
        [{ spec: { template: { spec: { terminationGracePeriodSeconds: 5 } } } }, 422],
        [{ spec: { template: { spec: { shareProcessNamespace: false } } } }, 200],
      ];
      for (const [patch, status] of updates)
        assert.equal((await client.patch(deployed, patch)).status, status, JSON.stringify(patch));
    });

    it('ignore exempt namespaces', async () => {
      const inNamespace = (name: string) => ({ ...exempt, metadata: { ...exempt.metadata, namespace: name } });
      assert.equal((await client.create(inNamespace('checked'))).status, 422);
      assert.deepEqual((await client.create(inNamespace('exempt'))).warnings, []);
    });
  });
});

/** The rules about fields that the API server refuses with os.name: windows. */
const REFUSED_WITH_OS_NAME = [
  'AllowPrivilegeEscalation',
  'AppArmorProfile',
  'Capabilities',
  'FSGroup',
  'FSGroupChangePolicy',
  'HostIPC',
  'HostPID',
  'HostUsers',
  'PodResources',
  'Privileged',
  'ProcMount',
  'ReadOnlyRootFilesystem',
  'RunAsGroup',
  'RunAsUser',
  'SELinuxChangePolicy',
  'SELinuxOptions',
  'SeccompProfile',
  'ShareProcessNamespace',
  'SupplementalGroups',
  'SupplementalGroupsPolicy',
  'Sysctls',
];

const NOT_EXEMPT = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['exempt'] };

interface Policy {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly typeChecking?: { readonly expressionWarnings?: readonly object[] };
  };
}

function isWindows(spec: unknown): boolean {
  const { nodeSelector } = spec as { readonly nodeSelector?: Readonly<Record<string, string>> };
  return nodeSelector?.['kubernetes.io/os'] === SELECTOR['kubernetes.io/os'];
}
