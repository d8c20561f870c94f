/** The newest packages of the Debian release, and the hashes of Node's npm packages. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { debianMirror } from './mirror.ts';
import { ARCHITECTURES, type Architecture, type DebianPin, NODE_PACKAGES, type Pins } from './pins.ts';
import { runOrThrow } from './run.ts';

const SUITE = 'trixie';
const RELEASE = '13';
/** Debian's own archive keys, from the package debian-archive-keyring. */
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const TIMEOUT_MS = 300_000;

/**
 * Shared libraries of Node.js and what they depend on; base-files for the names of the release and the texts of licences; certificates for
 * `--use-system-ca`; time zones for TZ.
 */
const PACKAGES = ['base-files', 'ca-certificates', 'gcc-14-base', 'libc6', 'libgcc-s1', 'libstdc++6', 'tzdata'];

/**
 * Asks Debian's mirror and npm's registry. The signatures of the package lists are checked with Debian's archive keys. Touches nothing of the
 * machine's own apt.
 */
export async function newestPins(now: Date): Promise<Pins> {
  const folder = await mkdtemp(join(tmpdir(), 'windowspool-image-pins-'));
  try {
    const mirror = await debianMirror();
    const found = await Promise.all(
      ARCHITECTURES.map(
        async (architecture) => [architecture, await debianPins(architecture, folder, mirror)] as const,
      ),
    );
    const pins = Object.fromEntries(found) as Record<Architecture, Record<string, DebianPin>>;
    const ofName = (name: string) =>
      Object.fromEntries(ARCHITECTURES.map((architecture) => [architecture, pins[architecture][name]]));
    return {
      node: { version: manifest.devDependencies.node, integrity: await nodeIntegrity() },
      debian: {
        release: RELEASE,
        snapshot: now.toISOString().replaceAll(/[-:]|\.\d+/g, ''),
        packages: Object.fromEntries(PACKAGES.map((name) => [name, ofName(name)])) as Pins['debian']['packages'],
      },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function nodeIntegrity(): Promise<Record<Architecture, string>> {
  const version = manifest.devDependencies.node;
  const found = await Promise.all(
    ARCHITECTURES.map(async (architecture) => {
      const args = ['view', `${NODE_PACKAGES[architecture]}@${version}`, 'dist.integrity'];
      const integrity = (await runOrThrow('npm', args, TIMEOUT_MS)).trim();
      if (!/^sha512-[\w+/]+=*$/.test(integrity))
        throw new Error(`npm ${args.join(' ')} printed ${JSON.stringify(integrity)}, not a SHA-512 hash.`);
      return [architecture, integrity];
    }),
  );
  return Object.fromEntries(found);
}

async function debianPins(
  architecture: Architecture,
  folder: string,
  mirror: string,
): Promise<Record<string, DebianPin>> {
  const options = await aptOptions(architecture, join(folder, architecture), mirror);
  await runOrThrow('apt-get', [...options, 'update'], TIMEOUT_MS);
  const uris = await runOrThrow('apt-get', [...options, 'download', '--print-uris', ...PACKAGES], TIMEOUT_MS);
  const shown = await runOrThrow('apt-cache', [...options, 'show', '--no-all-versions', ...PACKAGES], TIMEOUT_MS);
  return Object.fromEntries(PACKAGES.map((name) => [name, pinOf(name, shown, uris, mirror)]));
}

/**
 * @param shown the fields of all packages, as apt-cache prints them
 * @param uris lines such as `'MIRROR/debian/pool/main/t/tzdata/tzdata_1_all.deb' tzdata_1_all.deb 267528 SHA256:2c1c...`
 */
function pinOf(name: string, shown: string, uris: string, mirror: string): DebianPin {
  const fields = shown.split('\n\n').find((text) => text.startsWith(`Package: ${name}\n`)) ?? '';
  const field = (key: string) => new RegExp(`^${key}: (\\S+)`, 'm').exec(fields)?.[1];
  const escaped = name.replaceAll('+', '\\+');
  const line = new RegExp(`^'${mirror}/(\\S+/)([^/']+)' ${escaped}_\\S+ \\d+ SHA256:([0-9a-f]{64})$`, 'm').exec(uris);
  const version = field('Version');
  if (!line || version === undefined)
    throw new Error(`apt-get reports no file of ${name} with its SHA-256 hash:\n${uris}`);
  const [, folder = '', file = '', sha256 = ''] = line;
  return { version, source: field('Source') ?? name, path: `${folder}${decodeURIComponent(file)}`, sha256 };
}

/** Options of apt with its own lists, sources and state, and another architecture than the machine's. */
async function aptOptions(architecture: Architecture, folder: string, mirror: string): Promise<readonly string[]> {
  for (const name of ['state/lists/partial', 'cache/archives/partial', 'etc'])
    await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'state/status'), '');
  const from = `deb [signed-by=${KEYRING}] ${mirror}`;
  const sources = [`${from}/debian ${SUITE} main`, `${from}/debian-security ${SUITE}-security main`];
  await writeFile(join(folder, 'etc/sources.list'), `${sources.join('\n')}\n`);
  return [
    `Dir::State=${folder}/state`,
    `Dir::State::status=${folder}/state/status`,
    `Dir::Cache=${folder}/cache`,
    `Dir::Etc::sourcelist=${folder}/etc/sources.list`,
    'Dir::Etc::sourceparts=-',
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    // Also fails if only the list of security updates could not be read.
    'APT::Update::Error-Mode=any',
  ].flatMap((option) => ['-o', option]);
}
