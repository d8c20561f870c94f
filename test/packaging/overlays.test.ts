/** The overlays of config on a real API server with pod security, the quota for priority classes and RBAC. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { readCommand } from '../../cmd/operator/options.ts';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { GitRepository } from '../../hack/gitops/gitRepository.ts';
import manifest from '../../package.json' with { type: 'json' };
import { linuxNode } from '../fakes/testenv/linuxNode.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NAMESPACE = 'winpool-system';

/** The fields of an object that the tests read. */
interface Built {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          {
            readonly image: string;
            readonly args: readonly string[];
            readonly env: readonly { readonly name: string }[];
          },
        ];
      };
    };
  };
}

/** How the operator reads its flags with these variables, which commander takes from the environment of the process. */
function commandOf(variables: NodeJS.ProcessEnv): { readonly kind: string; readonly errors?: readonly string[] } {
  const before = process.env;
  process.env = variables;
  try {
    return readCommand([], manifest.version);
  } finally {
    process.env = before;
  }
}

interface Pod {
  readonly spec: { readonly priority: number };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface Event {
  readonly reason: string;
  readonly note?: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

describe('the overlays of config', function () {
  this.timeout(180_000);
  let plane: ControlPlane;
  before(async () => {
    plane = await startControlPlane({ log: (line) => console.log(`    ${line}`) });
    await apply(stringify(linuxNode()));
  });
  after(() => plane?.stop());

  async function kubectl(args: readonly string[], stdin?: string): Promise<{ stdout: string; stderr: string }> {
    const { stdout, stderr, code } = await plane.kubectl(args, stdin === undefined ? {} : { stdin });
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return { stdout, stderr };
  }
  const apply = (manifest: string) => kubectl(['apply', '-f', '-'], manifest);
  const items = async <T>(...args: readonly string[]): Promise<T[]> =>
    JSON.parse((await kubectl(['-n', NAMESPACE, 'get', ...args, '-o', 'json'])).stdout).items;

  /** Waits until the Deployment has this number of running pods, and returns them. */
  const running = (count: number): Promise<Pod[]> =>
    waitFor(
      async () => {
        const pods = await items<Pod>('pods', '-l', 'app.kubernetes.io/name=windowspool-operator');
        const ready = pods.filter(({ status }) =>
          status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
        );
        return pods.length === count && ready.length === count ? pods : undefined;
      },
      { what: `${count} pods of the operator to run`, intervalMs: 200 },
    );

  it('default: the API server returns no warning, and pod security admits its one pod', async () => {
    const { stderr } = await kubectl(['apply', '-k', join(ROOT, 'config/default')]);
    assert.equal(stderr, '');
    const pods = await running(1);
    // That of the class system-cluster-critical.
    assert.deepEqual(
      pods.map(({ spec }) => spec.priority),
      [2_000_000_000],
    );
  });

  it('ha: a second pod, and a budget that allows the disruption of one of the two', async () => {
    const { stderr } = await kubectl(['apply', '-k', join(ROOT, 'config/ha')]);
    assert.equal(stderr, '');
    await running(2);
    await waitFor(
      async () => {
        const [budget] = await items<{ status?: { disruptionsAllowed: number } }>('poddisruptionbudgets');
        return budget?.status?.disruptionsAllowed === 1;
      },
      { what: 'the budget to allow one disruption', intervalMs: 200 },
    );
  });

  it('a pod that requests more privileges than the operator is rejected in its namespace', async () => {
    const broken = parseAllDocuments(await readFile(join(ROOT, 'config/manager/deployment.yaml'), 'utf8'))[0];
    broken?.setIn(['metadata', 'name'], 'broken');
    const pod = ['spec', 'template', 'spec'];
    broken?.setIn([...pod, 'containers', 0, 'securityContext', 'allowPrivilegeEscalation'], true);
    broken?.deleteIn([...pod, 'securityContext', 'seccompProfile']);
    const { stderr } = await apply(String(broken));
    assert.match(stderr, /Warning: .*"restricted:latest": allowPrivilegeEscalation .*seccomp/);
    const refusal = await waitFor(
      async () => {
        const events = await items<Event>('events.events.k8s.io');
        return events.find(
          ({ reason, regarding }) => reason === 'FailedCreate' && regarding.name.startsWith('broken-'),
        );
      },
      { what: 'the rejection of the pod', intervalMs: 200 },
    );
    assert.match(refusal.note ?? '', /violates PodSecurity "restricted:latest"/);
    await kubectl(['-n', NAMESPACE, 'delete', 'deployment', 'broken']);
  });

  describe('an overlay outside of a checkout', () => {
    let repository: GitRepository;
    let folder: string;
    let env: NodeJS.ProcessEnv;
    before(async () => {
      repository = await GitRepository.create();
      env = {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        ...(await repository.asPublished(`v${manifest.version}`)),
      };
      folder = await mkdtemp(join(tmpdir(), 'windowspool-overlay-'));
    });
    after(async () => {
      await repository?.remove();
      if (folder) await rm(folder, { recursive: true });
    });

    /** Writes files, the first of which is the kustomization, and returns what kubectl builds from them. */
    async function build(overlay: string, more: Readonly<Record<string, string>> = {}): Promise<Built[]> {
      for (const [name, text] of Object.entries({ 'kustomization.yaml': overlay, ...more }))
        await writeFile(join(folder, name), text);
      const { kubectl: program } = await ensureBinaries(() => undefined);
      const { stdout, stderr, code } = await runCommand(program, ['kustomize', folder], { env, timeoutMs: 120_000 });
      if (code !== 0) throw new Error(stderr.trim());
      return parseAllDocuments(stdout).map((document) => document.toJS());
    }
    const sample = () => readFile(join(ROOT, 'config/samples/overlay/kustomization.yaml'), 'utf8');
    const withValues = async () =>
      (await sample())
        .replaceAll('CLUSTER_NAME', 'prod')
        .replaceAll('REGION', 'eu-west-1')
        .replaceAll('ACCOUNT_ID', '444455556666');
    const only = (built: readonly Built[], kind: string, name = 'windowspool-operator') =>
      built.find((object) => object.kind === kind && object.metadata.name.startsWith(name)) ??
      assert.fail(`no ${kind}`);
    const fromClone = async (path: string) => {
      const { stdout } = await kubectl(['kustomize', join(ROOT, path)]);
      return parseAllDocuments(stdout).map((document) => document.toJS() as Built);
    };

    it('sets the cluster of config/samples/overlay, and nothing else', async () => {
      const built = await build(await withValues());
      assert.deepEqual(only(built, 'ConfigMap').data, { clusterName: 'prod', region: 'eu-west-1' });
      const plain = (objects: readonly Built[]) =>
        JSON.stringify(objects.filter(({ kind }) => kind !== 'ConfigMap')).replaceAll(
          /(operator-cluster)-\w{10}/g,
          '$1',
        );
      assert.equal(plain(built), plain(await fromClone('config/default')));
    });

    it('sets the image, the IAM role and the environment of the sample, adds its components, and is accepted by the API server', async () => {
      const commented = await withValues();
      const built = await build(commented.replace(/^# (?=\w+:$| )/gm, ''));
      const [container] = only(built, 'Deployment').spec.template.spec.containers;
      assert.equal(
        container.image,
        `444455556666.dkr.ecr.eu-west-1.amazonaws.com/windowspool-operator:${manifest.version}`,
      );
      const names = container.env.map(({ name }) => name);
      assert.deepEqual(names.toSorted(), [
        'AWS_REGION',
        'HTTPS_PROXY',
        'NO_PROXY',
        'POD_NAMESPACE',
        'WINPOOL_CLUSTER_NAME',
      ]);
      assert.deepEqual(container.args.slice(2), ['--metrics-cert-dir=/var/run/metrics-cert', '--enable-windows-ipam']);
      assert.deepEqual(only(built, 'ServiceAccount').metadata.annotations, {
        'eks.amazonaws.com/role-arn': 'arn:aws:iam::444455556666:role/windowspool-operator',
      });
      only(built, 'ConfigMap', 'windowspool-dashboard-fleet');
      only(built, 'Role', 'windowspool-operator-windows-ipam');
      const { stderr } = await kubectl(
        ['apply', '--dry-run=server', '--validate=strict', '-f', '-'],
        built.map((object) => stringify(object)).join('---\n'),
      );
      assert.equal(stderr, '');
    });

    it('runs two replicas with config/ha as its base', async () => {
      const built = await build((await withValues()).replace('//config/default?', '//config/ha?'));
      assert.equal(only(built, 'Deployment').spec.replicas, 2);
      only(built, 'PodDisruptionBudget');
    });

    it('installs in the namespace of the ConfigMap of config/other-namespace', async () => {
      const component = await readFile(join(ROOT, 'config/other-namespace/kustomization.yaml'), 'utf8');
      const [, object = ''] = /^#\n((?:# .*\n)+)apiVersion/m.exec(component) ?? [];
      const overlay = parse(await withValues());
      const [base] = overlay.resources;
      const moved = {
        ...overlay,
        resources: [base, 'namespace.yaml'],
        components: [base.replace('config/default', 'config/other-namespace')],
      };
      const built = await build(stringify(moved), { 'namespace.yaml': object.replace(/^# /gm, '') });
      assert.doesNotMatch(
        JSON.stringify(built.filter(({ kind }) => kind !== 'CustomResourceDefinition')),
        /winpool-system/,
      );
      assert.deepEqual(only(built, 'ConfigMap').data, { clusterName: 'prod', region: 'eu-west-1' });
      assert.equal(only(built, 'Namespace', 'ops').metadata.name, 'ops');
    });

    it('with placeholders that were not replaced, is built, and the operator refuses them', async () => {
      const { data = {} } = only(await build(await sample()), 'ConfigMap');
      const { kind, errors = [] } = commandOf({ WINPOOL_CLUSTER_NAME: data.clusterName, AWS_REGION: data.region });
      assert.equal(kind, 'refuse');
      assert.match(errors[0] ?? '', /WINPOOL_CLUSTER_NAME=CLUSTER_NAME: .*config\/samples\/overlay/);
      assert.match(errors[1] ?? '', /AWS_REGION=REGION: .*config\/samples\/overlay/);
    });
  });

  const WHO = ['view', 'edit', 'admin'] as const;
  const LOOKING = ['get', 'list', 'watch'];
  const CHANGING = ['create', 'update', 'patch', 'delete', 'deletecollection'];

  describe('the built-in roles', () => {
    before(async () => {
      for (const role of WHO) {
        await kubectl(['create', 'clusterrolebinding', `${role}s`, `--clusterrole=${role}`, `--user=${role}`]);
        await kubectl([
          '-n',
          'default',
          'create',
          'rolebinding',
          `${role}s`,
          `--clusterrole=${role}`,
          `--user=${role}-here`,
        ]);
      }
      await waitFor(async () => (await can('edit', 'create', 'windowspools')) === 'yes', {
        what: 'the roles to be aggregated',
        intervalMs: 200,
      });
    });

    /** For the whole cluster, because pools are not namespaced. */
    const can = async (user: string, verb: string, what: string): Promise<string> => {
      const [resource, subresource = ''] = what.split('/');
      const question = [verb, `${resource}.winpool.dev`, `--subresource=${subresource}`, '--all-namespaces'];
      return (await plane.kubectl(['auth', 'can-i', ...question, '--as', user])).stdout.trim();
    };
    const allowed = async (user: string, resource: string) => {
      const answers = await Promise.all(
        [...LOOKING, ...CHANGING].map(async (verb) => ((await can(user, verb, resource)) === 'yes' ? [verb] : [])),
      );
      return answers.flat();
    };

    it('view lets its users read pools, and nothing else', async () => {
      assert.deepEqual(await allowed('view', 'windowspools'), LOOKING);
      assert.deepEqual(await allowed('view', 'windowspools/status'), LOOKING);
    });

    for (const role of ['edit', 'admin']) {
      it(`${role} lets its users change and scale pools, but not write their status`, async () => {
        assert.deepEqual(await allowed(role, 'windowspools'), [...LOOKING, ...CHANGING]);
        assert.deepEqual(await allowed(role, 'windowspools/scale'), [...LOOKING, 'update', 'patch']);
        assert.deepEqual(await allowed(role, 'windowspools/status'), LOOKING);
      });
    }

    it('grant nothing on pools if they are bound in a namespace only', async () => {
      for (const role of WHO) assert.deepEqual(await allowed(`${role}-here`, 'windowspools'), []);
    });

    it('let a viewer read a pool but not change it, and let an editor scale it', async () => {
      await kubectl(['apply', '-k', join(ROOT, 'config/samples'), '--as', 'edit']);
      const { stdout } = await kubectl(['get', 'windowspool', 'web', '-o', 'name', '--as', 'view']);
      assert.equal(stdout.trim(), 'windowspool.winpool.dev/web');
      await assert.rejects(
        kubectl(['scale', 'windowspool', 'web', '--replicas=3', '--as', 'view']),
        /Forbidden|forbidden/,
      );
      await kubectl(['scale', 'windowspool', 'web', '--replicas=3', '--as', 'edit']);
      await assert.rejects(
        kubectl([
          'patch',
          'windowspool',
          'web',
          '--subresource=status',
          '--type=merge',
          '-p',
          '{"status":{}}',
          '--as',
          'edit',
        ]),
        /Forbidden|forbidden/,
      );
    });
  });
});
