import { buffer } from 'node:stream/consumers';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { type ApiProxy, relay, startApiProxy } from '../engine/apiProxy.ts';
import type { RequestGate } from './requestGate.ts';

/** A proxy before the API server that numbers the requests of an operator and can kill it at each. */
export const startKillingProxy = (
  controlPlane: ControlPlane,
  userKubeconfig: string,
  gate: RequestGate,
): Promise<ApiProxy> =>
  startApiProxy(controlPlane, userKubeconfig, async (exchange) => {
    const { request } = exchange;
    const body = await buffer(request);
    const kind = kindOf(request.method ?? 'GET', request.url ?? '/');
    const gated = gate.arrive(kind);
    await relay(exchange, body, kind.startsWith('WATCH'), {
      before: () => gated.hold('before'),
      after: () => gated.hold('after'),
    });
  });

/** `GET windowspools`, `PUT windowspools/status`, `WATCH nodes`: the method and the resource, without names. */
function kindOf(method: string, url: string): string {
  const { pathname, searchParams } = new URL(url, 'https://127.0.0.1');
  const match = /^\/(?:api|apis\/[^/]+)\/v[^/]+\/(?:namespaces\/[^/]+\/)?([^/]+)(?:\/[^/]+(\/[^/]+)?)?$/.exec(pathname);
  if (!match) return `${method} ${pathname}`;
  const [, resource, subresource = ''] = match;
  return `${searchParams.has('watch') ? 'WATCH' : method} ${resource}${subresource}`;
}
