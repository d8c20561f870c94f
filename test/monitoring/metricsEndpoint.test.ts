/** /metrics over TLS, for users that the API server authorizes. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type KeyPair, selfSigned } from '../../cmd/operator/serving/selfSigned.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { blocksOf } from '../docs/markdown.ts';
import { Cable } from '../engine/detour.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { withoutPermission } from '../lessPermissions.ts';
import { assertNames } from '../messages.ts';
import { theWorld } from '../sharedWorld.ts';
import { scrape } from './scraper.ts';

const PAGE = fileURLToPath(new URL('../../docs/how-to/monitoring.md', import.meta.url));
const SECURE = ['--metrics-secure=true', '--leader-elect=false'];

describe('the metrics endpoint', function () {
  this.timeout(120_000);
  let world: TestEnv;
  let operator: OperatorProcess;

  before(async function () {
    this.timeout(600_000);
    world = await theWorld();
    await world.kubectl('create', 'namespace', 'monitoring');
    for (const name of ['prometheus', 'stranger'])
      await world.kubectl('create', 'serviceaccount', name, '--namespace', 'monitoring');
    operator = await world.operator(SECURE).ready();
  });
  after(async () => {
    await operator?.stop();
    await world?.kubectl('delete', 'namespace', 'monitoring');
    await world?.kubectl('delete', 'clusterrolebinding', 'prometheus-winpool-metrics', '--ignore-not-found');
  });

  /** A token of a ServiceAccount in the namespace monitoring. */
  const tokenOf = async (name: string, ...flags: string[]) =>
    (await world.kubectl('create', 'token', name, '--namespace', 'monitoring', ...flags)).trim();

  it('is open to users with the permission that the documented command grants', async () => {
    const [command] = blocksOf(await readFile(PAGE, 'utf8')).filter(({ info }) => info === 'sh');
    const words = (command?.text ?? '').replaceAll('\\\n', ' ').trim().split(/\s+/);
    assert.equal(words.shift(), 'kubectl');
    await world.kubectl(...words);
    const token = await tokenOf('prometheus');
    // The API server applies the binding with a delay.
    const answered = async () => {
      const answer = await scrape(operator, { token });
      return answer.status === 200 && answer;
    };
    const { body, headers } = await waitFor(answered, { what: 'an answer with 200' });
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.match(body, /^windowspool_build_info\{version="\d+\.\d+\.\d+",node_version="v\d+\.\d+\.\d+"\} 1$/m);
  });

  it('sends one review to the API server for consecutive scrapes', async () => {
    const token = await tokenOf('prometheus');
    const questions = async () => {
      const { body } = await scrape(operator, { token });
      const counted = [...body.matchAll(/^rest_client_requests_total\{code="201",method="POST",.*\} (\d+)$/gm)];
      return counted.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const first = await questions();
    assert.deepEqual([await questions(), await questions()], [first, first]);
  });

  it('responds with 401 without a token that the API server accepts', async () => {
    const secret = 'bound';
    await world.kubectl('create', 'secret', 'generic', secret, '--namespace', 'monitoring');
    const revoked = await tokenOf('prometheus', '--bound-object-kind=Secret', `--bound-object-name=${secret}`);
    await world.kubectl('delete', 'secret', secret, '--namespace', 'monitoring');
    const [header, payload, signature] = (await tokenOf('prometheus')).split('.');
    const forged = [header, payload, (signature ?? '').split('').reverse().join('')].join('.');
    const refused = [
      {},
      { authorization: 'Bearer' },
      { authorization: 'Basic cHJvbTpzZWNyZXQ=' },
      { token: 'no-such-token' },
      { token: forged },
      { token: revoked },
    ];
    for (const options of refused) {
      const { status, body, headers } = await scrape(operator, options);
      assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer'], JSON.stringify(options));
      assert.match(body, /Send /);
      assert.doesNotMatch(body, /windowspool_/);
    }
  });

  it('responds with 403 to other users, and names the ClusterRole', async () => {
    const { status, body } = await scrape(operator, { token: await tokenOf('stranger') });
    assert.equal(status, 403);
    assertNames(
      body,
      'User system:serviceaccount:monitoring:stranger',
      '/metrics',
      'ClusterRole windowspool-operator-metrics-reader',
    );
    // The ClusterRole grants get, and nothing else.
    const token = await tokenOf('prometheus');
    assert.equal((await scrape(operator, { token, method: 'HEAD' })).status, 403);
    assert.equal((await scrape(operator, { token, method: 'POST' })).status, 405);
  });

  it('responds with 503 and the cause when the operator lacks the permission to send reviews', async () => {
    await withoutPermission(world, 'tokenreviews', undefined, async () => {
      const text = await waitFor(
        async () => {
          const { status, body } = await scrape(operator, { token: await tokenOf('prometheus') });
          return status === 503 ? body : undefined;
        },
        { what: 'the permission to be revoked', timeoutMs: 20_000, intervalMs: 200 },
      );
      assert.match(text, /cannot create resource "tokenreviews"/);
      const isLogged = () => operator.lines.some(({ msg }) => /could not be authorized/.test(msg));
      await waitFor(isLogged, { what: 'the log line', timeoutMs: 10_000, explain: () => operator.tail() });
    });
    const open = async () => (await scrape(operator, { token: await tokenOf('prometheus') })).status === 200;
    await waitFor(open, { what: 'the permission to be restored', timeoutMs: 20_000, intervalMs: 200 });
  });

  it('responds with 503 in time when the API server is silent or down, and still serves cached users', async () => {
    await using cable = await Cable.start(world.controlPlane, world.operatorKubeconfig);
    const behind = await world.operator(SECURE, { credentials: cable.kubeconfig }).ready();
    try {
      const [known, other, third] = [
        await tokenOf('prometheus'),
        await tokenOf('stranger'),
        await tokenOf('prometheus'),
      ];
      assert.equal((await scrape(behind, { token: known })).status, 200);
      cable.cut();
      const began = performance.now();
      const timedOut = await scrape(behind, { token: other });
      assert.deepEqual(
        [timedOut.status, /^The token could not be reviewed: .*(Timeout|time|aborted)/i.test(timedOut.body)],
        [503, true],
        timedOut.body,
      );
      assert.ok(performance.now() - began < 10_000, 'sooner than Prometheus gives up');
      await cable[Symbol.asyncDispose]();
      const gone = await scrape(behind, { token: third });
      assert.deepEqual(
        [gone.status, /^The token could not be reviewed: .*ECONN/.test(gone.body)],
        [503, true],
        gone.body,
      );
      assert.equal((await scrape(behind, { token: known })).status, 200);
    } finally {
      await behind.kill();
    }
  });

  it('has a self-signed certificate by default, a new one at each start', async () => {
    const { certificate } = await scrape(operator);
    assert.notEqual(certificate, '');
    await assert.rejects(scrape(operator, { ca: selfSigned(['localhost'], Date.now()).cert }), /certificate/);
  });

  describe('with a mounted certificate', () => {
    const pairs = ['localhost', 'second', 'third'].map((name) => selfSigned([name, 'localhost'], Date.now()));
    const [first, second, third] = pairs as [KeyPair, KeyPair, KeyPair];
    let dir: string;
    let mounted: OperatorProcess;
    let version = 0;

    before(async () => {
      dir = await mkdtemp(join(tmpdir(), 'metrics-cert-'));
      await mount(first);
      for (const file of ['tls.crt', 'tls.key']) await symlink(join('..data', file), join(dir, file));
      mounted = await world.operator([...SECURE, `--metrics-cert-dir=${dir}`]).ready();
    });
    after(async () => {
      await mounted?.stop();
      await rm(dir, { recursive: true, force: true });
    });

    /** Like the kubelet, swaps the link to all files. */
    async function mount({ cert, key }: KeyPair): Promise<void> {
      const name = `..${++version}`;
      await mkdir(join(dir, name));
      await writeFile(join(dir, name, 'tls.crt'), cert);
      await writeFile(join(dir, name, 'tls.key'), key);
      await symlink(name, join(dir, '..data_tmp'));
      await rename(join(dir, '..data_tmp'), join(dir, '..data'));
    }

    const waitForCertificate = (name: string, ca: string) =>
      waitFor(async () => (await scrape(mounted, { ca }).catch(() => undefined))?.certificate === name, {
        what: `the certificate ${name}`,
        timeoutMs: 10_000,
        intervalMs: 50,
        explain: () => mounted.tail(),
      });
    const series = async (name: string) => {
      const { body } = await scrape(mounted, { token: await tokenOf('prometheus') });
      return Number(new RegExp(`^${name} (.*)$`, 'm').exec(body)?.[1]);
    };

    it('presents it to a client that verifies it, and reloads it when the Secret changes', async () => {
      await waitForCertificate('localhost', first.cert);
      await mount(second);
      await waitForCertificate('second', second.cert);
      assert.ok((await series('windowspool_metrics_certificate_expiration_timestamp_seconds')) > Date.now() / 1_000);
    });

    it('keeps serving the old one when the next one is invalid, and logs the file', async () => {
      await mount({ cert: third.cert, key: second.key });
      const errorLine = () => mounted.lines.find(({ error }) => /tls\.key is not the key of/.test(String(error)));
      await waitFor(() => errorLine() !== undefined, {
        what: 'the error in the log',
        timeoutMs: 10_000,
        explain: () => mounted.tail(),
      });
      await waitForCertificate('second', second.cert);
      // Each attempt counts, and one change of the files can cause several.
      assert.ok((await series('certwatcher_read_certificate_errors_total')) >= 1);
      await mount(third);
      await waitForCertificate('third', third.cert);
    });

    it('does not start with an invalid one, and logs the remedy', async () => {
      const empty = await mkdtemp(join(tmpdir(), 'metrics-cert-'));
      const failing = world.operator([...SECURE, `--metrics-cert-dir=${empty}`]);
      await waitFor(() => !failing.running, { what: 'the operator to exit' });
      await rm(empty, { recursive: true });
      assert.match(failing.tail(), /tls\.crt does not exist\..* --metrics-cert-dir\./);
    });
  });
});
