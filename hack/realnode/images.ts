/** Images of one static program. */
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Layer, OciLayout } from '../image/oci.ts';
import type { Architecture } from '../image/pins.ts';

/** The name of the pause image in containerd. */
export const PAUSE_IMAGE = 'localhost/pause:1';

/** That of this machine. */
export const ARCHITECTURE: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

const CREATED = '1970-01-01T00:00:00Z';

export interface ProgramImage {
  /** The OCI layout in one file, which containerd imports. */
  readonly archive: string;
  readonly layer: Layer;
}

/** Builds an image that has only a program, and runs it as `user` (`uid:gid`). `reference` is its name in containerd. `folder` is created. */
export async function buildProgramImage({
  reference,
  program,
  user,
  folder,
}: {
  readonly reference: string;
  readonly program: string;
  readonly user: string;
  readonly folder: string;
}): Promise<ProgramImage> {
  const name = basename(program);
  const files = join(folder, 'files');
  await mkdir(files, { recursive: true });
  await copyFile(program, join(files, name));
  await chmod(join(files, name), 0o555);
  const layout = await OciLayout.create(join(folder, 'oci'));
  const layer = await layout.addLayer(name, files);
  const settings = { user, env: {}, labels: {}, entrypoint: [`/${name}`] };
  const image = await layout.addImage(ARCHITECTURE, settings, [layer], CREATED);
  await layout.addIndex([image], {}, reference);
  const archive = join(folder, `${name}-image.tar`);
  await layout.pack(archive);
  return { archive, layer };
}
