/** `kubectl windowspool lint --images` with a real image registry: without credentials, with passwords, and with a server of tokens. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { LintedWorkload } from '../../cmd/kubectl-windowspool/lintResult.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { pluginBundle } from '../../hack/operatorBundle.ts';
import { assertGolden } from '../goldenText.ts';
import { RegistryServer } from './registryServer.ts';

const windows = (version: string) => ({ os: 'windows', architecture: 'amd64', 'os.version': version });
const LINUX = { os: 'linux', architecture: 'amd64' };
const [W2019, W2022] = [windows('10.0.17763.4131'), windows('10.0.20348.2762')];
/** jane has the password s3cret. */
const HTPASSWD = 'jane:$2a$04$eCe0daUV.Suy3udzYTcg1.XmwWgBBikAbyjjjYmg9XbPr6/WK2RmW\n';
const JANE = { auth: Buffer.from('jane:s3cret').toString('base64') };
const RUNTIME_CLASS = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'windows-2022' },
  handler: 'runhcs-wcow-process',
  scheduling: { nodeSelector: { 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': '10.0.20348' } },
};

describe('kubectl windowspool lint --images', function () {
  this.timeout(60_000);
  let folder: string;
  let bundle: string;
  const registries: Record<'open' | 'password' | 'token', RegistryServer | undefined> = {
    ...{ open: undefined, password: undefined, token: undefined },
  };
  let tokens: TokenServer;
  let digest: string;

  /** They have the same images. */
  before(async function () {
    this.timeout(600_000);
    folder = await mkdtemp(join(tmpdir(), 'windowspool-registry-'));
    bundle = await pluginBundle();
    registries.open = await RegistryServer.start(folder);
    await writeFile(join(folder, 'htpasswd'), HTPASSWD);
    const htpasswd = { realm: 'test', path: join(folder, 'htpasswd') };
    registries.password = await RegistryServer.start(folder, { htpasswd });
    tokens = await startTokenServer(join(folder, 'jwks.json'));
    registries.token = await RegistryServer.start(folder, { token: tokens.settings });
    digest = await registries.open.pushIndex('shop/cart', 'stable', W2019, LINUX);
    await registries.open.pushIndex('shop/web', '1-ltsc2019', W2019, W2022);
    await registries.open.pushImage('shop/db', '1', W2022);
    await registries.open.pushImage('shop/old', '1', W2019);
    await registries.open.pushImage('shop/agent', '1', LINUX);
  });
  after(async () => {
    for (const registry of Object.values(registries)) await registry?.[Symbol.asyncDispose]();
    tokens?.server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const hostOf = (name: keyof typeof registries) => registries[name]?.host ?? '';

  /** What the plugin prints about a pod for each image, for a user with these files in the home folder. */
  async function lint(
    images: readonly string[],
    { config, ...flags }: { readonly config?: object; readonly output?: string } = {},
    path: readonly string[] = [],
  ) {
    const home = await mkdtemp(join(folder, 'home-'));
    const pods = images.map((image) => ({
      kind: 'Pod',
      metadata: { name: image.replace(/.*\//, '').replace(/[:@].*/, '') },
      spec: {
        runtimeClassName: 'windows-2022',
        containers: [{ name: 'app', image, resources: { limits: { memory: '1Gi' } } }],
      },
    }));
    await writeFile(join(home, 'pods.json'), JSON.stringify({ kind: 'List', items: [RUNTIME_CLASS, ...pods] }));
    await mkdir(join(home, '.docker'));
    if (config) await writeFile(join(home, '.docker', 'config.json'), JSON.stringify(config));
    const args = [bundle, 'lint', '--images', 'pods.json', ...(flags.output ? [`--output=${flags.output}`] : [])];
    const env = { HOME: home, PATH: [...path, process.env.PATH].join(delimiter) };
    const { code, stdout, stderr } = await runCommand(process.execPath, args, { cwd: home, env, timeoutMs: 30_000 });
    const ports = new RegExp(
      Object.keys(registries)
        .map((name) => hostOf(name as 'open'))
        .join('|'),
      'g',
    );
    const short = (text: string) => text.replace(ports, '127.0.0.1:5000');
    return { code, stdout: short(stdout), stderr: short(stderr) };
  }
  /** The findings of the image shop/old, and why it could not be read. */
  async function lintOld(name: keyof typeof registries, config?: object, path?: readonly string[]): Promise<string> {
    const { stdout, stderr } = await lint(
      [`${hostOf(name)}/shop/old:1`],
      { output: 'json', ...(config && { config }) },
      path,
    );
    const [workload]: LintedWorkload[] = JSON.parse(stdout);
    return workload?.findings.map(({ rule }) => rule).join() || stderr.replace(/\s+/g, ' ').trim();
  }
  const DENIED =
    'SKIP The Windows build of 127.0.0.1:5000/shop/old:1 could not be read, so only its tag was checked: 127.0.0.1:5000 does not let you pull shop/old. Check that it exists, and log in: docker login 127.0.0.1:5000.';

  it('shows what the images are for', async () => {
    const image = (name: string) => `${hostOf('open')}/shop/${name}`;
    const images = ['cart:stable', `cart@${digest}`, 'web:1-ltsc2019', 'db:1', 'old:1', 'agent:1', 'missing:1'].map(
      image,
    );
    const { code, stdout, stderr } = await lint([...images, 'Not valid']);
    assert.equal(code, 1);
    await assertGolden('plugin/terminal-lint-images', `${stderr}\n${stdout}`);
  });

  it('logs in with a password, as docker login or a credential helper has stored it', async () => {
    assert.equal(await lintOld('password'), DENIED);
    const host = hostOf('password');
    assert.equal(await lintOld('password', { auths: { [host]: JANE } }), 'ImageForOtherBuild');
    const wrong = { auth: Buffer.from('jane:wrong').toString('base64') };
    assert.equal(await lintOld('password', { auths: { [host]: wrong } }), DENIED);
    const bin = await mkdtemp(join(folder, 'bin-'));
    const helper = join(bin, 'docker-credential-test');
    await writeFile(helper, `#!/bin/sh\n[ "$(cat)" = ${host} ] && echo '{"Username":"jane","Secret":"s3cret"}'\n`);
    await chmod(helper, 0o755);
    assert.equal(await lintOld('password', { credHelpers: { [host]: 'test' } }, [bin]), 'ImageForOtherBuild');
  });

  it('gets a token from the server that the registry names, for a user and for anyone', async () => {
    const host = hostOf('token');
    assert.equal(await lintOld('token', { auths: { [host]: JANE } }), 'ImageForOtherBuild');
    assert.equal(await lintOld('token', { auths: { [host]: { identitytoken: 's3cret' } } }), 'ImageForOtherBuild');
    assert.deepEqual(tokens.asked.splice(0), ['GET repository:shop/old:pull', 'POST repository:shop/old:pull']);
    assert.equal(await lintOld('token'), DENIED);
    tokens.allowsAnyone = true;
    assert.equal(await lintOld('token'), 'ImageForOtherBuild');
  });
});

interface TokenServer {
  readonly server: Server;
  /** The section `auth.token` in the configuration of a registry. */
  readonly settings: object;
  /** The method and the scope of each request. */
  readonly asked: string[];
  allowsAnyone: boolean;
}

/** A server of tokens: https://distribution.github.io/distribution/spec/auth/jwt/ */
async function startTokenServer(jwksFile: string): Promise<TokenServer> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'test', alg: 'ES256', use: 'sig' };
  await writeFile(jwksFile, JSON.stringify({ keys: [key] }));
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const tokenFor = (scope: string): string => {
    const [type, name, action] = scope.split(':');
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: 'issuer', sub: 'jane', aud: 'registry', nbf: now - 10, iat: now, exp: now + 60, jti: scope };
    const payload = { ...claims, access: [{ type, name, actions: [action] }] };
    const signed = `${encoded({ typ: 'JWT', alg: 'ES256', kid: 'test' })}.${encoded(payload)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const isPost = request.method === 'POST';
    const fields = isPost ? new URLSearchParams(body) : new URL(request.url ?? '/', 'http://127.0.0.1').searchParams;
    const scope = fields.get('scope') ?? '';
    result.asked.push(`${request.method} ${scope}`);
    const isKnown =
      request.headers.authorization === `Basic ${JANE.auth}` ||
      fields.get('refresh_token') === 's3cret' ||
      result.allowsAnyone;
    response.writeHead(isKnown ? 200 : 401).end(isKnown ? JSON.stringify({ token: tokenFor(scope) }) : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const realm = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const settings = { realm, service: 'registry', issuer: 'issuer', jwks: jwksFile };
  const result: TokenServer = { server, settings, asked: [], allowsAnyone: false };
  return result;
}
