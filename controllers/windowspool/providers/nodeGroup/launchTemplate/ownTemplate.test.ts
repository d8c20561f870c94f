/** The name of a pool's launch template, and whose template it is. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { samplePool } from '../../../testing/fixtures.ts';
import { clusterIn, isOwnTemplate, ownerTags, ownTemplateNameOf } from './ownTemplate.ts';

/** What EKS and Kubernetes accept. */
const cluster = fc.stringMatching(/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/);
const pool = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);

function named(name: string) {
  const sample = samplePool();
  return { ...sample, metadata: { ...sample.metadata, name } };
}

describe('the name of a launch template', () => {
  it('has the cluster and the pool', () => {
    assert.equal(ownTemplateNameOf(named('web'), 'prod'), 'winpool/prod/web');
  });

  it('is accepted by EC2', () => {
    const check = (inCluster: string, name: string) =>
      assert.match(ownTemplateNameOf(named(name), inCluster), /^[a-zA-Z0-9().\-/_]{3,125}$/);
    fc.assert(fc.property(cluster, pool, check));
    check('c'.repeat(100), 'p'.repeat(63));
  });

  it('differs between pools and clusters, however long their names are', () => {
    const pair = fc.tuple(cluster, pool);
    const long = fc.tuple(
      fc.constantFrom('c'.repeat(100), `${'c'.repeat(99)}d`),
      fc.nat(9).map((n) => 'p'.repeat(62) + n),
    );
    fc.assert(
      fc.property(fc.oneof(fc.tuple(pair, pair), fc.tuple(long, long)), ([a, b]) => {
        const [first, second] = [a, b].map(([inCluster, name]) => ownTemplateNameOf(named(name), inCluster));
        assert.equal(first === second, a.join() === b.join());
      }),
    );
  });
});

describe('a launch template', () => {
  const owner = ownerTags(named('web'), 'prod');

  it('is that of the pool if it has both tags, whatever else it has', () => {
    assert.equal(isOwnTemplate(named('web'), 'prod', { tags: { ...owner, team: 'web' } }), true);
  });

  for (const [what, tags] of [
    ['no tags', {}],
    ['the tag of its users, which a template of a user has too', { 'winpool.dev/usable-by': 'prod' }],
    ['only the tag of the pool', { 'winpool.dev/pool': 'web' }],
    ['the tag of another pool', { ...owner, 'winpool.dev/pool': 'db' }],
    ['the tag of another cluster', { ...owner, 'winpool.dev/usable-by': 'test' }],
  ] as const) {
    it(`is not that of the pool if it has ${what}`, () => {
      assert.equal(isOwnTemplate(named('web'), 'prod', { tags }), false);
    });
  }

  it('of a group is looked up in the cluster of the group', () => {
    assert.equal(clusterIn('arn:aws:eks:eu-west-1:111122223333:nodegroup/prod/web/0a1b'), 'prod');
  });
});
