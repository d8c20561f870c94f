import { fileURLToPath } from 'node:url';
import { ensurePrograms, type Log } from '../gobuild/find.ts';
import type { GoModule, Program } from '../gobuild/program.ts';

/** The tools that tests run in addition to the local Kubernetes. */
type ToolName = 'helm' | 'glua' | 'kstatus' | 'prometheus' | 'promtool';

const PROMETHEUS = 'github.com/prometheus/prometheus';
/** Without the service discoveries, which are most of it, because the tests have static targets. */
const PROMETHEUS_TAGS = ['remove_all_sd'];

/** Separate from the control plane's module, so that another tool does not rebuild Kubernetes. */
const toolsModule: GoModule<ToolName> = {
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
    // The interpreter that Argo CD runs health checks with.
    { name: 'glua', package: 'github.com/yuin/gopher-lua/cmd/glua', buildSeconds: 4 },
    { name: 'kstatus', package: './kstatus', buildSeconds: 5 },
    prometheus('prometheus', 120),
    prometheus('promtool', 40),
  ],
};

function prometheus(name: ToolName, buildSeconds: number): Program<ToolName> {
  return {
    name,
    package: `${PROMETHEUS}/cmd/${name}`,
    tags: PROMETHEUS_TAGS,
    buildSeconds,
    installed: { versionArgs: ['--version'], series: '3' },
    // The module's version v0.313.5 is release 3.13.5.
    stamps: (versionOf) => [`github.com/prometheus/common/version.Version=${releaseOf(versionOf(PROMETHEUS))}`],
  };
}

/** `v0.313.5` as `3.13.5`. */
function releaseOf(version: string): string {
  const [, major, minor, patch] = /^v0\.(\d)(\d\d)\.(\d+)$/.exec(version) ?? [];
  return `${major}.${Number(minor)}.${patch}`;
}

/** Finds or builds all tools: see `ensurePrograms`. */
export async function ensureTools(log: Log, signal?: AbortSignal): Promise<void> {
  await ensurePrograms(toolsModule, log, signal);
}

/** The absolute path of one tool, which is built if it is missing. */
export async function toolPath(name: ToolName, log: Log, signal?: AbortSignal): Promise<string> {
  return (await ensurePrograms(toolsModule, log, signal, [name]))[name];
}
