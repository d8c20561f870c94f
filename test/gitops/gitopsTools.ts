/** The health of an object in GitOps tools, computed by their own code. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { runCommand } from '../../hack/controlplane/command.ts';
import { argoCdPrograms } from '../../hack/gitops/programs.ts';
import { toolPath } from '../../hack/tools/tools.ts';

const SETTINGS = fileURLToPath(new URL('../../config/argocd/argocd-cm.yaml', import.meta.url));

/** What config/argocd adds to Argo CD's own ConfigMap: settings by their keys. */
export const argoSettings: Readonly<Record<string, string>> = parse(readFileSync(SETTINGS, 'utf8')).data;
export const HEALTH_KEY = 'resource.customizations.health.winpool.dev_WindowsPool';

const TIMEOUT_MS = 20_000;
const say = (line: string) => console.log(`    ${line}`);

/** The health of an object, as a tool reports it. */
export interface HealthResult {
  readonly status: string;
  readonly message: string;
}

/** The results of kstatus: InProgress, Current, Failed, Terminating. */
export async function kstatusOf(objects: readonly object[]): Promise<HealthResult[]> {
  const stdin = objects.map((object) => JSON.stringify(object)).join('\n');
  const { stdout, stderr, code } = await runCommand(await toolPath('kstatus', say), [], {
    stdin,
    timeoutMs: TIMEOUT_MS,
  });
  if (code !== 0) throw new Error(`kstatus: ${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The health that Argo CD shows with the settings of config/argocd. Rejects if the script fails, as it does in Argo CD. */
export async function argoHealthOf(object: object): Promise<HealthResult> {
  const { argocd } = await argoCdPrograms(say);
  const folder = await mkdtemp(join(tmpdir(), 'windowspool-health-'));
  try {
    const file = join(folder, 'pool.yaml');
    // Recordings have no times, and a deletion without a time is none to Argo CD.
    await writeFile(file, stringify(object).replaceAll(': TIME', ': 2026-01-01T00:00:00Z'));
    const args = ['admin', 'settings', 'resource-overrides', 'health', file, '--argocd-cm-path', SETTINGS];
    const env = { ...process.env, ARGOCD_BINARY_NAME: 'argocd', HOME: folder };
    const { stdout, stderr, code } = await runCommand(argocd, args, { env, timeoutMs: TIMEOUT_MS });
    const [, status, message] = /^STATUS: (.*)\nMESSAGE: (.*)\n$/s.exec(stdout) ?? [];
    if (code !== 0 || status === undefined || message === undefined)
      throw new Error(`argocd admin settings resource-overrides health: ${stdout}${stderr}`);
    return { status, message };
  } finally {
    await rm(folder, { recursive: true });
  }
}
