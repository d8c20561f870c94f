import assert from 'node:assert/strict';
import { cpus } from 'node:os';
import { type Figure, figureOf } from './figures.ts';
import { regressions } from './report.ts';

const all = cpus();
const recorded = {
  ...{ at: '', node: 'v24', processors: all.length, machine: `${all.length} x ${all[0]?.model.trim()}` },
  ...{ loadBefore: 0, referenceMs: 100, how: '', rows: [] },
};
const { referenceMs: _, ...withoutSpeed } = recorded;
const result = (figures: readonly Figure[]) => ({ how: '', rows: [], figures });
const time = (value: number) => figureOf({ name: 'time', unit: 'ms' }, [value, value + 1]);
const memory = (value: number) => figureOf({ name: 'memory', unit: 'MB' }, [value, value + 1]);

describe('the comparison with the record', () => {
  const cases = [
    ['on a machine that is as fast', recorded, 110, ['time', 'memory']],
    ['without times on a slower machine', recorded, 200, ['memory']],
    ['without times on a faster machine', recorded, 50, ['memory']],
    ['without times if the record has no speed', withoutSpeed, 100, ['memory']],
    ['not on other processors', { ...recorded, machine: '64 x another' }, 100, []],
  ] as const;
  for (const [what, before, reference, worse] of cases)
    it(`shows figures that are worse ${what}`, () => {
      const known = { ...before, figures: [time(10), memory(50)] };
      const found = regressions(result([time(20), memory(70)]), known, reference);
      assert.deepEqual(
        found.map((line) => line.split(':')[0]),
        worse,
      );
    });
});
