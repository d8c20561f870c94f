import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { rowsOf, scaleOuts } from './scaleOut.ts';

describe('a pool that grows', () => {
  it('takes as long as README.md says, and less with a warm pool', async () => {
    const found = await scaleOuts();
    const page = readFileSync(new URL('README.md', import.meta.url), 'utf8');
    const missing = rowsOf(found).filter((row) => !page.includes(row));
    assert.deepEqual(missing, [], 'run `node test/fakes/simulation/scaleOut.ts`, and change the table');
    const times = found.map(({ registered }) => registered);
    assert.deepEqual(
      times.toSorted((a, b) => b - a),
      times,
    );
  });
});
