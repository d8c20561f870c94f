import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { Agent, type Dispatcher, request as send } from 'undici';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { detourKubeconfig, listenAnywhere } from './detour.ts';

export interface ApiProxy extends AsyncDisposable {
  /** Path of a kubeconfig that is like the given one but leads through the proxy. */
  readonly kubeconfig: string;
}

/** One request at the proxy. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the client is gone. */
  readonly gone: AbortSignal;
  /** Sends the request to the API server and returns its response. */
  forward(
    body: Dispatcher.DispatchOptions['body'],
    signal?: AbortSignal,
  ): Promise<Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>>;
}

/** The API server closes a connection that was idle for so long: IdleTimeout in k8s.io/apiserver/pkg/server/secure_serving.go. */
const IDLE_MS = 90_000;

/**
 * Starts a proxy before the API server for the user of a kubeconfig. It serves with the API server's own certificate, so that clients trust it. An
 * error of `handle` breaks the connection.
 */
export async function startApiProxy(
  controlPlane: ControlPlane,
  userKubeconfig: string,
  handle: (exchange: Exchange) => Promise<void>,
): Promise<ApiProxy> {
  const pki = join(controlPlane.dir, 'pki');
  const [cert, key] = await Promise.all([readFile(join(pki, 'apiserver.crt')), readFile(join(pki, 'apiserver.key'))]);
  const ca = Buffer.from(controlPlane.caData, 'base64').toString();
  const dispatcher = new Agent({ connect: { ca }, bodyTimeout: 0 });
  const server = createServer({ cert, key, keepAliveTimeout: IDLE_MS }, (request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const forward: Exchange['forward'] = async (body, signal) => {
      const { host: _host, ...headers } = endToEnd(request.headers);
      const method = request.method as Dispatcher.HttpMethod;
      const options = { dispatcher, method, headers, body: body ?? null, ...(signal && { signal }) };
      const answer = await send(controlPlane.url + request.url, options);
      return { statusCode: answer.statusCode, headers: endToEnd(answer.headers), body: answer.body };
    };
    handle({ request, response, gone: gone.signal, forward }).catch(() => response.destroy());
  });
  const kubeconfig = await detourKubeconfig(controlPlane, userKubeconfig, await listenAnywhere(server));
  return {
    kubeconfig,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, dispatcher.destroy()]);
    },
  };
}

/** What a proxy does before a request is sent, and before its response is. */
export interface Moments {
  readonly before: () => Promise<void>;
  readonly after: (statusCode: number) => Promise<void>;
}

/**
 * Relays a request whose bytes have all arrived. A watch ends with its reader; anything else is done even if its sender has exited meanwhile, as by a
 * real API server.
 */
export async function relay(
  { response, gone, forward }: Exchange,
  body: Buffer,
  isWatch: boolean,
  at: Moments,
): Promise<void> {
  await at.before();
  const answer = await forward(body.length > 0 ? body : null, isWatch ? gone : undefined);
  const whole = isWatch ? undefined : Buffer.from(await answer.body.arrayBuffer());
  await at.after(answer.statusCode);
  response.writeHead(answer.statusCode, answer.headers);
  if (whole) {
    response.end(whole);
    return;
  }
  response.flushHeaders();
  for await (const chunk of answer.body) response.write(chunk);
  response.end();
}

/** Without the headers of a single hop. */
function endToEnd({ connection: _connection, 'transfer-encoding': _encoding, ...headers }: IncomingHttpHeaders) {
  return headers;
}
