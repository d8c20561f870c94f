import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Conditions, type Context, conditionsHold, isKnown, like } from './conditions.ts';

const TAG = 'aws:RequestTag/team';
const KEYS = 'aws:TagKeys';
const ARN = 'ec2:LaunchTemplate';
const template = (region: string, id: string) => `arn:aws:ec2:${region}:111122223333:launch-template/${id}`;

describe('a condition of a policy', () => {
  const rows: readonly (readonly [what: string, Conditions, Context, holds: boolean])[] = [
    ['of equal text', { StringEquals: { [TAG]: 'web' } }, { [TAG]: 'web' }, true],
    ['of other text', { StringEquals: { [TAG]: 'web' } }, { [TAG]: 'api' }, false],
    ['of other case', { StringEquals: { [TAG]: 'web' } }, { [TAG]: 'Web' }, false],
    ['of one of several texts', { StringEquals: { [TAG]: ['api', 'web'] } }, { [TAG]: 'web' }, true],
    ['of text with a wildcard', { StringEquals: { [TAG]: 'w*' } }, { [TAG]: 'web' }, false],
    ['of a pattern', { StringLike: { [TAG]: 'w?b*' } }, { [TAG]: 'web' }, true],
    ['of a pattern for any text but none', { StringLike: { [TAG]: '?*' } }, { [TAG]: '' }, false],
    ['of a key in another case', { StringEquals: { 'AWS:requesttag/Team': 'web' } }, { [TAG]: 'web' }, true],
    ['of a key that the request does not have', { StringLike: { [TAG]: '*' } }, {}, false],
    ['of a key that must not exist', { Null: { [TAG]: 'true' } }, {}, true],
    ['of a key that must not exist, and does', { Null: { [TAG]: 'true' } }, { [TAG]: '' }, false],
    ['of a key that must exist', { Null: { [TAG]: 'false' } }, { [TAG]: '' }, true],
    ['of a key that must exist, and does not', { Null: { [TAG]: 'false' } }, {}, false],
    [
      'of a Boolean value',
      { Bool: { 'ec2:IsLaunchTemplateResource': 'true' } },
      { 'ec2:IsLaunchTemplateResource': 'True' },
      true,
    ],
    ['of another Boolean value', { Bool: { [TAG]: 'true' } }, { [TAG]: 'false' }, false],
    ['of a missing Boolean value', { Bool: { [TAG]: 'false' } }, {}, false],
    ['of an ARN', { ArnLike: { [ARN]: template('*', 'lt-*') } }, { [ARN]: template('us-west-2', 'lt-1') }, true],
    [
      'of an ARN in another Region',
      { ArnLike: { [ARN]: template('eu-west-1', '*') } },
      { [ARN]: template('us-west-2', 'lt-1') },
      false,
    ],
    [
      'of an ARN whose wildcard would span parts',
      { ArnLike: { [ARN]: 'arn:*:launch-template/lt-1' } },
      { [ARN]: template('us-west-2', 'lt-1') },
      false,
    ],
    [
      'of all keys, when all fit',
      { 'ForAllValues:StringEquals': { [KEYS]: ['a', 'b'] } },
      { [KEYS]: ['b', 'a'] },
      true,
    ],
    [
      'of all keys, when one does not fit',
      { 'ForAllValues:StringEquals': { [KEYS]: ['a', 'b'] } },
      { [KEYS]: ['a', 'c'] },
      false,
    ],
    ['of all keys by a pattern', { 'ForAllValues:StringLike': { [KEYS]: 'x/*' } }, { [KEYS]: ['x/a', 'x/b'] }, true],
    ['of all keys, when there is none', { 'ForAllValues:StringEquals': { [KEYS]: 'a' } }, {}, true],
    [
      'of all keys, of which there must be one',
      { 'ForAllValues:StringEquals': { [KEYS]: 'a' }, Null: { [KEYS]: 'false' } },
      {},
      false,
    ],
    [
      'with two keys, of which one does not fit',
      { StringEquals: { [TAG]: 'web', [ARN]: 'x' } },
      { [TAG]: 'web' },
      false,
    ],
    [
      'with two operators, of which one does not fit',
      { StringEquals: { [TAG]: 'web' }, Null: { [KEYS]: 'false' } },
      { [TAG]: 'web' },
      false,
    ],
  ];
  for (const [what, conditions, context, holds] of rows)
    it(`${what} ${holds ? 'holds' : 'does not hold'}`, () => assert.equal(conditionsHold(conditions, context), holds));

  it('of all values holds exactly if no value fails alone', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'x/1', 'x/2'), { maxLength: 4 });
    fc.assert(
      fc.property(names, fc.constantFrom(['a'], ['a', 'x/*'], ['*'], ['?']), (keys, allowed) => {
        const all = conditionsHold({ 'ForAllValues:StringLike': { [KEYS]: allowed } }, { [KEYS]: keys });
        assert.equal(
          all,
          keys.every((key) => conditionsHold({ StringLike: { [KEYS]: allowed } }, { [KEYS]: key })),
        );
      }),
    );
  });

  it('is known only with the operators that the policies use', () => {
    for (const operator of ['Null', 'Bool', 'ArnLike', 'StringLike', 'ForAllValues:StringEquals'])
      assert.equal(isKnown(operator), true, operator);
    for (const operator of [
      'IpAddress',
      'StringNotEquals',
      'ForAnyValue:StringLike',
      'StringEqualsIfExists',
      'toString',
    ])
      assert.equal(isKnown(operator), false, operator);
  });
});

describe('the wildcards of IAM', () => {
  const rows: readonly (readonly [pattern: string, text: string, fits: boolean])[] = [
    ['a*c', 'abbc', true],
    ['a?c', 'abbc', false],
    ['a.c', 'abc', false],
    ['*', '', true],
    ['?*', '', false],
    ['(a|b)', 'a', false],
  ];
  for (const [pattern, text, fits] of rows)
    it(`${pattern} ${fits ? 'matches' : 'does not match'} "${text}"`, () => assert.equal(like(pattern, text), fits));
});
