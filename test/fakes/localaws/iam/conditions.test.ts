import assert from 'node:assert/strict';
import { type Conditions, type Context, conditionsHold, isKnown, like } from './conditions.ts';

const TAG = 'aws:RequestTag/team';
const KEYS = 'aws:TagKeys';
const ARN = 'ec2:LaunchTemplate';
const template = (region: string, id: string) => `arn:aws:ec2:${region}:111122223333:launch-template/${id}`;
const inRegion = { [ARN]: template('us-west-2', 'lt-1') };

describe('a condition of a policy', () => {
  const rows: readonly (readonly [what: string, Conditions, Context, holds: boolean])[] = [
    ['of equal text', { StringEquals: { [TAG]: 'web' } }, { [TAG]: 'web' }, true],
    ['of other case', { StringEquals: { [TAG]: 'web' } }, { [TAG]: 'Web' }, false],
    ['of one of several texts', { StringEquals: { [TAG]: ['api', 'web'] } }, { [TAG]: 'web' }, true],
    ['of text with a wildcard', { StringEquals: { [TAG]: 'w*' } }, { [TAG]: 'web' }, false],
    ['of a pattern', { StringLike: { [TAG]: 'w?b*' } }, { [TAG]: 'web' }, true],
    ['of a pattern for any text but none', { StringLike: { [TAG]: '?*' } }, { [TAG]: '' }, false],
    ['of a key in another case', { StringEquals: { 'AWS:requesttag/Team': 'web' } }, { [TAG]: 'web' }, true],
    ['of a key that the request does not have', { StringLike: { [TAG]: '*' } }, {}, false],
    ['of a key that must not exist', { Null: { [TAG]: 'true' } }, {}, true],
    ['of a key that must not exist, and does', { Null: { [TAG]: 'true' } }, { [TAG]: '' }, false],
    ['of a key that must exist, and does not', { Null: { [TAG]: 'false' } }, {}, false],
    ['of a Boolean value', { Bool: { [TAG]: 'true' } }, { [TAG]: 'True' }, true],
    ['of a missing Boolean value', { Bool: { [TAG]: 'false' } }, {}, false],
    ['of an ARN', { ArnLike: { [ARN]: template('*', 'lt-*') } }, inRegion, true],
    ['of an ARN in another Region', { ArnLike: { [ARN]: template('eu-west-1', '*') } }, inRegion, false],
    [
      'of an ARN whose wildcard would span parts',
      { ArnLike: { [ARN]: 'arn:*:launch-template/lt-1' } },
      inRegion,
      false,
    ],
    ['of all keys by a pattern', { 'ForAllValues:StringLike': { [KEYS]: 'x/*' } }, { [KEYS]: ['x/a', 'x/b'] }, true],
    [
      'of all keys, one of which differs',
      { 'ForAllValues:StringEquals': { [KEYS]: 'a' } },
      { [KEYS]: ['a', 'c'] },
      false,
    ],
    ['of all keys, when there is none', { 'ForAllValues:StringEquals': { [KEYS]: 'a' } }, {}, true],
    ['with two keys, one of which is missing', { StringEquals: { [TAG]: 'web', [ARN]: 'x' } }, { [TAG]: 'web' }, false],
    [
      'with two operators, one of which fails',
      { StringEquals: { [TAG]: 'web' }, Null: { [KEYS]: 'false' } },
      { [TAG]: 'web' },
      false,
    ],
  ];
  for (const [what, conditions, context, holds] of rows)
    it(`${what} ${holds ? 'holds' : 'does not hold'}`, () => assert.equal(conditionsHold(conditions, context), holds));

  it('is known only with the operators that the policies use', () => {
    const operators = [
      'Null',
      'ArnLike',
      'ForAllValues:StringEquals',
      'StringNotEquals',
      'ForAnyValue:StringLike',
      'toString',
    ];
    assert.deepEqual(operators.map(isKnown), [true, true, true, false, false, false]);
  });
});

describe('the wildcards of IAM', () => {
  const rows: readonly (readonly [pattern: string, text: string, fits: boolean])[] = [
    ['a*c', 'abbc', true],
    ['a?c', 'abbc', false],
    ['a.c', 'abc', false],
    ['?*', '', false],
    ['(a|b)', 'a', false],
  ];
  for (const [pattern, text, fits] of rows)
    it(`${pattern} ${fits ? 'matches' : 'does not match'} "${text}"`, () => assert.equal(like(pattern, text), fits));
});
