import type { IncomingMessage } from 'node:http';
import type { VersionInfo } from '@kubernetes/client-node';
import type { Logger } from '../runtime/ports.ts';
import { Connections } from './connections.ts';
import {
  type Authentication,
  type CredentialSource,
  type Credentials,
  loadCredentials,
  normalisePem,
} from './credentials.ts';
import { errorOfNetwork, errorOfResponse } from './errors.ts';
import { readBody, send } from './exchange.ts';
import { KubernetesError } from './kubernetesError.ts';
import type { Wire } from './objects.ts';
import { inTurns } from './turns.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
/** A watch must begin to answer within this time. */
const STREAM_HEADERS_TIMEOUT_MS = 30_000;
/** A larger answer is not an error text. */
const ERROR_BODY_LIMIT = 64 * 1024;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Of the body; patches say here which kind they are. Default `application/json`. */
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal: AbortSignal;
  /** For the whole exchange. Default 30 s. */
  readonly timeoutMs?: number;
}

export interface StreamOptions {
  readonly query?: Query;
  readonly accept: string;
  readonly signal: AbortSignal;
}

export interface KubernetesClientOptions extends CredentialSource {
  readonly log: Logger;
  /** The operator's version, for the user agent by which the audit log knows it. */
  readonly version: string;
  /** Called at each answer; `code` is the HTTP status, or `<error>` where none came. */
  readonly onRequest?: (code: string, method: string, host: string) => void;
}

/** The patch types of the API server. */
export const PATCH = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/**
 * One API server, over one pool of connections. Calls throw KubernetesError when the server refuses or does not answer, and the
 * signal's reason when the caller aborted. Tokens, certificates and the CA are followed as they rotate.
 */
export class KubernetesClient {
  /** The API server's address. */
  readonly server: string;
  /** The namespace of the context or of the pod; undefined when neither says. */
  readonly namespace: string | undefined;
  readonly log: Logger;
  readonly #credentials: Credentials;
  readonly #connections: Connections;
  readonly #host: string;
  readonly #onRequest: NonNullable<KubernetesClientOptions['onRequest']>;
  readonly #userAgent: string;

  constructor(credentials: Credentials, { log, version, onRequest }: KubernetesClientOptions) {
    this.log = log;
    this.#userAgent = `windowspool-operator/${version}`;
    this.#credentials = credentials;
    this.server = credentials.server;
    this.namespace = credentials.namespace;
    this.#host = new URL(this.server).host;
    this.#connections = new Connections(this.server, credentials.proxyUrl, log);
    this.#onRequest = onRequest ?? (() => undefined);
  }

  /** The answer's JSON; `undefined` for an empty one. The caller says of which shape it is: the API server vouches for it. */
  async request<T>(method: Method, path: string, options: RequestOptions): Promise<Wire<T>> {
    const body = await this.requestBytes(method, path, options);
    if (body.length === 0) return undefined as Wire<T>;
    try {
      return JSON.parse(body.toString('utf8'));
    } catch (cause) {
      const message = `${this.server} answered ${method} ${path} with something that is no JSON`;
      throw new KubernetesError(message, { reason: 'MalformedAnswer' }, { cause });
    }
  }

  /** The answer as it came, for other formats than JSON. */
  async requestBytes(method: Method, path: string, options: RequestOptions): Promise<Buffer> {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const signal = AbortSignal.any([options.signal, timeout]);
    return this.#guard(options.signal, async () => {
      try {
        return await readBody(await this.#send(method, path, { ...options, signal }));
      } catch (error) {
        throw timeout.aborted ? timeout.reason : error;
      }
    });
  }

  /** A GET whose answer is read as it comes and may go on for long. Ends with the server, or throws as the signal aborts. */
  async *stream(path: string, options: StreamOptions): AsyncGenerator<Uint8Array> {
    const response = await this.#guard(options.signal, () =>
      this.#send('GET', path, options, STREAM_HEADERS_TIMEOUT_MS),
    );
    const pieces = inTurns(response);
    try {
      for (;;) {
        const { done, value } = await this.#guard(options.signal, () => pieces.next());
        if (done) return;
        yield value;
      }
    } finally {
      // Also where the reader loses interest: the connection must not stay open.
      response.destroy();
    }
  }

  /** The CA that the API server's certificate is checked against, one normalised PEM text; undefined without TLS or a CA. */
  async caData(): Promise<string | undefined> {
    const { tls } = await this.#credentials.authenticate();
    return tls.ca && this.server.startsWith('https:') ? normalisePem(tls.ca.toString('utf8')) : undefined;
  }

  /** The API server's version, such as `v1.36.3`. */
  async serverVersion(signal: AbortSignal): Promise<string> {
    const { gitVersion } = await this.request<VersionInfo>('GET', '/version', { signal });
    return gitVersion;
  }

  /** Ends every connection. */
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
    try {
      const response = await send({
        method,
        url: this.#url(path, options.query),
        headers: { ...headers, ...headersOf(options), 'user-agent': this.#userAgent },
        body: options.body === undefined ? undefined : JSON.stringify(options.body),
        agent: this.#connections.agent(tls),
        signal: options.signal,
        ...(headersTimeoutMs !== undefined && { headersTimeoutMs }),
      });
      const { statusCode: status = 0 } = response;
      code = String(status);
      if (status < 400) return response;
      throw errorOfResponse(status, response.headers['retry-after'], await readSome(response));
    } finally {
      this.#onRequest(code, method, this.#host);
    }
  }

  async #authenticate(signal: AbortSignal): Promise<Authentication> {
    signal.throwIfAborted();
    try {
      return await this.#credentials.authenticate();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new KubernetesError(
        `no credentials for ${this.server}: ${message}`,
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
      signal.throwIfAborted();
      throw error instanceof KubernetesError ? error : errorOfNetwork(error, this.server);
    }
  }
}

/** Reads the credentials and makes the client; connects only at the first request. Rejects when there are none. */
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

async function readSome(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > ERROR_BODY_LIMIT) break;
  }
  return Buffer.concat(chunks);
}
