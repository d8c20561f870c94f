/** Collects the licences of bundled packages, which require that their text is distributed. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const RULE = `${'-'.repeat(80)}\n`;

/**
 * Name, version and licence of each package of which one of these files is, in the order of their folders. `inputs` are paths from `root`.
 * Throws for a package that comes without the text of its licence and does not name it.
 */
export async function thirdPartyNotices(root: string, inputs: readonly string[]): Promise<string> {
  const folders = new Set(inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  const notices = await Promise.all([...folders].sort().map((folder) => noticeOf(join(root, folder))));
  return notices.join(RULE);
}

async function noticeOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort();
  if (files.length === 0 && typeof license !== 'string') throw new Error(`${folder} says nothing of its licence`);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return [`${name} ${version}: ${license}\n`, ...texts.map((text) => `\n${text.trimEnd()}\n`)].join('');
}
