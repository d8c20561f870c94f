import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { valuesFile, withTable } from './chart.ts';

const schema = {
  properties: {
    region: { description: 'Where it is.', type: 'string' },
    image: {
      description: 'What runs.',
      properties: {
        name: { description: 'Its name.', type: 'string' },
        pull: { description: 'When.', enum: ['Always', 'Never'], default: 'Never' },
      },
    },
    limits: { description: 'How much.', type: 'object', default: { cpu: 1, rest: [] } },
  },
};

describe('the values of the chart', () => {
  it('are the defaults of the schema, each under its description', () => {
    const text = valuesFile(schema);
    assert.deepEqual(parse(text), { image: { pull: 'Never' }, limits: { cpu: 1, rest: [] } });
    assert.match(text, /# Where it is\. Required\.\n# region:\n/);
    assert.match(
      text,
      /# What runs\.\nimage:\n {2}# Its name\. Required\.\n {2}# name:\n {2}# When\.\n {2}pull: Never\n/,
    );
  });

  it('are a table in its page, and nothing else of the page changes', () => {
    const page = 'before\n<!-- values: x -->\nold\n<!-- end of values -->\nafter\n';
    const table = `| value | default | what it is |
| --- | --- | --- |
| \`region\` | required | Where it is. |
| \`image.name\` | required | Its name. |
| \`image.pull\` | \`"Never"\` | When. One of \`Always\`, \`Never\`. |
| \`limits\` | \`{"cpu":1,"rest":[]}\` | How much. |
`;
    const made = withTable(page, schema);
    assert.equal(made, `before\n<!-- values: x -->\n${table}<!-- end of values -->\nafter\n`);
    assert.equal(withTable(made, schema), made);
  });

  it('need a place in the page', () => {
    assert.throws(() => withTable('no place', schema), /no place for the table/);
  });
});
