import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse } from 'yaml';
import { readValues, withValues } from './addonValues.ts';

const IPAM = { enableWindowsIpam: 'true' };

/** A hundred thousand values by aliases, in five lines. */
const bomb = ['a: &a [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]', ...['b', 'c', 'd', 'e'].map(nested)].join('\n');

function nested(key: string, index: number): string {
  const alias = `*${'abcd'[index]}`;
  return `${key}: &${key} [${Array(10).fill(alias).join(', ')}]`;
}

describe('the configuration values of an add-on', () => {
  const rows: readonly [what: string, text: string, want: string | undefined][] = [
    ['are created if there are none', '', '{"enableWindowsIpam":"true"}'],
    ['are added to an empty object', '{}', '{"enableWindowsIpam":"true"}'],
    [
      'in JSON keep the other values and their order',
      '{"tolerations":[{"key":"a"}],"env":{"WARM_IP_TARGET":"2"}}',
      '{"tolerations":[{"key":"a"}],"env":{"WARM_IP_TARGET":"2"},"enableWindowsIpam":"true"}',
    ],
    [
      'in JSON replace the previous value',
      '{"enableWindowsIpam":"false","env":{}}',
      '{"enableWindowsIpam":"true","env":{}}',
    ],
    [
      'in YAML keep comments',
      '# ours\nenv:\n  WARM_IP_TARGET: "2" # for bursts\n',
      '# ours\nenv:\n  WARM_IP_TARGET: "2" # for bursts\nenableWindowsIpam: "true"\n',
    ],
    [
      'in YAML replace the previous value',
      'enableWindowsIpam: "false"\nenv: {}\n',
      'enableWindowsIpam: "true"\nenv: {}\n',
    ],
    ['are added to YAML that has only comments', '# nothing yet\n', '# nothing yet\n\nenableWindowsIpam: "true"\n'],
    ['are not changed if they are a list', '[]', undefined],
    ['are not changed if they are a scalar', 'true', undefined],
    ['are not changed if they are invalid JSON', '{"env":', undefined],
    ['are not changed if they are invalid YAML', 'env: [', undefined],
    ['are not changed if an alias has no anchor', 'env: *nothing\n', undefined],
    ['are not changed if they have too many aliases', bomb, undefined],
  ];
  for (const [what, text, want] of rows) it(what, async () => assert.equal(await withValues(text, IPAM), want));

  it('keep all other values', async () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), value), fc.boolean(), async (values, indented) => {
        const text = JSON.stringify(values, null, indented ? 2 : 0);
        const changed = (await withValues(text, IPAM)) ?? assert.fail('no object');
        assert.deepEqual(JSON.parse(changed), JSON.parse(JSON.stringify({ ...values, ...IPAM })));
      }),
    );
  });

  it('are read from JSON and YAML, without comments', async () => {
    assert.deepEqual(await readValues('# enableWindowsIpam: "true"\nenv: {}\n'), { env: {} });
    assert.deepEqual(await readValues('{"enableWindowsIpam":"true"}'), IPAM);
    assert.deepEqual(parse((await withValues('a: 1\n', IPAM)) ?? ''), { a: 1, ...IPAM });
  });
});
