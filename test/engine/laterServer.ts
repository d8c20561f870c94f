import { buffer } from 'node:stream/consumers';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { type ApiProxy, startApiProxy } from './apiProxy.ts';

/** An API server whose clock is ahead, as its header Date says. The timestamps of objects are those of the real one. */
export const startLaterServer = (
  controlPlane: ControlPlane,
  userKubeconfig: string,
  aheadMs: number,
): Promise<ApiProxy> =>
  startApiProxy(controlPlane, userKubeconfig, async ({ request, response, gone, forward }) => {
    const body = await buffer(request);
    const answer = await forward(body.length > 0 ? body : null, gone);
    const date = new Date(Date.parse(String(answer.headers.date)) + aheadMs).toUTCString();
    response.writeHead(answer.statusCode, { ...answer.headers, date });
    response.flushHeaders();
    for await (const chunk of answer.body) response.write(chunk);
    response.end();
  });
