/** A proxy that makes the API server look like one without watch lists, as before Kubernetes 1.34 and where their feature gate is off. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Agent, type Dispatcher, request as send } from 'undici';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { detourKubeconfig, listenAnywhere } from './detour.ts';

/** In the words of an API server with the gate off. */
const REFUSAL = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  message:
    'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
  reason: 'Invalid',
  code: 422,
};

export interface OldApiServer extends AsyncDisposable {
  /** Path of a kubeconfig that is like the given one but leads there. */
  readonly kubeconfig: string;
}

/** Starts it with the API server's own certificate, so that its authority is the known one. */
export async function startOldApiServer(controlPlane: ControlPlane, userKubeconfig: string): Promise<OldApiServer> {
  const pki = join(controlPlane.dir, 'pki');
  const [cert, key] = await Promise.all([readFile(join(pki, 'apiserver.crt')), readFile(join(pki, 'apiserver.key'))]);
  const dispatcher = new Agent({
    connect: { ca: Buffer.from(controlPlane.caData, 'base64').toString() },
    bodyTimeout: 0,
  });
  const server = createServer({ cert, key }, (request, response) => {
    const { method = 'GET', url = '/' } = request;
    if (new URL(url, 'https://127.0.0.1').searchParams.get('sendInitialEvents') === 'true') {
      response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify(REFUSAL));
      return;
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { host: _host, connection: _connection, 'transfer-encoding': _encoding, ...headers } = request.headers;
    const body = method === 'GET' ? null : request;
    send(controlPlane.url + url, {
      dispatcher,
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
      signal: gone.signal,
    })
      .then((answer) => {
        const { connection: _hop, 'transfer-encoding': _chunked, ...answerHeaders } = answer.headers;
        response.writeHead(answer.statusCode, answerHeaders).flushHeaders();
        return pipeline(answer.body, response);
      })
      // A watch ends with its reader.
      .catch(() => response.destroy());
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
