/** Downloads what pins.json names, once for all checkouts, and checks each file against its hash. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheRoot } from '../gobuild/find.ts';
import { debianMirror, debianSnapshot } from './mirror.ts';
import { type Architecture, type DebianPin, NODE_PACKAGES, type Pins } from './pins.ts';
import { runOrThrow } from './run.ts';

const APT_HELPER = '/usr/lib/apt/apt-helper';
/** apt's own user cannot write into the folder. */
const APT_OPTIONS = ['APT::Sandbox::User=root', 'Acquire::http::Timeout=30', 'Acquire::Retries=2'].flatMap((option) => [
  '-o',
  option,
]);
const TIMEOUT_MS = 300_000;
const UPDATE =
  "Run make image-pins, which updates hack/image/pins.json, and review the change. To build an earlier version, set DEBIAN_SNAPSHOT to the URL of Debian's archive of all versions.";

/** The path of a Debian package. A file that the mirror no longer has is downloaded from DEBIAN_SNAPSHOT, if that is set. */
export function debianFile(name: string, pin: DebianPin, snapshot: string): Promise<string> {
  return cached(`${name} ${pin.version}`, { algorithm: 'sha256', digest: pin.sha256 }, async (folder) => {
    const file = join(folder, 'package.deb');
    const archive = debianSnapshot();
    const urls = [
      `${await debianMirror()}/${pin.path}`,
      ...(archive === undefined ? [] : [`${archive}/archive/${pin.path.replace('/', `/${snapshot}/`)}`]),
    ];
    const errors: string[] = [];
    for (const url of urls) {
      const args = [...APT_OPTIONS, 'download-file', url, file, `SHA256:${pin.sha256}`];
      try {
        await runOrThrow(APT_HELPER, args, TIMEOUT_MS);
        return file;
      } catch (error) {
        errors.push(error instanceof Error ? error.message : String(error));
      }
    }
    throw new Error(
      `The Debian package ${name} ${pin.version} could not be downloaded. ${UPDATE}\n${errors.join('\n')}`,
    );
  });
}

/** The path of the tarball of Node's npm package, from the registry of npm's configuration. */
export function nodeTarball(architecture: Architecture, { version, integrity }: Pins['node']): Promise<string> {
  const name = `${NODE_PACKAGES[architecture]}@${version}`;
  const digest = Buffer.from(integrity[architecture].replace('sha512-', ''), 'base64').toString('hex');
  return cached(name, { algorithm: 'sha512', digest }, async (folder) => {
    await runOrThrow('npm', ['pack', name, '--silent', `--pack-destination=${folder}`], TIMEOUT_MS);
    const [file = ''] = await readdir(folder);
    return join(folder, file);
  });
}

/** Downloads all files of an architecture, for a build that has no network. */
export async function downloadAll(architecture: Architecture, { debian, node }: Pins): Promise<void> {
  for (const [name, pins] of Object.entries(debian.packages))
    await debianFile(name, pins[architecture], debian.snapshot);
  await nodeTarball(architecture, node);
}

interface Hash {
  readonly algorithm: 'sha256' | 'sha512';
  /** In hexadecimal digits. */
  readonly digest: string;
}

/** A file of the cache with this hash; `download` writes it into a folder and returns its path. Throws if its hash is another one. */
export async function cached(
  what: string,
  hash: Hash,
  download: (folder: string) => Promise<string>,
  cache = join(cacheRoot(), 'image'),
): Promise<string> {
  const target = join(cache, hash.digest.slice(0, 32));
  const digestOf = async (path: string) =>
    createHash(hash.algorithm)
      .update(await readFile(path))
      .digest('hex');
  if ((await digestOf(target).catch(() => undefined)) === hash.digest) return target;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'download-'));
  try {
    const file = await download(folder);
    const digest = await digestOf(file);
    if (digest !== hash.digest)
      throw new Error(
        `${what} has the ${hash.algorithm} hash ${digest}, and hack/image/pins.json pins ${hash.digest}. Check where it came from, and run make image-pins if it is the right file.`,
      );
    await rename(file, target);
    return target;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
