/** Ways to make a real API server refuse the requests of the operator. */
import type { KubernetesClient } from '../../../controllers/kubernetes/client.ts';
import { OPERATOR_USER } from '../../../test/fakes/testenv/audit.ts';

const NAME = 'soak';
const TIMEOUT_MS = 30_000;
const FLOW_CONTROL = '/apis/flowcontrol.apiserver.k8s.io/v1';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const [, , NAMESPACE = '', ACCOUNT = ''] = OPERATOR_USER.split(':');

/** One request of the operator at a time is served, and all others get 429, until the result is disposed. See API Priority and Fairness. */
export async function tooManyRequests(admin: KubernetesClient): Promise<AsyncDisposable> {
  const level = await created(admin, `${FLOW_CONTROL}/prioritylevelconfigurations`, {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name: NAME },
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
    },
  });
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
  const flow = await created(admin, `${FLOW_CONTROL}/flowschemas`, {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: NAME },
    spec: {
      priorityLevelConfiguration: { name: NAME },
      // Before all flows of the system that a ServiceAccount can match.
      matchingPrecedence: 10,
      rules: [
        {
          subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: NAMESPACE, name: ACCOUNT } }],
          resourceRules: [everything],
        },
      ],
    },
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await flow[Symbol.asyncDispose]();
      await level[Symbol.asyncDispose]();
    },
  };
}

/** Writes of the operator to nodes and pools get 500, until the result is disposed: a webhook that must allow them does not answer. */
export function failingWrites(admin: KubernetesClient): Promise<AsyncDisposable> {
  const rule = (apiGroup: string, resources: readonly string[]) => ({
    ...{ apiGroups: [apiGroup], apiVersions: ['*'], operations: ['*'], resources },
  });
  return created(admin, WEBHOOKS, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: NAME },
    webhooks: [
      {
        name: 'soak.winpool.dev',
        // No process can listen on this port.
        clientConfig: { url: 'https://127.0.0.1:0/' },
        failurePolicy: 'Fail',
        timeoutSeconds: 1,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [
          rule('', ['nodes', 'nodes/status', 'pods/eviction']),
          rule('winpool.dev', ['windowspools', 'windowspools/status']),
        ],
        matchConditions: [{ name: 'operator', expression: `request.userInfo.username == '${OPERATOR_USER}'` }],
      },
    ],
  });
}

/** Creates an object of a cluster-wide collection, which is deleted when the result is disposed. */
async function created(admin: KubernetesClient, collection: string, body: object): Promise<AsyncDisposable> {
  await admin.request('POST', collection, { body, signal: AbortSignal.timeout(TIMEOUT_MS) });
  return {
    [Symbol.asyncDispose]: async () => {
      await admin.request('DELETE', `${collection}/${NAME}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    },
  };
}
