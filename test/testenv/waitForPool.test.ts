import assert from 'node:assert/strict';
import { hasConditions, READY, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';

/** Without an operator: the test writes the status itself. */
describe('waiting for a pool', () => {
  const NAME = 'waited-for';
  let world: TestEnv;
  before(async () => {
    world = await theWorld();
    await world.apply(poolManifest(NAME));
  });
  after(() => world.kubectl('delete', 'windowspool', NAME));

  const answer = (observedGeneration: number) => {
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'EnoughNodesVerified',
      message: 'It is.',
      lastTransitionTime,
    };
    const status = { observedGeneration, conditions: [ready] };
    const patch = JSON.stringify({ status });
    return world.kubectl('patch', 'windowspool', NAME, '--subresource=status', '--type=merge', '-p', patch);
  };
  const ready = (timeoutMs: number) =>
    world.waitForPool(NAME, 'to be Ready', (pool) => hasConditions(pool, READY), timeoutMs);

  it('ends with the condition of its current generation', async () => {
    await answer(1);
    assert.equal((await ready(10_000))?.metadata.generation, 1);
  });

  it('continues while the condition is of an earlier generation, and reports that at the timeout', async () => {
    await world.patchPool(NAME, { nodeGroup: { scaling: { maxSize: 4 } } });
    await assert.rejects(ready(500), /generation 1, the spec of 2\.\nReady=True EnoughNodesVerified/);
    await answer(2);
    assert.equal((await ready(10_000))?.metadata.generation, 2);
  });
});
