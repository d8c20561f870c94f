import { fileURLToPath } from 'node:url';
import { ensurePrograms, type Log } from '../gobuild/find.ts';
import type { GoModule, Program } from '../gobuild/program.ts';

/** The tools of the go.mod in this folder. */
type SharedTool = 'helm' | 'kstatus' | 'prometheus' | 'promtool';
/** The tools that tests run in addition to the local Kubernetes. `helm` is Helm 4. */
type ToolName = SharedTool | 'helm3' | 'registry' | 'cosign' | 'alertmanager' | ReleaseTool;
/** actionlint checks workflows of GitHub, and hclfmt the format of Terraform. */
type ReleaseTool = 'actionlint' | 'hclfmt';

const PROMETHEUS = 'github.com/prometheus/prometheus';
/** Without the service discoveries, which are most of it, because the tests have static targets. */
const PROMETHEUS_TAGS = ['remove_all_sd'];

/** Separate from the control plane's module, so that another tool does not rebuild Kubernetes. */
const toolsModule: GoModule<SharedTool> = {
  dir: fileURLToPath(new URL('.', import.meta.url)),
  name: 'tools',
  what: 'the tools that the tests run',
  programs: [
    {
      name: 'helm',
      package: 'helm.sh/helm/v4/cmd/helm',
      buildSeconds: 95,
      installed: { versionArgs: ['version'], series: '4' },
      stamps: (versionOf) => [`helm.sh/helm/v4/internal/version.version=${versionOf('helm.sh/helm/v4')}`],
    },
    { name: 'kstatus', package: './kstatus', buildSeconds: 5 },
    prometheus('prometheus', 120),
    prometheus('promtool', 40),
  ],
};

/** Separate from the other tools, whose `k8s.io` modules are of an earlier version. */
const helm3Module: GoModule<'helm3'> = {
  dir: fileURLToPath(new URL('helm3', import.meta.url)),
  name: 'helm3',
  what: 'Helm 3, which the tests run',
  programs: [
    {
      name: 'helm3',
      package: 'helm.sh/helm/v3/cmd/helm',
      buildSeconds: 85,
      installed: { versionArgs: ['version'], series: '3' },
      stamps: (versionOf) => [`helm.sh/helm/v3/internal/version.version=${versionOf('helm.sh/helm/v3')}`],
    },
  ],
};

/** Separate from the other tools, because it needs later versions of some modules, and a change of their go.mod builds all of them again. */
const registryModule: GoModule<'registry'> = {
  dir: fileURLToPath(new URL('registry', import.meta.url)),
  name: 'registry',
  what: 'the image registry of the tests',
  programs: [{ name: 'registry', package: 'github.com/distribution/distribution/v3/cmd/registry', buildSeconds: 90 }],
};

/** Separate from the registry, because a change of one does not concern the other. */
const cosignModule: GoModule<'cosign'> = {
  dir: fileURLToPath(new URL('cosign', import.meta.url)),
  name: 'cosign',
  what: 'cosign, which signs images',
  programs: [{ name: 'cosign', package: 'github.com/sigstore/cosign/v3/cmd/cosign', buildSeconds: 150 }],
};

const ALERTMANAGER = 'github.com/prometheus/alertmanager';

/** Separate from the other tools, which need a later version of its packages. From 0.31 on, the module lacks the web interface and does not build. */
const alertmanagerModule: GoModule<'alertmanager'> = {
  dir: fileURLToPath(new URL('alertmanager', import.meta.url)),
  name: 'alertmanager',
  what: 'Alertmanager, which the tests run',
  programs: [
    {
      name: 'alertmanager',
      package: `${ALERTMANAGER}/cmd/alertmanager`,
      buildSeconds: 50,
      installed: { versionArgs: ['--version'], series: '0' },
      stamps: (versionOf) => [
        `github.com/prometheus/common/version.Version=${versionOf(ALERTMANAGER).slice('v'.length)}`,
      ],
    },
  ],
};

/** Separate from the other tools, so that a change of their go.mod does not build these again. */
const releaseModule: GoModule<ReleaseTool> = {
  dir: fileURLToPath(new URL('release', import.meta.url)),
  name: 'release',
  what: 'the tools that check the files of a release',
  programs: [
    { name: 'actionlint', package: 'github.com/rhysd/actionlint/cmd/actionlint', buildSeconds: 12 },
    { name: 'hclfmt', package: 'github.com/hashicorp/hcl/v2/cmd/hclfmt', buildSeconds: 12 },
  ],
};

function prometheus(name: SharedTool, buildSeconds: number): Program<SharedTool> {
  return {
    name,
    package: `${PROMETHEUS}/cmd/${name}`,
    tags: PROMETHEUS_TAGS,
    buildSeconds,
    installed: { versionArgs: ['--version'], series: '3' },
    // The module's version v0.313.5 is release 3.13.5.
    stamps: (versionOf) => [`github.com/prometheus/common/version.Version=${prometheusRelease(versionOf(PROMETHEUS))}`],
  };
}

/** The release of a version of Prometheus' module: `3.13.5` of `v0.313.5`. */
export function prometheusRelease(version: string): string {
  const [, major, minor, patch] = /^v0\.(\d)(\d\d)\.(\d+)$/.exec(version) ?? [];
  return `${major}.${Number(minor)}.${patch}`;
}

/** The absolute path of one tool, which is built if it is missing. */
export async function toolPath(name: ToolName, log: Log, signal?: AbortSignal): Promise<string> {
  if (name === 'helm3') return (await ensurePrograms(helm3Module, log, signal)).helm3;
  if (name === 'registry') return (await ensurePrograms(registryModule, log, signal)).registry;
  if (name === 'cosign') return (await ensurePrograms(cosignModule, log, signal)).cosign;
  if (name === 'alertmanager') return (await ensurePrograms(alertmanagerModule, log, signal)).alertmanager;
  if (name === 'actionlint' || name === 'hclfmt')
    return (await ensurePrograms(releaseModule, log, signal, [name]))[name];
  return (await ensurePrograms(toolsModule, log, signal, [name]))[name];
}
