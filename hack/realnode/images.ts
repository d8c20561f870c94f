/** The image of a pod's pause process: one static program. */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runOrThrow } from '../controlplane/command.ts';

const TAR_TIMEOUT_MS = 60_000;

/** Its name in containerd. */
export const PAUSE_IMAGE = 'localhost/pause:1';

/** Writes an archive of the image as `docker save` does, which containerd imports, and returns its path. `folder` is created. */
export async function pauseArchive(program: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await copyFile(program, join(folder, 'pause'));
  const layer = await tar(folder, 'layer.tar', ['pause']);
  const digest = createHash('sha256')
    .update(await readFile(layer))
    .digest('hex');
  const config = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Entrypoint: ['/pause'], User: '65535:65535' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
  };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  const manifest = [{ Config: 'config.json', RepoTags: [PAUSE_IMAGE], Layers: ['layer.tar'] }];
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  return tar(folder, 'pause-image.tar', ['manifest.json', 'config.json', 'layer.tar']);
}

async function tar(folder: string, name: string, files: readonly string[]): Promise<string> {
  await runOrThrow('tar', ['-cf', name, ...files], TAR_TIMEOUT_MS, { cwd: folder });
  return join(folder, name);
}
