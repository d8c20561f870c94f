/** How the image starts the operator, read from the Dockerfile, so that `make image`, tests and benchmarks start it in the same way. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DOCKERFILE = fileURLToPath(new URL('../Dockerfile', import.meta.url));

export interface Shipped {
  /** Without PATH and HOME, which are folders of the image. */
  readonly env: Readonly<Record<string, string>>;
  /** Between `node` and the program. */
  readonly nodeFlags: readonly string[];
  /** `uid:gid` of the container's process. */
  readonly user: string;
}

/** What the Dockerfile says about the image, in the order of its lines. */
export interface ImageSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string;
  readonly entrypoint: readonly string[];
  /** The folders below build/image of which each is a layer. `$TARGETARCH` in them is the architecture. */
  readonly layers: readonly string[];
}

export function shipped(): Shipped {
  const { env, user, entrypoint } = imageSettings();
  const { PATH, HOME, ...others } = env;
  const [, ...words] = entrypoint;
  const end = words.findIndex((word) => !word.startsWith('-'));
  return { env: others, nodeFlags: words.slice(0, end), user };
}

export function imageSettings(): ImageSettings {
  return parseDockerfile(readFileSync(DOCKERFILE, 'utf8'));
}

/** ENV and LABEL lines (`ENV NAME=value NAME="value"`), USER (`uid:gid`), ENTRYPOINT in exec form, and COPY of folders below build/image to /. */
export function parseDockerfile(text: string): ImageSettings {
  const lines = text.replaceAll(/\\\n\s*/g, ' ');
  const pairs = (word: string) =>
    [...lines.matchAll(new RegExp(`^${word}\\s+(.+)$`, 'gm'))].flatMap(([, rest = '']) =>
      [...rest.matchAll(/([\w.-]+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = '', quoted, bare = '']) => [
        name,
        quoted ?? bare,
      ]),
    );
  const entrypoint: string[] = JSON.parse(/^ENTRYPOINT\s+(\[.+\])$/m.exec(lines)?.[1] ?? '[]');
  if (entrypoint[0] !== 'node') throw new Error('The Dockerfile has no ENTRYPOINT ["node", ...].');
  const user = /^USER\s+(\d+:\d+)$/m.exec(lines)?.[1];
  if (user === undefined) throw new Error('The Dockerfile has no USER in numbers, such as 65532:65532.');
  const copies = lines.matchAll(/^COPY build\/image\/(\S+) \/$/gm);
  return {
    env: Object.fromEntries(pairs('ENV')),
    labels: Object.fromEntries(pairs('LABEL')),
    user,
    entrypoint,
    layers: [...copies].map(([, folder = '']) => folder),
  };
}
