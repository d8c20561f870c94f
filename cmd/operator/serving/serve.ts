/** The operator's HTTP endpoints: /metrics, /healthz and /readyz. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Address } from '../flagValues.ts';
import type { KeyPair } from './selfSigned.ts';

/** The text of an answer, by path; a path that is not here is 404. */
export type Routes = Readonly<Record<string, (request: IncomingMessage) => Promise<Answer> | Answer>>;

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A named check: undefined when all is well, else what is wrong. */
export type Check = readonly [name: string, look: () => string | undefined];

/** How long a request may take to come in: a client that sends nothing must not hold a connection for ever. */
const REQUEST_MS = 10_000;
/** A token has two or three thousand characters; Node answers 431 to more. */
const HEADER_BYTES = 16_384;
/** Prometheus and a kubelet need one or two; whoever opens more than this is turned away. */
const CONNECTIONS = 200;
/** A client that neither sends nor reads for so many times as long as a request may take is let go. An answer may take two questions of 4 s. */
const SILENCE = 3;
/** Mozilla's `intermediate`, without DHE: no CBC, no RSA key exchange (https://wiki.mozilla.org/Security/Server_Side_TLS). */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_AES_128_GCM_SHA256',
  'TLS_CHACHA20_POLY1305_SHA256',
  ...['ECDSA', 'RSA'].flatMap((key) =>
    ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].map((cipher) => `ECDHE-${key}-${cipher}`),
  ),
].join(':');

/** Answers 200 when every check passes, else 503; the body has a line for each, as the API server's own /readyz?verbose. */
export function healthRoute(checks: readonly Check[]): () => Answer {
  return () => {
    const results = checks.map(([name, look]) => ({ name, wrong: look() }));
    const lines = results.map(({ name, wrong }) => (wrong === undefined ? `[+] ${name} ok` : `[-] ${name}: ${wrong}`));
    return text(results.every(({ wrong }) => wrong === undefined) ? 200 : 503, lines.join('\n'));
  };
}

/** An answer of plain text, one line or more. */
export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${body}\n`, headers };
}

/** A server that listens; `port` is the real one where port 0 was asked for. */
export interface Endpoint extends AsyncDisposable {
  readonly port: number;
  /** Serves with another certificate from the next connection on. */
  useCertificate(pair: KeyPair): void;
}

/**
 * Serves the routes until it is disposed, over TLS where there is a certificate. Throws an Error that names the flag when the address cannot
 * be used. HTTP/2 is not spoken: nothing here needs it, and it has had floods of its own (CVE-2023-44487).
 * @param flag the flag that gave the address
 * @param requestMs how long a request may take to come in; for tests
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
  server.timeout = SILENCE * requestMs;
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

/**
 * What TLS is spoken with. Clients show no certificates, so no authority is needed: where none is given, Node loads those of the whole world.
 */
export function contextOf(pair: KeyPair) {
  return { ...pair, ca: pair.cert, minVersion: 'TLSv1.2', ciphers: CIPHERS } as const;
}

async function answerTo(request: IncomingMessage, routes: Routes): Promise<Answer> {
  const path = URL.parse(request.url ?? '/', 'http://operator')?.pathname;
  const route = path === undefined ? undefined : routes[path];
  if (!route) return text(404, `Paths: ${Object.keys(routes).join(', ')}`);
  if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'GET it.', { allow: 'GET, HEAD' });
  return route(request);
}

function listen(server: Server | TlsServer, flag: string, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    // For good: a connection that cannot be accepted later is an error too, and one that nobody listens to ends the process.
    server.on('error', (error: NodeJS.ErrnoException) => {
      reject(
        new Error(
          `--${flag} ${host}:${port}: cannot listen (${error.code}). Choose another address, or 0 to switch it off.`,
        ),
      );
    });
    server.listen(port, host, () => resolve());
  });
}
