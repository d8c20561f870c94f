import assert from 'node:assert/strict';
import { existingPool, samplePool } from '../../../testing/fixtures.ts';
import { withDefaultTags } from './defaultTags.ts';

describe('default tags', () => {
  const complete = withDefaultTags({ team: 'platform', cost: '1' });
  const { nodeGroup } = samplePool().spec;

  it('are tags of the node group, and the spec takes precedence', () => {
    const pool = complete(samplePool({ nodeGroup: { ...nodeGroup, tags: { team: 'shop' } } }));
    assert.deepEqual(pool.spec.nodeGroup?.tags, { team: 'shop', cost: '1' });
  });

  it('are tags of the instances only if the operator has a launch template for the pool', () => {
    assert.equal(complete(samplePool()).spec.nodeGroup?.instanceTags, undefined);
    const spec = { nodeGroup: { ...nodeGroup, disk: { sizeGiB: 80 }, instanceTags: { cost: '2' } } };
    const pool = complete(samplePool(spec as Parameters<typeof samplePool>[0]));
    assert.deepEqual(pool.spec.nodeGroup?.instanceTags, { team: 'platform', cost: '2' });
  });

  it('change no pool without a node group, and none if there are none', () => {
    const pools = [existingPool(), samplePool()] as const;
    assert.equal(complete(pools[0]), pools[0]);
    assert.equal(withDefaultTags({})(pools[1]), pools[1]);
  });
});
