/** Pools that pull images on new nodes and test them, in a world in memory whose kubelets the tests play. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FINALIZER, RETRY_ANNOTATION } from '../api/labels.ts';
import type { NodePod } from '../ports/nodePods.ts';
import { type Deps, reconcile } from '../reconcile.ts';
import { Crash, FakeWorld } from '../testing/fakeWorld.ts';
import { MINUTE, type SpecChange } from '../testing/fixtures.ts';
import { assertBrief, assertMentions } from '../testing/goldenTexts.ts';
import { conditionOf, fresh, pendingIn, ready, retry, signal, until, wake } from '../testing/life.ts';
import {
  CORE,
  CREATING,
  NO_DNS,
  NOT_STARTED,
  PASSED,
  PULL_ERROR,
  PULLED,
  TEST,
  TIMED_OUT,
  WEB,
} from '../testing/nodePodScenes.ts';
import { runs } from '../testing/runs.ts';

const pulling: SpecChange = {
  verification: { policy: 'Gate', requiredImages: [CORE, WEB], imagePrePull: { timeout: '30m' } },
  nodeGroup: { scaling: { minSize: 1, maxSize: 5 } },
};

/** What a kubelet reports about the pods that this function selects; their nodes do not list the images. */
function report(world: FakeWorld, change: Partial<NodePod>, isMeant: (pod: NodePod) => boolean = isOpen): void {
  world.setNodePods(
    world.nodePods.map((pod) =>
      isMeant(pod) ? { ...pod, ...change, changedAt: world.now, resourceVersion: `${pod.resourceVersion}0` } : pod,
    ),
  );
}

const isOpen = ({ phase }: NodePod) => phase !== 'Succeeded' && phase !== 'Failed';
const imagesOf = (world: FakeWorld) => world.nodePods.map(({ image }) => image);
const created = (world: FakeWorld) => world.calls.filter((call) => call === 'create pod').length;
const isGated = (world: FakeWorld) =>
  world.nodes.every(({ taints }) => taints.some(({ key }) => key.endsWith('winpool-gate')));
/** What the node still needs, as its condition winpool.dev/Verified says. */
const needs = ({ nodes: [node] }: FakeWorld) => /(?<=: is joining: ).*/.exec(node?.verified?.message ?? '')?.[0];

/** A pool whose first node has just joined. */
async function joined(spec = pulling): Promise<{ world: FakeWorld; deps: Deps }> {
  const world = new FakeWorld();
  world.apply(fresh(spec));
  const deps = world.start();
  await until(
    world,
    deps,
    () => world.nodes.length > 0 && (world.nodePods.length > 0 || ready(world) === 'True'),
    'a node',
  );
  return { world, deps };
}

describe('an image of another Windows build', () => {
  it('fails new nodes at once, and remediation replaces none of them: the next node would fail, too', async () => {
    const remediation = { policy: 'Replace' as const, unhealthyAfter: '15m', maxUnhealthy: '100%' };
    const { world, deps } = await joined({ ...pulling, remediation });
    const [container] = PULL_ERROR.containers ?? [];
    const message = 'failed to pull and unpack image: no match for platform in manifest: not found';
    const containers = [{ ...container, state: { ...container?.state, message } }] as NodePod['containers'];
    const first = world.nodes.map(({ uid }) => uid);
    const end = world.now + 180 * MINUTE;
    while (world.now < end) {
      report(world, { ...PULL_ERROR, containers });
      const next = await wake(world, deps);
      world.now += next.kind === 'requeueAfter' ? Math.min(next.ms, MINUTE) : MINUTE;
    }
    assert.deepEqual([world.nodes.map(({ uid }) => uid), world.ended], [first, []]);
    assert.match(conditionOf(world, 'NodesVerified') ?? '', /^False ImagePullFailed: /);
    assert.ok(!world.events.some(({ reason }) => reason === 'NodeDisruptionStarted'));
  });
});

describe('a new node of a pool that pulls images', () => {
  it('gets one image after the other, then loses the gate taint, and no pod is left', async () => {
    const { world, deps } = await joined();
    assert.deepEqual(
      [imagesOf(world), needs(world), isGated(world)],
      [[CORE], `lacks 2 of 2 images of verification.requiredImages: ${CORE} and ${WEB}.`, true],
    );
    report(world, PULLED);
    await wake(world, deps);
    assert.deepEqual(
      [imagesOf(world), needs(world), isGated(world)],
      [[CORE, WEB], `lacks 1 of 2 images of verification.requiredImages: ${WEB}.`, true],
    );
    report(world, PULLED);
    await wake(world, deps);
    assert.deepEqual([world.nodePods, needs(world), isGated(world), ready(world)], [[], undefined, false, 'True']);
    assert.deepEqual(
      world.events.filter(({ reason }) => reason.startsWith('Image')),
      [],
    );
    assert.equal(created(world), 2);
  });

  it('is verified with an image without cmd.exe, and an event reports it', async () => {
    const { world, deps } = await joined();
    report(world, NOT_STARTED);
    await wake(world, deps);
    report(world, PULLED);
    await wake(world, deps);
    assert.deepEqual([world.nodePods, ready(world)], [[], 'True']);
    const [node] = world.nodes;
    assert.deepEqual(
      world.events.filter(({ reason }) => reason.startsWith('Image')),
      [
        {
          type: 'Warning',
          reason: 'ImageNotStarted',
          message: `Image ${CORE} is on 1 node, such as ${node?.name}, but cmd.exe did not start in a container of it: The system cannot find the file specified.`,
        },
      ],
    );
  });

  it('fails after the join grace if an image cannot be pulled, and is verified when that works', async () => {
    const { world, deps } = await joined();
    report(world, PULL_ERROR);
    await wake(world, deps);
    assert.match(conditionOf(world, 'NodesVerified') ?? '', /^Unknown Joining/);
    world.now += 15 * MINUTE;
    await wake(world, deps);
    assertBrief(conditionOf(world, 'NodesVerified'), 'False ImagePullFailed', '1 of 1', 'verification.requiredImages');
    assert.equal(created(world), 1);
    report(world, PULLED);
    await wake(world, deps);
    report(world, PULLED);
    await wake(world, deps);
    assert.deepEqual([ready(world), world.nodePods], ['True', []]);
  });

  it('tries again after a pull has failed, after more and more time', async () => {
    const { world, deps } = await joined({
      ...pulling,
      verification: { ...pulling.verification, requiredImages: [CORE] },
    });
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 4; attempt++) {
      report(world, TIMED_OUT);
      const failedAt = world.now;
      await until(world, deps, () => world.nodePods.some(isOpen), 'the next attempt');
      waits.push(Math.round((world.now - failedAt) / 1_000));
    }
    assert.deepEqual(
      waits.map((wait) => wait >= 10),
      [true, true, true, true],
    );
    assert.deepEqual(
      waits,
      waits.toSorted((a, b) => a - b),
    );
    assert.equal(world.nodePods.length, 2, 'the last failure and the attempt in progress');
  });

  it('tries again at once when the user asks for it', async () => {
    const { world, deps } = await joined();
    report(world, TIMED_OUT);
    await wake(world, deps);
    report(world, TIMED_OUT);
    await wake(world, deps);
    assert.equal(world.nodePods.filter(isOpen).length, 0);
    retry(world, '1');
    await wake(world, deps);
    assert.equal(world.nodePods.filter(isOpen).length, 1);
  });

  it('continues with the same pod after a restart of the operator', async () => {
    const { world } = await joined();
    report(world, CREATING);
    await wake(world, world.start());
    await wake(world, world.start());
    assert.deepEqual([imagesOf(world), created(world)], [[CORE], 1]);
  });

  it('is left alone while the pool is paused', async () => {
    const { world, deps } = await joined();
    const pool = world.pools.get('web') ?? assert.fail('there is no pool');
    world.apply({ ...pool, spec: { ...pool.spec, paused: true } });
    report(world, PULLED);
    await wake(world, deps);
    assert.deepEqual(imagesOf(world), [CORE]);
    const steps = pendingIn(world);
    assert.ok(
      steps.some((step) => step.startsWith(`Paused: pull image ${WEB} on node `)),
      steps.join('; '),
    );
  });

  it('leaves no pod behind when the pool no longer pulls images', async () => {
    const { world, deps } = await joined();
    const pool = world.pools.get('web') ?? assert.fail('there is no pool');
    world.apply({ ...pool, spec: { ...pool.spec, verification: { policy: 'Report' } } });
    await wake(world, deps);
    assert.deepEqual(world.nodePods, []);
  });

  it('leaves no pod behind when the pool is deleted, nor when another user removes its finalizer', async () => {
    const { world, deps } = await joined();
    world.remove('web');
    await wake(world, deps);
    assert.deepEqual(world.nodePods, []);
    const other = await joined();
    const pool = other.world.pools.get('web') ?? assert.fail('there is no pool');
    assert.deepEqual(pool.metadata.finalizers, [FINALIZER]);
    other.world.pools.delete('web');
    await wake(other.world, other.deps);
    assert.deepEqual(other.world.nodePods, []);
  });

  it('is reported, and its pods are not repeated, while pods are refused', async () => {
    const { world, deps } = await joined();
    world.setNodePods([]);
    world.fails = (call) =>
      call === 'create pod'
        ? { kind: 'refused', operation: call, code: 'Forbidden', message: 'exceeded quota: few' }
        : undefined;
    const before = created(world);
    await wake(world, deps);
    assert.match(
      conditionOf(world, 'NodesVerified') ?? '',
      /1 write to nodes was refused: create pod failed: exceeded quota: few\./,
    );
    const next = await wake(world, deps);
    assert.ok(next.kind === 'requeueAfter' && next.ms >= 1_000, JSON.stringify(next));
    assert.ok(created(world) - before <= 5, 'more than one attempt for each run');
  });
});

describe('a new node of a pool with a smoke test', () => {
  const testing: SpecChange = { ...pulling, verification: { policy: 'Gate', smokeTest: TEST } };
  const verified = (world: FakeWorld) => conditionOf(world, 'NodesVerified') ?? '';

  it('loses the gate taint when it has passed, is not tested again, and no pod is left', async () => {
    const { world, deps } = await joined(testing);
    assert.deepEqual([world.nodePods.length, isGated(world)], [1, true]);
    assert.equal(needs(world), 'has not passed the smoke test (verification.smokeTest) yet.');
    report(world, PASSED);
    await wake(world, deps);
    assert.deepEqual([world.nodePods, isGated(world), ready(world)], [[], false, 'True']);
    const [node] = world.nodes;
    if (node) world.setNode({ ...node, ready: 'False' });
    await wake(world, deps);
    if (node) world.setNode({ ...(world.nodes[0] ?? node), ready: 'True' });
    await wake(world, world.start());
    assert.deepEqual([world.nodePods, created(world), ready(world)], [[], 1, 'True']);
  });

  it('is tested when its images are pulled', async () => {
    const { world, deps } = await joined({ ...pulling, verification: { ...pulling.verification, smokeTest: TEST } });
    const purposes: (string | undefined)[] = [];
    for (let pod = 0; pod < 3; pod++) {
      const working = world.nodePods.filter(isOpen);
      purposes.push(...working.map(({ purpose }) => purpose));
      report(world, working[0]?.purpose === 'smoke-test' ? PASSED : PULLED);
      await wake(world, deps);
    }
    assert.deepEqual(purposes, ['image-pull', 'image-pull', 'smoke-test']);
    assert.deepEqual([world.nodePods, ready(world)], [[], 'True']);
  });

  it('fails when the test has failed three times and the join grace is over, and is verified when a later test passes', async () => {
    const { world, deps } = await joined(testing);
    world.now += 15 * MINUTE;
    const states: string[] = [];
    for (let attempt = 1; attempt <= 3; attempt++) {
      report(world, NO_DNS);
      await wake(world, deps);
      states.push(verified(world).split(':')[0] ?? '');
      await until(world, deps, () => world.nodePods.some(isOpen), 'the next test');
    }
    assert.deepEqual(states, ['Unknown Joining', 'Unknown Joining', 'False SmokeTestFailed']);
    assertMentions(verified(world), 'verification.smokeTest', 'DNS: curl: (6)', 'kubectl describe node ip-');
    assert.equal(isGated(world), true);
    report(world, PASSED);
    await wake(world, deps);
    assert.deepEqual([world.nodePods, isGated(world), ready(world)], [[], false, 'True']);
  });

  it('is remediated if the pool says so', async () => {
    const remediation = { policy: 'Replace', unhealthyAfter: '1m', maxUnhealthy: '100%' } as const;
    const { world, deps } = await joined({ ...testing, remediation });
    world.now += 60 * MINUTE;
    const [node] = world.nodes;
    report(world, NO_DNS);
    await until(world, deps, () => world.ended.length > 0, 'the termination of the instance');
    await until(world, deps, () => world.nodes.every(({ name }) => name !== node?.name), 'another node');
    assert.ok(world.nodePods.every(({ node: name }) => name !== node?.name));
  });
});

type Action =
  | { readonly kind: 'kubelet'; readonly state: number; readonly pod: number }
  | { readonly kind: 'crash'; readonly calls: number; readonly when: 'before' | 'after' }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'ready' | 'cordon'; readonly on: boolean }
  | { readonly kind: 'lose' | 'retry' | 'toggle' | 'list' };

const STATES: readonly Partial<NodePod>[] = [
  CREATING,
  PULL_ERROR,
  PULLED,
  NOT_STARTED,
  TIMED_OUT,
  { phase: 'Failed', reason: 'Evicted' },
];

const anyAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('kubelet' as const), state: fc.nat(STATES.length - 1), pod: fc.nat(3) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      calls: fc.nat(12),
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 12, 70, 1_200) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('ready' as const, 'cordon' as const), on: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('lose' as const, 'retry' as const, 'toggle' as const, 'list' as const),
    }),
  },
);

class Life {
  readonly world: FakeWorld;
  #deps: Deps;
  #retries = 0;

  constructor({ world, deps }: { readonly world: FakeWorld; readonly deps: Deps }) {
    this.world = world;
    this.#deps = deps;
    world.fails = (call) => {
      if (call === 'create pod') this.#checkCreation();
      return undefined;
    };
  }

  async do(what: Action): Promise<void> {
    const { world } = this;
    const [node] = world.nodes;
    const pool = world.pools.get('web') ?? assert.fail('there is no pool');
    if (what.kind === 'kubelet') {
      const meant = world.nodePods[what.pod % world.nodePods.length];
      report(world, STATES[what.state] ?? {}, (pod) => pod === meant && isOpen(pod));
    } else if (what.kind === 'ready' && node) world.setNode({ ...node, ready: what.on ? 'True' : 'Unknown' });
    else if (what.kind === 'cordon' && node) world.setNode({ ...node, unschedulable: what.on });
    else if (what.kind === 'lose') world.setNodePods(world.nodePods.slice(1));
    else if (what.kind === 'list' && node) world.setNode({ ...node, images: [...(node.images ?? []), CORE] });
    else if (what.kind === 'retry') {
      const metadata = { ...pool.metadata, annotations: { [RETRY_ANNOTATION]: String(++this.#retries) } };
      world.apply({ ...pool, metadata });
    } else if (what.kind === 'toggle') {
      const { imagePrePull, ...verification } = pool.spec.verification;
      const next = imagePrePull ? verification : { ...verification, imagePrePull: { timeout: '30m' } };
      world.apply({ ...pool, spec: { ...pool.spec, verification: next } });
    }
    if (what.kind === 'crash') world.crash = { at: world.calls.length + what.calls, when: what.when };
    await this.live(what.kind === 'wait' ? what.seconds : 5);
  }

  async live(seconds: number): Promise<void> {
    const end = this.world.now + seconds * 1_000;
    for (let runs = 0; this.world.now < end; runs++) {
      assert.ok(runs < 500, 'the pool triggers itself forever');
      try {
        const next = await reconcile('web', this.#deps, signal);
        this.world.now += next.kind === 'requeueAfter' ? Math.min(next.ms, end - this.world.now + 1) : 1_000;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        this.#deps = this.world.start();
      }
    }
  }

  /** Everything works from now on. */
  async settle(): Promise<void> {
    const { world } = this;
    world.crash = undefined;
    const pool = world.pools.get('web') ?? assert.fail('there is no pool');
    world.apply({
      ...pool,
      spec: { ...pool.spec, verification: { ...pool.spec.verification, imagePrePull: { timeout: '30m' } } },
    });
    for (const node of world.nodes) world.setNode({ ...node, ready: 'True', unschedulable: false });
    for (let minute = 0; minute < 60 && (world.nodePods.length > 0 || ready(world) !== 'True'); minute++) {
      report(world, PULLED);
      await this.live(60);
    }
    assert.deepEqual([world.nodePods, ready(world), isGated(world)], [[], 'True', false]);
  }

  /** A node has one pod at a time that works, and none when the operator does not know that it is needed. */
  #checkCreation(): void {
    const working = this.world.nodePods.filter(
      (pod) => isOpen(pod) && !pod.containers.some(({ hasImage }) => hasImage),
    );
    assert.deepEqual(
      working.map(({ name }) => name),
      [],
      'another pod works on the node',
    );
    assert.ok(
      this.world.nodes.some(({ ready: state, unschedulable }) => state === 'True' && !unschedulable),
      'the node takes no pods',
    );
  }
}

describe('a new node, whatever kubelets, users and crashes do', () => {
  it('has one pod at a time, and in the end its images and no pod', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(fc.array(anyAction, { minLength: 3, maxLength: 14 }), async (actions) => {
        const life = new Life(await joined());
        for (const each of actions) await life.do(each);
        await life.settle();
      }),
      { numRuns: runs(60) },
    );
  });
});
