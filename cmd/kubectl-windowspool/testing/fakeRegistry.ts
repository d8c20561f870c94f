/** An image registry in memory, for tests. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Registries } from '../registry/registries.ts';

const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** A request to the registry. */
export interface RegistryRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  readonly body: string;
}

interface RegistryResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The platform of an image: `linux/amd64`, `windows/amd64 10.0.20348.1`. */
export type PlatformName = string;

export class FakeRegistry implements AsyncDisposable {
  readonly requests: RegistryRequest[] = [];
  /** Answers a request before anything else does; undefined: it does not. */
  intercept: (request: RegistryRequest) => RegistryResponse | undefined = () => undefined;
  readonly #contents = new Map<string, { readonly type: string; readonly body: string }>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const { status, headers, body } = this.#answer(await read(request));
      response.writeHead(status, headers).end(body);
    });
  }

  static async start(): Promise<FakeRegistry> {
    const registry = new FakeRegistry();
    await new Promise<void>((resolve) => registry.#server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  /** `127.0.0.1:5000`. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds an image with one manifest. Returns its digest. */
  addImage(repository: string, tag: string, platform: PlatformName): string {
    const config = this.#put(repository, 'blobs', 'application/vnd.oci.image.config.v1+json', fieldsOf(platform));
    return this.addContent(repository, tag, MANIFEST, { schemaVersion: 2, config: { digest: config } });
  }

  /** Adds an image with a variant for each platform. Returns its digest. */
  addIndex(repository: string, tag: string, ...platforms: readonly PlatformName[]): string {
    const manifests = platforms.map((platform) => ({ digest: digestOf(platform), platform: fieldsOf(platform) }));
    return this.addContent(repository, tag, INDEX, { schemaVersion: 2, manifests });
  }

  /** Adds what a tag refers to. Returns its digest. */
  addContent(repository: string, tag: string, type: string, content: unknown): string {
    const digest = this.#put(repository, 'manifests', type, content);
    const path = (reference: string) => `/v2/${repository}/manifests/${reference}`;
    const stored = this.#contents.get(path(digest));
    if (stored) this.#contents.set(path(tag), stored);
    return digest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #put(repository: string, kind: 'manifests' | 'blobs', type: string, content: unknown): string {
    const body = JSON.stringify(content);
    const digest = digestOf(body);
    this.#contents.set(`/v2/${repository}/${kind}/${digest}`, { type, body });
    return digest;
  }

  #answer(request: RegistryRequest): RegistryResponse {
    this.requests.push(request);
    const found = this.#contents.get(request.path);
    return (
      this.intercept(request) ??
      (found ? { status: 200, headers: { 'content-type': found.type }, body: found.body } : { status: 404, body: '{}' })
    );
  }
}

/** Asks registries without credentials, unless `env` has some. */
export function registriesOf(
  env: Readonly<Record<string, string>> = {},
  { signal = new AbortController().signal, timeoutMs = 5_000 } = {},
): Registries {
  const none = { HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent', DOCKER_CONFIG: '/nonexistent' };
  return new Registries({ env: { ...none, ...env }, signal, timeoutMs, insecure: [] });
}

/** The digest of a text. */
function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

function fieldsOf(platform: PlatformName): object {
  const [, os, architecture, version] = /^([^/]+)\/(\S+)(?: (.+))?$/.exec(platform) ?? [];
  return { os, architecture, ...(version && { 'os.version': version }) };
}

async function read(request: IncomingMessage): Promise<RegistryRequest> {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    authorization: request.headers.authorization,
    body: await text(request),
  };
}
