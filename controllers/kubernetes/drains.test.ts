import assert from 'node:assert/strict';
import type { DrainPod, Eviction } from '../windowspool/ports/pods.ts';
import { createDrains } from './drains.ts';
import { json, loopback } from './loopbackServer.ts';

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
    ['are read from little', {}, {}],
    ['have a grace of their own', { spec: { terminationGracePeriodSeconds: 300 } }, { gracePeriodSeconds: 300 }],
    [
      'tell who makes them anew',
      { metadata: { ...metadata, ownerReferences: [owner, { ...owner, kind: 'ReplicaSet', controller: true }] } },
      { controller: 'ReplicaSet' },
    ],
    ['are bare when no owner is their controller', { metadata: { ...metadata, ownerReferences: [owner] } }, {}],
    [
      'tell of a mirror',
      { metadata: { ...metadata, annotations: { 'kubernetes.io/config.mirror': 'x' } } },
      { mirror: true },
    ],
    [
      'tell when their grace ends',
      { metadata: { ...metadata, deletionTimestamp: '2026-03-01T13:00:00Z' } },
      { deletingAt: Date.parse('2026-03-01T13:00:00Z') },
    ],
    ['tell of emptyDir volumes', { spec: { volumes: [{ configMap: {} }, { emptyDir: {} }] } }, { emptyDir: true }],
    ['have no other volumes that matter', { spec: { volumes: [{ hostPath: {} }] } }, {}],
    ['may tolerate everything', tolerating({ operator: 'Exists' }), { toleratesCordon: true }],
    ['may tolerate the cordon', tolerating({ key: cordon, operator: 'Exists' }), { toleratesCordon: true }],
    ['may tolerate another effect', tolerating({ operator: 'Exists', effect: 'NoExecute' }), {}],
    ['may tolerate another taint', tolerating({ key: 'os', operator: 'Exists' }), {}],
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
        [['/api/v1/pods', { fieldSelector: 'spec.nodeName=ip-1' }]],
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
    ['finds the pod gone', 404, failure(404, 'not found'), { kind: 'gone' }],
    ['finds another pod of the name', 409, failure(409, 'Precondition failed: UID'), { kind: 'gone' }],
    [
      'is blocked by a budget, and names it',
      429,
      failure(429, TOO_STRICT, [{ reason: 'DisruptionBudget', message: NEEDS }]),
      { kind: 'blocked', budget: 'cart', message: `${TOO_STRICT} ${NEEDS}` },
    ],
    ['is blocked by two budgets', 500, failure(500, TWO), { kind: 'blocked', budget: undefined, message: TWO }],
    [
      'is not needed where the namespace goes',
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
    ['is denied', 403, failure(403, 'cannot create pods/eviction'), 'denied'],
    ['is throttled by an API server that is overloaded', 429, failure(429, 'too many requests'), 'throttled'],
    ['fails', 500, failure(500, 'etcd'), 'unavailable'],
  ];
  for (const [name, code, body, want] of table) {
    it(name, async () => {
      await using server = await loopback((_request, response) => json(response, code, body));
      const answer = await createDrains(server.client).evict(PLAIN, 45, signal);
      assert.deepEqual(answer.ok ? answer.value : answer.error.kind, want);
    });
  }

  it('says which pod is meant and which grace it gets', async () => {
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
