/** `make krew-manifest`: packs the plugin that `make kubectl-plugin` built, and writes its krew manifest with the version, URL and digest. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { runCommand } from './controlplane/command.ts';
import { krewManifest } from './krewManifest.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PACK_TIMEOUT_MS = 60_000;

try {
  const folder = join(ROOT, 'build/krew');
  await mkdir(folder, { recursive: true });
  const archive = join(folder, 'kubectl-windowspool.tar.gz');
  // The same files give the same archive.
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0'];
  const args = [...same, '-czf', archive, '-C', join(ROOT, 'build/kubectl-plugin'), '.'];
  const { code, stderr } = await runCommand('tar', args, {
    env: { ...process.env, GZIP: '-n' },
    timeoutMs: PACK_TIMEOUT_MS,
  });
  if (code !== 0) throw new Error(`tar could not pack build/kubectl-plugin: ${stderr.trim()}`);
  const sha256 = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex');
  const template = await readFile(join(ROOT, 'config/krew/windowspool.yaml'), 'utf8');
  const release = { version: `v${manifest.version}`, uri: process.argv[2] ?? '', sha256 };
  await writeFile(join(folder, 'windowspool.yaml'), krewManifest(template, release));
  console.log(`build/krew/windowspool.yaml: ${release.version}, sha256 ${sha256}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
