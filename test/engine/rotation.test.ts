/** The operator's token and the API server's authority change while it runs. In an environment of its own, whose other parts trust only the first authority. */
import assert from 'node:assert/strict';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodCredentials } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { hasConditions, READY, startTestEnv, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';

/** Without leader election: a leader exits when the API server takes longer to start than the lease may be unreachable. */
const FLAGS = [
  '--poll-interval=200ms',
  '--retry-base=50ms',
  '--retry-max=1s',
  '--log-level=debug',
  '--leader-elect=false',
];
const SERVING = ['apiserver.crt', 'apiserver.key'];

describe('an operator whose credentials rotate', function () {
  this.timeout(120_000);
  let world: TestEnv;
  let operator: OperatorProcess;
  let pod: PodCredentials;
  /** The certificate that the API server uses, and those that it will use later. */
  let first: Serving;
  let second: Serving;

  before(async () => {
    world = await startTestEnv({ speed: 4 });
    first = await servingOf(world);
    await serveWith(world, undefined);
    second = await servingOf(world);
    await serveWith(world, first);
  });
  after(async () => world?.stop());

  /** Like the kubelet, replaces the file atomically. */
  async function mount(file: 'token' | 'ca.crt', content: string): Promise<void> {
    const path = join(pod.dir, file);
    await writeFile(`${path}.new`, content, { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  /** A token of the operator's ServiceAccount that is revoked when the Secret with this name is deleted. */
  async function boundToken(secret: string): Promise<string> {
    await world.kubectl('create', 'secret', 'generic', secret, '-n', 'winpool-system');
    const bound = ['--bound-object-kind=Secret', `--bound-object-name=${secret}`];
    return (await world.kubectl('create', 'token', 'windowspool-operator', '-n', 'winpool-system', ...bound)).trim();
  }

  /** Waits until the API server rejects the token; it caches valid ones for some seconds. */
  async function refused(token: string): Promise<void> {
    const kubeconfig = await world.controlPlane.kubeconfigForToken('revoked', token);
    const probe = async () => {
      const { stderr } = await world.controlPlane.kubectl(['get', 'nodes'], { kubeconfig });
      return /Unauthorized|must be logged in/.test(stderr);
    };
    await waitFor(probe, { what: 'the old token to be rejected', timeoutMs: 40_000, intervalMs: 500 });
  }

  /** Asserts that the operator reconciles a change of a pool: it reads, calls AWS and writes the status. */
  async function assertWorks(tier: string): Promise<void> {
    await world.apply(poolManifest('steady', { labels: { tier } }));
    await world.waitForPool(
      'steady',
      `to have its group labelled ${tier}`,
      (pool) => {
        const labels = world.cloud.state.groups.get('steady')?.nodegroup.labels;
        return labels?.tier === tier && hasConditions(pool, READY);
      },
      60_000,
    );
    assert.ok(operator.running, operator.tail());
    assert.deepEqual(operator.otherLines, []);
    assert.equal((await operator.get('/readyz')).status, 200);
  }

  async function refusals(): Promise<string[]> {
    const { body } = await operator.get('/metrics');
    return body.split('\n').filter((line) => /^rest_client_requests_total\{.*code="401"/.test(line));
  }

  it('continues with the new token when the old one is revoked', async () => {
    pod = await world.podCredentials();
    const old = await boundToken('first');
    await mount('token', old);
    operator = await world.operator(FLAGS, { credentials: pod }).ready();
    await assertWorks('first');
    await mount('token', await boundToken('second'));
    await world.kubectl('delete', 'secret', 'first', '-n', 'winpool-system');
    await refused(old);
    await assertWorks('second');
    assert.deepEqual(await refusals(), []);
  });

  it('continues when a second authority is added to its bundle, the API server switches to it, and the first one is removed', async () => {
    assert.notEqual(first.ca, second.ca);
    await mount('ca.crt', first.ca + second.ca);
    const hasReconnected = () => operator.lines.some(({ msg }) => msg.endsWith('changed; reconnecting'));
    await waitFor(hasReconnected, { what: 'new connections', explain: () => operator.tail() });
    await assertWorks('third');

    await serveWith(world, second);
    await assertWorks('fourth');
    await mount('ca.crt', second.ca);
    await assertWorks('fifth');
    const tlsErrors = operator.lines.filter(({ error }) => /certificate|self.signed/i.test(String(error)));
    assert.deepEqual(tlsErrors, [], 'no certificate was ever doubted');
    assert.equal(await operator.stop(), 0);
  });
});

/** The files of `--cert-dir`, and the authority that signed them. */
interface Serving {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly ca: string;
}

async function servingOf({ controlPlane }: TestEnv): Promise<Serving> {
  const pki = join(controlPlane.dir, 'pki');
  const read = SERVING.map(async (file) => [join(pki, file), await readFile(join(pki, file))] as const);
  return { files: new Map(await Promise.all(read)), ca: Buffer.from(controlPlane.caData, 'base64').toString() };
}

/** Restarts the API server with this certificate; without one it creates its own certificate and authority. */
async function serveWith(world: TestEnv, serving: Serving | undefined): Promise<void> {
  const { controlPlane } = world;
  await controlPlane.stopApiServer();
  for (const path of (await servingOf(world)).files.keys()) await rm(path);
  for (const [path, content] of serving?.files ?? []) await writeFile(path, content, { mode: 0o600 });
  await controlPlane.startApiServer();
  if (serving) assert.equal(Buffer.from(controlPlane.caData, 'base64').toString(), serving.ca);
  // For kubectl, which trusts the authority in this file.
  await controlPlane.kubeconfigForUser('admin');
}
