import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Fence, Logger } from '../../runtime/ports.ts';
import { createKubernetesClient, type KubernetesClient } from '../client.ts';

interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** Handles one request. An error that it throws becomes a 500. */
export type Handler = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export interface Loopback extends AsyncDisposable {
  readonly client: KubernetesClient;
  readonly url: string;
  readonly requests: SeenRequest[];
  /** What the client passed to onRequest: `200 GET`. */
  readonly counted: string[];
  /** How many connections were opened. */
  connections(): number;
}

const nothing = (): void => undefined;
export const quiet: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => quiet };

/** An HTTP server that stands in for the API server, and a client with a kubeconfig for it. For tests. */
export async function loopback(
  answering: Handler,
  user: object = { token: 'secret' },
  fence?: Fence,
): Promise<Loopback> {
  const requests: SeenRequest[] = [];
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    const handle = async (): Promise<void> => {
      const seen = await read(request);
      requests.push(seen);
      await answering(seen, response);
    };
    handle().catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  };
  // Like the API server, it announces no keep-alive timeout.
  const server = createServer({ keepAliveTimeout: 0 }, listener).on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = await mkdtemp(join(tmpdir(), 'loopback-'));
  const kubeconfigPath = join(folder, 'kubeconfig');
  await writeFile(kubeconfigPath, kubeconfig(url, user));
  const counted: string[] = [];
  const onRequest = (code: string, method: string): void => void counted.push(`${code} ${method}`);
  const client = await createKubernetesClient({
    kubeconfigPath,
    log: quiet,
    version: 'test',
    onRequest,
    ...(fence && { fence }),
  });
  return {
    client,
    url,
    requests,
    counted,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A kubeconfig in JSON, which is also YAML. */
export function kubeconfig(server: string, user: object, cluster: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'operators' } }],
    clusters: [{ name: 'test', cluster: { server, ...cluster } }],
    users: [{ name: 'test', user }],
  });
}

/** Responds with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<SeenRequest> {
  const body = await text(request);
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: body === '' ? undefined : JSON.parse(body),
  };
}
