/** Files of a Go module that are not Go, such as manifests. */
import { runCommand } from '../controlplane/command.ts';
import type { GoModule } from './program.ts';

const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

/** The folder with the sources of a module, which Go downloads if needed. Without `sum`, its digest is in the go.sum of `from`. */
export async function moduleFolder(
  from: GoModule,
  module: string,
  { sum, signal }: { readonly sum?: string; readonly signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const { stdout, stderr, code } = await runCommand('go', ['mod', 'download', '-json', module], {
    cwd: from.dir,
    env: { ...process.env, GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', GOWORK: 'off' },
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    signal,
  });
  if (code !== 0) throw new Error(`go mod download ${module} exited with status ${code}: ${stderr}${stdout}`);
  const { Dir, Sum } = JSON.parse(stdout);
  if (sum !== undefined && Sum !== sum) throw new Error(`${module} has the digest ${Sum}, expected ${sum}.`);
  return Dir;
}
