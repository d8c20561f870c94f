/**
 * A proxy before the API server that numbers an operator's requests and can kill it at each. It serves with the API server's own
 * certificate, so the operator sees the authority that it knows.
 */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { Agent, type Dispatcher, request as send } from 'undici';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { detourKubeconfig, listenAnywhere } from '../engine/detour.ts';
import { OperatorKilled, type RequestGate } from './requestGate.ts';

export interface KillingProxy extends AsyncDisposable {
  /** Path of a kubeconfig that is like the given one but leads through the proxy. */
  readonly kubeconfig: string;
}

/** Starts a proxy on a port of its own for the user of `userKubeconfig`. */
export async function startKillingProxy(
  controlPlane: ControlPlane,
  userKubeconfig: string,
  gate: RequestGate,
): Promise<KillingProxy> {
  const pki = join(controlPlane.dir, 'pki');
  const [cert, key] = await Promise.all([readFile(join(pki, 'apiserver.crt')), readFile(join(pki, 'apiserver.key'))]);
  const ca = Buffer.from(controlPlane.caData, 'base64').toString();
  const dispatcher = new Agent({ connect: { ca }, bodyTimeout: 0 });
  const server = createServer({ cert, key }, (request, response) => {
    forward(controlPlane.url, dispatcher, request, response, gate).catch((error: unknown) => {
      if (!response.headersSent && !(error instanceof OperatorKilled)) response.writeHead(502);
      response.destroy();
    });
  });
  const path = await detourKubeconfig(controlPlane, userKubeconfig, await listenAnywhere(server));
  return {
    kubeconfig: path,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, dispatcher.destroy()]);
    },
  };
}

/** `GET windowspools`, `PUT windowspools/status`, `WATCH nodes`: the method and the resource, without names. */
function kindOf(method: string, url: string): string {
  const { pathname, searchParams } = new URL(url, 'https://127.0.0.1');
  const match = /^\/(?:api|apis\/[^/]+)\/v[^/]+\/(?:namespaces\/[^/]+\/)?([^/]+)(?:\/[^/]+(\/[^/]+)?)?$/.exec(pathname);
  if (!match) return `${method} ${pathname}`;
  const [, resource, subresource = ''] = match;
  return `${searchParams.has('watch') ? 'WATCH' : method} ${resource}${subresource}`;
}

async function forward(
  upstream: string,
  dispatcher: Agent,
  request: IncomingMessage,
  response: ServerResponse,
  gate: RequestGate,
): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const kind = kindOf(method, url);
  const passage = gate.arrive(kind);
  await passage.hold('before');
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { host: _host, connection: _connection, 'transfer-encoding': _encoding, ...headers } = request.headers;
  const answer = await send(upstream + url, {
    dispatcher,
    method: method as Dispatcher.HttpMethod,
    headers,
    body: chunks.length > 0 ? Buffer.concat(chunks) : null,
    // A watch ends with its reader. Anything else is done even when its sender died meanwhile, as by a real API server.
    ...(kind.startsWith('WATCH') && { signal: gone.signal }),
  });
  const { connection: _hop, 'transfer-encoding': _chunked, ...answerHeaders } = answer.headers;
  if (!kind.startsWith('WATCH')) {
    const body = Buffer.from(await answer.body.arrayBuffer());
    await passage.hold('after');
    response.writeHead(answer.statusCode, answerHeaders).end(body);
    return;
  }
  await passage.hold('after');
  response.writeHead(answer.statusCode, answerHeaders).flushHeaders();
  for await (const chunk of answer.body) response.write(chunk);
  response.end();
}
