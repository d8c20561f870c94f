/** Whole lives, made of actions. */
import fc from 'fast-check';
import type { NodeGroupPool } from '../../../controllers/windowspool/testing/fixtures.ts';
import { type Action, action, group, POOLS } from './action.ts';
import { canaryEdits, consoles, crash, faults, newPool, newRelease, objects, specEdits } from './actions.ts';
import { launchSettingsEdits } from './launchSettings.ts';
import { IMAGE_PARAMETER } from './localAwsWorld.ts';
import { nodeActions } from './nodeActions.ts';

const MINUTE = 60_000;

const time: fc.Arbitrary<Action> = fc
  .constantFrom(1_000, 3_000, 30_000, 2 * MINUTE, 20 * MINUTE)
  .map((ms) => action(`${ms / 1_000} s pass`, { passes: ms }));

/** Some of these actions, in any order. */
function anyOf(
  ...all: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<Action>])[]
): fc.Arbitrary<readonly Action[]> {
  const one = fc.oneof(...all.map(([weight, arbitrary]) => ({ weight, arbitrary })));
  return fc.array(one, { minLength: 3, maxLength: 20 });
}

/** Any actions. Time passes often, so that operations overlap. */
const anyActions = anyOf(
  [5, time],
  [5, fc.oneof(...specEdits)],
  [2, fc.oneof(...objects)],
  [3, fc.oneof(...consoles)],
  [4, fc.oneof(...faults)],
  [2, nodeActions],
);

/** Any action but the passing of time. */
export const actionsOfLife: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.oneof(...specEdits) },
  { weight: 2, arbitrary: fc.oneof(...objects) },
  { weight: 3, arbitrary: fc.oneof(...consoles) },
  { weight: 4, arbitrary: fc.oneof(...faults) },
  { weight: 4, arbitrary: nodeActions },
);

/** Both pools have three nodes. */
export const populated: readonly Action[] = [
  action('both pools', { run: (world) => world.apply(newPool('db')), passes: 5 * MINUTE }),
  action('three nodes each', {
    run: ({ cloud }) => {
      const scalingConfig = { minSize: 1, desiredSize: 3, maxSize: 4 };
      for (const group of POOLS) if (cloud.state.groups.has(group)) cloud.faults.edit({ group, scalingConfig });
    },
    passes: 20 * MINUTE,
  }),
];

/** Mostly actions on nodes, and few others. */
const ofNodes: fc.Arbitrary<readonly Action[]> = anyOf(
  [6, time],
  [9, nodeActions],
  [1, fc.oneof(...specEdits)],
  [1, fc.oneof(...objects)],
  [1, fc.oneof(...consoles)],
  [2, fc.oneof(...faults, ...Array<fc.Arbitrary<Action>>(6).fill(crash))],
).map((actions) => [...populated, ...actions]);

/** A pool with launch settings, which often changes. */
const ofLaunchSettings: fc.Arbitrary<readonly Action[]> = anyOf(
  [5, time],
  [5, launchSettingsEdits],
  [1, canaryEdits],
  [2, fc.oneof(...specEdits)],
  [2, fc.oneof(...objects)],
  [1, fc.oneof(...consoles)],
  [3, fc.oneof(...faults)],
).map((actions) => [
  action('a pool with launch settings', { run: (world) => world.apply(newPool('db', true)), passes: 5 * MINUTE }),
  ...actions,
]);

/** Updates are automatic, and begin with a canary. */
const TRIED = { update: { policy: 'Automatic', force: false, canary: { nodes: 1, soakDuration: '5m' } } } as const;

/** Both pools follow the newest release, which is tried on a canary first. */
const tried: readonly Action[] = [
  action('both pools, with canaries', {
    run: (world) => {
      for (const name of POOLS) {
        const { spec: given, ...rest } = (world.pools.get(name) as NodeGroupPool | undefined) ?? newPool(name);
        world.apply({ ...rest, spec: group(TRIED)(given) });
      }
    },
    passes: 5 * MINUTE,
  }),
];

/** A pool follows the custom AMI in a parameter, which is tried on a canary first. */
const triedImages: readonly Action[] = [
  action('a pool with a custom AMI, with canaries', {
    run: (world) => {
      const { spec: given, ...rest } = newPool('db', true);
      world.apply({ ...rest, spec: group({ ...TRIED, ami: { ssmParameter: IMAGE_PARAMETER } })(given) });
    },
    passes: 5 * MINUTE,
  }),
];

/** Mostly new versions and what interrupts their canaries. */
const canaryLife = (begin: readonly Action[], versions: fc.Arbitrary<Action>): fc.Arbitrary<readonly Action[]> =>
  anyOf(
    [6, time],
    [4, fc.oneof(versions, versions, canaryEdits)],
    [2, fc.oneof(...specEdits)],
    [1, fc.oneof(...objects)],
    [1, fc.oneof(...consoles)],
    [3, fc.oneof(...faults, ...Array<fc.Arbitrary<Action>>(6).fill(crash))],
    [2, nodeActions],
  ).map((actions) => [...begin, ...actions]);

const ofCanaries = fc.oneof(canaryLife(tried, newRelease), canaryLife(triedImages, launchSettingsEdits));

/** The actions of a life. */
export const anyLife: fc.Arbitrary<readonly Action[]> = fc.oneof(anyActions, ofNodes, ofLaunchSettings, ofCanaries);
