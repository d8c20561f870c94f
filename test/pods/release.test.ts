/**
 * A release from a registry: the signed image and the chart are pushed, verified, installed with one command, and uninstalled. RELEASE is the folder of a release
 * that was built (`make release-check`); without it, the image and the chart are built here.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../hack/controlplane/command.ts';
import { buildImage } from '../../hack/image/buildImage.ts';
import { KeySigner, pushImage } from '../../hack/image/publish.ts';
import { writeChart } from '../../hack/release/chart.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import manifest from '../../package.json' with { type: 'json' };
import { IMAGE, NAMESPACE } from '../fakes/testenv/operatorPods.ts';
import { localAws } from '../fakes/testenv/operatorProcess.ts';
import { CLUSTER_NAME, REGION, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { RegistryServer } from '../plugin/registryServer.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HELM_TIMEOUT_MS = 180_000;
/** The kinds of objects that an installation creates outside its namespaces. */
const KINDS =
  'crds,clusterroles,clusterrolebindings,namespaces,priorityclasses,runtimeclasses,validatingadmissionpolicies,validatingadmissionpolicybindings';
const log = (line: string) => console.log(`    ${line}`);

describe('a release from a registry', function () {
  this.timeout(600_000);
  let world: TestEnv;
  let folder: string;
  let registry: RegistryServer;
  let signer: KeySigner;
  let helmPath: string;
  let image: { readonly repository: string; readonly digest: string };
  let objectsBefore: readonly string[];

  before(async () => {
    world = await theWorld();
    folder = await mkdtemp(join(tmpdir(), 'release-'));
    helmPath = await toolPath('helm', log);
    registry = await RegistryServer.start(folder);
    await mkdir(join(folder, 'key'));
    signer = await KeySigner.create(await toolPath('cosign', log), join(folder, 'key'), { plainHttp: true });
    // What the environment has of the operator would not be that of the chart.
    await world.kubectl('delete', '-k', join(ROOT, 'config/default'), '--ignore-not-found', '--timeout=60s');
    objectsBefore = await objects();
  });
  after(async () => {
    await registry?.[Symbol.asyncDispose]();
    if (folder) await rm(folder, { recursive: true });
    if (!world) return;
    await world.kubectl('apply', '-f', join(ROOT, 'crds/windowspools.yaml'));
    await world.install();
  });

  async function objects(): Promise<string[]> {
    return (await world.kubectl('get', KINDS, '-o', 'name')).trim().split('\n').sort();
  }
  /** Runs Helm, and returns its output. */
  async function helm(...args: readonly string[]): Promise<string> {
    const env = { PATH: process.env.PATH, HOME: folder, KUBECONFIG: world.controlPlane.adminKubeconfig };
    const { code, stdout, stderr } = await runCommand(helmPath, args, { env, timeoutMs: HELM_TIMEOUT_MS });
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr.trim()}\n${await diagnosis()}`);
    return `${stdout}${stderr}`;
  }
  const diagnosis = () => world.kubectl('describe', 'pods', '--namespace', NAMESPACE).catch(() => '');

  /** The image of this machine and the chart, with the names that they have in a release. Returns their folder. */
  async function build(): Promise<string> {
    const [chart, work] = ['chart', 'chart-work'].map((name) => join(folder, name)) as [string, string];
    for (const name of [chart, work]) await mkdir(name);
    await writeChart(chart, work, { version: manifest.version, repository: IMAGE, changes: [] }, log);
    const { archive } = await buildImage({ folder: join(folder, 'image'), architectures: ['amd64'] });
    await rename(archive, join(chart, `windowspool-operator-${manifest.version}.image.tar`));
    return chart;
  }

  it('has the image and the chart, which are signed', async () => {
    const repository = `${registry.host}/winpool/windowspool-operator`;
    const release = process.env.RELEASE ?? (await build());
    const file = (name: string) => join(release, `windowspool-operator-${manifest.version}${name}`);
    const digest = await pushImage(file('.image.tar'), `${repository}:${manifest.version}`, { plainHttp: true });
    image = { repository, digest };
    const pushed = await helm('push', file('.tgz'), `oci://${registry.host}/charts`, '--plain-http');
    const chartDigest = /^Digest: (sha256:\w+)$/m.exec(pushed)?.[1];
    for (const name of [`${repository}@${digest}`, `${registry.host}/charts/windowspool-operator@${chartDigest}`]) {
      await signer.sign(name);
      await signer.verify(name);
    }
  });

  it('is installed with one command, and makes the first pool Ready', async () => {
    const started = performance.now();
    const env = Object.entries(localAws(world.cloud.url)).flatMap(([name, value], index) => [
      `extraEnv[${index}].name=${name}`,
      `extraEnv[${index}].value=${value}`,
    ]);
    const values = [
      `clusterName=${CLUSTER_NAME}`,
      `region=${REGION}`,
      `image.repository=${image.repository}`,
      `image.digest=${image.digest}`,
      ...env,
    ];
    await helm(
      ...['install', 'windowspool-operator', `oci://${registry.host}/charts/windowspool-operator`, '--plain-http'],
      ...['--version', manifest.version, '--namespace', NAMESPACE, '--create-namespace', '--wait', '--timeout=90s'],
      ...values.flatMap((value) => ['--set', value]),
    );
    log(`The operator was Ready ${seconds(started)} after helm install.`);
    const [pod] = await world.list<{ spec: { containers: { image: string }[] } }>('pods', '--namespace', NAMESPACE);
    assert.equal(pod?.spec.containers[0]?.image, `${image.repository}@${image.digest}`);
    await world.apply(poolManifest('first'));
    await world.waitForReady('first');
    log(`The first pool was Ready ${seconds(started)} after helm install.`);
  });

  it('leaves nothing when it is uninstalled as docs/how-to/uninstall.md describes', async () => {
    await world.kubectl('delete', 'windowspool', 'first', '--timeout=60s');
    await helm('uninstall', 'windowspool-operator', '--namespace', NAMESPACE, '--wait');
    await world.kubectl('delete', 'crd', 'windowspools.winpool.dev', '--timeout=60s');
    await world.kubectl('delete', 'namespace', NAMESPACE, 'winpool-node-pods', '--timeout=60s');
    assert.deepEqual(await objects(), objectsBefore);
    assert.equal(world.cloud.state.groups.size, 0);
  });
});

const seconds = (started: number) => `${((performance.now() - started) / 1000).toFixed(1)} s`;
