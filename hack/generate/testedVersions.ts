/** The table of versions in docs/reference/versions.md, from what pins the programs and packages that the tests run. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { API_SERVER } from '../../controllers/kubernetes/apiServerVersion.ts';
import { buildOf, type WindowsVersion, yearOf } from '../../controllers/windowspool/nodes/windowsVersions.ts';
import manifest from '../../package.json' with { type: 'json' };
import { readGoMod } from '../gobuild/build.ts';
import { prometheusRelease } from '../tools/tools.ts';
import { withTable } from './table.ts';

const PAGE = 'docs/reference/versions.md';
const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, ROOT), 'utf8');

/** The page with the table of what the tests run. */
export async function testedVersions(): Promise<string> {
  const header = ['component', 'version in the tests', 'required', 'what is tested'];
  return withTable(PAGE, await read(PAGE), 'versions', [header, ...(await rows())]);
}

async function rows(): Promise<string[][]> {
  const [newest, oldest, tools, helm3, alertmanager, argoCd, flux, grafana, registry, cosign, containerd, realNodes] =
    await Promise.all([
      pinned('controlplane'),
      pinned('controlplane/older'),
      pinned('tools'),
      pinned('tools/helm3'),
      pinned('tools/alertmanager'),
      pinned('gitops/argocd'),
      pinned('gitops/flux'),
      pinned('grafana/schema'),
      pinned('tools/registry'),
      pinned('tools/cosign'),
      pinned('realnode/containerd'),
      pinned('realnode/programs'),
    ]);
  const { minimum } = API_SERVER;
  const { node, '@grafana/grafana-foundation-sdk': grafanaSdk } = manifest.devDependencies;
  const needed = manifest.engines.node.replace('>=', '');
  return [
    [
      'Kubernetes, kubectl',
      `${newest('k8s.io/kubernetes')}, ${oldest('k8s.io/kubernetes')}`,
      `${minimum} or later`,
      'API server, etcd, scheduler, controller manager. An older API server is refused, another one is logged',
    ],
    [
      'containerd, CoreDNS',
      `${containerd('github.com/containerd/containerd/v2')}, ${realNodes('github.com/coredns/coredns')}`,
      '',
      '[real Linux nodes](../../hack/realnode/README.md), on which the operator runs as a pod',
    ],
    ['Windows Server', await windowsVersions(), '', 'simulated nodes with these builds'],
    ['Node.js, for the operator', node, '', 'the version in the image'],
    ['Node.js, for the kubectl plugin', node, `${needed} or later`, 'the plugin in a terminal'],
    [
      'AWS SDK for JavaScript, models of the AWS APIs',
      manifest.dependencies['@aws-sdk/client-eks'],
      '',
      'the SDK with the [local AWS](../../test/fakes/localaws/README.md), which follows these models',
    ],
    ['Helm', `${tools('helm.sh/helm/v4')}, ${helm3('helm.sh/helm/v3')}`, '3 or 4', 'the commands of the chart'],
    [
      'kustomize',
      `in kubectl, and ${argoCd('sigs.k8s.io/kustomize/kustomize/v5')} in Argo CD`,
      '',
      'the manifests in `config`',
    ],
    [
      'Argo CD',
      argoCd('github.com/argoproj/argo-cd/v3'),
      '3.1 or later for the sample',
      'syncs, health, upgrade and rollback of the CRD',
    ],
    [
      'Flux',
      `kustomize-controller ${flux('github.com/fluxcd/kustomize-controller')}, helm-controller ${flux('github.com/fluxcd/helm-controller')}`,
      '',
      'Kustomizations, a HelmRelease with an upgrade. Not source-controller',
    ],
    [
      'Prometheus',
      prometheusRelease(`v${tools('github.com/prometheus/prometheus')}`),
      '2.42 or later for the alerts',
      'scrapes, alerts, recording rules, queries of the dashboards. Not the Prometheus Operator',
    ],
    ['Alertmanager', alertmanager('github.com/prometheus/alertmanager'), '', 'the inhibition rules'],
    [
      'Grafana',
      `Foundation SDK ${grafana('github.com/grafana/grafana-foundation-sdk/go')} (schema), ${grafanaSdk} (code)`,
      '10 or later',
      'the dashboards match the schema. Grafana is not run',
    ],
    [
      'image registry',
      `distribution ${registry('github.com/distribution/distribution/v3')}`,
      '',
      'the image and the chart are pushed to it; `kubectl windowspool lint --images` reads it',
    ],
    ['cosign', cosign('github.com/sigstore/cosign/v3'), '', 'signatures of the image and the chart, with a key'],
  ];
}

/** The versions in the go.mod of a folder of hack, without the `v`. */
async function pinned(folder: string): Promise<(module: string) => string> {
  const { versionOf } = await readGoMod({ dir: fileURLToPath(new URL(`hack/${folder}`, ROOT)) });
  return (module) => versionOf(module).replace(/^v/, '');
}

/** Each version of the API with its build. */
async function windowsVersions(): Promise<string> {
  const crd = parse(await read('crds/windowspools.yaml'));
  const { spec } = crd.spec.versions[0].schema.openAPIV3Schema.properties;
  const versions: readonly WindowsVersion[] = spec.properties.windowsVersion.enum;
  return versions.map((version) => `${yearOf(version)} (${buildOf(version)})`).join(', ');
}
