/** How the image starts the operator, read from the Dockerfile, so that tests and benchmarks start it in the same way. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DOCKERFILE = fileURLToPath(new URL('../Dockerfile', import.meta.url));

export interface Shipped {
  readonly env: Readonly<Record<string, string>>;
  /** Between `node` and the program. */
  readonly nodeFlags: readonly string[];
  /** `uid:gid` of the container's process. */
  readonly user: string;
}

export function shipped(): Shipped {
  return parseDockerfile(readFileSync(DOCKERFILE, 'utf8'));
}

/** The last stage's ENV lines (`ENV NAME=value NAME=value`), its USER (`uid:gid`) and its ENTRYPOINT in exec form. */
export function parseDockerfile(text: string): Shipped {
  const stage = text.slice(`\n${text}`.lastIndexOf('\nFROM ')).replaceAll('\\\n', ' ');
  const env = [...stage.matchAll(/^ENV\s+(.+)$/gm)].flatMap(([, pairs = '']) =>
    [...pairs.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = '', quoted, bare = '']) => [name, quoted ?? bare]),
  );
  const [program, ...words]: string[] = JSON.parse(/^ENTRYPOINT\s+(\[.+\])$/m.exec(stage)?.[1] ?? '[]');
  if (program !== 'node') throw new Error('The last stage of the Dockerfile has no ENTRYPOINT ["node", ...].');
  const user = /^USER\s+(\d+:\d+)$/m.exec(stage)?.[1];
  if (user === undefined)
    throw new Error('The last stage of the Dockerfile has no USER in numbers, such as 65532:65532.');
  const end = words.findIndex((word) => !word.startsWith('-'));
  return { env: Object.fromEntries(env), nodeFlags: words.slice(0, end), user };
}
