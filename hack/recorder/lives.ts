/** Records random lives of pools, with one operator and with two replicas. */
import fc from 'fast-check';
import type { Action } from '../../test/fakes/simulation/action.ts';
import { anyLife } from '../../test/fakes/simulation/anyLife.ts';
import { Life } from '../../test/fakes/simulation/life.ts';
import type { LocalAwsWorld } from '../../test/fakes/simulation/localAwsWorld.ts';
import { anyReplicatedLife } from '../../test/fakes/simulation/replicaActions.ts';
import { ReplicatedLife } from '../../test/fakes/simulation/replicatedLife.ts';
import type { Entry } from './entry.ts';
import { LifeRecord } from './lifeRecord.ts';
import { digest } from './plain.ts';

/** Random lives of one operator. */
export async function* lifeEntries(seed: number, count: number): AsyncGenerator<Entry> {
  for (const [index, generated] of generatedBy(anyLife, seed, count).entries()) {
    const life = new Life();
    const { world } = life;
    const record = new LifeRecord(world);
    const start = world.start.bind(world);
    world.start = () => {
      world.crash = undefined;
      return record.process(start());
    };
    // The process that is running crashes before its first call, and one that is recorded takes its place.
    world.crash = { at: 0, when: 'before' };
    yield await entryOf(`life ${index} of seed ${seed}`, generated, life, record);
  }
}

/** Random lives of two replicas. */
export async function* replicatedLifeEntries(seed: number, count: number): AsyncGenerator<Entry> {
  for (const [index, generated] of generatedBy(anyReplicatedLife, seed, count).entries()) {
    const life = new ReplicatedLife();
    const { world } = life;
    const record = new LifeRecord(world);
    const depsOf = world.depsOf.bind(world);
    world.depsOf = (...process) => record.process(depsOf(...process));
    const pick = world.staleReads.pick.bind(world.staleReads);
    world.staleReads.pick = () => {
      const past = pick();
      if (past) record.observe(past);
      return past;
    };
    // The world replaces processes that end by others, which are recorded.
    for (const replica of world.replicas) replica.end();
    yield await entryOf(`life ${index} of two replicas of seed ${seed}`, generated, life, record);
  }
}

/** A life of either kind. */
interface Living<W extends LocalAwsWorld> {
  live(actions: readonly Action<W>[]): Promise<void>;
  settle(): Promise<unknown>;
}

async function entryOf<W extends LocalAwsWorld>(
  name: string,
  { actions, source }: Generated<readonly Action<W>[]>,
  life: Living<W>,
  record: LifeRecord,
): Promise<Entry> {
  const { observations } = record;
  try {
    await life.live(actions.map((action) => record.action(action)));
    await life.settle();
  } catch (error) {
    observations.push({ kind: 'error', name: 'error', data: { message: String(error) } });
  }
  return { name, input: { actions: actions.map((action) => action.name), source }, observations };
}

interface Generated<T> {
  readonly actions: T;
  /** A hash of the random values that it was made from: the name of an action does not show all of them. */
  readonly source: string;
}

/** Values with the values that they were mapped from, which fast-check keeps to shrink them. */
class WithSource<T> extends fc.Arbitrary<Generated<T>> {
  readonly #inner: fc.Arbitrary<T>;

  constructor(inner: fc.Arbitrary<T>) {
    super();
    this.#inner = inner;
  }

  override generate(random: fc.Random, bias: number | undefined): fc.Value<Generated<T>> {
    const { value: actions, context } = this.#inner.generate(random, bias);
    return new fc.Value({ actions, source: digest(context) }, undefined);
  }

  override canShrinkWithoutContext(_value: unknown): _value is Generated<T> {
    return false;
  }

  override shrink(): fc.Stream<fc.Value<Generated<T>>> {
    return fc.Stream.nil();
  }
}

function generatedBy<T>(arbitrary: fc.Arbitrary<T>, seed: number, count: number): readonly Generated<T>[] {
  return fc.sample(new WithSource(arbitrary), { seed, numRuns: count });
}
