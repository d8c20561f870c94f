/** Manifests in files. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Document, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml';
import { readChunks } from '../../controllers/kubernetes/exchange.ts';
import { fileProblem } from '../../controllers/kubernetes/kubernetesError.ts';
import { sentence } from '../../controllers/windowspool/util/words.ts';
import { Failure } from './failure.ts';

const MOST_MIB = 64;

/** The text of a file; `-` is the standard input. */
export async function readManifest(filename: string): Promise<string> {
  const input = filename === '-' ? process.stdin : createReadStream(filename);
  const { chunks, isWhole } = await readChunks(input, MOST_MIB * 1024 ** 2).catch((error: unknown) => {
    throw failedRead(filename, error);
  });
  if (isWhole) return Buffer.concat(chunks).toString('utf8');
  throw new Failure(`${shown(filename)} is larger than ${MOST_MIB} MiB. Split it into several files.`);
}

/** A file itself, or the YAML and JSON files of a folder, without its subfolders, as `kubectl apply --filename` reads them. */
export async function manifestFiles(path: string): Promise<readonly string[]> {
  try {
    if (path === '-' || !(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name));
    if (names.length > 0) return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw failedRead(path, error);
  }
  throw new Failure(`Folder ${path} contains no files named *.yaml, *.yml or *.json.`);
}

/** The name of a file for people. */
export function shown(filename: string): string {
  return filename === '-' ? 'the standard input' : filename;
}

/**
 * The objects in a text of YAML or JSON, with those of lists instead of the lists; other values are left out. YAML is read as version 1.1, as kubectl
 * does: 0644 is an octal number.
 */
export function objectsIn(text: string, filename: string): object[] {
  return (jsonIn(text) ?? yamlIn(text, filename)).flatMap(itemsOf);
}

/** The value of a JSON text, which is read much faster than YAML; undefined for other texts. */
function jsonIn(text: string): readonly unknown[] | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return [JSON.parse(text)];
  } catch {
    return undefined;
  }
}

function yamlIn(text: string, filename: string): readonly unknown[] {
  const fail = (problem: string): never => {
    const hint = text.includes('{{') ? ' If it is a template, render it first.' : '';
    throw new Failure(`${shown(filename)} is not YAML: ${sentence(problem)}${hint}`);
  };
  const lineCounter = new LineCounter();
  // The parser takes quadratic time to find duplicate keys.
  const options = { version: '1.1', merge: true, uniqueKeys: false, logLevel: 'error', lineCounter } as const;
  const documents = parseAllDocuments(text, options);
  if ('empty' in documents) return [];
  return documents.map((document) => {
    const [broken] = document.errors;
    if (broken) fail(fileProblem(broken));
    const problem = keyProblem(document, lineCounter);
    if (problem) fail(problem);
    try {
      return document.toJS();
    } catch (error) {
      return fail(fileProblem(error));
    }
  });
}

/** A key that kubectl rejects, and its line. */
function keyProblem(document: Document.Parsed, lineCounter: LineCounter): string | undefined {
  let problem: string | undefined;
  visit(document, {
    Map: (_, { items }) => {
      const known = new Set<unknown>();
      for (const { key } of items) {
        const what = isScalar(key)
          ? known.has(key.value)
            ? `key ${key.value} exists twice`
            : undefined
          : 'a key is not text';
        if (isScalar(key)) known.add(key.value);
        if (what === undefined) continue;
        const { range } = key as { readonly range?: readonly [start: number] };
        problem = `${what} at line ${lineCounter.linePos(range?.[0] ?? 0).line}`;
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return problem;
}

function itemsOf(value: unknown): object[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const { apiVersion, kind, items } = value as { apiVersion?: unknown; kind?: unknown; items?: unknown };
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [value];
  const objects = items.flatMap(itemsOf);
  // In a list of one kind, the API server leaves out that of the items.
  return kind === 'List'
    ? objects
    : objects.map((item) => ({ apiVersion, kind: kind.slice(0, -'List'.length), ...item }));
}

function failedRead(path: string, error: unknown): Failure {
  return new Failure(`Cannot read ${shown(path)}: ${sentence(fileProblem(error))}`);
}
