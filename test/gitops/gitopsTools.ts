/** The health of an object in GitOps tools, computed by their own code. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { runCommand } from '../../hack/controlplane/command.ts';
import { toolPath } from '../../hack/tools/tools.ts';

/** What config/argocd adds to Argo CD's own ConfigMap: settings by their keys. */
export const argoSettings: Readonly<Record<string, string>> = parse(
  readFileSync(new URL('../../config/argocd/argocd-cm.yaml', import.meta.url), 'utf8'),
).data;
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

/** Libraries that Argo CD withholds from health checks (its util/lua/lua.go opens package, base, table and a safe os). */
const WITHHELD = 'getmetatable("").__index = nil; string, math, io, coroutine, channel, debug = nil';

/** The health that Argo CD shows by config/argocd. Rejects when the script fails, as it does in Argo CD. */
export async function argoHealthOf(object: object): Promise<HealthResult> {
  const script = [
    `obj = ${luaOf(object)}`,
    WITHHELD,
    `local health = (function()\n${argoSettings[HEALTH_KEY]}\nend)()`,
    'print(health.status)',
    'print(health.message)',
  ].join('\n');
  const glua = await toolPath('glua', say);
  const { stdout, code } = await runCommand(glua, ['-e', script], { timeoutMs: TIMEOUT_MS });
  if (code !== 0) throw new Error(`The health check: ${stdout}`);
  const [status = '', ...message] = stdout.trimEnd().split('\n');
  return { status, message: message.join('\n') };
}

/** A JSON value as Lua writes it. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(', ')}}`;
  if (value === null || value === undefined) return 'nil';
  if (typeof value !== 'object') return typeof value === 'string' ? luaString(value) : String(value);
  const fields = Object.entries(value).map(([key, field]) => `[${luaString(key)}] = ${luaOf(field)}`);
  return `{${fields.join(', ')}}`;
}

/** By bytes: Lua 5.1 has neither JSON's escapes nor Unicode. */
function luaString(text: string): string {
  return `"${[...Buffer.from(text)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`;
}
