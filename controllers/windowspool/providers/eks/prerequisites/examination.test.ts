import assert from 'node:assert/strict';
import { knownStatus, NOW, sampleNode, samplePool, sampleState } from '../../../testing/fixtures.ts';
import { scopeOf } from './examination.ts';

describe('the prerequisites of a pool', () => {
  const lost = sampleNode({ name: 'ip-1', uid: 'uid-1', ready: 'False', createdAt: NOW - 3_600_000 });
  const others = [2, 3].map((i) => sampleNode({ name: `ip-${i}`, uid: `uid-${i}` }));
  const entry = { name: 'ip-1', uid: 'uid-1', instance: 'i-1', operation: 'Replace', since: '2026-03-01T11:58:00Z' };
  const disruption = { cause: 'NodeOperation', since: '2026-03-01T11:58:00Z', nodes: [entry] };
  const scope = (status: object) =>
    scopeOf(
      sampleState({
        pool: samplePool({}, { status: { ...knownStatus(), ...status } as never }),
        nodes: [lost, ...others],
      }),
    );

  it('are all read while a node is NotReady, and not if the operator terminates this node', () => {
    assert.deepEqual([scope({}), scope({ disruption })], ['complete', 'standing']);
  });
});
