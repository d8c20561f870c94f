/** How long the replacement of a node group takes, and what it costs. `node test/fakes/simulation/replacement.ts` prints the table of docs/how-to/replace-node-groups.md. */
import type { FakeWorld } from '../../../controllers/windowspool/testing/fakeWorld.ts';
import { isReplaced, readyWorld, wake } from '../../../controllers/windowspool/testing/life.ts';
import { durations } from '../localaws/durations.ts';

const SIZE = 30;
/** A second of the local AWS stands for about a minute of EKS: at this speed, its durations are minutes, and those of the operator are its own. */
const SPEED = 1 / 60;
const MINUTE = 60_000;
/** The resolution of the clock, and the time until a run that failed is repeated, in milliseconds. */
const [STEP, RETRY] = [1_000, 2_000];
/** More than any replacement takes, in milliseconds. */
const LONG = 600 * MINUTE;

/** What one replacement takes. */
export interface Replacement {
  readonly maxUnavailable: number;
  /** From the change of the spec until the old node group is deleted. */
  readonly minutes: number;
  /** What the local AWS needs for it: the creation, the terminations one after the other, and the deletion. */
  readonly leastMinutes: number;
  readonly calls: number;
}

/** Replaces a node group of 30 nodes without pods. */
async function measured(maxUnavailable: number): Promise<Replacement> {
  const nodeGroup = {
    immutableChangePolicy: 'Replace',
    instanceTypes: ['m5.large'],
    scaling: { minSize: SIZE, maxSize: 2 * SIZE },
  };
  const { world, deps } = await readyWorld(
    { nodeGroup: nodeGroup as never, disruption: { maxUnavailable } },
    { speed: SPEED },
  );
  world.pods = [];
  const pool = world.pools.get('web');
  if (!pool?.spec.nodeGroup) throw new Error('there is no pool');
  world.apply({ ...pool, spec: { ...pool.spec, nodeGroup: { ...pool.spec.nodeGroup, instanceTypes: ['m5.xlarge'] } } });
  const start = world.now;
  const isDone = isReplaced(world);
  do {
    if (world.now - start > LONG) throw new Error(`the group is not replaced with maxUnavailable ${maxUnavailable}`);
    const next = await wake(world, deps);
    const due = world.now + (next.kind === 'requeueAfter' ? next.ms : RETRY);
    const before = nodesAsText(world);
    // A change of a node triggers a run, too.
    while (world.now < due && nodesAsText(world) === before) world.now = Math.min(due, world.now + STEP);
  } while (world.groups.size > 1 || !isDone());
  const { create, hook, lostNode, delete: deletion } = durations;
  const leastMinutes = create + (SIZE / maxUnavailable) * (hook + lostNode) + deletion;
  return { maxUnavailable, minutes: (world.now - start) / MINUTE, leastMinutes, calls: world.awsCalls().length };
}

function nodesAsText({ nodes }: FakeWorld): string {
  return nodes.map(({ uid, resourceVersion }) => `${uid} ${resourceVersion}`).join();
}

/** The replacements with several shares of unavailable nodes. */
export async function replacements(): Promise<Replacement[]> {
  const found: Replacement[] = [];
  for (const maxUnavailable of [1, 3, 10]) found.push(await measured(maxUnavailable));
  return found;
}

/** The rows of the table in docs/how-to/replace-node-groups.md. */
export function rowsOf(found: readonly Replacement[]): string[] {
  return found.map(
    ({ maxUnavailable, minutes, leastMinutes, calls }) =>
      `| ${maxUnavailable} | ${minutes.toFixed(0)} min | ${leastMinutes.toFixed(0)} min | ${calls} |`,
  );
}

if (import.meta.main) console.log(rowsOf(await replacements()).join('\n'));
