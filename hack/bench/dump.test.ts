import assert from 'node:assert/strict';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { dump, firstDifference, linesIn, linesOf } from './dump.ts';

const nodes = [{ name: 'b', taints: [{ key: 'os', effect: 'NoSchedule' }] }, { name: 'a' }] as unknown as NodeRecord[];

describe('a dump of a store', () => {
  it('has a line for each node, by name, with sorted keys, also in a file', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'windowspool-dump-'));
    const file = join(folder.path, 'nodes');
    await dump(file, nodes);
    const lines = ['{"name":"a"}', '{"name":"b","taints":[{"effect":"NoSchedule","key":"os"}]}'];
    assert.deepEqual([...linesOf(nodes)], lines);
    assert.equal(await firstDifference(linesIn(file), lines), undefined);
  });

  const cases: readonly (readonly [string, readonly string[], readonly string[], string | undefined])[] = [
    ['equals one with the same lines', ['a', 'b'], ['a', 'b'], undefined],
    ['differs in a line', ['a', 'b'], ['a', 'c'], 'line 2 differs:\nb\nc'],
    ['differs from a shorter one', ['a', 'b'], ['a'], 'line 2 differs:\nb\nmissing'],
    ['differs from a longer one', ['a'], ['a', 'b'], 'line 2 differs:\nmissing\nb'],
  ];
  for (const [name, ours, theirs, want] of cases)
    it(name, async () => assert.equal(await firstDifference(ours, theirs), want));
});
