/** A proxy that makes the API server look like one without watch lists, as before Kubernetes 1.34 and where their feature gate is off. */
import { pipeline } from 'node:stream/promises';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { type ApiProxy, startApiProxy } from './apiProxy.ts';

/** The error of an API server with the feature gate off. */
const REFUSAL = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  message:
    'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
  reason: 'Invalid',
  code: 422,
};

/** Starts it for the user of a kubeconfig. */
export const startOldApiServer = (controlPlane: ControlPlane, userKubeconfig: string): Promise<ApiProxy> =>
  startApiProxy(
    controlPlane,
    userKubeconfig,
    async ({ request: { method, url = '/' }, request, response, gone, forward }) => {
      if (new URL(url, controlPlane.url).searchParams.get('sendInitialEvents') === 'true') {
        response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify(REFUSAL));
        return;
      }
      const { statusCode, headers, body } = await forward(method === 'GET' ? null : request, gone);
      response.writeHead(statusCode, headers).flushHeaders();
      await pipeline(body, response);
    },
  );
