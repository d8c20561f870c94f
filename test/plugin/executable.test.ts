/** The plugin as one executable file, which contains Node.js, against a real API server. The other suites of the plugin run its bundle. */
import assert from 'node:assert/strict';
import { access, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import { executableFiles, PLATFORMS, pluginFiles } from '../../hack/release/executables.ts';
import { signatureOf } from '../../hack/release/testing/machO.ts';
import manifest from '../../package.json' with { type: 'json' };
import { UP_TO_DATE } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { KubectlPlugin } from './kubectlPlugin.ts';

const HERE = PLATFORMS.find(({ os, arch: one }) => os === platform() && one === (arch() === 'x64' ? 'amd64' : arch()));
const MACOS = PLATFORMS.filter(({ os }) => os === 'darwin');
const BUILD_TIMEOUT_MS = 900_000;

describe('kubectl windowspool as one executable', () => {
  const fixture = withOperator('--resync-interval=1s');
  let folder: string;
  let plugin: KubectlPlugin;
  /** Without a folder that has Node.js. */
  let onlyKubectl: { readonly PATH: string };
  before(async function () {
    this.timeout(BUILD_TIMEOUT_MS);
    if (!HERE) throw new Error(`There is no executable for ${platform()} on ${arch()}.`);
    folder = await mkdtemp(join(tmpdir(), 'windowspool-executable-'));
    await pluginFiles(join(folder, 'files'));
    const program = await executableFiles(join(folder, 'files'), HERE, join(folder, 'here'));
    plugin = await KubectlPlugin.install(fixture.world, join(folder, 'here', program));
    const { kubectl } = await ensureBinaries(() => undefined);
    await symlink(kubectl, join(folder, 'kubectl'));
    onlyKubectl = { PATH: [folder, plugin.folder].join(':') };
    await fixture.world.apply(poolManifest('web', { nodeGroup: { scaling: { minSize: 2 } } }));
    await fixture.world.waitForConditions('web', UP_TO_DATE);
  });
  after(async () => {
    await plugin?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('needs no Node.js on PATH', async () => {
    for (const name of ['node', 'env']) await assert.rejects(access(join(dirname(join(folder, 'kubectl')), name)));
    const { code, stdout, stderr } = await plugin.run(['version', '--client'], onlyKubectl);
    assert.deepEqual([code, stdout, stderr], [0, `Client Version: ${manifest.version}\n`, '']);
    assert.match((await plugin.run(['--help'], onlyKubectl)).stdout, /^Usage:\n {2}kubectl windowspool /m);
  });

  it('shows a pool in colors in a terminal, and none elsewhere', async () => {
    const session = plugin.start(['status', 'web'], onlyKubectl);
    assert.equal(await session.ended, 0);
    assert.ok(session.raw().includes('\x1b[32mPool web is Ready\x1b[39m'), session.raw());
    const { stdout, stderr } = await plugin.run(['status', 'web', '--output=json'], onlyKubectl);
    assert.deepEqual([JSON.parse(stdout).nodes.verified, stderr], [2, '']);
  });

  it('reads files', async () => {
    const container = { name: 'a', image: 'a', securityContext: { privileged: true } };
    const spec = { nodeSelector: { 'kubernetes.io/os': 'windows' }, containers: [container] };
    const file = join(folder, 'pod.yaml');
    await writeFile(file, stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec }));
    const { code, stdout } = await plugin.run(['lint', file], onlyKubectl);
    assert.equal(code, 1);
    assert.match(stdout, /^ +FAILS +Privileged/m);
  });

  it('runs the credential plugin of a kubeconfig', async () => {
    const admin = parse(await readFile(fixture.world.controlPlane.adminKubeconfig, 'utf8'));
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: admin.users[0].user.token },
    };
    const answer = join(folder, 'credential.json');
    await writeFile(answer, JSON.stringify(credential));
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: '/bin/cat',
      args: [answer],
      interactiveMode: 'Never',
    };
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, stringify({ ...admin, users: [{ name: admin.users[0].name, user: { exec } }] }));
    const { stdout } = await plugin.run(['status', 'web', '--output=json'], { ...onlyKubectl, KUBECONFIG: kubeconfig });
    assert.equal(JSON.parse(stdout).pool, 'web');
  });

  it('trusts the certificate authorities of NODE_EXTRA_CA_CERTS', async () => {
    const admin = parse(await readFile(fixture.world.controlPlane.adminKubeconfig, 'utf8'));
    const { 'certificate-authority-data': data, ...cluster } = admin.clusters[0].cluster;
    const authority = join(folder, 'ca.pem');
    await writeFile(authority, Buffer.from(data, 'base64'));
    const kubeconfig = join(folder, 'without-authority');
    await writeFile(kubeconfig, stringify({ ...admin, clusters: [{ name: admin.clusters[0].name, cluster }] }));
    const env = { ...onlyKubectl, KUBECONFIG: kubeconfig };
    const refused = await plugin.run(['status', 'web'], env);
    assert.deepEqual([refused.code, /certificate/.test(refused.stderr)], [1, true], refused.stderr);
    const { stdout } = await plugin.run(['status', 'web', '--output=json'], { ...env, NODE_EXTRA_CA_CERTS: authority });
    assert.equal(JSON.parse(stdout).pool, 'web');
  });

  it('ignores NODE_OPTIONS, which is for another Node.js', async () => {
    const { code, stdout, stderr } = await plugin.run(['version', '--client'], {
      ...onlyKubectl,
      NODE_OPTIONS: '--require /nonexistent --unknown-option',
    });
    assert.deepEqual([code, stdout, stderr], [0, `Client Version: ${manifest.version}\n`, '']);
  });

  for (const each of MACOS)
    it(`for macOS on ${each.arch} is signed: it is not started here`, async function () {
      this.timeout(BUILD_TIMEOUT_MS);
      const program = await executableFiles(join(folder, 'files'), each, join(folder, each.arch));
      const { wrongPages, endsFile, identifier } = signatureOf(await readFile(join(folder, each.arch, program)));
      assert.deepEqual(
        { wrongPages, endsFile, identifier },
        { wrongPages: [], endsFile: true, identifier: 'kubectl-windowspool' },
      );
    });
});
