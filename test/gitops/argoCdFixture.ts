/** Argo CD in clusters of its own, for the suites about it. */
import assert from 'node:assert/strict';
import { GitOps, POOL, startCluster } from '../../hack/gitops/gitOps.ts';
import { isReconciled, type TestEnv } from '../fakes/testenv/testEnv.ts';

export const say = (line: string) => console.log(`    ${line}`);

/** Set when the tests run. */
export interface ArgoCdFixture {
  readonly world: TestEnv;
  readonly gitOps: GitOps;
}

/** Argo CD in a cluster of its own, during the suite that calls this. */
export function withGitOps(): ArgoCdFixture {
  const fixture = {} as { world: TestEnv; gitOps: GitOps };
  before(async function () {
    // Argo CD may have to be built.
    this.timeout(30 * 60_000);
    fixture.world = await startCluster('demo', say);
    fixture.gitOps = await GitOps.start(fixture.world, say);
  });
  after(async () => {
    try {
      await fixture.gitOps?.[Symbol.asyncDispose]();
    } finally {
      await fixture.world?.stop();
    }
  });
  return fixture;
}

/** Changes the size of the pool, and checks that Argo CD keeps it, and that ten refreshes of the Application change nothing in the pool. */
export async function keepsSize(
  { world, gitOps }: ArgoCdFixture,
  application: string,
  size: number,
  change: () => unknown,
): Promise<void> {
  await change();
  const nodes = `${size}/${size}`;
  await world.waitForPool(POOL, `to have ${size} nodes`, (pool) => pool?.status?.summary?.verified === nodes);
  await world.waitForPool(POOL, 'to be reconciled', isReconciled);
  await gitOps.synced(application);
  const before = await world.pool(POOL);
  for (let count = 0; count < 10; count++) {
    const { status } = await gitOps.argo.refresh(application, count % 2 ? 'hard' : 'normal');
    assert.equal(status?.sync?.status, 'Synced');
  }
  assert.deepEqual(await world.pool(POOL), before);
  assert.equal(world.cloud.state.groups.get(POOL)?.nodegroup.scalingConfig?.desiredSize, size);
}
