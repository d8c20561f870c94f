import assert from 'node:assert/strict';
import type { DrainPod } from '../ports/pods.ts';
import { MINUTE, NOW } from '../testing/fixtures.ts';
import { podOn as pod } from '../testing/nodeScenes.ts';
import { type Drain, type DrainOptions, drainOf, graceFor, isEmpty, nameOf } from './drain.ts';

const SINCE = NOW - 2 * MINUTE;
const options: DrainOptions = { timeoutMs: 15 * MINUTE, deleteEmptyDirData: true, evictBarePods: false };
const ready = { ready: 'True', since: SINCE } as const;
const dead = { ready: 'Unknown', since: SINCE } as const;

/** `evict shop/cart-0`, or what else becomes of the pods; `empty` where the node may end. */
function inWords(drain: Drain): string {
  const { evict, terminating, stuck, obstructions } = drain;
  const parts = [
    ...evict.map((its) => `evict ${nameOf(its)}`),
    ...terminating.map((its) => `wait for ${nameOf(its)}`),
    ...stuck.map((its) => `stuck ${nameOf(its)}`),
    ...obstructions.map(({ pod: its, why }) => `${nameOf(its)} ${why}`),
    ...(isEmpty(drain) ? ['empty'] : []),
  ];
  return parts.join(', ');
}

interface Row {
  readonly name: string;
  readonly pods: readonly DrainPod[];
  readonly node?: typeof ready | typeof dead;
  readonly options?: Partial<DrainOptions>;
  readonly want: string;
}

const table: readonly Row[] = [
  { name: 'is over on a node without pods', pods: [], want: 'empty' },
  { name: 'evicts a pod that a controller makes anew', pods: [pod()], want: 'evict shop/cart-0' },
  {
    name: 'evicts a pod that has not begun',
    pods: [pod({ phase: 'Pending' })],
    want: 'evict shop/cart-0',
  },
  { name: 'leaves pods of DaemonSets', pods: [pod({ controller: 'DaemonSet' })], want: 'empty' },
  {
    name: 'leaves pods that the kubelet made itself',
    pods: [pod({ mirror: true, controller: 'Node' })],
    want: 'empty',
  },
  ...['Succeeded', 'Failed'].map((phase) => ({
    name: `leaves pods that are ${phase}, whatever they have`,
    pods: [pod({ phase, controller: undefined, emptyDir: true })],
    want: 'empty',
  })),
  {
    name: 'waits for a pod that is being deleted, and does not evict it again',
    pods: [pod({ deletingAt: NOW + MINUTE })],
    want: 'wait for shop/cart-0',
  },
  {
    name: 'waits for a pod whose grace is over while the node is Ready: its kubelet ends it',
    pods: [pod({ deletingAt: NOW - 60 * MINUTE })],
    want: 'wait for shop/cart-0',
  },
  {
    name: 'waits for a while for pods of a node that is not Ready: its kubelet may come back',
    pods: [pod({ deletingAt: NOW - 5 * MINUTE + 1 })],
    node: dead,
    want: 'wait for shop/cart-0',
  },
  {
    name: 'does not wait for ever for pods of a node that is not Ready, and tells of them',
    pods: [pod({ deletingAt: NOW - 5 * MINUTE })],
    node: dead,
    want: 'stuck shop/cart-0, empty',
  },
  {
    name: 'evicts the pods of a node that is not Ready, so that they run elsewhere',
    pods: [pod()],
    node: dead,
    want: 'evict shop/cart-0',
  },
  {
    name: 'does not begin with a bare pod on the node, not for the other pods either',
    pods: [pod({ controller: undefined }), pod({ name: 'cart-1' })],
    want: 'shop/cart-0 has no controller that makes it anew',
  },
  {
    name: 'evicts bare pods where that is allowed',
    pods: [pod({ controller: undefined })],
    options: { evictBarePods: true },
    want: 'evict shop/cart-0',
  },
  {
    name: 'waits for a bare pod that somebody deleted',
    pods: [pod({ controller: undefined, deletingAt: NOW })],
    want: 'wait for shop/cart-0',
  },
  {
    name: 'does not begin with an emptyDir volume on the node where its data is to be kept',
    pods: [pod({ emptyDir: true }), pod({ name: 'cart-1' })],
    options: { deleteEmptyDirData: false },
    want: 'shop/cart-0 has an emptyDir volume',
  },
  { name: 'evicts pods with emptyDir volumes else', pods: [pod({ emptyDir: true })], want: 'evict shop/cart-0' },
  {
    name: 'evicts a pod that tolerates the cordon once',
    pods: [pod({ toleratesCordon: true })],
    want: 'evict shop/cart-0',
  },
  {
    name: 'leaves a pod that came to the cordoned node: it would come back for ever',
    pods: [pod({ toleratesCordon: true, createdAt: SINCE + 1_000 })],
    want: 'empty',
  },
  {
    name: 'evicts one of the very second in which the drain began: it was there before, or is evicted once more',
    pods: [pod({ toleratesCordon: true, createdAt: SINCE })],
    want: 'evict shop/cart-0',
  },
  {
    name: 'evicts a pod that came between claim and cordon',
    pods: [pod({ createdAt: SINCE })],
    want: 'evict shop/cart-0',
  },
  {
    name: 'goes by namespace and name',
    pods: [pod({ name: 'b' }), pod({ namespace: 'api', name: 'c' }), pod({ name: 'a' })],
    want: 'evict api/c, evict shop/a, evict shop/b',
  },
];

describe('a drain', () => {
  for (const row of table) {
    it(row.name, () => {
      const drain = drainOf(row.pods, row.node ?? ready, { ...options, ...row.options }, NOW);
      assert.equal(inWords(drain), row.want);
    });
  }

  it('puts each pod that must go into one list, whatever pods there are', () => {
    const choices: readonly Partial<DrainPod>[] = [
      {},
      { deletingAt: NOW - 10 * MINUTE },
      { deletingAt: NOW },
      { controller: undefined },
      { emptyDir: true },
    ];
    for (let seed = 0; seed < choices.length ** 3; seed++) {
      const pods = [0, 1, 2].map((place) =>
        pod({ name: `cart-${place}`, ...choices[Math.floor(seed / choices.length ** place) % choices.length] }),
      );
      const drain = drainOf(pods, dead, { ...options, deleteEmptyDirData: false }, NOW);
      const { evict, terminating, stuck, obstructions } = drain;
      const listed = [...evict, ...terminating, ...stuck, ...obstructions.map((each) => each.pod)].map(
        ({ name }) => name,
      );
      assert.equal(new Set(listed).size, listed.length, `seed ${seed}`);
      assert.ok(evict.length === 0 || obstructions.length === 0, `seed ${seed}`);
      assert.ok(!isEmpty(drain) || pods.every(({ deletingAt = NOW }) => deletingAt < NOW), `seed ${seed}`);
    }
  });

  it('gives pods the grace of the spec, or their own, and never none', () => {
    const graces = [
      graceFor(pod(), { ...options, gracePeriodSeconds: 90 }),
      graceFor(pod({ gracePeriodSeconds: 300 }), options),
      graceFor(pod({ gracePeriodSeconds: 0 }), options),
    ];
    assert.deepEqual(graces, [90, 300, 1]);
  });
});
