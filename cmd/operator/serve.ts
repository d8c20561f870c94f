/** The operator's HTTP endpoints: /metrics, /healthz and /readyz. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Address } from './flagValues.ts';

/** The text of an answer, by path; a path that is not here is 404. */
export type Routes = Readonly<Record<string, () => Promise<Answer> | Answer>>;

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A named check: undefined when all is well, else what is wrong. */
export type Check = readonly [name: string, look: () => string | undefined];

/** Answers 200 when every check passes, else 503; the body has a line for each, as the API server's own /readyz?verbose. */
export function healthRoute(checks: readonly Check[]): () => Answer {
  return () => {
    const results = checks.map(([name, look]) => ({ name, wrong: look() }));
    const lines = results.map(({ name, wrong }) => (wrong === undefined ? `[+] ${name} ok` : `[-] ${name}: ${wrong}`));
    const status = results.every(({ wrong }) => wrong === undefined) ? 200 : 503;
    return { status, contentType: 'text/plain; charset=utf-8', body: `${lines.join('\n')}\n` };
  };
}

/** A server that listens; `port` is the real one where port 0 was asked for. */
export interface Endpoint extends AsyncDisposable {
  readonly port: number;
}

/**
 * Serves the routes until it is disposed. Throws an Error that names the flag when the address cannot be used.
 * @param flag the flag that gave the address
 */
export async function serve(flag: string, address: Address, routes: Routes): Promise<Endpoint> {
  const server = createServer((request, response) => {
    const route = routes[new URL(request.url ?? '/', 'http://operator').pathname];
    const answer = async (): Promise<Answer> =>
      route
        ? await route()
        : { status: 404, contentType: 'text/plain; charset=utf-8', body: `Paths: ${Object.keys(routes).join(', ')}\n` };
    answer().then(
      ({ status, contentType, body }) => response.writeHead(status, { 'content-type': contentType }).end(body),
      (error: Error) => response.writeHead(500).end(`${error.message}\n`),
    );
  });
  // A client that sends nothing must not hold a connection for ever.
  server.requestTimeout = 10_000;
  server.headersTimeout = 10_000;
  await listen(server, flag, address);
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, flag: string, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new Error(
          `--${flag} ${host}:${port}: cannot listen (${error.code}). Choose another address, or 0 to switch it off.`,
        ),
      );
    });
    server.listen(port, host, () => resolve());
  });
}
