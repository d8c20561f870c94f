/** A way to the API server of one replica, so that a test can distinguish its requests. */
import { buffer } from 'node:stream/consumers';
import { type ApiProxy, relay, startApiProxy } from '../engine/apiProxy.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';

/** `request`: its bytes were sent, and have not arrived. `response`: the request took effect, and its response was not sent. */
export type Moment = 'request' | 'response';

/** Called for each request, such as `GET /api/v1/nodes/a`; the result is awaited at both moments, with the status of the response. */
export type Arrive = (text: string) => (moment: Moment, status?: number) => Promise<void>;

/** Starts a proxy for the operator's ServiceAccount that appends the mark to the user agent, which the audit log has. */
export function startMarkingProxy(world: TestEnv, mark: string, arrive: Arrive): Promise<ApiProxy> {
  return startApiProxy(world.controlPlane, world.operatorKubeconfig, async (exchange) => {
    const { request } = exchange;
    const body = await buffer(request);
    request.headers['user-agent'] += `/${mark}`;
    const isWatch = /[?&]watch=(?:true|1)\b/.test(request.url ?? '');
    const at = arrive(`${request.method} ${request.url}`);
    await relay(exchange, body, isWatch, {
      before: () => at('request'),
      after: (status) => at('response', status),
    });
  });
}
