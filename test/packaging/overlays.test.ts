/** The overlays of config on a real API server with pod security, the quota for priority classes and RBAC. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments, stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { linuxNode } from '../fakes/testenv/linuxNode.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NAMESPACE = 'winpool-system';

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

  it('IRSA: the lines at the end of config/default annotate the ServiceAccount with the role', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'windowspool-irsa-'));
    try {
      for (const name of ['config', 'crds']) await cp(join(ROOT, name), join(folder, name), { recursive: true });
      const file = join(folder, 'config/default/kustomization.yaml');
      const text = await readFile(file, 'utf8');
      const taken = text.replace(/^# (components:| {2}- \.\.\/aws\/irsa)$/gm, '$1');
      assert.notEqual(taken, text);
      await writeFile(file, taken);
      const { stdout } = await kubectl(['kustomize', join(folder, 'config/default')]);
      const objects = parseAllDocuments(stdout).map((document) => document.toJS());
      assert.deepEqual(objects.find(({ kind }) => kind === 'ServiceAccount').metadata.annotations, {
        'eks.amazonaws.com/role-arn': 'arn:aws:iam::111122223333:role/windowspool-operator',
      });
    } finally {
      await rm(folder, { recursive: true });
    }
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
