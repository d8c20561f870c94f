import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { type ApiProxy, startApiProxy } from '../engine/apiProxy.ts';
import type { RequestGate } from './requestGate.ts';

/** A proxy before the API server that numbers the requests of an operator and can kill it at each. */
export const startKillingProxy = (
  controlPlane: ControlPlane,
  userKubeconfig: string,
  gate: RequestGate,
): Promise<ApiProxy> =>
  startApiProxy(controlPlane, userKubeconfig, async ({ request, response, gone, forward }) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const kind = kindOf(request.method ?? 'GET', request.url ?? '/');
    const isWatch = kind.startsWith('WATCH');
    const gated = gate.arrive(kind);
    await gated.hold('before');
    // A watch ends with its reader. Anything else is done even if its sender dies meanwhile, as by a real API server.
    const answer = await forward(chunks.length > 0 ? Buffer.concat(chunks) : null, isWatch ? gone : undefined);
    const whole = isWatch ? undefined : Buffer.from(await answer.body.arrayBuffer());
    await gated.hold('after');
    response.writeHead(answer.statusCode, answer.headers);
    if (whole) {
      response.end(whole);
      return;
    }
    response.flushHeaders();
    for await (const chunk of answer.body) response.write(chunk);
    response.end();
  });

/** `GET windowspools`, `PUT windowspools/status`, `WATCH nodes`: the method and the resource, without names. */
function kindOf(method: string, url: string): string {
  const { pathname, searchParams } = new URL(url, 'https://127.0.0.1');
  const match = /^\/(?:api|apis\/[^/]+)\/v[^/]+\/(?:namespaces\/[^/]+\/)?([^/]+)(?:\/[^/]+(\/[^/]+)?)?$/.exec(pathname);
  if (!match) return `${method} ${pathname}`;
  const [, resource, subresource = ''] = match;
  return `${searchParams.has('watch') ? 'WATCH' : method} ${resource}${subresource}`;
}
