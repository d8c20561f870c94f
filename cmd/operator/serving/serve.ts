/** The operator's HTTP endpoints: /metrics, /healthz and /readyz. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Address } from '../flagValues.ts';
import type { KeyPair } from './selfSigned.ts';

/** Handlers by path; any other path is 404. */
export type Routes = Readonly<Record<string, (request: IncomingMessage) => Promise<Answer> | Answer>>;

/** An HTTP response. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A named check: undefined when it passes, else the error. */
export type Check = readonly [name: string, run: () => string | undefined];

/** Timeout of an incoming request: a client that sends nothing must not hold a connection forever. */
const REQUEST_MS = 10_000;
/** A token has two or three thousand characters; Node responds 431 to longer headers. */
const HEADER_BYTES = 16_384;
/** The most open connections: Prometheus and a kubelet need one or two. */
const CONNECTIONS = 200;
/** After this many request timeouts without traffic a connection is closed. A response may wait for two reviews of 4 s. */
const IDLE_FACTOR = 3;
/** Mozilla's `intermediate` without DHE: no CBC, no RSA key exchange (https://wiki.mozilla.org/Security/Server_Side_TLS). */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_AES_128_GCM_SHA256',
  'TLS_CHACHA20_POLY1305_SHA256',
  ...['ECDSA', 'RSA'].flatMap((key) =>
    ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].map((cipher) => `ECDHE-${key}-${cipher}`),
  ),
].join(':');

/** Responds 200 when every check passes, else 503; the body has a line for each, like /readyz?verbose of the API server. */
export function healthRoute(checks: readonly Check[]): () => Answer {
  return () => {
    const results = checks.map(([name, run]) => ({ name, error: run() }));
    const lines = results.map(({ name, error }) => (error === undefined ? `[+] ${name} ok` : `[-] ${name}: ${error}`));
    return text(results.every(({ error }) => error === undefined) ? 200 : 503, lines.join('\n'));
  };
}

/** A plain text response of one or more lines. */
export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${body}\n`, headers };
}

/** A listening server; `port` is the actual port when the flag was 0. */
export interface Endpoint extends AsyncDisposable {
  readonly port: number;
  /** Serves with another certificate from the next connection on. */
  useCertificate(pair: KeyPair): void;
}

/**
 * Serves the routes until disposed, over TLS if there is a certificate. Throws an Error that names the flag when the address cannot be used. Does not
 * offer HTTP/2, which nothing here needs and which has had its own denial-of-service attacks (CVE-2023-44487).
 * @param flag the flag with the address
 * @param requestMs timeout of an incoming request; for tests
 */
export async function serve(
  flag: string,
  address: Address,
  routes: Routes,
  { tls, requestMs = REQUEST_MS }: { readonly tls?: KeyPair; readonly requestMs?: number } = {},
): Promise<Endpoint> {
  const limits = {
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    connectionsCheckingInterval: requestMs / 2,
    maxHeaderSize: HEADER_BYTES,
  };
  const secure = tls && createTlsServer({ ...limits, ...contextOf(tls), handshakeTimeout: requestMs });
  const server = secure ?? createServer(limits);
  server.maxConnections = CONNECTIONS;
  server.timeout = IDLE_FACTOR * requestMs;
  server.on('request', (request, response) => {
    answerTo(request, routes).then(
      ({ status, contentType, body, headers }) =>
        response.writeHead(status, { 'content-type': contentType, ...headers }).end(body),
      (error: Error) => response.writeHead(500).end(`${error.message}\n`),
    );
  });
  await listen(server, flag, address);
  return {
    port: (server.address() as AddressInfo).port,
    useCertificate: (pair) => secure?.setSecureContext(contextOf(pair)),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The TLS options. Clients send no certificates, so no CA is needed: without `ca`, Node loads its bundled root certificates. */
export function contextOf(pair: KeyPair) {
  return { ...pair, ca: pair.cert, minVersion: 'TLSv1.2', ciphers: CIPHERS } as const;
}

async function answerTo(request: IncomingMessage, routes: Routes): Promise<Answer> {
  const path = URL.parse(request.url ?? '/', 'http://operator')?.pathname;
  const route = path === undefined ? undefined : routes[path];
  if (!route) return text(404, `Paths: ${Object.keys(routes).join(', ')}`);
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return text(405, 'Method not allowed. Use GET.', { allow: 'GET, HEAD' });
  return route(request);
}

function listen(server: Server | TlsServer, flag: string, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    // Never removed: a connection that cannot be accepted is a later error, and an unhandled one would end the process.
    server.on('error', (error: NodeJS.ErrnoException) => {
      reject(
        new Error(`--${flag}=${host}:${port}: cannot listen (${error.code}). Set another address, or 0 to disable it.`),
      );
    });
    server.listen(port, host, () => resolve());
  });
}
