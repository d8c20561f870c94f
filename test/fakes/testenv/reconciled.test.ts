import assert from 'node:assert/strict';
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { conditionLines, isReconciled } from './testEnv.ts';

interface Row {
  readonly generation?: number;
  readonly observedGeneration?: number;
  readonly applied?: readonly string[];
  readonly reconciling?: boolean;
}

function pool({ generation = 2, observedGeneration = 2, applied = [], reconciling = false }: Row): WindowsPool {
  const conditions = reconciling
    ? [{ type: 'Reconciling', status: 'True', reason: 'Updating', message: 'EKS updates.' }]
    : [];
  return {
    metadata: { name: 'web', generation },
    status: { observedGeneration, conditions, tracking: { applied } },
  } as unknown as WindowsPool;
}

describe('a pool that is reconciled', () => {
  const rows: readonly (readonly [string, boolean, Row])[] = [
    ['has a status for its spec', true, { applied: ['label team=1f', 'scaling=2e'] }],
    ['has a status of its own generation', false, { observedGeneration: 1 }],
    ['is not Reconciling', false, { reconciling: true }],
    ['has no change in progress with an unknown result', false, { applied: ['label team=1f', 'scaling=?'] }],
  ];
  for (const [what, expected, row] of rows) it(what, () => assert.equal(isReconciled(pool(row)), expected));

  it('exists', () => assert.equal(isReconciled(undefined), false));
});

describe('the conditions of a pool as text', () => {
  it('show that they are of an earlier generation', () => {
    const stale = pool({ observedGeneration: 1, reconciling: true });
    assert.equal(
      conditionLines(stale),
      'The status is of generation 1, the spec of 2.\nReconciling=True Updating: EKS updates.',
    );
  });
});
