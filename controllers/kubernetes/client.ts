/**
 * The client of the API server. Not client-node's: its runtime takes 33 MB of memory (77 MB for a bundled process against 44), and it opens a
 * connection for each request.
 */
import type { IncomingMessage } from 'node:http';
import type { VersionInfo } from '@kubernetes/client-node';
import type { Fence, Logger } from '../runtime/ports.ts';
import type { Authentication, Credentials } from './authentication.ts';
import { Connections } from './connections.ts';
import { type CredentialSource, loadCredentials } from './credentials.ts';
import { errorOfNetwork, errorOfResponse } from './errors.ts';
import { readChunks, send } from './exchange.ts';
import { KubernetesError, messageOf, TooLarge } from './kubernetesError.ts';
import type { Wire } from './objects.ts';
import { ServerTime } from './serverTime.ts';
import { Turns } from './turns.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
/** A watch must send its response headers within this time. */
const STREAM_HEADERS_TIMEOUT_MS = 30_000;
/** The default limit of a response in bytes. It is one object, of which etcd stores at most 1.5 MiB, or a short list. */
export const LARGEST_OBJECT = 8 * 1024 ** 2;
/** Of one page of a list. A page of 500 nodes is about 9 MB of JSON. */
export const LARGEST_PAGE = 64 * 1024 ** 2;
/** Of the body of an error response, no more is read. */
const ERROR_BODY_LIMIT = 64 * 1024;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Of the body. A patch needs one of {@link PATCH}. Default `application/json`. */
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal: AbortSignal;
  /** Limits the whole exchange. Default: that of the client. */
  readonly timeoutMs?: number;
  /** Limits the body of the response; a longer one is an error. Default {@link LARGEST_OBJECT}. */
  readonly maxBytes?: number;
  /** Whether a process that does not lead may send this write, too. Default false. */
  readonly unfenced?: boolean;
}

export interface StreamOptions {
  readonly query?: Query;
  readonly accept: string;
  readonly signal: AbortSignal;
}

export interface KubernetesClientOptions extends CredentialSource {
  readonly log: Logger;
  /** The version of the program. It is part of the user agent, which the audit log records. */
  readonly version: string;
  /** The name of the program in the user agent. Default: windowspool-operator. */
  readonly program?: string;
  /** Limits each exchange that has no time-out of its own. Default 30 s. */
  readonly timeoutMs?: number;
  /** Called for each warning in a response, such as those of the API server about a manifest. */
  readonly onWarning?: (text: string) => void;
  /** Called for each request. `code` is the HTTP status, or `<error>` if there was no response; `url` has the path and the query. */
  readonly onRequest?: (code: string, method: string, host: string, url: string) => void;
  /** Checked right before each write. Default: every write may be sent. */
  readonly fence?: Fence;
}

/** Content types of patches: https://kubernetes.io/docs/reference/using-api/api-concepts/#patch-and-apply */
export const PATCH = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/**
 * A client of one API server with one pool of connections. Calls throw KubernetesError if the server rejects the request or does not respond,
 * and the signal's reason if the caller aborts. Rotated tokens, certificates and CAs are picked up.
 */
export class KubernetesClient {
  readonly server: string;
  /** The namespace of the kubeconfig's context or of the pod. */
  readonly namespace: string | undefined;
  readonly log: Logger;
  readonly #credentials: Credentials;
  readonly #connections: Connections;
  readonly #host: string;
  readonly #onRequest: NonNullable<KubernetesClientOptions['onRequest']>;
  readonly #userAgent: string;
  readonly #fence: Fence | undefined;
  readonly #timeoutMs: number;
  readonly #onWarning: ((text: string) => void) | undefined;
  readonly #time = new ServerTime();

  constructor(credentials: Credentials, options: KubernetesClientOptions) {
    const {
      log,
      version,
      program = 'windowspool-operator',
      timeoutMs = DEFAULT_TIMEOUT_MS,
      onRequest,
      fence,
    } = options;
    this.#fence = fence;
    this.#timeoutMs = timeoutMs;
    this.#onWarning = options.onWarning;
    this.log = log;
    this.#userAgent = `${program}/${version}`;
    this.#credentials = credentials;
    this.server = credentials.server;
    this.namespace = credentials.namespace;
    this.#host = new URL(this.server).host;
    this.#connections = new Connections(this.server, credentials.proxyUrl, log);
    this.#onRequest = onRequest ?? (() => undefined);
  }

  /** Returns the JSON of the response; `undefined` for an empty one, except to a GET. Its shape is not checked: the API server guarantees it. */
  async request<T>(method: Method, path: string, options: RequestOptions): Promise<Wire<T>> {
    const body = await this.requestBytes(method, path, options);
    if (body.length === 0 && method !== 'GET') return undefined as Wire<T>;
    try {
      return JSON.parse(body.toString('utf8'));
    } catch (cause) {
      const message = `${this.server} responded to ${method} ${path} with a body that is not JSON`;
      throw new KubernetesError(message, { reason: 'MalformedAnswer' }, { cause });
    }
  }

  /** Returns the body of the response, for formats other than JSON. */
  async requestBytes(method: Method, path: string, options: RequestOptions): Promise<Buffer> {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? this.#timeoutMs);
    const signal = AbortSignal.any([options.signal, timeout]);
    return this.#guard(options.signal, async () => {
      try {
        const maxBytes = options.maxBytes ?? LARGEST_OBJECT;
        const { chunks, isWhole } = await readChunks(await this.#send(method, path, { ...options, signal }), maxBytes);
        if (isWhole) return Buffer.concat(chunks);
        throw new TooLarge(`a response of more than ${maxBytes / 1024 ** 2} MiB (${method} ${path})`);
      } catch (error) {
        throw timeout.aborted ? timeout.reason : error;
      }
    });
  }

  /** Streams the response to a GET. Returns when the server ends it; throws when the signal aborts. */
  async *stream(path: string, options: StreamOptions): AsyncGenerator<Uint8Array> {
    const response = await this.#guard(options.signal, () =>
      this.#send('GET', path, options, STREAM_HEADERS_TIMEOUT_MS),
    );
    const turns = new Turns(response);
    try {
      // Leaving the loop, also when the consumer stops early, destroys the response.
      for await (const piece of response as AsyncIterable<Buffer>) {
        yield piece;
        if (turns.isSteady(piece.length)) await turns.rest();
      }
    } catch (error) {
      throw this.#failure(options.signal, error);
    }
  }

  /** The CA bundle that verifies the API server's certificate, as PEM; undefined without TLS or without a CA. */
  async caData(): Promise<string | undefined> {
    const { tls } = await this.#credentials.authenticate();
    return this.server.startsWith('https:') ? tls.ca?.toString('utf8') : undefined;
  }

  /** The time of the API server, in epoch milliseconds: the time that is compared with timestamps of objects. */
  now(): number {
    return this.#time.now();
  }

  /** The API server's version, such as `v1.36.3`. */
  async serverVersion(signal: AbortSignal): Promise<string> {
    const { gitVersion } = await this.request<VersionInfo>('GET', '/version', { signal });
    return gitVersion;
  }

  /** Closes every connection. */
  close(): void {
    this.#connections.close();
  }

  async #send(
    method: Method,
    path: string,
    options: Omit<RequestOptions, 'timeoutMs'>,
    headersTimeoutMs?: number,
  ): Promise<IncomingMessage> {
    const { headers, tls } = await this.#authenticate(options.signal);
    let code = '<error>';
    const url = this.#url(path, options.query);
    const arrived = this.#time.measure();
    try {
      const response = await send({
        method,
        url,
        headers: { ...headers, ...headersOf(options), 'user-agent': this.#userAgent },
        body: options.body === undefined ? undefined : JSON.stringify(options.body),
        agent: this.#connections.agent(tls),
        signal: options.signal,
        beforeSend: method === 'GET' || options.unfenced ? undefined : () => this.#fence?.check(),
        ...(headersTimeoutMs !== undefined && { headersTimeoutMs }),
      });
      arrived(response.headers.date);
      const { statusCode: status = 0 } = response;
      code = String(status);
      for (const text of warningsIn(response.headers.warning)) this.#onWarning?.(text);
      if (status < 400) return response;
      const { chunks } = await readChunks(response, ERROR_BODY_LIMIT);
      throw errorOfResponse(status, response.headers['retry-after'], Buffer.concat(chunks));
    } finally {
      this.#onRequest(code, method, this.#host, url.href);
    }
  }

  async #authenticate(signal: AbortSignal): Promise<Authentication> {
    signal.throwIfAborted();
    try {
      return await this.#credentials.authenticate();
    } catch (error) {
      throw new KubernetesError(
        `no credentials for ${this.server}: ${messageOf(error)}`,
        { reason: 'NoCredentials' },
        { cause: error },
      );
    }
  }

  #url(path: string, query: Query = {}): URL {
    const url = new URL(this.server + path);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    return url;
  }

  async #guard<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.#failure(signal, error);
    }
  }

  #failure(signal: AbortSignal, error: unknown): unknown {
    if (signal.aborted) return signal.reason;
    return error instanceof KubernetesError ? error : errorOfNetwork(error, this.server);
  }
}

/** Loads the credentials; rejects if there are none. Connects with the first request. */
export async function createKubernetesClient(options: KubernetesClientOptions): Promise<KubernetesClient> {
  return new KubernetesClient(await loadCredentials(options), options);
}

function headersOf({
  body,
  contentType,
  accept,
}: Pick<RequestOptions, 'body' | 'contentType' | 'accept'>): Record<string, string> {
  return {
    accept: accept ?? 'application/json',
    ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
  };
}

/** The texts of a Warning header: https://kubernetes.io/docs/reference/using-api/deprecation-policy/, RFC 7234 section 5.5. */
function warningsIn(header: string | undefined): string[] {
  const texts = [...(header ?? '').matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)];
  return texts.map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
}
