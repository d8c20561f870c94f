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
    ['that are none', '', '{"enableWindowsIpam":"true"}'],
    ['that are an empty object', '{}', '{"enableWindowsIpam":"true"}'],
    [
      'in JSON keep what they have, and its order',
      '{"tolerations":[{"key":"a"}],"env":{"WARM_IP_TARGET":"2"}}',
      '{"tolerations":[{"key":"a"}],"env":{"WARM_IP_TARGET":"2"},"enableWindowsIpam":"true"}',
    ],
    [
      'in JSON that said another thing',
      '{"enableWindowsIpam":"false","env":{}}',
      '{"enableWindowsIpam":"true","env":{}}',
    ],
    [
      'in YAML keep their comments',
      '# ours\nenv:\n  WARM_IP_TARGET: "2" # for bursts\n',
      '# ours\nenv:\n  WARM_IP_TARGET: "2" # for bursts\nenableWindowsIpam: "true"\n',
    ],
    [
      'in YAML that said another thing',
      'enableWindowsIpam: "false"\nenv: {}\n',
      'enableWindowsIpam: "true"\nenv: {}\n',
    ],
    ['in YAML with comments alone', '# nothing yet\n', '# nothing yet\n\nenableWindowsIpam: "true"\n'],
    ['that are a list', '[]', undefined],
    ['that are a word', 'true', undefined],
    ['that are broken', '{"env":', undefined],
    ['that are broken YAML', 'env: [', undefined],
    ['with an alias of nothing', 'env: *nothing\n', undefined],
    ['with more aliases than are resolved', bomb, undefined],
  ];
  for (const [what, text, want] of rows) it(what, async () => assert.equal(await withValues(text, IPAM), want));

  it('lose nothing but the value that is set, whatever they are', async () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), value), fc.boolean(), async (values, indented) => {
        const text = JSON.stringify(values, null, indented ? 2 : 0);
        const changed = (await withValues(text, IPAM)) ?? assert.fail('no object');
        assert.deepEqual(JSON.parse(changed), JSON.parse(JSON.stringify({ ...values, ...IPAM })));
      }),
    );
  });

  it('are read of JSON and YAML alike, and a comment is none of them', async () => {
    assert.deepEqual(await readValues('# enableWindowsIpam: "true"\nenv: {}\n'), { env: {} });
    assert.deepEqual(await readValues('{"enableWindowsIpam":"true"}'), IPAM);
    assert.deepEqual(parse((await withValues('a: 1\n', IPAM)) ?? ''), { a: 1, ...IPAM });
  });
});
