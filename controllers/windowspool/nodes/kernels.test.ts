import assert from 'node:assert/strict';
import fc from 'fast-check';
import { NOW, sampleNode, samplePool } from '../testing/fixtures.ts';
import { countBuilds, kernelSeries, revisionsOf } from './kernels.ts';
import { PoolNodes } from './poolNodes.ts';

function poolNodesOf(kernels: readonly string[], minimumRevision?: number, warnOnly: readonly 'RevisionTooLow'[] = []) {
  const verification = { ...(minimumRevision !== undefined && { minimumRevision }), warnOnly: [...warnOnly] };
  const pool = samplePool({ verification });
  const nodes = kernels.map((kernelVersion, index) => sampleNode({ name: `n-${index}`, kernelVersion }));
  const expected = {
    spec: pool.spec,
    serverVersion: 'v1.36.3',
    joinGraceMs: 0,
    taints: { gate: false, quarantine: false },
    reportedBy: undefined,
  };
  return { pool, poolNodes: new PoolNodes(nodes, expected, NOW) };
}

describe('the revisions of a pool', () => {
  const table: readonly (readonly [string, readonly string[], number | undefined, ReturnType<typeof revisionsOf>])[] = [
    ['are none without nodes', [], undefined, undefined],
    ['are none without nodes if there is a minimum', [], 2340, undefined],
    [
      'are equal if all nodes are equal',
      ['10.0.20348.2762', '10.0.20348.2762'],
      undefined,
      { newest: '10.0.20348.2762', oldest: '10.0.20348.2762' },
    ],
    [
      'are compared as numbers, not as text',
      ['10.0.20348.999', '10.0.20348.2762', '10.0.20348.10000'],
      undefined,
      { newest: '10.0.20348.10000', oldest: '10.0.20348.999' },
    ],
    [
      'are compared by build first',
      ['10.0.20348.5020', '10.0.17763.8644', '10.0.26100.1742'],
      undefined,
      { newest: '10.0.26100.1742', oldest: '10.0.17763.8644' },
    ],
    ['are none for kernels without a revision', ['10.0.20348', '', 'Windows', '6.1.0'], undefined, undefined],
    [
      'are counted below the minimum, including nodes without a revision',
      ['10.0.20348.2339', '10.0.20348.2340', '10.0.20348'],
      2340,
      { newest: '10.0.20348.2340', oldest: '10.0.20348.2339', belowMinimum: 2 },
    ],
    [
      'are counted as 0 if no node is below the minimum',
      ['10.0.20348.2340'],
      2340,
      { newest: '10.0.20348.2340', oldest: '10.0.20348.2340', belowMinimum: 0 },
    ],
    ['are counted as 0 if no node has a revision', ['odd'], 2340, { belowMinimum: 0 }],
  ];
  for (const [name, kernels, floor, want] of table) {
    it(name, () => {
      const { pool, poolNodes } = poolNodesOf(kernels, floor);
      assert.deepEqual(revisionsOf(pool, poolNodes), want);
    });
  }

  it('are counted below the minimum also if that is only a warning', () => {
    const { pool, poolNodes } = poolNodesOf(['10.0.20348.1', '10.0.20348.2762'], 2340, ['RevisionTooLow']);
    assert.deepEqual([poolNodes.failing.length, revisionsOf(pool, poolNodes)?.belowMinimum], [0, 1]);
  });

  it('do not depend on the order of the nodes', () => {
    const kernel = fc.constantFrom('10.0.20348.7', '10.0.20348.07', '10.0.17763.9', '10.0.26100', 'odd', '');
    fc.assert(
      fc.property(fc.array(kernel, { maxLength: 8 }), (kernels) => {
        const [there, back] = [poolNodesOf(kernels, 8), poolNodesOf(kernels.toReversed(), 8)];
        assert.deepEqual(revisionsOf(there.pool, there.poolNodes), revisionsOf(back.pool, back.poolNodes));
      }),
    );
  });
});

describe('the metric of kernel versions', () => {
  it('has every build, and one series for invalid ones', () => {
    const builds = new Map([
      ['10.0.20348.2762', 3],
      ['10.0.17763.1', 1],
      ['', 2],
      ['__proto__', 1],
    ]);
    assert.deepEqual(kernelSeries({ builds }), { '10.0.20348.2762': 3, '10.0.17763.1': 1, other: 3 });
  });

  it('has at most twenty-one series for any kubelets, and counts every node', () => {
    const anyKernel = fc.oneof(
      fc.string(),
      fc.nat({ max: 99_999 }).map((revision) => `10.0.20348.${revision}`),
    );
    fc.assert(
      fc.property(fc.uniqueArray(anyKernel, { maxLength: 60, size: 'max' }), (kernels) => {
        const builds = new Map(kernels.map((kernel, index) => [kernel, index + 1]));
        const series = Object.values(kernelSeries({ builds }));
        const sum = (counts: Iterable<number>) => [...counts].reduce((total, nodes) => total + nodes, 0);
        assert.ok(series.length <= 21, `${series.length} series`);
        assert.equal(sum(series), sum(builds.values()));
        assert.equal(sum(countBuilds({ builds }).map(({ nodes }) => nodes)), sum(builds.values()));
      }),
    );
  });
});
