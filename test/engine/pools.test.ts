import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { errorKindOf, good, until, withClient } from './clientFixture.ts';

describe('pools on a real API server', () => {
  const fixture = withClient();
  const { signal } = fixture;

  it('has no status of a pool that was never reconciled, while other clients read that its generation is not observed', async () => {
    const { seen, end, path } = await fixture.makePools('adapter-new');
    assert.equal(seen('adapter-new').status, undefined);
    const shown = await fixture.client.request<WindowsPool>('GET', `${path}/adapter-new`, { signal });
    assert.deepEqual(shown.status, { observedGeneration: -1 });
    await end('adapter-new');
  });

  it('has the status that another client restored without the generation', async () => {
    const { seen, end, path } = await fixture.makePools('adapter-restored');
    const cluster = { name: 'demo', arn: 'arn:aws:eks:us-east-1:111122223333:cluster/demo' };
    const contentType = 'application/merge-patch+json';
    await fixture.client.request('PATCH', `${path}/adapter-restored/status`, {
      body: { status: { cluster } },
      contentType,
      signal,
    });
    await until('the status', () => seen('adapter-restored').status !== undefined);
    assert.deepEqual(seen('adapter-restored').status, { observedGeneration: -1, cluster });
    await end('adapter-restored');
  });

  it('writes the finalizer and the status only to the version that was read, and reads its own writes', async () => {
    const { pools, seen, end, path } = await fixture.makePools('adapter-pool');
    const first = seen('adapter-pool');
    await fixture.client.request('PATCH', `${path}/adapter-pool`, {
      body: { metadata: { finalizers: ['example.com/other'] } },
      contentType: 'application/merge-patch+json',
      signal,
    });
    assert.equal(errorKindOf(await pools.addFinalizer(first, signal)), 'conflict');
    const current = good(await pools.read('adapter-pool', signal)) as WindowsPool;
    const held = good(await pools.addFinalizer(current, signal));
    assert.deepEqual(held.metadata.finalizers, ['example.com/other', 'winpool.dev/finalizer']);
    assert.equal(pools.get('adapter-pool')?.metadata.resourceVersion, held.metadata.resourceVersion);
    assert.equal(errorKindOf(await pools.writeStatus(current, { observedGeneration: 1 }, signal)), 'conflict');

    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'EnoughNodesVerified',
      message: 'm',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    const noted = good(await pools.writeStatus(held, { tracking: { applied: ['scaling=?'] } }, signal));
    assert.equal(noted.status?.observedGeneration, -1, 'a status without conditions is not that of a reconciled pool');
    const shown = good(await pools.writeStatus(noted, { observedGeneration: 1, conditions: [condition] }, signal));
    assert.deepEqual(shown.status, { observedGeneration: 1, conditions: [condition] });
    const replaced = good(await pools.writeStatus(shown, { observedGeneration: 1 }, signal));
    assert.deepEqual(replaced.status, { observedGeneration: 1 }, 'what is left out is gone');
    const again = good(await pools.writeStatus(replaced, { observedGeneration: 1 }, signal));
    assert.equal(again.metadata.resourceVersion, replaced.metadata.resourceVersion, 'the same status is no change');
    assert.equal(again.metadata.generation, first.metadata.generation);

    await end('adapter-pool');
    await until('the deletion', () => seen('adapter-pool').metadata.deletionTimestamp !== undefined);
    good(await pools.removeFinalizer(seen('adapter-pool'), signal));
    const left = good(await pools.read('adapter-pool', signal)) as WindowsPool;
    assert.deepEqual(left.metadata.finalizers, ['example.com/other']);
    await fixture.client.request('PATCH', `${path}/adapter-pool`, {
      body: { metadata: { finalizers: [] } },
      contentType: 'application/merge-patch+json',
      signal,
    });
    good(await pools.removeFinalizer(held, signal));
    assert.equal(good(await pools.read('adapter-pool', signal)), undefined);
    assert.equal(errorKindOf(await pools.writeStatus(again, {}, signal)), 'gone');
  });
});
