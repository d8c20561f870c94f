/** How the operator is shipped, read from the Dockerfile and the Deployment, so that `make image`, tests and benchmarks start it in the same way. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { V1Deployment } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { parseQuantity } from '../controllers/windowspool/util/quantity.ts';

const DOCKERFILE = fileURLToPath(new URL('../Dockerfile', import.meta.url));
const DEPLOYMENT = fileURLToPath(new URL('../config/manager/deployment.yaml', import.meta.url));

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

/** The memory that the Deployment requests for the container, and its limit, in MB. */
export function shippedMemory(): { readonly requestMB: number; readonly limitMB: number } {
  const { spec } = parse(readFileSync(DEPLOYMENT, 'utf8')) as V1Deployment;
  const { requests, limits } = spec?.template.spec?.containers[0]?.resources ?? {};
  return { requestMB: megabytesOf(requests?.memory), limitMB: megabytesOf(limits?.memory) };
}

/** A quantity of memory in MB. */
export function megabytesOf(quantity: string | undefined): number {
  return (parseQuantity(quantity) ?? Number.NaN) / 1e6;
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
