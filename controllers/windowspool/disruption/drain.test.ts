import assert from 'node:assert/strict';
import type { DrainPod } from '../ports/pods.ts';
import { MINUTE, NOW } from '../testing/fixtures.ts';
import { podOn as pod } from '../testing/nodeScenes.ts';
import { type Drain, type DrainOptions, drainOf, graceFor, isEmpty, nameOf } from './drain.ts';

const SINCE = NOW - 2 * MINUTE;
const options: DrainOptions = { timeoutMs: 15 * MINUTE, evictsEmptyDir: true, evictsBare: false };
const ready = { ready: 'True', since: SINCE } as const;
const dead = { ready: 'Unknown', since: SINCE } as const;

/** `evict shop/cart-0`, or what else happens to the pods; `empty` when the node may be terminated. */
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
  { name: 'is complete on a node without pods', pods: [], want: 'empty' },
  { name: 'evicts a pod that a controller recreates', pods: [pod()], want: 'evict shop/cart-0' },
  {
    name: 'evicts a pod that has not started',
    pods: [pod({ phase: 'Pending' })],
    want: 'evict shop/cart-0',
  },
  { name: 'keeps pods of DaemonSets', pods: [pod({ controller: 'DaemonSet' })], want: 'empty' },
  {
    name: 'keeps mirror pods',
    pods: [pod({ mirror: true, controller: 'Node' })],
    want: 'empty',
  },
  ...['Succeeded', 'Failed'].map((phase) => ({
    name: `keeps pods that are ${phase}, even bare ones with an emptyDir volume`,
    pods: [pod({ phase, controller: undefined, emptyDir: true })],
    want: 'empty',
  })),
  {
    name: 'waits for a pod that is being deleted, and does not evict it again',
    pods: [pod({ deletingAt: NOW + MINUTE })],
    want: 'wait for shop/cart-0',
  },
  {
    name: 'waits for a pod after its grace period while the node is Ready, because its kubelet terminates it',
    pods: [pod({ deletingAt: NOW - 60 * MINUTE })],
    want: 'wait for shop/cart-0',
  },
  {
    name: 'waits five minutes for pods on a node that is not Ready, because its kubelet may come back',
    pods: [pod({ deletingAt: NOW - 5 * MINUTE + 1 })],
    node: dead,
    want: 'wait for shop/cart-0',
  },
  {
    name: 'stops waiting for pods on a node that is not Ready, and reports them',
    pods: [pod({ deletingAt: NOW - 5 * MINUTE })],
    node: dead,
    want: 'stuck shop/cart-0, empty',
  },
  {
    name: 'evicts pods from a node that is not Ready, so that they are recreated elsewhere',
    pods: [pod()],
    node: dead,
    want: 'evict shop/cart-0',
  },
  {
    name: 'does not start with a bare pod on the node, also not for the other pods',
    pods: [pod({ controller: undefined }), pod({ name: 'cart-1' })],
    want: 'shop/cart-0 has no controller that recreates it',
  },
  {
    name: 'evicts bare pods if that is allowed',
    pods: [pod({ controller: undefined })],
    options: { evictsBare: true },
    want: 'evict shop/cart-0',
  },
  {
    name: 'waits for a bare pod that was deleted',
    pods: [pod({ controller: undefined, deletingAt: NOW })],
    want: 'wait for shop/cart-0',
  },
  {
    name: 'does not start with an emptyDir volume on the node whose data must be kept',
    pods: [pod({ emptyDir: true }), pod({ name: 'cart-1' })],
    options: { evictsEmptyDir: false },
    want: 'shop/cart-0 has an emptyDir volume',
  },
  { name: 'evicts pods with emptyDir volumes otherwise', pods: [pod({ emptyDir: true })], want: 'evict shop/cart-0' },
  {
    name: 'evicts a pod that tolerates the cordon once',
    pods: [pod({ toleratesCordon: true })],
    want: 'evict shop/cart-0',
  },
  {
    name: 'keeps a pod that was scheduled to the cordoned node, because it would come back forever',
    pods: [pod({ toleratesCordon: true, createdAt: SINCE + 1_000 })],
    want: 'empty',
  },
  {
    name: 'evicts a pod created in the same second as the drain started, which may be older than the drain',
    pods: [pod({ toleratesCordon: true, createdAt: SINCE })],
    want: 'evict shop/cart-0',
  },
  {
    name: 'evicts a pod that was scheduled between the reservation and the cordon',
    pods: [pod({ createdAt: SINCE })],
    want: 'evict shop/cart-0',
  },
  {
    name: 'evicts pods in the order of namespace and name',
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

  it('puts each pod that must leave into exactly one list', () => {
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
      const drain = drainOf(pods, dead, { ...options, evictsEmptyDir: false }, NOW);
      const { evict, terminating, stuck, obstructions } = drain;
      const listed = [...evict, ...terminating, ...stuck, ...obstructions.map((each) => each.pod)].map(
        ({ name }) => name,
      );
      assert.equal(new Set(listed).size, listed.length, `seed ${seed}`);
      assert.ok(evict.length === 0 || obstructions.length === 0, `seed ${seed}`);
      assert.ok(!isEmpty(drain) || pods.every(({ deletingAt = NOW }) => deletingAt < NOW), `seed ${seed}`);
    }
  });

  it('uses the grace period of the spec or of the pod, from one second to seven days', () => {
    const graces = [
      graceFor(pod(), { ...options, gracePeriodSeconds: 90 }),
      graceFor(pod({ gracePeriodSeconds: 300 }), options),
      graceFor(pod({ gracePeriodSeconds: 0 }), options),
      graceFor(pod({ gracePeriodSeconds: 2_147_483_647 }), options),
    ];
    assert.deepEqual(graces, [90, 300, 1, 604_800]);
  });
});
