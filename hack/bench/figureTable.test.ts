import assert from 'node:assert/strict';
import { figureOf, noneOf } from './figures.ts';
import { conditionsOf, tableOf, withTable } from './figureTable.ts';

const measured = { node: 'v24', processors: 2, loadBefore: 0, how: '', rows: [] };
const sections = {
  first: {
    ...measured,
    at: '2026-03-01T10:00:00.000Z',
    figures: [
      figureOf({ name: 'time of a list', unit: 'ms', goal: 100 }, [120.4, 99.96, 104.2]),
      figureOf({ name: 'time relative to another', unit: '', goal: 1 }, [0.912]),
    ],
  },
  second: { ...measured, at: '2026-03-02T10:00:00.000Z', figures: [noneOf('lost events', 0)] },
};
const table = [
  '| measurement | median (range) | goal | measured |',
  '| --- | --- | --- | --- |',
  '| time of a list | 104 ms (100 to 120, 3 runs) | 100 ms, **undecided** | 2026-03-01 |',
  '| time relative to another | 0.91 | 1 | 2026-03-01 |',
  '| lost events | 0 | 0 | 2026-03-02 |',
].join('\n');

describe('the table of figures', () => {
  it('has the median of each figure, its spread, its goal, and the date', () => {
    assert.equal(tableOf(sections), table);
  });

  it('says on which machine they were measured, and how busy it was', () => {
    const busy = { ...sections.second, loadBefore: 4.5, referenceMs: 40 };
    assert.match(
      conditionsOf({ ...sections, second: busy }),
      /^Measured with Node\.js v24 on 2 processors\. The loop that shows the speed of the machine took 40 to 40 ms: [^.]*\. The load average before each section was 0 to 4\.5\./,
    );
  });

  it('replaces the one on the page', () => {
    const page = (inside: string) =>
      `before\n<!-- Written by hack/bench/page.ts. -->\n\n${inside}\n\n<!-- End of the table. -->\nafter`;
    assert.equal(withTable(page('| old |'), table), page(table));
    assert.equal(withTable(withTable(page('| old |'), table), table), page(table));
    assert.throws(() => withTable('a page', table), /no place for the table/);
  });
});
