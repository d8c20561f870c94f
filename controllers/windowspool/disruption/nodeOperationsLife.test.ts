import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  CORDONED_ANNOTATION,
  CORDONED_BY_OPERATOR,
  EXCLUDE_FROM_DRAIN_ANNOTATION,
  REMOVE_ANNOTATION,
  REPLACE_ANNOTATION,
} from '../api/labels.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { type Deps, reconcile } from '../reconcile.ts';
import { Crash, type FakeWorld } from '../testing/fakeWorld.ts';
import { MINUTE } from '../testing/fixtures.ts';
import { signal } from '../testing/life.ts';
import { delayTerminations, isSettled, pass, populated, terminatingIn } from '../testing/nodeLife.ts';
import { runs } from '../testing/runs.ts';

const ANNOTATIONS: readonly Readonly<Record<string, string>>[] = [
  {},
  { [REPLACE_ANNOTATION]: 'true' },
  { [REMOVE_ANNOTATION]: 'true' },
  { [REPLACE_ANNOTATION]: 'true', [EXCLUDE_FROM_DRAIN_ANNOTATION]: 'true' },
  { [REMOVE_ANNOTATION]: 'false' },
];

type Action =
  | { readonly kind: 'annotate'; readonly node: number; readonly annotations: number }
  | { readonly kind: 'ready' | 'cordon'; readonly node: number; readonly on: boolean }
  | { readonly kind: 'block' | 'update'; readonly on: boolean }
  | { readonly kind: 'crash'; readonly calls: number; readonly when: 'before' | 'after' }
  | { readonly kind: 'wait'; readonly seconds: number };

const node = fc.nat(3);
const on = fc.boolean();
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('annotate' as const), node, annotations: fc.nat(ANNOTATIONS.length - 1) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('ready' as const, 'cordon' as const), node, on }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('block' as const, 'update' as const), on }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      calls: fc.nat(12),
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 6, 70, 1_200) }),
  },
);

const isOut = ({ ready, unschedulable }: NodeRecord) => ready !== 'True' || unschedulable;
const isOurs = ({ annotations, unschedulable }: NodeRecord) =>
  unschedulable && annotations[CORDONED_ANNOTATION] === CORDONED_BY_OPERATOR;

class Life {
  readonly world: FakeWorld;
  #deps: Deps;

  constructor({ world, deps }: { readonly world: FakeWorld; readonly deps: Deps }) {
    this.world = world;
    this.#deps = deps;
    delayTerminations(world, MINUTE);
    world.fails = (call) => {
      if (call === 'cordon node') this.#checkCordon();
      if (call === 'TerminateInstanceInAutoScalingGroup') this.#checkTermination();
      return undefined;
    };
  }

  do(what: Action): Promise<void> | undefined {
    const { world } = this;
    const target = 'node' in what ? world.nodes[what.node % world.nodes.length] : undefined;
    switch (what.kind) {
      case 'annotate': {
        const { [CORDONED_ANNOTATION]: mark } = target?.annotations ?? {};
        const annotations = {
          ...ANNOTATIONS[what.annotations],
          ...(mark !== undefined && { [CORDONED_ANNOTATION]: mark }),
        };
        return void (target && world.setNode({ ...target, annotations }));
      }
      case 'ready':
        return void (target && world.setNode({ ...target, ready: what.on ? 'True' : 'Unknown' }));
      case 'cordon':
        return void (target && world.setNode({ ...target, unschedulable: what.on }));
      case 'block':
        world.pods = world.pods.map(({ keptBy: _kept, ...pod }) => (what.on ? { ...pod, keptBy: 'cart' } : pod));
        return undefined;
      case 'update':
        return this.#setStatus(what.on ? 'UPDATING' : 'ACTIVE');
      case 'crash':
        world.crash = { at: world.calls.length + what.calls, when: what.when };
        return this.live(10);
      default:
        return this.live(what.seconds);
    }
  }

  /** Runs as the queue does, and restarts after a crash. */
  async live(seconds: number): Promise<void> {
    const end = this.world.now + seconds * 1_000;
    for (let runs = 0; this.world.now < end; runs++) {
      assert.ok(runs < 2_000, 'the pool triggers itself forever');
      try {
        const next = await reconcile('web', this.#deps, signal);
        this.world.now += next.kind === 'requeueAfter' ? Math.min(next.ms, end - this.world.now + 1) : 2_000;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        this.#deps = this.world.start();
      }
    }
  }

  /** Removes all annotations and everything that blocks, and waits. */
  async settle(): Promise<void> {
    this.world.crash = undefined;
    this.#setStatus('ACTIVE');
    await this.do({ kind: 'block', on: false });
    for (const node of this.world.nodes) {
      const { [CORDONED_ANNOTATION]: mark } = node.annotations;
      const annotations = mark === undefined ? {} : { [CORDONED_ANNOTATION]: mark };
      this.world.setNode({ ...node, ready: 'True', annotations });
    }
    await pass(this.world, this.#deps, 60);
  }

  /** Checks the final state. */
  check(): void {
    const { world } = this;
    const [group] = world.groups.values();
    assert.equal(new Set(world.ended).size, world.ended.length, `ended twice: ${world.ended}`);
    assert.ok(isSettled(world), 'the pool keeps its share of the budget');
    assert.deepEqual(
      world.nodes.filter((each) => CORDONED_ANNOTATION in each.annotations).map(({ name }) => name),
      [],
    );
    assert.equal(world.nodes.length, group?.scaling.desiredSize);
    assert.ok((group?.scaling.desiredSize ?? 0) >= 2, 'less than scaling.min');
  }

  #setStatus(status: 'UPDATING' | 'ACTIVE'): undefined {
    this.world.cloud.state.group('web').nodegroup.status = status;
  }

  /** Returns a node that status records first, and that is not unavailable yet. A node that a user uncordons is cordoned again. */
  #checkCordon(): void {
    const { world } = this;
    assert.ok(
      world.nodes.filter((each) => isOurs(each) && each.unschedulable).length === 0,
      'two nodes are cordoned at a time',
    );
    assert.equal(
      terminatingIn(world).filter(({ terminationAcceptedTime }) => terminationAcceptedTime === undefined).length,
      1,
    );
  }

  #checkTermination(): void {
    const { world } = this;
    const terminating = terminatingIn(world).map(({ name }) => world.nodes.find((each) => each.name === name));
    const fit = terminating.filter((each) => {
      if (!each || !(CORDONED_ANNOTATION in each.annotations) || !isOut(each)) return false;
      const { [EXCLUDE_FROM_DRAIN_ANNOTATION]: excluded, ...annotations } = each.annotations;
      const isAsked = annotations[REPLACE_ANNOTATION] === 'true' || annotations[REMOVE_ANNOTATION] === 'true';
      return isAsked && (excluded === 'true' || !world.pods.some((pod) => pod.node === each.name));
    });
    assert.equal(fit.length, 1, 'an instance is terminated that must not be');
  }
}

describe('nodes with removal annotations, for any actions of users and any crashes', () => {
  it('are terminated once, only when they are drained and still requested, one at a time, and leave nothing behind', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 3, maxLength: 14 }), async (actions) => {
        const life = new Life(await populated());
        for (const each of actions) await life.do(each);
        await life.settle();
        life.check();
      }),
      { numRuns: runs(40) },
    );
  });
});
