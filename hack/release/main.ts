/** `make release VERSION=x.y.z`: writes all files of a release into build/release. The same commit gives the same bytes in each folder. */
import { createHash } from 'node:crypto';
import { copyFile, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { buildImage } from '../image/buildImage.ts';
import { imageSource } from '../image/source.ts';
import { tarGz, zip } from './archive.ts';
import { writeBoms } from './boms.ts';
import { changesOf, sectionOf } from './changelog.ts';
import { writeChart } from './chart.ts';
import { cloudFormationTemplate } from './cloudFormation.ts';
import { executableFiles, PLATFORMS, pluginFiles } from './executables.ts';
import { krewManifest } from './krewManifest.ts';
import { writeManifests } from './manifests.ts';
import { checkVersion } from './versions.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RELEASE = join(ROOT, 'build/release');
const WORK = join(ROOT, 'build/release-work');
const log = (line: string) => console.error(line);

try {
  await release(process.argv[2] ?? '');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function release(version: string): Promise<void> {
  checkVersion(version);
  if (version !== manifest.version)
    throw new Error(
      `VERSION=${version}, and package.json has ${manifest.version}. Run make set-version VERSION=${version}, and commit the change.`,
    );
  const image = process.env.IMAGE ?? 'ghcr.io/windowspool-operator/windowspool-operator';
  const downloads =
    process.env.DOWNLOADS ??
    `https://github.com/windowspool-operator/windowspool-operator/releases/download/v${version}`;
  const notes = sectionOf(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'), version);
  const changes = changesOf(notes);
  for (const folder of [RELEASE, WORK]) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
  }

  const reference = `${image}:${version}`;
  const { archive, digest } = await buildImage({ reference });
  await copyFile(archive, join(RELEASE, `windowspool-operator-${version}.image.tar`));
  await writeManifests(RELEASE, join(WORK, 'manifests'), `${reference}@${digest}`, log);
  await writeChart(RELEASE, join(WORK, 'chart'), { version, repository: image, changes }, log);
  await copyFile(join(ROOT, 'config/charts/artifacthub-repo.yml'), join(RELEASE, 'artifacthub-repo.yml'));
  await writeIam();
  await writeBoms(RELEASE, version, downloads, (await imageSource()).created);
  await writePlugin(version, downloads);
  await writeFile(join(RELEASE, 'notes.md'), notes);
  await writeChecksums();
  await rm(WORK, { recursive: true });
}

async function writeIam(): Promise<void> {
  await writeFile(join(RELEASE, 'windowspool-operator-iam.cloudformation.json'), await cloudFormationTemplate());
  const module = join(WORK, 'terraform');
  await cp(join(ROOT, 'config/aws'), module, { recursive: true, filter: (path) => !path.endsWith('/irsa') });
  await tarGz(join(RELEASE, 'windowspool-operator-iam.terraform.tar.gz'), module);
}

async function writePlugin(version: string, downloads: string): Promise<void> {
  const files = join(WORK, 'plugin');
  await pluginFiles(files);
  await tarGz(join(RELEASE, 'kubectl-windowspool_node.tar.gz'), files);
  const archives = [];
  for (const platform of PLATFORMS) {
    const { os, arch } = platform;
    const folder = join(WORK, `${os}_${arch}`);
    const bin = await executableFiles(files, platform, folder);
    const name = `kubectl-windowspool_${os}_${arch}.${os === 'windows' ? 'zip' : 'tar.gz'}`;
    await (os === 'windows' ? zip : tarGz)(join(RELEASE, name), folder);
    await rm(folder, { recursive: true });
    archives.push({ os, arch, bin, uri: `${downloads}/${name}`, sha256: await sha256(name) });
  }
  const template = await readFile(join(ROOT, 'config/krew/windowspool.yaml'), 'utf8');
  await writeFile(join(RELEASE, 'windowspool.yaml'), krewManifest(template, version, archives));
}

/** Writes the checksums of all files, as sha256sum does, and prints their names and sizes. */
async function writeChecksums(): Promise<void> {
  let checksums = '';
  for (const name of (await readdir(RELEASE)).sort()) {
    checksums += `${await sha256(name)}  ${name}\n`;
    const { size } = await stat(join(RELEASE, name));
    console.log(`${(size / 1e6).toFixed(2).padStart(8)} MB  ${name}`);
  }
  await writeFile(join(RELEASE, 'checksums.txt'), checksums);
}

async function sha256(name: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(RELEASE, name)))
    .digest('hex');
}
