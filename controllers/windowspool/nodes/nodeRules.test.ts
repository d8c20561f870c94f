import assert from 'node:assert/strict';
import { NOW, sampleNodes, samplePool, sampleState } from '../testing/fixtures.ts';
import { correctTaints, NODES_IN_A_RUN } from './nodeRules.ts';

describe('the taints of a thousand nodes', () => {
  const pool = samplePool({ verification: { policy: 'Quarantine', minimumRevision: 99_999 } });
  const nodes = sampleNodes(1_000);
  const tainted = (now: number) =>
    correctTaints(sampleState({ pool, nodes, now })).flatMap((step) =>
      step.kind === 'taintNode' ? [step.node.name] : [],
    );

  it('are corrected in several runs, each with distinct nodes', () => {
    const names = tainted(NOW);
    assert.deepEqual([names.length, new Set(names).size], [NODES_IN_A_RUN, NODES_IN_A_RUN]);
  });

  it('are all corrected in turn, even if the first ones can never be written', () => {
    const seen = new Set<string>();
    for (let minute = 0; minute < 60; minute++) for (const name of tainted(NOW + minute * 61_000)) seen.add(name);
    assert.equal(seen.size, nodes.length);
  });
});
