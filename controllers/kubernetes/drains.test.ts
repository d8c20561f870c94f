import assert from 'node:assert/strict';
import type { DrainPod, Eviction } from '../windowspool/ports/pods.ts';
import { createDrains } from './drains.ts';
import { json, loopback } from './testing/loopbackServer.ts';

const { signal } = new AbortController();

const PLAIN: DrainPod = {
  namespace: 'shop',
  name: 'cart-0',
  uid: 'u-1',
  createdAt: Date.parse('2026-03-01T12:00:00Z'),
  deletingAt: undefined,
  gracePeriodSeconds: 30,
  controller: undefined,
  mirror: false,
  phase: 'Running',
  emptyDir: false,
  toleratesCordon: false,
};
const metadata = { namespace: 'shop', name: 'cart-0', uid: 'u-1', creationTimestamp: '2026-03-01T12:00:00Z' };
const status = { phase: 'Running' };
const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'cart', uid: 'u' };

describe('the pods of a node', () => {
  const cordon = 'node.kubernetes.io/unschedulable';
  const tolerating = (toleration: object) => ({ spec: { tolerations: [toleration] } });
  const table: readonly (readonly [string, object, Partial<DrainPod>])[] = [
    ['have defaults', {}, {}],
    ['can have their own grace period', { spec: { terminationGracePeriodSeconds: 300 } }, { gracePeriodSeconds: 300 }],
    [
      'have the kind of their controller',
      { metadata: { ...metadata, ownerReferences: [owner, { ...owner, kind: 'ReplicaSet', controller: true }] } },
      { controller: 'ReplicaSet' },
    ],
    ['have no controller if no owner is their controller', { metadata: { ...metadata, ownerReferences: [owner] } }, {}],
    [
      'can be mirror pods',
      { metadata: { ...metadata, annotations: { 'kubernetes.io/config.mirror': 'x' } } },
      { mirror: true },
    ],
    [
      'have the end of their grace period',
      { metadata: { ...metadata, deletionTimestamp: '2026-03-01T13:00:00Z' } },
      { deletingAt: Date.parse('2026-03-01T13:00:00Z') },
    ],
    ['can have emptyDir volumes', { spec: { volumes: [{ configMap: {} }, { emptyDir: {} }] } }, { emptyDir: true }],
    ['can have other volumes', { spec: { volumes: [{ hostPath: {} }] } }, {}],
    ['can tolerate every taint', tolerating({ operator: 'Exists' }), { toleratesCordon: true }],
    ['can tolerate the cordon', tolerating({ key: cordon, operator: 'Exists' }), { toleratesCordon: true }],
    ['can tolerate another effect', tolerating({ operator: 'Exists', effect: 'NoExecute' }), {}],
    ['can tolerate another taint', tolerating({ key: 'os', operator: 'Exists' }), {}],
  ];
  for (const [name, change, want] of table) {
    it(name, async () => {
      await using server = await loopback((_request, response) => {
        json(response, 200, { items: [{ metadata, status, ...change }] });
      });
      assert.deepEqual(await createDrains(server.client).podsOn('ip-1', signal), {
        ok: true,
        value: [{ ...PLAIN, ...want }],
      });
      assert.deepEqual(
        server.requests.map(({ path, query }) => [path, query]),
        [['/api/v1/pods', { fieldSelector: 'spec.nodeName=ip-1', limit: '100' }]],
      );
    });
  }
});

describe('an eviction', () => {
  const failure = (code: number, message: string, causes: readonly object[] = []) => ({
    kind: 'Status',
    code,
    message,
    reason: 'X',
    details: { causes },
  });
  const TOO_STRICT = "Cannot evict pod as it would violate the pod's disruption budget.";
  const NEEDS = 'The disruption budget cart needs 2 healthy pods and has 2 currently';
  const TWO = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
  const table: readonly (readonly [string, number, object, Eviction | string])[] = [
    ['is accepted', 201, { kind: 'Status', status: 'Success' }, { kind: 'accepted' }],
    ['is not needed if the pod does not exist', 404, failure(404, 'not found'), { kind: 'gone' }],
    ['is not needed if another pod has the name', 409, failure(409, 'Precondition failed: UID'), { kind: 'gone' }],
    [
      'is blocked by a budget, which it reports',
      429,
      failure(429, TOO_STRICT, [{ reason: 'DisruptionBudget', message: NEEDS }]),
      { kind: 'blocked', budget: 'cart', message: `${TOO_STRICT} ${NEEDS}` },
    ],
    ['is blocked by two budgets', 500, failure(500, TWO), { kind: 'blocked', budget: undefined, message: TWO }],
    [
      'is not needed if the namespace is being deleted',
      403,
      failure(403, 'forbidden', [{ reason: 'NamespaceTerminating', message: 'being terminated' }]),
      { kind: 'accepted' },
    ],
    ...(
      [
        [
          400,
          'admission webhook "guard.example.com" denied the request: 3 more to go',
          'admission webhook guard.example.com',
        ],
        [429, 'admission webhook "guard.example.com" denied the request', 'admission webhook guard.example.com'],
        [
          500,
          'Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: context deadline exceeded',
          'admission webhook guard.example.com',
        ],
        [
          422,
          `pods "cart-0" is forbidden: ValidatingAdmissionPolicy 'guard' with binding 'all' denied request: no`,
          'ValidatingAdmissionPolicy guard',
        ],
      ] as const
    ).map(
      ([code, message, by]) =>
        [`is denied by ${by} with ${code}`, code, failure(code, message), { kind: 'denied', by }] as const,
    ),
    ['is denied by the API server', 403, failure(403, 'cannot create pods/eviction'), 'denied'],
    ['is throttled by an overloaded API server', 429, failure(429, 'too many requests'), 'throttled'],
    ['fails with another error', 500, failure(500, 'etcd'), 'unavailable'],
  ];
  for (const [name, code, body, want] of table) {
    it(name, async () => {
      await using server = await loopback((_request, response) => json(response, code, body));
      const answer = await createDrains(server.client).evict(PLAIN, 45, signal);
      assert.deepEqual(answer.ok ? answer.value : answer.error.kind, want);
    });
  }

  it('sends the UID of the pod and the grace period', async () => {
    await using server = await loopback((_request, response) => json(response, 201, {}));
    await createDrains(server.client).evict(PLAIN, 45, signal);
    assert.deepEqual(
      server.requests.map(({ method, path, body }) => ({ method, path, body })),
      [
        {
          method: 'POST',
          path: '/api/v1/namespaces/shop/pods/cart-0/eviction',
          body: {
            apiVersion: 'policy/v1',
            kind: 'Eviction',
            metadata: { namespace: 'shop', name: 'cart-0' },
            deleteOptions: { gracePeriodSeconds: 45, preconditions: { uid: 'u-1' } },
          },
        },
      ],
    );
  });
});
