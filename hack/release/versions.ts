/** The version of the project, which package.json has, in the files that repeat it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOrThrow } from '../controlplane/command.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 60_000;
/** https://semver.org, without build metadata, which tags of images cannot have. */
const SEMVER = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
/** The files that can repeat the version, and what comes before it there: the tag of an image, a field, a flag, the name of a tag or a file. */
const FOLDERS = ['config', 'docs', 'README.md'];
const BEFORE = String.raw`windowspool-operator:|\$IMAGE:|newTag: |[vV]ersion: |--version[ =]|\?ref=v|/v|-`;

/** Throws if it is no version that a release can have. */
export function checkVersion(version: string): void {
  if (!SEMVER.test(version))
    throw new Error(`VERSION=${version}: must be a semantic version without a leading v, such as 1.2.3 or 1.3.0-rc.1.`);
}

/** Whether the version is one before a release, such as 1.3.0-rc.1. */
export const isPrerelease = (version: string): boolean => version.includes('-');

/** A text with the new version where it repeats the old one. */
export function withVersion(text: string, from: string, to: string): string {
  const repeated = new RegExp(`(${BEFORE})${from.replaceAll('.', '\\.')}(?![\\d-]|\\.\\d)`, 'g');
  return text.replace(repeated, (_, before: string) => `${before}${to}`);
}

/** Sets the version in package.json, its lock file, and the files that repeat it. Returns their names. */
export async function setVersion(from: string, to: string): Promise<readonly string[]> {
  checkVersion(to);
  await runOrThrow('npm', ['version', to, '--no-git-tag-version', '--allow-same-version'], TIMEOUT_MS, { cwd: ROOT });
  const files = (await runOrThrow('git', ['ls-files', '-z', ...FOLDERS], TIMEOUT_MS, { cwd: ROOT })).split('\0');
  const changed = ['package.json', 'package-lock.json'];
  for (const file of files.filter((name) => /\.(ya?ml|md)$/.test(name))) {
    const text = await readFile(join(ROOT, file), 'utf8');
    const next = withVersion(text, from, to);
    if (next === text) continue;
    await writeFile(join(ROOT, file), next);
    changed.push(file);
  }
  return changed;
}
