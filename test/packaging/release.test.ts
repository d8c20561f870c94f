/** The files of a release that other programs read, checked by these programs. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { runCommand, runOrThrow } from '../../hack/controlplane/command.ts';
import { writeChart } from '../../hack/release/chart.ts';
import { cloudFormationTemplate } from '../../hack/release/cloudFormation.ts';
import { writeManifests } from '../../hack/release/manifests.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 60_000;
const INSTALL_TIMEOUT_MS = 240_000;
const log = (line: string): void => console.log(`    ${line}`);

describe('the files of a release', function () {
  this.timeout(300_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-release-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** A new folder in that of the suite. */
  const emptyFolder = async (name: string): Promise<string> => {
    await mkdir(join(folder, name));
    return join(folder, name);
  };

  describe('the chart', () => {
    const repository = 'registry.example/windowspool-operator';
    const changes = [{ kind: 'added', description: 'A command: it shows "everything".' }] as const;
    const release = { version: manifest.version, repository, changes };
    const chart = `windowspool-operator-${manifest.version}.tgz`;
    let helm: string;
    before(async () => {
      helm = await toolPath('helm', log);
      for (const name of ['chart', 'again'])
        await writeChart(await emptyFolder(name), await emptyFolder(`${name}-work`), release, log);
    });

    it('is the same archive when it is built again', async () => {
      assert.ok((await readFile(join(folder, 'chart', chart))).equals(await readFile(join(folder, 'again', chart))));
    });

    it('installs the image of the release if no other is given', async () => {
      const values = ['--set', 'clusterName=a', '--set', 'region=eu-west-1'];
      const text = await runOrThrow(helm, ['template', 'a', join(folder, 'chart', chart), ...values], TIMEOUT_MS);
      const objects = parseAllDocuments(text).map((document) => document.toJS());
      const deployment = objects.find(({ kind }) => kind === 'Deployment');
      assert.equal(deployment.spec.template.spec.containers[0].image, `${repository}:${manifest.version}`);
    });

    it('has annotations in YAML that Artifact Hub reads', async () => {
      const text = await runOrThrow(helm, ['show', 'chart', join(folder, 'chart', chart)], TIMEOUT_MS);
      const { annotations } = parse(text);
      const read = (name: string) => parse(annotations[`artifacthub.io/${name}`]);
      assert.deepEqual(read('changes'), changes);
      assert.deepEqual(read('images'), [{ name: 'operator', image: `${repository}:${manifest.version}` }]);
      assert.deepEqual(
        [read('crds')[0].name, read('crdsExamples')[0].kind],
        ['windowspools.winpool.dev', 'WindowsPool'],
      );
      assert.deepEqual([read('prerelease'), read('license')], [false, 'Apache-2.0']);
    });
  });

  it('the manifests have the objects of config, and the image of the release', async () => {
    const image = `registry.example/windowspool-operator:${manifest.version}`;
    const manifests = await emptyFolder('manifests');
    await writeManifests(manifests, await emptyFolder('manifests-work'), image, log);
    const kinds = (name: string): string[] =>
      parseAllDocuments(readFileSync(join(manifests, name), 'utf8')).map((document) => document.toJS().kind);
    assert.deepEqual(kinds('crds.yaml'), ['CustomResourceDefinition']);
    assert.deepEqual([...new Set(kinds('dashboards.yaml'))], ['ConfigMap']);
    for (const [name, budgets] of [
      ['install.yaml', 0],
      ['install-ha.yaml', 1],
    ] as const) {
      assert.equal(kinds(name).filter((kind) => kind === 'PodDisruptionBudget').length, budgets);
      assert.ok(readFileSync(join(manifests, name), 'utf8').includes(`image: ${image}\n`));
    }
    const deny = readFileSync(join(manifests, 'policies-deny.yaml'), 'utf8');
    assert.deepEqual(
      [deny.includes('- Deny'), kinds('policies.yaml').length],
      [true, kinds('policies-deny.yaml').length],
    );
  });

  it('cfn-lint accepts the CloudFormation template, and finds a field that IAM does not have', async () => {
    const lint = async (text: string) => {
      const file = join(folder, 'template.json');
      await writeFile(file, text);
      return runCommand(await cfnLint(), [file], { timeoutMs: TIMEOUT_MS });
    };
    const template = await cloudFormationTemplate();
    assert.deepEqual(await lint(template), { code: 0, stdout: '', stderr: '' });
    const { code, stdout } = await lint(template.replace('"Effect"', '"Efect"'));
    assert.notEqual(code, 0);
    assert.match(stdout, /'Efect' was unexpected/);
    // Every placeholder of the policies is a parameter.
    assert.doesNotMatch(template, /PARTITION|ACCOUNT_ID|[A-Z]+_NAME|OIDC_PROVIDER/);
  });

  it('the Terraform module is formatted, and reads policies that exist', async () => {
    const module = join(ROOT, 'config/aws/terraform');
    const text = await readFile(join(module, 'main.tf'), 'utf8');
    const hclfmt = await toolPath('hclfmt', log);
    for (const file of globSync('*.tf', { cwd: module }))
      assert.equal(
        await runOrThrow(hclfmt, [join(module, file)], TIMEOUT_MS),
        await readFile(join(module, file), 'utf8'),
      );
    const named = [...(await readFile(join(module, 'variables.tf'), 'utf8')).matchAll(/"([a-z]+(?:-[a-z]+)+)"/g)];
    const policies = new Set([
      ...named.map(([, name]) => name),
      'iam-policy',
      'trust-policy-irsa',
      'trust-policy-pod-identity',
    ]);
    policies.delete('windowspool-operator');
    assert.deepEqual(
      [...policies].sort(),
      globSync('*.json', { cwd: join(ROOT, 'config/aws') })
        .map((name) => name.replace('.json', ''))
        .sort(),
    );
    // Every placeholder of the policies has a value.
    const placeholders = new Set(
      globSync(join(ROOT, 'config/aws/*.json')).flatMap(
        (file) =>
          readFileSync(file, 'utf8')
            .match(/\b[A-Z]+(?:_[A-Z]+)*(?=[":/])/g)
            ?.filter((word) => !/^(?:EC|IPAM)$/.test(word)) ?? [],
      ),
    );
    for (const placeholder of placeholders) assert.match(text, new RegExp(`^ +${placeholder} += `, 'm'));
  });

  it('actionlint accepts the workflow, whose actions are pinned by commits', async () => {
    const workflows = globSync(join(ROOT, '.github/workflows/*.yaml'));
    assert.ok(workflows.length > 0);
    // Without shellcheck, which not every machine has.
    const args = ['-shellcheck=', '-pyflakes=', '-no-color', ...workflows];
    const { code, stdout, stderr } = await runCommand(await toolPath('actionlint', log), args, {
      timeoutMs: TIMEOUT_MS,
    });
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' });
    for (const file of workflows)
      for (const [, action] of readFileSync(file, 'utf8').matchAll(/uses: (.*)/g))
        assert.match(action ?? '', /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });
});

/** cfn-lint, which is installed once from PyPI in the versions of hack/release/cfn-lint.txt. */
async function cfnLint(): Promise<string> {
  const pins = join(ROOT, 'hack/release/cfn-lint.txt');
  const folder = join(ROOT, 'build/cfn-lint');
  // Written when the installation is complete.
  const complete = join(folder, 'pins.txt');
  const isCurrent = existsSync(complete) && readFileSync(complete, 'utf8') === readFileSync(pins, 'utf8');
  if (!isCurrent) {
    await rm(folder, { recursive: true, force: true });
    await runOrThrow('python3', ['-m', 'venv', folder], INSTALL_TIMEOUT_MS).catch((error: Error) => {
      throw new Error(`cfn-lint needs Python 3.10 or newer with venv (python3-venv in Debian): ${error.message}`);
    });
    const pip = ['install', '--quiet', '--disable-pip-version-check', '--no-deps', '--requirement', pins];
    await runOrThrow(join(folder, 'bin/pip'), pip, INSTALL_TIMEOUT_MS);
    await copyFile(pins, complete);
  }
  return join(folder, 'bin/cfn-lint');
}
