/** A way to the API server of one replica, so that a test can distinguish its requests. */
import type { TestEnv } from '../../hack/testenv/testEnv.ts';
import { type ApiProxy, startApiProxy } from '../engine/apiProxy.ts';

/** `request`: its bytes were sent, and have not arrived. `response`: the request took effect, and its response was not sent. */
export type Moment = 'request' | 'response';

/** Called for each request, such as `GET /api/v1/nodes/a`; the result is awaited at both moments, with the status of the response. */
export type Arrive = (text: string) => (moment: Moment, status?: number) => Promise<void>;

/** Starts a proxy for the operator's ServiceAccount that appends the mark to the user agent, which the audit log has. */
export function startMarkingProxy(world: TestEnv, mark: string, arrive: Arrive): Promise<ApiProxy> {
  return startApiProxy(world.controlPlane, world.operatorKubeconfig, async ({ request, response, gone, forward }) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    request.headers['user-agent'] += `/${mark}`;
    const isWatch = /[?&]watch=(?:true|1)\b/.test(request.url ?? '');
    const at = arrive(`${request.method} ${request.url}`);
    await at('request');
    // A watch ends with its reader. Anything else is done even if its sender has exited meanwhile, as by a real API server.
    const answer = await forward(chunks.length > 0 ? Buffer.concat(chunks) : null, isWatch ? gone : undefined);
    const whole = isWatch ? undefined : Buffer.from(await answer.body.arrayBuffer());
    await at('response', answer.statusCode);
    response.writeHead(answer.statusCode, answer.headers);
    if (whole) {
      response.end(whole);
      return;
    }
    response.flushHeaders();
    for await (const chunk of answer.body) response.write(chunk);
    response.end();
  });
}
