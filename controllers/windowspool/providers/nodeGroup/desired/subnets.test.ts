import assert from 'node:assert/strict';
import type { Subnet, SubnetTerm } from '../../../ports/prerequisites.ts';
import { known, unanswered } from '../../../testing/answers.ts';
import { samplePool } from '../../../testing/fixtures.ts';
import { sampleFacts } from '../../../testing/prerequisites.ts';
import { describeTerm, hasSubnets, resolvedSubnets, selects } from './subnets.ts';

const [A, B] = ['subnet-0a000000', 'subnet-0b000000'];

function specWith(...subnets: { id?: string; tags?: Record<string, string> }[]) {
  return samplePool({ nodeGroup: { subnets } }).spec;
}

describe('a subnet term', () => {
  const subnet: Subnet = { id: A, zone: 'eu-west-1a', freeAddresses: 9, tags: { tier: 'private', team: '' } };
  const cases: readonly (readonly [term: SubnetTerm, isSelected: boolean, text: string])[] = [
    [{ id: A }, true, A],
    [{ id: B }, false, B],
    [{ tags: { tier: 'private' } }, true, 'tag tier=private'],
    [{ tags: { tier: 'private', team: '' } }, true, 'tags tier=private, team='],
    [{ tags: { tier: 'public' } }, false, 'tag tier=public'],
    [{ tags: { tier: 'private', owner: '' } }, false, 'tags tier=private, owner='],
  ];
  for (const [term, isSelected, text] of cases)
    it(`${text} ${isSelected ? 'selects' : 'does not select'} a subnet with the tags tier=private and team=`, () => {
      assert.equal(selects(term, subnet), isSelected);
      assert.equal(describeTerm(term), text);
    });
});

describe('the subnets of a new node group', () => {
  it('are those of the spec if it has only IDs, regardless of EC2', () => {
    assert.deepEqual(resolvedSubnets(specWith({ id: B }, { id: A }), undefined), [B, A]);
  });
  it('are those that EC2 found, if the spec has tags', () => {
    assert.deepEqual(resolvedSubnets(specWith({ tags: { tier: 'private' } }), sampleFacts()), [A, B]);
  });
  it('are not known while EC2 has not resolved the tags', () => {
    const spec = specWith({ id: A }, { tags: { tier: 'private' } });
    assert.equal(resolvedSubnets(spec, undefined), undefined);
    assert.equal(resolvedSubnets(spec, sampleFacts({ subnets: unanswered('denied') })), undefined);
    assert.deepEqual(resolvedSubnets(spec, sampleFacts({ subnets: known([]) })), []);
  });
});

describe('an existing node group', () => {
  const byTag = { tags: { tier: 'private' } };
  const cases: readonly (readonly [what: string, spec: ReturnType<typeof specWith>, found: string[], has: boolean])[] =
    [
      ['has the subnets of the spec in any order', specWith({ id: A }, { id: B }), [B, A], true],
      ['lacks a subnet of the spec', specWith({ id: A }, { id: B }), [A], false],
      ['has one more than the spec', specWith({ id: A }), [A, B], false],
      ['has one that the tags may have selected', specWith({ id: A }, byTag), [A, B], true],
      ['lacks a subnet that the spec names beside tags', specWith({ id: A }, byTag), [B], false],
      ['has whatever tags alone selected', specWith(byTag), [A], true],
    ];
  for (const [what, spec, found, has] of cases) it(what, () => assert.equal(hasSubnets(found, spec), has));
});
