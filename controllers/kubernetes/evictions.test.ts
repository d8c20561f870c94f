import assert from 'node:assert/strict';
import { createEvictions } from './evictions.ts';
import { json, loopback } from './testing/loopbackServer.ts';

const { signal } = new AbortController();

interface PodChange {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly tolerations?: readonly object[];
  readonly phase?: string;
}

function pod(name: string, { namespace = 'shop', labels, annotations, owner, tolerations, phase }: PodChange = {}) {
  const ownerReferences = owner ? [{ apiVersion: 'apps/v1', kind: owner, name: 'x', uid: 'u', controller: true }] : [];
  return {
    metadata: { namespace, name, labels, annotations, ownerReferences },
    spec: { tolerations: tolerations ?? [{ key: 'os', operator: 'Exists' }] },
    status: { phase: phase ?? 'Running' },
  };
}

function budget(name: string, selector: object | undefined, disruptionsAllowed = 0, namespace = 'shop') {
  return { metadata: { namespace, name }, spec: { selector }, status: { disruptionsAllowed } };
}

const cart = { app: 'cart' };
const CART = { matchLabels: cart };
const EVERYTHING = [{ operator: 'Exists' }];

/** `shop/cart-0: cart` for each stuck pod. */
async function stuck(pods: readonly object[], budgets: readonly object[]) {
  await using server = await loopback((request, response) => {
    json(response, 200, { items: request.path.startsWith('/api/v1/pods') ? pods : budgets });
  });
  const answer = await createEvictions(server.client).stuckOn(['ip-1'], signal);
  assert.ok(answer.ok);
  const paths = server.requests.map(({ path, query }) => `${path} ${query.fieldSelector ?? ''}`.trim());
  return { paths, stuck: answer.value.map(({ namespace, name, budgets: its }) => `${namespace}/${name}: ${its}`) };
}

describe('stuck pods', () => {
  const one = pod('cart-0', { labels: cart });
  const table: readonly (readonly [string, object, readonly object[], readonly string[]])[] = [
    ['are those of a budget that allows no disruption', one, [budget('cart', CART)], ['shop/cart-0: cart']],
    ['are not those of a budget that allows one', one, [budget('cart', CART, 1)], []],
    ['are not those of a budget in another namespace', one, [budget('cart', CART, 0, 'other')], []],
    ['are not those that no budget selects', one, [budget('web', { matchLabels: { app: 'web' } })], []],
    ['are those of a budget that selects everything', one, [budget('all', {})], ['shop/cart-0: all']],
    ['are not those of a budget without a selector', one, [budget('none', undefined)], []],
    [
      'are those that two budgets select',
      one,
      [budget('shop', {}, 5), budget('cart', CART, 5)],
      ['shop/cart-0: cart,shop'],
    ],
    [
      'are those that tolerate every taint and are recreated',
      pod('agent', { owner: 'ReplicaSet', tolerations: EVERYTHING }),
      [],
      ['shop/agent: '],
    ],
    [
      'are those that tolerate every taint with the effect of a cordon',
      pod('agent', { owner: 'ReplicaSet', tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }] }),
      [],
      ['shop/agent: '],
    ],
    [
      'are not those that tolerate another effect',
      pod('agent', { owner: 'ReplicaSet', tolerations: [{ operator: 'Exists', effect: 'NoExecute' }] }),
      [],
      [],
    ],
    ['are not those that no controller recreates', pod('agent', { tolerations: EVERYTHING }), [], []],
    [
      'are not those of a DaemonSet',
      pod('cni', { owner: 'DaemonSet', tolerations: EVERYTHING }),
      [budget('all', {})],
      [],
    ],
    [
      'are not static pods',
      pod('static', { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
      [budget('all', {})],
      [],
    ],
    ['are not finished pods', pod('job', { phase: 'Succeeded' }), [budget('all', {})], []],
  ];
  for (const [name, each, budgets, want] of table) {
    it(name, async () => assert.deepEqual((await stuck([each], budgets)).stuck, want));
  }

  const expressions: readonly (readonly [object, boolean])[] = [
    [{ key: 'app', operator: 'In', values: ['cart', 'web'] }, true],
    [{ key: 'app', operator: 'In', values: ['web'] }, false],
    [{ key: 'app', operator: 'NotIn', values: ['web'] }, true],
    [{ key: 'app', operator: 'NotIn', values: ['cart'] }, false],
    [{ key: 'tier', operator: 'NotIn', values: ['x'] }, true],
    [{ key: 'app', operator: 'Exists' }, true],
    [{ key: 'tier', operator: 'Exists' }, false],
    [{ key: 'tier', operator: 'DoesNotExist' }, true],
    [{ key: 'app', operator: 'DoesNotExist' }, false],
  ];
  for (const [expression, isSelected] of expressions) {
    it(`are selected as by the API server: ${JSON.stringify(expression)}`, async () => {
      const { stuck: names } = await stuck([one], [budget('cart', { matchExpressions: [expression] })]);
      assert.equal(names.length, isSelected ? 1 : 0);
    });
  }

  it('are listed by node, and budgets only if there are pods', async () => {
    const pods = '/api/v1/pods spec.nodeName=ip-1';
    assert.deepEqual((await stuck([], [])).paths, [pods]);
    assert.deepEqual((await stuck([one], [])).paths, [pods, '/apis/policy/v1/poddisruptionbudgets']);
  });

  it('are sorted by name', async () => {
    const pods = [pod('b'), pod('a'), pod('c', { namespace: 'app' })];
    const budgets = [budget('all', {}), budget('app', {}, 0, 'app')];
    assert.deepEqual((await stuck(pods, budgets)).stuck, ['app/c: app', 'shop/a: all', 'shop/b: all']);
  });

  for (const denied of ['pods', 'poddisruptionbudgets']) {
    it(`report the missing permission: list ${denied}`, async () => {
      await using server = await loopback((request, response) => {
        const message = `${denied} is forbidden`;
        if (request.path.includes(`/${denied}`)) {
          json(response, 403, { kind: 'Status', status: 'Failure', code: 403, reason: 'Forbidden', message });
        } else json(response, 200, { items: [one] });
      });
      const answer = await createEvictions(server.client).stuckOn(['ip-1'], signal);
      assert.deepEqual(answer.ok === false && [answer.error.kind, answer.error.operation], [
        'denied',
        `list ${denied}`,
      ]);
    });
  }
});
