import assert from 'node:assert/strict';
import { assertGolden } from '../../test/goldenText.ts';
import type { Check } from './check.ts';
import { checkLines, checksOfPool } from './doctor.ts';
import { situations } from './testing/situations.ts';
import { plain } from './text.ts';

describe('kubectl windowspool doctor', () => {
  it('shows the prerequisites of pools, and advice', async () => {
    const texts = Object.entries(situations).map(([name, pool]) =>
      [`# ${name}`, ...checkLines(checksOfPool(pool), 80, plain)].join('\n'),
    );
    await assertGolden('plugin/doctor-pools', `${texts.join('\n\n')}\n`);
  });

  it('counts the results', () => {
    const check = (result: Check['result']): Check => ({ name: result, result, detail: 'x' });
    assert.deepEqual(checkLines([check('PASS'), check('PASS'), check('SKIP')], 80, plain).slice(-1), [
      '2 passed, 0 failed, 1 skipped',
    ]);
    assert.deepEqual(checkLines([check('PASS'), check('NOTE')], 80, plain).slice(-1), [
      '1 passed, 0 failed, 0 skipped, 1 note',
    ]);
  });
});
