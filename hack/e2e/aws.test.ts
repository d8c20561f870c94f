import assert from 'node:assert/strict';
import { formOf } from './aws.ts';

describe('the form of a value', () => {
  it('has names and types, and no values', () => {
    const value = {
      name: 'web',
      size: 2,
      at: new Date(0),
      subnets: ['a', 'b'],
      none: [],
      tags: { owner: 'me' },
      absent: undefined,
      $metadata: { requestId: 'x' },
      deep: { a: { b: { c: { d: 1 } } } },
    };
    assert.deepEqual(formOf(value), {
      name: 'string',
      size: 'number',
      at: 'date',
      subnets: ['string'],
      none: 'list',
      tags: 'map',
      deep: { a: { b: { c: 'structure' } } },
    });
  });
});
