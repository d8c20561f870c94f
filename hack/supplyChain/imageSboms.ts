/** The bills of materials of the image, as files. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { bundledPackages } from '../bundle.ts';
import { ARCHITECTURES, type Architecture, readPins } from '../image/pins.ts';
import { imageSource } from '../image/source.ts';
import { imageSbom, type Sbom, sbomOf } from './sbom.ts';
import { spdxOf } from './spdx.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A file that was written. */
export interface SbomFile {
  readonly architecture: Architecture;
  readonly format: 'cyclonedx' | 'spdxjson';
  readonly path: string;
  readonly packages: number;
}

/** Writes an SBOM of the image in each format, for each architecture. The same commit gives the same bytes. */
export async function writeImageSboms(folder: string): Promise<readonly SbomFile[]> {
  const operator = await operatorSbom();
  const [pins, { created }] = [await readPins(), await imageSource()];
  await mkdir(folder, { recursive: true });
  const files: SbomFile[] = [];
  for (const architecture of ARCHITECTURES) {
    const sbom = imageSbom(operator, pins, architecture, created);
    const name = `${manifest.name}-${manifest.version}-linux-${architecture}`;
    const namespace = `https://spdx.org/spdxdocs/${name}-${digestOf(sbom)}`;
    for (const [format, extension, document] of [
      ['cyclonedx', 'cdx', sbom],
      ['spdxjson', 'spdx', spdxOf(sbom, { namespace, created })],
    ] as const) {
      const path = join(folder, `${name}.${extension}.json`);
      await writeFile(path, `${JSON.stringify(document, null, 2)}\n`);
      files.push({ architecture, format, path, packages: sbom.components.length });
    }
  }
  return files;
}

/** Of the operator's bundle. */
export async function operatorSbom(): Promise<Sbom> {
  const { name, version } = manifest;
  return sbomOf(ROOT, { name, version }, await bundledPackages('cmd/operator/main.ts'));
}

function digestOf(sbom: Sbom): string {
  return createHash('sha256').update(JSON.stringify(sbom)).digest('hex').slice(0, 32);
}
