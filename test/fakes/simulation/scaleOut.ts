/** How long a pool takes to grow, without a warm pool and with one in each state. `node test/fakes/simulation/scaleOut.ts` prints the table of README.md. */
import type { WarmPoolSpec } from '../../../controllers/windowspool/api/api.gen.ts';
import { reconcile } from '../../../controllers/windowspool/reconcile.ts';
import { FakeWorld } from '../../../controllers/windowspool/testing/fakeWorld.ts';
import { settings } from '../../../controllers/windowspool/testing/fixtures.ts';
import { fresh, until, wake } from '../../../controllers/windowspool/testing/life.ts';

const { signal } = new AbortController();
/** The resolution, in milliseconds. */
const STEP = 50;
/** More than any growth takes, in milliseconds. */
const LONG = 10_000;
const [BEFORE, AFTER] = [3, 5];

/** The times of one growth, in seconds of the local AWS. */
export interface ScaleOut {
  readonly warmPool: WarmPoolSpec['poolState'] | 'none';
  readonly registered: number;
  readonly verified: number;
}

/** Measures the growth of a pool by two nodes, from the change of the desired size by an autoscaler. */
async function measured(warmPool: ScaleOut['warmPool']): Promise<ScaleOut> {
  const world = new FakeWorld({ speed: 1 });
  const spec = warmPool === 'none' ? {} : { warmPool: { minSize: 0, poolState: warmPool, reuseOnScaleIn: false } };
  world.apply(fresh({ nodeGroup: { ...spec, scaling: { minSize: BEFORE, maxSize: AFTER } } }));
  const deps = world.start();
  // The metric: the status is written once per second at most.
  const verified = () => world.metrics.get('web')?.['windowspool_nodes{state="verified"}'];
  await until(world, deps, () => verified() === BEFORE, 'the first nodes');
  world.now += settings.resyncMs;
  await wake(world, deps);
  const start = world.now;
  world.cloud.faults.edit({ group: 'web', scalingConfig: { desiredSize: AFTER } });
  let registeredAt: number | undefined;
  while (verified() !== AFTER) {
    if (world.now - start > LONG) throw new Error(`the pool does not grow with the warm pool ${warmPool}`);
    world.now += STEP;
    if (world.nodes.length === AFTER) registeredAt ??= world.now;
    await reconcile('web', deps, signal);
  }
  return { warmPool, registered: ((registeredAt ?? world.now) - start) / 1_000, verified: (world.now - start) / 1_000 };
}

/** The growth without a warm pool, and with one in each state. */
export async function scaleOuts(): Promise<ScaleOut[]> {
  const found: ScaleOut[] = [];
  for (const warmPool of ['none', 'Stopped', 'Hibernated', 'Running'] as const) found.push(await measured(warmPool));
  return found;
}

/** The rows of the table in README.md. */
export function rowsOf(found: readonly ScaleOut[]): string[] {
  return found.map(
    ({ warmPool, registered, verified }) =>
      `| ${warmPool === 'none' ? 'none' : `\`${warmPool}\``} | ${registered.toFixed(1)} s | ${verified.toFixed(1)} s |`,
  );
}

if (import.meta.main) console.log(rowsOf(await scaleOuts()).join('\n'));
