import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { GitRepository } from '../../hack/gitops/gitRepository.ts';
import manifest from '../../package.json' with { type: 'json' };
import { assertGolden } from '../goldenText.ts';
import { theWorld } from '../sharedWorld.ts';
import { CONTRIBUTED_POOLS, CONTRIBUTION } from './contribution.ts';
import { argoHealthOf, argoSettings, HEALTH_KEY, type HealthResult, kstatusOf } from './gitopsTools.ts';
import { type RecordedPool, recordedPool, recordings } from './recordedPools.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The message of Argo CD for a pool whose status is not of its spec. */
const [, UNSEEN = ''] =
  /message = "(.*)"/.exec(
    readFileSync(`${ROOT}config/argocd/resource_customizations/winpool.dev/WindowsPool/health.lua`, 'utf8'),
  ) ?? [];

/** For each recording, the expected results of kstatus and Argo CD, and the conditions whose messages Argo CD shows. None: not those of the status. */
const results: Readonly<Record<string, readonly [kstatus: string, argo: string, ...conditions: string[]]>> = {
  'access-denied': ['InProgress', 'Progressing', 'Ready'],
  'all-nodes-bad': ['InProgress', 'Degraded', 'Ready'],
  'changed-unseen': ['InProgress', 'Progressing'],
  'create-failed': ['Failed', 'Degraded', 'Ready'],
  creating: ['InProgress', 'Progressing', 'Reconciling'],
  degraded: ['Current', 'Healthy', 'Ready', 'NodeGroupReady'],
  deleting: ['Terminating', 'Progressing'],
  'prerequisite-lost': ['Current', 'Healthy', 'Ready', 'PrerequisitesMet'],
  drifted: ['Current', 'Healthy', 'Ready', 'UpToDate'],
  'no-existing-nodes': ['InProgress', 'Degraded', 'Ready'],
  'no-linux-node': ['Failed', 'Degraded', 'Ready'],
  'no-nodes': ['Current', 'Healthy', 'Ready'],
  'not-owned': ['Failed', 'Degraded', 'Ready'],
  'one-bad-node': ['Current', 'Healthy', 'Ready', 'NodesVerified'],
  paused: ['Current', 'Healthy', 'Paused', 'Ready', 'UpToDate'],
  ready: ['Current', 'Healthy', 'Ready'],
  unseen: ['InProgress', 'Progressing'],
  'update-failed': ['Failed', 'Degraded', 'Ready'],
  updating: ['InProgress', 'Progressing', 'Reconciling'],
};

/** Argo CD's own message for an object that is being deleted, or those of the conditions. */
function expectedMessage({ metadata, status }: RecordedPool, conditions: readonly string[]): string {
  if (metadata.deletionTimestamp) return 'Pending deletion';
  const messages = conditions.map((name) => status?.conditions?.find(({ type }) => type === name)?.message);
  return messages.length > 0 ? messages.join(' ') : UNSEEN;
}

describe('the health of a pool in GitOps tools', function () {
  // The tools may have to be built.
  this.timeout(600_000);

  it('is tested with every recording', () => assert.deepEqual(recordings(), Object.keys(results).sort()));

  // Each takes a second, which Argo CD spends on waiting for its settings.
  let healths: ReadonlyMap<string, Promise<HealthResult>>;
  before(async () => {
    const cases = [
      ...Object.keys(results).map((name) => [name, recordedPool(name)] as const),
      ...odd.map(([what, pool]) => [what, pool] as const),
    ];
    healths = new Map(cases.map(([name, pool]) => [name, argoHealthOf(pool)]));
    await Promise.allSettled(healths.values());
  });

  for (const [name, [kstatus, argo, ...conditions]] of Object.entries(results)) {
    it(`${name} is ${kstatus} to kstatus and ${argo} to Argo CD`, async () => {
      const pool = recordedPool(name);
      const [result] = await kstatusOf([pool]);
      const health = (await healths.get(name)) ?? assert.fail();
      assert.equal(result?.status, kstatus);
      assert.deepEqual(health, { status: argo, message: expectedMessage(pool, conditions) });
    });
  }

  it('is tested in the format of the repository of Argo CD', async () => {
    const tests = await Promise.all(
      CONTRIBUTED_POOLS.map(async (name) => ({
        healthStatus: await healths.get(name),
        inputPath: `testdata/${name}.yaml`,
      })),
    );
    await assertGolden(`../../${CONTRIBUTION}/health_test.yaml`, stringify({ tests }, { lineWidth: 0 }));
  });

  /** The recording `ready` with one change. */
  const readyWith = (change: (status: NonNullable<RecordedPool['status']>) => object): object => {
    const pool = recordedPool('ready');
    return { ...pool, status: change(pool.status ?? assert.fail('no status')) };
  };
  const paused = {
    type: 'Paused',
    status: 'True',
    reason: 'Paused',
    message: 'Paused.',
    lastTransitionTime: 'TIME',
  } as const;
  const odd: readonly (readonly [what: string, pool: object, argo: string, message: string])[] = [
    ['without a status', { ...recordedPool('ready'), status: undefined }, 'Progressing', UNSEEN],
    ['without conditions', readyWith(({ observedGeneration }) => ({ observedGeneration })), 'Progressing', UNSEEN],
    ['with no condition', readyWith((status) => ({ ...status, conditions: [] })), 'Progressing', UNSEEN],
    [
      'paused while not Ready',
      readyWith((status) => ({
        ...status,
        conditions: [
          ...(status.conditions ?? []).map((condition) =>
            condition.type === 'Ready'
              ? { ...condition, status: 'False' as const, message: 'It is broken.' }
              : condition,
          ),
          paused,
        ],
      })),
      'Degraded',
      'Paused. It is broken.',
    ],
    [
      'of existing nodes, one of which belongs to another pool',
      readyWith((status) => ({
        ...status,
        conditions: (status.conditions ?? []).map((condition) =>
          condition.type === 'NodeGroupReady'
            ? { ...condition, type: 'NodesFound', status: 'False' as const, message: 'Another pool has win-1.' }
            : condition,
        ),
      })),
      'Healthy',
      '3 of 3 nodes verified. Another pool has win-1.',
    ],
    [
      'with text that Lua could parse as code',
      readyWith((status) => ({
        ...status,
        conditions: (status.conditions ?? []).map((condition) => ({ ...condition, message: 'a "b" \\ ]] %s – 1' })),
      })),
      'Healthy',
      'a "b" \\ ]] %s – 1',
    ],
  ];
  for (const [what, , argo, message] of odd) {
    it(`a pool ${what} is ${argo} to Argo CD`, async () => {
      assert.deepEqual(await healths.get(what), { status: argo, message });
    });
  }
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly data?: object;
}

describe('the manifests for Argo CD', () => {
  const IGNORE_KEY = HEALTH_KEY.replace('health', 'ignoreDifferences');
  const crd = parse(readFileSync(`${ROOT}crds/windowspools.yaml`, 'utf8')).spec;

  it('name the kind in the format of Argo CD', () => {
    assert.deepEqual(Object.keys(argoSettings), [HEALTH_KEY, IGNORE_KEY]);
    assert.ok(HEALTH_KEY.endsWith(`.${crd.group}_${crd.names.kind}`));
  });

  it('ignore only fields of the schema', () => {
    const { jsonPointers } = parse(argoSettings[IGNORE_KEY] ?? '');
    for (const pointer of jsonPointers as string[]) {
      let schema = crd.versions[0].schema.openAPIV3Schema;
      for (const name of pointer.split('/').slice(1)) schema = schema.properties[name] ?? assert.fail(pointer);
    }
  });

  /** The output of kustomize for a folder of config. */
  const render = async (folder: string): Promise<Manifest[]> =>
    parseAllDocuments(await (await theWorld()).controlPlane.kubectlOutput(['kustomize', folder], { env: git })).map(
      (document) => document.toJS(),
    );
  let repository: GitRepository;
  let git: NodeJS.ProcessEnv;
  before(async () => {
    repository = await GitRepository.create();
    git = await repository.asPublished(`v${manifest.version}`);
  });
  after(() => repository?.remove());

  it('sync the operator, then the pools, and ask before a pool is deleted', async () => {
    const manifests = await render(`${ROOT}config/argocd/cluster`);
    const waves = Map.groupBy(
      manifests,
      ({ metadata }) => metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? '0',
    );
    const kinds = (wave: string) => (waves.get(wave) ?? []).map(({ kind }) => kind).sort();
    assert.deepEqual([...waves.keys()].sort(), ['0', '1']);
    assert.deepEqual(kinds('1'), ['WindowsPool']);
    assert.ok(kinds('0').includes('CustomResourceDefinition') && kinds('0').includes('Deployment'));
    for (const { metadata } of waves.get('1') ?? [])
      assert.equal(metadata.annotations?.['argocd.argoproj.io/sync-options'], 'Prune=confirm,Delete=confirm');
  });

  it('keep the CRD, without which the API server deletes all pools', async () => {
    const manifests = await render(`${ROOT}config/argocd/cluster`);
    const kept = manifests.filter(
      ({ metadata }) => metadata.annotations?.['argocd.argoproj.io/sync-options'] === 'Prune=false,Delete=false',
    );
    assert.deepEqual(
      kept.map(({ kind }) => kind),
      ['CustomResourceDefinition'],
    );
  });

  it('give each operator the name of its cluster, and do not set the size', async () => {
    const { spec } = parse(readFileSync(`${ROOT}config/argocd/applicationset.yaml`, 'utf8')).spec.template;
    assert.deepEqual(spec.ignoreDifferences[0].jsonPointers, parse(argoSettings[IGNORE_KEY] ?? '').jsonPointers);
    assert.ok(spec.syncPolicy.syncOptions.includes('RespectIgnoreDifferences=true'));
    const [{ target, patch }] = spec.source.kustomize.patches;
    const filled = patch.replace('{{.name}}', 'blue').replace('{{.metadata.annotations.region}}', 'eu-north-1');
    const folder = await mkdtemp(join(tmpdir(), 'windowspool-argocd-'));
    try {
      const resources = [relative(await realpath(folder), `${ROOT}${spec.source.path}`)];
      await writeFile(
        join(folder, 'kustomization.yaml'),
        stringify({ resources, patches: [{ target, patch: filled }] }),
      );
      const manifests = await render(folder);
      const [map] = manifests.filter(
        ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith(target.name),
      );
      assert.deepEqual(map?.data, { clusterName: 'blue', region: 'eu-north-1' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  describe('in a cluster with an argocd-cm', () => {
    const FILE = `${ROOT}config/argocd/argocd-cm.yaml`;
    const metadata = { name: 'argocd-cm', namespace: 'argocd' };
    const data = { url: 'https://cd.example.com' };
    const configMap = async () =>
      (await theWorld()).get<Wire<V1ConfigMap>>('configmap', metadata.name, '-n', metadata.namespace);
    before(async () => {
      await (await theWorld()).kubectl('create', 'namespace', metadata.namespace);
    });
    after(async () => {
      await (await theWorld()).kubectl('delete', 'namespace', metadata.namespace, '--wait=false');
    });
    afterEach(async () => {
      await (await theWorld()).kubectl('delete', 'configmap', metadata.name, '-n', metadata.namespace);
    });

    it('keep its other keys when they are patched, and change nothing the second time', async () => {
      const world = await theWorld();
      const patch = () =>
        world.kubectl(...'patch configmap argocd-cm -n argocd --type=merge --patch-file'.split(' '), FILE);
      await world.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
      await patch();
      const after = await configMap();
      assert.deepEqual(after?.data, { ...data, ...argoSettings });
      await patch();
      assert.deepEqual(await configMap(), after);
    });

    for (const flags of [[], ['--server-side']])
      it(`would delete its other keys with kubectl apply ${flags.join(' ')}`.trimEnd(), async () => {
        const world = await theWorld();
        await world.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, ...flags);
        await world.kubectl('apply', ...flags, '-f', FILE);
        assert.deepEqual((await configMap())?.data, argoSettings);
      });
  });
});
