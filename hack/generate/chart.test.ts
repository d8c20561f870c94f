import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { valuesFile, withValues } from './chart.ts';

const schema = {
  properties: {
    region: { description: 'The Region.', type: 'string' },
    image: {
      description: 'The image.',
      properties: {
        name: { description: 'The name.', type: 'string' },
        pull: { description: 'The pull policy.', enum: ['Always', 'Never'], default: 'Never' },
      },
    },
    limits: { description: 'The limits.', type: 'object', default: { cpu: 1, rest: [] } },
  },
};

describe('the values of the chart', () => {
  it('are the defaults of the schema, each below its description', () => {
    const text = valuesFile(schema);
    assert.deepEqual(parse(text), { image: { pull: 'Never' }, limits: { cpu: 1, rest: [] } });
    assert.match(text, /# The Region\. Required\.\n# region:\n/);
    assert.match(
      text,
      /# The image\.\nimage:\n {2}# The name\. Required\.\n {2}# name:\n {2}# The pull policy\.\n {2}pull: Never\n/,
    );
  });

  it('are a table in the page of the chart, and the rest of the page is unchanged', () => {
    const page = 'before\n<!-- values: x -->\nold\n<!-- end of values -->\nafter\n';
    const table = `| value | default | description |
| --- | --- | --- |
| \`region\` | required | The Region. |
| \`image.name\` | required | The name. |
| \`image.pull\` | \`"Never"\` | The pull policy. One of \`Always\`, \`Never\`. |
| \`limits\` | \`{"cpu":1,"rest":[]}\` | The limits. |
`;
    const made = withValues(page, schema);
    assert.equal(made, `before\n<!-- values: x -->\n${table}<!-- end of values -->\nafter\n`);
    assert.equal(withValues(made, schema), made);
  });

  it('need the comments around the table in the page', () => {
    assert.throws(() => withValues('no comments', schema), /the comments around the table of values are missing/);
  });
});
