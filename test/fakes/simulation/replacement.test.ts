import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { replacements, rowsOf } from './replacement.ts';

describe('a node group of 30 nodes that is replaced', () => {
  it('takes as long as docs/how-to/replace-node-groups.md says, at most half as long again as AWS', async () => {
    const found = await replacements();
    const page = readFileSync(new URL('../../../docs/how-to/replace-node-groups.md', import.meta.url), 'utf8');
    const missing = rowsOf(found).filter((row) => !page.includes(row));
    assert.deepEqual(missing, [], 'run `node test/fakes/simulation/replacement.ts`, and change the table');
    const slow = found.filter(({ minutes, leastMinutes }) => minutes > 1.5 * leastMinutes);
    assert.deepEqual(slow, []);
  }).timeout(30_000);
});
