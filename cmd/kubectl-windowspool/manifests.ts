/** Manifests in files. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { sentence } from '../../controllers/windowspool/util/words.ts';
import { Failure } from './failure.ts';

/** The text of a file; `-` is the standard input. */
export async function readManifest(filename: string): Promise<string> {
  if (filename !== '-') return readFile(filename, 'utf8').catch(failedRead(filename));
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** A file itself, or the YAML and JSON files of a folder, without its subfolders, as `kubectl apply --filename` reads them. */
export async function manifestFiles(path: string): Promise<readonly string[]> {
  if (path === '-' || !(await stat(path).catch(failedRead(path))).isDirectory()) return [path];
  const names = (await readdir(path).catch(failedRead(path))).filter((name) => /\.(ya?ml|json)$/.test(name));
  if (names.length === 0) throw new Failure(`Folder ${path} contains no files named *.yaml, *.yml or *.json.`);
  return names.sort().map((name) => join(path, name));
}

/**
 * The objects in a text of YAML or JSON, with those of lists instead of the lists; other values are left out. YAML is read as version 1.1, as kubectl
 * does: 0644 is an octal number.
 */
export function objectsIn(text: string, filename: string): object[] {
  const documents = parseAllDocuments(text, { version: '1.1', merge: true });
  if ('empty' in documents) return [];
  const [broken] = documents.flatMap(({ errors }) => errors);
  if (broken) throw new Failure(`${filename} is not YAML: ${sentence(broken.message.split('\n')[0] ?? '')}`);
  return documents.flatMap((document) => itemsOf(document.toJS()));
}

function itemsOf(value: unknown): object[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const { kind, items } = value as { kind?: unknown; items?: unknown };
  return kind === 'List' && Array.isArray(items) ? items.flatMap(itemsOf) : [value];
}

function failedRead(path: string): (error: Error) => never {
  return (error) => {
    throw new Failure(`Cannot read ${path}: ${sentence(error.message)}`);
  };
}
