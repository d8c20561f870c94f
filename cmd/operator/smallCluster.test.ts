import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { favorMemory, LARGE_CLUSTER_FLAGS, MOST_FOR_SMALL_CLUSTER, SMALL_CLUSTER_FLAGS } from './smallCluster.ts';

/** Caches with this number of nodes at the first lists, and the flags that V8 has been given. */
function clusterOf(size: number) {
  const listeners: (() => void)[] = [];
  const flags: string[] = [];
  const nodes = {
    size,
    // As the store: once for each node that is there.
    subscribe: (listener: () => void) => {
      for (let node = 0; node < nodes.size; node++) listener();
      listeners.push(listener);
    },
  };
  const resize = (to: number) => {
    nodes.size = to;
    for (const listener of listeners) listener();
  };
  const first = Promise.withResolvers<void>();
  const favored = favorMemory({ stores: [{ synced: first.promise }], nodes }, (flag) => void flags.push(flag));
  const list = async () => {
    first.resolve();
    await favored;
  };
  return { flags, resize, list };
}

describe('V8', () => {
  it('favors memory after the first lists of a small cluster', async () => {
    const { flags, list } = clusterOf(MOST_FOR_SMALL_CLUSTER);
    assert.deepEqual(flags, []);
    await list();
    assert.deepEqual(flags, SMALL_CLUSTER_FLAGS);
  });

  it('favors memory in a cluster without nodes', async () => {
    const { flags, list } = clusterOf(0);
    await list();
    assert.deepEqual(flags, SMALL_CLUSTER_FLAGS);
  });

  it('favors speed while the cluster is large', async () => {
    const { flags, resize, list } = clusterOf(MOST_FOR_SMALL_CLUSTER + 1);
    await list();
    assert.deepEqual(flags, []);
    for (const size of [3, 2, MOST_FOR_SMALL_CLUSTER]) resize(size);
    assert.deepEqual(flags.splice(0), SMALL_CLUSTER_FLAGS);
    for (const more of [1, 2, 3]) resize(MOST_FOR_SMALL_CLUSTER + more);
    assert.deepEqual(flags, LARGE_CLUSTER_FLAGS);
  });

  it('has these settings', () => {
    const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    for (const flag of [...SMALL_CLUSTER_FLAGS, ...LARGE_CLUSTER_FLAGS])
      assert.match(known, new RegExp(`^ {2}${flag.replace('--no-', '--')} `, 'm'));
  });
});
