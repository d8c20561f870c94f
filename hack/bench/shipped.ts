/** How the image starts the operator, read off the Dockerfile: what is measured must run under the same settings of Node. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const DOCKERFILE = fileURLToPath(new URL('../../Dockerfile', import.meta.url));

export interface Shipped {
  readonly env: Readonly<Record<string, string>>;
  /** Between `node` and the program. */
  readonly nodeFlags: readonly string[];
}

export async function shipped(): Promise<Shipped> {
  return parseDockerfile(await readFile(DOCKERFILE, 'utf8'));
}

/** The last stage's ENV lines (`ENV NAME=value NAME=value`) and its ENTRYPOINT in exec form. */
export function parseDockerfile(text: string): Shipped {
  const stage = text.slice(text.lastIndexOf('\nFROM ')).replaceAll('\\\n', ' ');
  const env = [...stage.matchAll(/^ENV\s+(.+)$/gm)].flatMap(([, pairs = '']) =>
    [...pairs.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = '', quoted, bare = '']) => [name, quoted ?? bare]),
  );
  const [program, ...words]: string[] = JSON.parse(/^ENTRYPOINT\s+(\[.+\])$/m.exec(stage)?.[1] ?? '[]');
  if (program !== 'node') throw new Error('The last stage of the Dockerfile has no ENTRYPOINT ["node", ...].');
  const end = words.findIndex((word) => !word.startsWith('-'));
  return { env: Object.fromEntries(env), nodeFlags: words.slice(0, end) };
}
