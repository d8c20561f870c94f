/** The software bill of materials of a bundle and of the image, in CycloneDX. The same sources and pins give the same bytes: there is no serial number. */
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { Architecture, Pins } from '../image/pins.ts';
import { NODE_PACKAGES } from '../image/pins.ts';
import type { BundledPackage } from '../licences.ts';

/** The parts of a CycloneDX document that are used here. https://cyclonedx.org/docs/1.5/json/ */
export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.5';
  readonly version: 1;
  readonly metadata: { readonly timestamp?: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

export interface Component {
  readonly 'bom-ref': string;
  readonly type: 'application' | 'container' | 'library' | 'operating-system';
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly cpe?: string;
  readonly licenses?: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[];
  readonly hashes?: readonly { readonly alg: 'SHA-256' | 'SHA-512'; readonly content: string }[];
}

/** Of this project. */
const LICENCE = 'Apache-2.0';

/** The parts of package-lock.json that are used here. */
interface LockedPackage {
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Of a program of this project with these packages in its bundle, and of no others. `root` is the folder of package-lock.json. Throws if that has no
 * hash of a package.
 */
export async function sbomOf(
  root: string,
  product: { readonly name: string; readonly version: string },
  packages: readonly BundledPackage[],
): Promise<Sbom> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const locked: Readonly<Record<string, LockedPackage>> = lock.packages;
  const folders = new Map(packages.map((one) => [one.folder, refOf(one)]));
  const edges = new Map<string, Set<string>>();
  for (const [folder, ref] of [['', refOf(product)] as const, ...folders]) {
    const { dependencies, optionalDependencies, peerDependencies } = locked[folder] ?? {};
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    const found = names.flatMap((name) => folders.get(nearest(folders, folder, name) ?? '') ?? []);
    edges.set(ref, new Set([...(edges.get(ref) ?? []), ...found]));
  }
  const components = new Map(packages.map((one) => [refOf(one), npmComponent(one, locked[one.folder])]));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        'bom-ref': refOf(product),
        type: 'application',
        ...product,
        licenses: [{ license: { id: LICENCE } }],
      },
    },
    components: [...components.values()].sort(byRef),
    dependencies: [...edges].map(([ref, to]) => ({ ref, dependsOn: [...to].sort() })),
  };
}

/** Of the image of an architecture: the bundle, Node.js and the packages of Debian. `created` is in RFC 3339. */
export function imageSbom(bundle: Sbom, pins: Pins, architecture: Architecture, created: string): Sbom {
  const { component: operator } = bundle.metadata;
  const container: Component = {
    'bom-ref': `image-linux-${architecture}`,
    type: 'container',
    name: operator.name,
    version: operator.version,
  };
  const os: Component = {
    'bom-ref': 'operating-system',
    type: 'operating-system',
    name: 'debian',
    version: pins.debian.release,
  };
  const debian = debianComponents(pins.debian, architecture);
  const parts = [operator, nodeComponent(pins.node, architecture), os, ...debian];
  const dependsOn = parts.map((part) => part['bom-ref']).sort();
  return {
    ...bundle,
    metadata: { timestamp: created, component: container },
    components: [...parts, ...bundle.components].sort(byRef),
    dependencies: [{ ref: container['bom-ref'], dependsOn }, ...bundle.dependencies],
  };
}

function npmComponent({ name, version, licence }: BundledPackage, locked?: LockedPackage): Component {
  if (!locked?.integrity?.startsWith('sha512-'))
    throw new Error(
      `package-lock.json has no SHA-512 hash of ${name}@${version}. Run make deps, and check package-lock.json.`,
    );
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(licence !== undefined && {
      licenses: [/ /.test(licence) ? { expression: licence } : { license: { id: licence } }],
    }),
    hashes: [sha512(locked.integrity)],
  };
}

function nodeComponent({ version, integrity }: Pins['node'], architecture: Architecture): Component {
  return {
    'bom-ref': `node@${version}`,
    type: 'application',
    name: 'node',
    version,
    purl: `pkg:npm/${NODE_PACKAGES[architecture]}@${version}`,
    // By which its vulnerabilities are listed.
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    licenses: [{ license: { id: 'MIT' } }],
    hashes: [sha512(integrity[architecture])],
  };
}

function debianComponents({ packages, release }: Pins['debian'], architecture: Architecture): readonly Component[] {
  return Object.entries(packages).map(([name, pins]) => {
    const { version, source, path, sha256 } = pins[architecture];
    const arch = /_([a-z0-9]+)\.deb$/.exec(path)?.[1] ?? architecture;
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}`;
    return {
      'bom-ref': `debian/${name}@${version}`,
      type: 'library',
      name,
      version,
      purl: `${purl}?arch=${arch}&distro=debian-${release}&upstream=${encodeURIComponent(source)}`,
      hashes: [{ alg: 'SHA-256', content: sha256 }],
    };
  });
}

const refOf = ({ name, version }: { readonly name: string; readonly version: string }) => `${name}@${version}`;

const byRef = (one: Component, other: Component) => (one['bom-ref'] < other['bom-ref'] ? -1 : 1);

function sha512(integrity: string) {
  const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  return { alg: 'SHA-512', content } as const;
}

/** The folder from which Node.js loads `name` when a module in `folder` imports it. */
function nearest(folders: ReadonlyMap<string, string>, folder: string, name: string): string | undefined {
  const path = posix.join(folder, 'node_modules', name);
  if (folders.has(path)) return path;
  return folder === ''
    ? undefined
    : nearest(folders, folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1)), name);
}
