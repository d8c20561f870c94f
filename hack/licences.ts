/** The licences of bundled packages: their texts must be distributed, and only some are allowed. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const RULE = `${'-'.repeat(80)}\n`;

/** SPDX expressions of permissive licences, whose only condition is that their text is distributed. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense'];

/** A package of which code is in a bundle. */
export interface BundledPackage {
  /** From the root of the project, as in package-lock.json: `node_modules/pino`. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, or undefined if its package.json has none. */
  readonly licence: string | undefined;
}

/** The packages of which one of these files is, in the order of their folders. `files` are paths from `root`. */
export async function packagesOf(root: string, files: readonly string[]): Promise<readonly BundledPackage[]> {
  const folders = new Set(files.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  return Promise.all(
    [...folders].sort().map(async (folder) => {
      const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
      return { folder, name, version, licence: typeof license === 'string' ? license : undefined };
    }),
  );
}

/** One sentence for each package whose licence is not on the list of allowed licences. */
export function licenceFindings(packages: readonly BundledPackage[]): readonly string[] {
  return packages.flatMap(({ name, version, licence }) =>
    licence !== undefined && ALLOWED.includes(licence)
      ? []
      : [
          `${name} ${version} is in the bundle and has the licence ${licence ?? 'unknown'}. Allowed: ${ALLOWED.join(', ')}. Use another package, or add its licence to hack/licences.ts after a review.`,
        ],
  );
}

/**
 * Name, version and licence of each package, with the text of its licence. Throws for a package that comes without the text of its licence
 * and does not name it.
 */
export async function thirdPartyNotices(root: string, packages: readonly BundledPackage[]): Promise<string> {
  const notices = await Promise.all(packages.map((one) => noticeOf(root, one)));
  return notices.join(RULE);
}

async function noticeOf(root: string, { folder, name, version, licence }: BundledPackage): Promise<string> {
  const path = join(root, folder);
  const files = (await readdir(path)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort();
  if (files.length === 0 && licence === undefined) throw new Error(`${folder} says nothing of its licence`);
  const texts = await Promise.all(files.map((file) => readFile(join(path, file), 'utf8')));
  return [`${name} ${version}: ${licence}\n`, ...texts.map((text) => `\n${text.trimEnd()}\n`)].join('');
}
