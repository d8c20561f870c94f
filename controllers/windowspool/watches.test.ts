import assert from 'node:assert/strict';
import type { WindowsPool } from './api.gen.ts';
import { nodeGroupsOf } from './nodes/poolNodesCache.ts';
import type { NodeRecord } from './ports/nodes.ts';
import { knownStatus, sampleNode, samplePool } from './testing/fixtures.ts';
import { poolChangeMatters, poolIndexes } from './watches.ts';

describe('a change of a node', () => {
  const node = sampleNode();
  const table: readonly (readonly [string, NodeRecord | undefined, NodeRecord | undefined, readonly string[]])[] = [
    ['wakes its pool when it joins', undefined, node, ['web']],
    ['wakes its pool when it leaves', node, undefined, ['web']],
    ['wakes its pool when it turns NotReady', node, { ...node, ready: 'False' }, ['web']],
    ['wakes its pool when its kernel changes', node, { ...node, kernelVersion: '10.0.17763.1' }, ['web']],
    ['wakes its pool when a label goes', node, { ...node, labels: { 'eks.amazonaws.com/nodegroup': 'web' } }, ['web']],
    [
      'wakes its pool when a resource changes',
      node,
      { ...node, allocatable: { ...node.allocatable, memory: '1Gi' } },
      ['web'],
    ],
    ['wakes its pool when a taint changes', node, { ...node, taints: [] }, ['web']],
    [
      'wakes both pools when it moves',
      node,
      { ...node, labels: { ...node.labels, 'eks.amazonaws.com/nodegroup': 'api' } },
      ['web', 'api'],
    ],
    ['wakes nobody when it is in no node group', undefined, { ...node, labels: {} }, []],
  ];
  for (const [name, before, after, want] of table) {
    it(name, () => assert.deepEqual(nodeGroupsOf(before, after), want));
  }
});

describe('a change of a pool', () => {
  const pool = samplePool();
  const withMetadata = (change: Partial<WindowsPool['metadata']>) => ({
    ...pool,
    metadata: { ...pool.metadata, ...change },
  });
  const table: readonly (readonly [string, WindowsPool | undefined, boolean])[] = [
    ['matters when it goes', undefined, true],
    ['matters when its spec changes', samplePool({ scaling: { max: 9 } }), true],
    ['matters when it is marked for deletion', withMetadata({ deletionTimestamp: '2026-03-01T12:00:00Z' }), true],
    ['matters when it is paused by annotation', withMetadata({ annotations: { 'winpool.dev/paused': 'true' } }), true],
    ['matters when its finalizer is taken away', withMetadata({ finalizers: [] }), true],
    [
      'does not matter when it is the operator’s own status',
      { ...withMetadata({ resourceVersion: '8' }), status: knownStatus() },
      false,
    ],
  ];
  for (const [name, after, want] of table) it(name, () => assert.equal(poolChangeMatters(pool, after), want));

  it('matters when it is new', () => assert.equal(poolChangeMatters(undefined, pool), true));
});

describe('a pool is found', () => {
  it('by its node group', () =>
    assert.deepEqual(poolIndexes.nodeGroup(samplePool({ nodeGroup: { name: 'other' } })), ['other']));

  it('by the RuntimeClass that it wants and by the one that it had', () => {
    const pool = samplePool({ runtimeClass: { scope: 'Pool' } }, { status: knownStatus() });
    assert.deepEqual(poolIndexes.runtimeClass(pool), ['web', 'windows-2022']);
  });
});
