/** Builds the program in baseline/, client-go's side of coldSync. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../controlplane/command.ts';
import { checkGo } from '../gobuild/build.ts';
import { cacheRoot } from '../gobuild/find.ts';

const FOLDER = fileURLToPath(new URL('baseline/', import.meta.url));
const BUILD_TIMEOUT_MS = 15 * 60_000;

/** The program's path. Built once for all checkouts, beside the control plane's binaries, under a name that its sources give. */
export async function ensureBaseline(say: (line: string) => void, signal: AbortSignal): Promise<string> {
  const sources = (await readdir(FOLDER)).filter((name) => /\.(go|mod|sum)$/.test(name)).sort();
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const name of sources) hash.update(name).update(await readFile(join(FOLDER, name)));
  const folder = cacheRoot();
  const path = join(folder, `bench-baseline-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(path)) return path;
  const go = /^go (\S+)$/m.exec(await readFile(join(FOLDER, 'go.mod'), 'utf8'))?.[1] ?? '';
  await checkGo(go, 'the client-go baseline', signal);
  await mkdir(folder, { recursive: true });
  say('Building the client-go baseline with Go, once; this takes about a minute.');
  await build(path, signal);
  return path;
}

async function build(path: string, signal: AbortSignal): Promise<void> {
  const partial = `${path}.${process.pid}.partial`;
  const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', '-s -w', '-o', partial, '.'];
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '', GOTOOLCHAIN: 'local' };
  try {
    const { code, stderr } = await runCommand('go', args, { cwd: FOLDER, env, timeoutMs: BUILD_TIMEOUT_MS, signal });
    if (code !== 0) throw new Error(`The client-go baseline could not be built:\n${stderr}`);
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}
