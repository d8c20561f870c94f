/** Writes an image in the layout of the OCI image specification: https://github.com/opencontainers/image-spec. The same input gives the same bytes. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ImageSettings } from '../shipped.ts';
import type { Architecture } from './pins.ts';
import { tar, USUAL_MODES } from './tar.ts';

const MEDIA = 'application/vnd.oci.image';

/** Names a blob, as in manifests. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: 'linux'; readonly architecture: Architecture };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A layer in the layout. */
export interface Layer {
  readonly name: string;
  readonly descriptor: Descriptor;
  /** The digest of the layer before compression. */
  readonly diffId: string;
  readonly unpackedBytes: number;
}

/** A folder with blobs by their digest. */
export class OciLayout {
  readonly folder: string;
  readonly #blobs: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#blobs = join(folder, 'blobs/sha256');
  }

  /** Creates an empty layout, in place of one that is there. */
  static async create(folder: string): Promise<OciLayout> {
    const layout = new OciLayout(folder);
    await rm(folder, { recursive: true, force: true });
    await mkdir(layout.#blobs, { recursive: true });
    await writeFile(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
    return layout;
  }

  /** Adds the files in a folder as a layer. `name` is unique. */
  async addLayer(name: string, files: string): Promise<Layer> {
    const archive = join(this.folder, `${name.replaceAll('/', '-')}.tar`);
    await tar(archive, files);
    const compressed = `${archive}.gz`;
    await pipeline(createReadStream(archive), createGzip(), createWriteStream(compressed));
    const layer = {
      name,
      diffId: await digestOfFile(archive),
      unpackedBytes: (await stat(archive)).size,
      descriptor: {
        mediaType: `${MEDIA}.layer.v1.tar+gzip`,
        digest: await digestOfFile(compressed),
        size: (await stat(compressed)).size,
      },
    };
    await rm(archive);
    await rename(compressed, join(this.#blobs, layer.descriptor.digest.replace('sha256:', '')));
    return layer;
  }

  /** Adds the image of an architecture. `created` is in RFC 3339. */
  async addImage(
    architecture: Architecture,
    settings: Omit<ImageSettings, 'layers'>,
    layers: readonly Layer[],
    created: string,
  ): Promise<Descriptor> {
    const config = await this.#addJson(`${MEDIA}.config.v1+json`, {
      created,
      architecture,
      os: 'linux',
      config: {
        User: settings.user,
        Env: Object.entries(settings.env).map(([name, value]) => `${name}=${value}`),
        Entrypoint: settings.entrypoint,
        WorkingDir: '/',
        Labels: settings.labels,
      },
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
      history: layers.map(({ name }) => ({ created, created_by: `COPY build/image/${name} /` })),
    });
    const manifest = await this.#addJson(`${MEDIA}.manifest.v1+json`, {
      config,
      layers: layers.map(({ descriptor }) => descriptor),
      annotations: settings.labels,
    });
    return { ...manifest, platform: { os: 'linux', architecture } };
  }

  /**
   * Adds the index of the images of all architectures, whose digest is that of the image, and makes it the content of the layout under
   * `reference`, a name with a registry and a tag.
   */
  async addIndex(
    images: readonly Descriptor[],
    annotations: Readonly<Record<string, string>>,
    reference: string,
  ): Promise<Descriptor> {
    const index = await this.#addJson(`${MEDIA}.index.v1+json`, { manifests: images, annotations });
    const names = {
      // For containerd; the other programs know only the tag.
      'io.containerd.image.name': reference,
      'org.opencontainers.image.ref.name': reference.slice(reference.lastIndexOf(':') + 1),
    };
    const content = {
      schemaVersion: 2,
      mediaType: `${MEDIA}.index.v1+json`,
      manifests: [{ ...index, annotations: names }],
    };
    await writeFile(join(this.folder, 'index.json'), JSON.stringify(content));
    return index;
  }

  /** Packs the layout into one file. */
  async pack(archive: string): Promise<void> {
    await tar(archive, this.folder, USUAL_MODES);
  }

  async #addJson(mediaType: string, fields: object): Promise<Descriptor> {
    const isConfig = mediaType.includes('.config.');
    const text = JSON.stringify(isConfig ? fields : { schemaVersion: 2, mediaType, ...fields });
    const digest = createHash('sha256').update(text).digest('hex');
    await writeFile(join(this.#blobs, digest), text);
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
  }
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return `sha256:${hash.digest('hex')}`;
}
