import assert from 'node:assert/strict';
import { readExpression } from './promql.ts';

describe('the PromQL reader', () => {
  it('finds selectors, their labels, and the labels of groupings', () => {
    const read = readExpression(
      'sum by (le, pool) (rate(a_bucket{x="1", y=~"a|b}"}[$__rate_interval])) / on (z) group_left b{}',
    );
    assert.deepEqual(read, {
      selectors: [
        {
          metric: 'a_bucket',
          matchers: [
            { label: 'x', operator: '=', value: '1' },
            { label: 'y', operator: '=~', value: 'a|b}' },
          ],
        },
        { metric: 'b', matchers: [] },
      ],
      grouping: ['le', 'pool', 'z'],
      bare: ['group_left'],
    });
  });

  it('finds names without braces', () => {
    assert.deepEqual(readExpression('topk(10, up) or vector(0)').bare, ['up']);
  });
});
