import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promises, suitesOf } from './promises.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('the table of promises', () => {
  it('has every suite once, and no others', () => {
    assert.deepEqual(
      suitesOf('test-all').sort(),
      globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['test/fakes/**'] }).sort(),
    );
  });

  it('names only unit tests that exist', () => {
    const named = promises.flatMap(({ inMemory = [] }) => inMemory);
    assert.deepEqual(
      named.filter((path) => !existsSync(`${ROOT}${path}`)),
      [],
    );
  });

  it('proves each promise in make test or in memory', () => {
    const unproved = promises.filter(({ inMemory = [], test = [] }) => inMemory.length + test.length === 0);
    assert.deepEqual(unproved, []);
  });
});
