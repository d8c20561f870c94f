/** Asks the registries of images which operating systems the images are for: https://github.com/opencontainers/distribution-spec/blob/main/spec.md */
import { createHash } from 'node:crypto';
import PQueue from 'p-queue';
import { messageOf } from '../../../controllers/kubernetes/kubernetesError.ts';
import { joined, sentence } from '../../../controllers/windowspool/util/words.ts';
import type { ImageAnswer, ImageAnswers, Variant } from '../../../controllers/workloads/imageVariants.ts';
import { type Credentials, credentialsFor } from './credentials.ts';
import { exchange, followed, type Response, Unreachable } from './exchange.ts';
import { DIGEST, type ImageReference, parseImage, urlOf } from './reference.ts';

/** How the registries are asked. */
export interface RegistryOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Of each request. */
  readonly timeoutMs: number;
  /** Registries that are asked over HTTP. */
  readonly insecure: readonly string[];
}

const CONCURRENCY = 4;
/** The limit that the specification recommends for manifests. Configurations are smaller. */
const MOST_BYTES = 4 * 1024 ** 2;
const MOST_TOKEN_BYTES = 64 * 1024;
/** Images in an index whose own manifests are read, because the index does not say what they are for. */
const MOST_READ = 8;
const INDEXES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];
const MANIFESTS = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const ACCEPT = [...INDEXES, ...MANIFESTS].join(', ');
/** A system that the registry does not name. */
const UNKNOWN = 'unknown';
const NAME = /^[\w.+-]{1,64}$/;

/** An index, a manifest, or a configuration: what of it is read, with the types that it should have. */
interface Content {
  readonly manifests?: unknown;
  readonly config?: { readonly digest?: unknown } | null;
}

interface Platform {
  readonly os?: unknown;
  readonly architecture?: unknown;
  readonly 'os.version'?: unknown;
}

/** An image in an index. */
interface Descriptor {
  readonly platform?: Platform | null;
  readonly digest?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>> | null;
}

/** The registries of images. What they have said is kept by digest, so that images that share a manifest are read once. */
export class Registries {
  readonly #options: RegistryOptions;
  readonly #queue = new PQueue({ concurrency: CONCURRENCY });
  readonly #variants = new Map<string, Promise<readonly Variant[]>>();
  /** The header for each repository. */
  readonly #authorizations = new Map<string, Promise<string>>();
  /** Why a registry is asked nothing more. */
  readonly #down = new Map<string, Error>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** Asks about each image once. Rejects only if the signal aborts. */
  async ask(images: Iterable<string>): Promise<ImageAnswers> {
    const answers = [...new Set(images)].map(async (image) => {
      const answer = await this.#queue.add(() => this.#answer(image));
      return [image, answer] as const;
    });
    return new Map(await Promise.all(answers));
  }

  async #answer(image: string): Promise<ImageAnswer> {
    const reference = parseImage(image);
    if (!reference) return { kind: 'unknown', image, reason: 'it is not the name of an image' };
    const { registry } = reference;
    try {
      const down = this.#down.get(registry);
      if (down) throw down;
      const body = await this.#read(reference, 'manifests', reference.reference);
      if (!body) return { kind: 'notFound', image, registry };
      const digest = digestOf(body);
      if (DIGEST.test(reference.reference) && digest !== reference.reference)
        throw new Error(`${registry} answers with other content than the digest says`);
      return { kind: 'found', image, digest, variants: await this.#variantsOf(reference, body, digest) };
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (error instanceof Unreachable) this.#down.set(registry, error);
      return { kind: 'unknown', image, reason: messageOf(error) };
    }
  }

  #variantsOf(image: ImageReference, body: Buffer, digest: string): Promise<readonly Variant[]> {
    const variants = this.#variants.get(digest) ?? this.#readVariants(image, body);
    this.#variants.set(digest, variants);
    // Another registry may have what this one does not return.
    variants.catch(() => this.#variants.delete(digest));
    return variants;
  }

  async #readVariants(image: ImageReference, body: Buffer): Promise<readonly Variant[]> {
    const manifest = parsed<Content>(body, image);
    if (!Array.isArray(manifest.manifests)) return [await this.#variantOf(image, manifest)];
    const variants: Variant[] = [];
    let read = 0;
    for (const entry of manifest.manifests as (Descriptor | null)[]) {
      const { platform, digest, annotations } = entry ?? {};
      const named = variantOf(platform ?? {});
      // Of attestations: https://docs.docker.com/build/metadata/attestations/attestation-storage/
      if (platform?.os === UNKNOWN || annotations?.['vnd.docker.reference.type'] === 'attestation-manifest') continue;
      const isComplete = named.os !== UNKNOWN && (named.os !== 'windows' || named.osVersion !== undefined);
      const isRead = !isComplete && read++ < MOST_READ;
      variants.push(isRead ? await this.#variantOf(image, await this.#part(image, 'manifests', digest)) : named);
    }
    if (variants.length === 0) throw new Error(`${image.registry} has no image in the index`);
    return variants;
  }

  /** What the configuration of an image says, which is in a file of its own. */
  async #variantOf(image: ImageReference, { config }: Content): Promise<Variant> {
    return variantOf(await this.#part(image, 'blobs', config?.digest));
  }

  async #part<T>(image: ImageReference, kind: 'manifests' | 'blobs', digest: unknown): Promise<T> {
    if (typeof digest !== 'string' || !DIGEST.test(digest))
      throw new Error(`${image.registry} answers with a manifest that this version does not know`);
    const body = await this.#read(image, kind, digest);
    if (body && digestOf(body) === digest) return parsed<T>(body, image);
    throw new Error(`${image.registry} does not have the content of ${digest}`);
  }

  /** undefined: it does not exist. */
  async #read(image: ImageReference, kind: 'manifests' | 'blobs', reference: string): Promise<Buffer | undefined> {
    const { registry } = image;
    const { status, body } = await this.#get(image, kind, reference);
    if (status === 200) return body;
    if (status === 404) return undefined;
    if (status === 401 || status === 403) throw denied(image);
    if (status === 429) throw new Unreachable(`${registry} limits the requests (HTTP 429). Try again later`);
    throw new Error(`${registry} answers with HTTP ${status}`);
  }

  /** Asks without credentials first, as docker does: many images are public. A token that has expired is replaced. */
  async #get(image: ImageReference, kind: 'manifests' | 'blobs', reference: string): Promise<Response> {
    const { registry, repository } = image;
    const key = `${registry}/${repository}`;
    const send = async (authorization: string | undefined) =>
      exchange(
        {
          url: new URL(`v2/${repository}/${kind}/${reference}`, this.#urlOf(registry)),
          authorization,
          ...(kind === 'manifests' && { accept: ACCEPT }),
          mostBytes: MOST_BYTES,
        },
        this.#options,
      );
    const used = this.#authorizations.get(key);
    const response = await send(await used);
    if (response.status !== 401) return response;
    if (this.#authorizations.get(key) === used)
      this.#authorizations.set(key, this.#authorize(image, response.challenge));
    return send(await this.#authorizations.get(key));
  }

  /** The header for a challenge: https://distribution.github.io/distribution/spec/auth/token/ */
  async #authorize(image: ImageReference, challenge: string): Promise<string> {
    const { realm, service } = bearerIn(challenge);
    const credentials = await credentialsFor(image, this.#options).catch((error: Error) => error);
    if (!(credentials instanceof Error) && credentials?.kind === 'registry') return `Bearer ${credentials.token}`;
    if (realm === undefined) {
      if (!/\bbasic\b/i.test(challenge)) throw new Error(`${image.registry} does not say how to log in`);
      if (credentials instanceof Error) throw credentials;
      if (credentials?.kind !== 'password') throw denied(image);
      return basic(credentials);
    }
    const token = await this.#token(image, realm, service, credentials instanceof Error ? undefined : credentials);
    if (token !== undefined) return `Bearer ${token}`;
    if (credentials instanceof Error) throw credentials;
    throw denied(image);
  }

  /** undefined: the server of tokens does not accept the credentials. */
  async #token(
    image: ImageReference,
    realm: string,
    service: string,
    credentials: Credentials | undefined,
  ): Promise<string | undefined> {
    const registry = this.#urlOf(image.registry);
    const url = followed(registry, realm, registry);
    const fields = { service, scope: `repository:${image.repository}:pull` };
    const isIdentity = credentials?.kind === 'identity';
    if (!isIdentity) for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
    const { status, body } = await exchange(
      {
        url,
        authorization: credentials?.kind === 'password' ? basic(credentials) : undefined,
        ...(isIdentity && {
          form: {
            ...fields,
            grant_type: 'refresh_token',
            client_id: 'kubectl-windowspool',
            refresh_token: credentials.token,
          },
        }),
        mostBytes: MOST_TOKEN_BYTES,
      },
      this.#options,
    );
    if (status === 401 || status === 403) return undefined;
    const { token, access_token: other } =
      status === 200 ? parsed<{ token?: unknown; access_token?: unknown }>(body, image) : {};
    const found = token ?? other;
    if (typeof found === 'string' && /^[\x21-\x7e]+$/.test(found)) return found;
    throw new Error(
      `${url.host}, which issues the tokens of ${image.registry}, answers with HTTP ${status} and no token`,
    );
  }

  #urlOf(registry: string): URL {
    return urlOf(registry, this.#options.insecure.includes(registry));
  }
}

/** What could not be asked, a line for each reason. */
export function unknownImages(answers: ImageAnswers): string[] {
  const byReason = new Map<string, string[]>();
  for (const answer of answers.values())
    if (answer.kind === 'unknown') byReason.set(answer.reason, [...(byReason.get(answer.reason) ?? []), answer.image]);
  return [...byReason].map(([reason, images]) => {
    const [subject, tags] = images.length === 1 ? ['build', 'its tag was'] : ['builds', 'their tags were'];
    return `The Windows ${subject} of ${joined(images, 3)} could not be read, so only ${tags} checked: ${sentence(reason)}`;
  });
}

function basic({ username, password }: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** The realm of a challenge of type Bearer; without one, the registry wants the credentials themselves. */
function bearerIn(challenge: string): { readonly realm?: string; readonly service: string } {
  const [, parameters] = /\bbearer\s(.*)/is.exec(challenge.slice(0, 4096)) ?? [];
  const parameter = (name: string) => new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(parameters ?? '')?.[1];
  const realm = parameter('realm');
  return { ...(realm !== undefined && { realm }), service: parameter('service') ?? '' };
}

function denied({ registry, repository }: ImageReference): Error {
  return new Error(
    `${registry} does not let you pull ${repository}. Check that it exists, and log in: docker login ${registry}`,
  );
}

function parsed<T>(body: Buffer, { registry }: ImageReference): T {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as T;
  } catch {
    // The text of the registry would be in the message.
  }
  throw new Error(`${registry} answers with something else than a JSON object`);
}

function digestOf(body: Buffer): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

/** Other names of architectures, which containerd knows: https://github.com/containerd/platforms/blob/main/database.go */
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['x86_64', 'amd64'],
  ['x86-64', 'amd64'],
  ['aarch64', 'arm64'],
]);

function variantOf({ os, architecture, 'os.version': version }: Platform): Variant {
  const text = (value: unknown) => (typeof value === 'string' && NAME.test(value) ? value : undefined);
  const osVersion = text(version);
  const named = text(architecture)?.toLowerCase() ?? UNKNOWN;
  return {
    os: text(os)?.toLowerCase() ?? UNKNOWN,
    architecture: ARCHITECTURES.get(named) ?? named,
    ...(osVersion !== undefined && { osVersion }),
  };
}
