/** Builds the image, for all its architectures and without a container engine. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { imageSettings } from '../shipped.ts';
import { debianFiles, nodeFiles, operatorFiles } from './files.ts';
import { type Layer, OciLayout } from './oci.ts';
import { ARCHITECTURES, type Architecture, readPins } from './pins.ts';
import { imageSource } from './source.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface BuildOptions {
  /** For the files and the image. Default: build/image, from which the Dockerfile copies. */
  readonly folder?: string;
  /** Default: all. */
  readonly architectures?: readonly Architecture[];
  /** The name in the archive, with registry and tag. Default: one without a registry, as containerd writes it. */
  readonly reference?: string;
}

export interface BuiltImage {
  /** The OCI layout in one file, for `ctr images import`, `skopeo copy oci-archive:` and `podman load`. */
  readonly archive: string;
  /** The folder of the OCI layout. */
  readonly layout: string;
  /** Of the index, which names the images of all architectures. */
  readonly digest: string;
  readonly images: readonly ArchitectureImage[];
}

interface ArchitectureImage {
  readonly architecture: Architecture;
  readonly digest: string;
  readonly layers: readonly Layer[];
}

/**
 * Builds the image from hack/image/pins.json, the sources, and the settings in the Dockerfile. The same commit gives the same digest on each
 * machine. Throws if a downloaded file has another hash than its pin.
 */
export async function buildImage(options: BuildOptions = {}): Promise<BuiltImage> {
  const { folder = join(ROOT, 'build/image'), architectures = ARCHITECTURES } = options;
  const { reference = `docker.io/library/${manifest.name}:${manifest.version}` } = options;
  const { revision, created } = await imageSource();
  const settings = imageSettings();
  const labels = {
    ...settings.labels,
    'org.opencontainers.image.version': manifest.version,
    'org.opencontainers.image.created': created,
    ...(revision && { 'org.opencontainers.image.revision': revision }),
  };
  await writeFiles(folder, architectures);
  const layout = await OciLayout.create(join(folder, 'oci'));
  const layers = new Map<string, Promise<Layer>>();
  const layerOf = (path: string) => {
    const layer = layers.get(path) ?? layout.addLayer(path, join(folder, path));
    layers.set(path, layer);
    return layer;
  };
  const images = await Promise.all(
    architectures.map(async (architecture) => {
      const paths = settings.layers.map((path) => path.replace('$TARGETARCH', architecture));
      const ofImage = await Promise.all(paths.map(layerOf));
      const descriptor = await layout.addImage(architecture, { ...settings, labels }, ofImage, created);
      return { architecture, layers: ofImage, descriptor };
    }),
  );
  const { digest } = await layout.addIndex(
    images.map(({ descriptor }) => descriptor),
    labels,
    reference,
  );
  const archive = join(folder, `${manifest.name}-${manifest.version}.tar`);
  await layout.pack(archive);
  return {
    archive,
    layout: layout.folder,
    digest,
    images: images.map(({ descriptor, ...image }) => ({ ...image, digest: descriptor.digest })),
  };
}

/** Writes the files of all layers, each into the folder from which the Dockerfile copies it. */
async function writeFiles(folder: string, architectures: readonly Architecture[]): Promise<void> {
  const pins = await readPins();
  for (const name of ['all', ...ARCHITECTURES]) await rm(join(folder, name), { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await operatorFiles(join(folder, 'all/operator'));
  for (const architecture of architectures) {
    await debianFiles(architecture, pins, join(folder, architecture, 'debian'));
    await nodeFiles(architecture, pins, join(folder, architecture, 'node'));
  }
}
