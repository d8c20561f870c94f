import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chosenSeries } from '../../hack/controlplane/binaries.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import manifest from '../../package.json' with { type: 'json' };
import { type Block, blocksOf } from './markdown.ts';
import { pages, read } from './pages.ts';
import { Walkthrough } from './walkthrough.ts';

/** What must be true after a block, and is not implied by the success of the block. */
interface Check {
  readonly after: string;
  readonly what: string;
  readonly check: (reader: Walkthrough) => Promise<void>;
}

/** The command that changes the base of the overlay. */
const HA = '/config/ha|"';

const checks: readonly Check[] = [
  {
    after: 'config/aws/*.json',
    what: 'the policies are JSON without placeholders',
    check: async (reader) => {
      for (const name of [
        'iam-policy',
        'launch-templates',
        'own-launch-templates',
        'custom-amis',
        'trust-policy-pod-identity',
        'trust-policy-irsa',
      ]) {
        const text = await readFile(join(reader.folder, `build/${name}.json`), 'utf8');
        assert.doesNotMatch(text, /PARTITION|REGION|ACCOUNT_ID|CLUSTER_NAME|CLUSTER_ROLE_NAME|NODE_ROLE_NAME/);
        assert.ok(JSON.parse(text).Statement.length > 0);
      }
      // The name of the add-on's role is replaced where the policy is used.
      const optional = (await readFile(join(reader.folder, 'build/windows-ipam.json'), 'utf8')).replace(
        'VPC_CNI_ROLE_NAME',
        'the-role',
      );
      assert.doesNotMatch(optional, /PARTITION|REGION|ACCOUNT_ID|CLUSTER_NAME|ROLE_NAME/);
    },
  },
  {
    after: '> ../windowspool-overlay/kustomization.yaml',
    what: 'the Deployment has the values, and pod security admits its pod',
    check: async (reader) => {
      const pods = 'kubectl -n winpool-system get pods --selector app.kubernetes.io/name=windowspool-operator';
      await waitFor(async () => (await reader.run(`${pods} --output name`)).split('\n').length === 2, {
        what: 'the pod of the operator to be made',
        intervalMs: 200,
      });
      const events = await reader.run('kubectl -n winpool-system get events --output jsonpath="{.items[*].reason}"');
      assert.doesNotMatch(events, /FailedCreate/);
      const [pod] = JSON.parse(await reader.run(`${pods} --output json`)).items;
      const [container] = pod.spec.containers;
      const image = `111122223333.dkr.ecr.eu-west-1.amazonaws.com/windowspool-operator:${manifest.version}`;
      assert.equal(container.image, image);
      const name = container.env[0].valueFrom.configMapKeyRef.name;
      const map = await reader.run(`kubectl -n winpool-system get configmap ${name} --output json`);
      assert.deepEqual(JSON.parse(map).data, { clusterName: 'my-cluster', region: 'eu-west-1' });
      const role = 'kubectl -n kube-system get role windowspool-operator-leader-election --output json';
      assert.deepEqual(JSON.parse(await reader.run(role)).rules[1].resourceNames, ['windowspool-operator']);
      await reader.run('kubectl apply -k ../windowspool-overlay --dry-run=server --validate=strict');
      await reader.run('kubectl apply -k config/samples --dry-run=server --validate=strict');
    },
  },
  {
    after: HA,
    what: 'two replicas run, also if the overlay has the URL of the repository',
    check: async (reader) => {
      const replicas = async (folder: string) =>
        (await reader.run(`kubectl kustomize ${folder}`)).match(/^ {2}replicas: \d+$/gm);
      assert.deepEqual(await replicas('../windowspool-overlay'), ['  replicas: 2']);
      const script = blocksOf(read('docs/how-to/install.md')).find(({ text }) => text.includes(HA))?.text ?? '';
      const [replace = ''] = script.split('\n');
      const url = `https://github.com/windowspool-operator/windowspool-operator//config/default?ref=v${manifest.version}`;
      await reader.run(`mkdir ../url-overlay
        sed 's|\\.\\./windowspool-operator/config/.*|${url}|' ../windowspool-overlay/kustomization.yaml > ../url-overlay/kustomization.yaml
        ${replace.replace('windowspool-overlay', 'url-overlay')}`);
      assert.deepEqual(await replicas('../url-overlay'), ['  replicas: 2']);
    },
  },
  { after: 'make undeploy', what: 'nothing remains', check: assertNothingRemains },
  {
    after: 'make undeploy',
    what: 'the operator can be installed again',
    check: async (reader) => void (await reader.run('kubectl apply -k ../windowspool-overlay')),
  },
  { after: 'kubectl delete -k ../windowspool-overlay', what: 'nothing remains', check: assertNothingRemains },
];

async function assertNothingRemains(reader: Walkthrough): Promise<void> {
  const kinds = 'crds,clusterroles,clusterrolebindings,namespaces,runtimeclasses';
  const left = (await reader.run(`kubectl get ${kinds} --output name`)).split('\n');
  assert.deepEqual(
    left.filter((name) => /windowspool|namespace\/winpool-|runtimeclass/.test(name)),
    [],
  );
}

/** They run at another time, or not at all because they would run this test. */
const ELSEWHERE = [
  'make test',
  'make test-all',
  'make down',
  'make image',
  'make e2e',
  'E2E_READ_ONLY=1 make e2e',
  'E2E_MACHINE=1 make e2e',
];
/** Of blocks that need an API of this Kubernetes version. On an earlier one, they fail as the page says. */
const NEWEST = `sh kubernetes-${chosenSeries('')}`;
const WITH_AWS = ['aws', 'eksctl', 'helm', 'kubectl', 'node', 'skopeo'];

/** The page that starts the cluster, the one that creates what the others use, and the one that deletes it. */
const FIRST_OR_LAST = ['docs/tutorials/demo.md', 'docs/tutorials/first-pool.md', 'docs/how-to/uninstall.md'] as const;

/** Pages for contributors with commands for an AWS account. */
const OUTSIDE_DOCS = ['hack/e2e/README.md'];

describe('README, docs and CONTRIBUTING, followed from top to bottom', function () {
  this.timeout(660_000);
  let reader: Walkthrough;
  before(async () => {
    reader = await Walkthrough.start();
  });
  after(async () => {
    await reader?.run('make down').catch(() => undefined);
    await reader?.end();
  });

  const shell = (page: string) =>
    blocksOf(read(page))
      .filter(({ info }) => info.startsWith('sh'))
      .map((block) => ({ ...block, page }));
  const others = pages.filter(
    (page) => (page.startsWith('docs/') || OUTSIDE_DOCS.includes(page)) && !FIRST_OR_LAST.some((each) => each === page),
  );
  const [start, first, last] = FIRST_OR_LAST;
  const isCleanUp = ({ section }: Block) => section.endsWith('Clean up');
  const blocks = [start, 'README.md', first, ...others, 'CONTRIBUTING.md'].flatMap(shell);
  const cleanUp = blocks.filter(isCleanUp);
  const seen = new Set<string>();
  for (const block of [...blocks.filter((each) => !isCleanUp(each)), ...cleanUp, ...shell(last)]) {
    // Two pages may contain the same block.
    const key = `${block.info}\n${block.text}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const script = linesToRun(block);
    if (script === '') continue;
    it(`${block.page}:${block.line} ${script.split('\n')[0]}`, () => follow(reader, block, script).catch(withState));
    for (const { after: words, what, check } of checks) if (script.includes(words)) it(what, () => check(reader));
  }

  /** Adds the output that a user would check. The error comes last, because only the end of a long log is kept. */
  async function withState(error: Error): Promise<never> {
    const diagnose = 'kubectl get wp --output yaml 2>&1; tail -n 20 build/up/log 2>&1';
    throw new Error(`${await reader.run(diagnose).catch(String)}\n${error.message}`);
  }

  it('make down stops what make up started', async () => {
    assert.match(await reader.run('make down'), /Stopped\./);
    assert.match(await reader.run('make down'), /Nothing runs\./);
  });
});

function linesToRun({ text }: Block): string {
  return text
    .split('\n')
    .filter((line) => !ELSEWHERE.includes(line))
    .join('\n');
}

async function follow(reader: Walkthrough, { info }: Block, script: string): Promise<void> {
  if (info === 'sh aws') return recordCalls(reader, script);
  if (info === NEWEST && chosenSeries() !== chosenSeries(''))
    return assert.rejects(reader.run(script, 60_000), /no matches for kind "MutatingAdmissionPolicy"/);
  assert.ok(['sh', NEWEST].includes(info), `a block is run (sh, or ${NEWEST}) or needs AWS (sh aws)`);
  const printed = await reader.run(script, 600_000);
  const exported = printed.match(/^ +export .*$/gm);
  if (exported) await reader.run(exported.join('\n'));
}

/** Every variable is set, every document is JSON, every file exists. hack/awsCli checks the commands and flags against the models of AWS. */
async function recordCalls(reader: Walkthrough, script: string): Promise<void> {
  const calls = await reader.recordCalls(script, WITH_AWS);
  assert.notEqual(calls.length, 0);
  for (const [program, ...args] of calls) {
    assert.ok(!args.includes(''), `${program} gets an empty argument`);
    for (const arg of args) {
      if (arg.startsWith('{')) JSON.parse(arg);
      if (arg.startsWith('file://'))
        assert.ok(existsSync(join(reader.folder, arg.slice('file://'.length))), `${arg} is not there`);
    }
  }
}
