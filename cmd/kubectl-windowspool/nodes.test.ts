import assert from 'node:assert/strict';
import { GATE_TAINT } from '../../controllers/windowspool/nodes/nodeTaints.ts';
import { NOW, sampleNode, sampleNodes } from '../../controllers/windowspool/testing/fixtures.ts';
import { assertGolden } from '../../test/goldenText.ts';
import { nodeTable, rowOf, shortName } from './nodes.ts';
import { plain } from './text.ts';

const suffix = '.eu-west-1.compute.internal';

describe('kubectl windowspool nodes', () => {
  const nodes = [
    ...sampleNodes(1),
    sampleNode({
      name: `ip-10-100-200-101${suffix}`,
      verified: undefined,
      ready: 'False',
      taints: [GATE_TAINT],
      createdAt: NOW - 40_000,
    }),
    sampleNode({
      name: `ip-10-100-200-102${suffix}`,
      kernelVersion: '10.0.17763.5576',
      verified: { status: 'False', reason: 'WrongBuild', message: 'WindowsPool web: runs build 10.0.17763.' },
    }),
    sampleNode({
      name: `ip-10-100-200-103${suffix}`,
      verified: { status: 'False', reason: 'RegistrationTaintMissing', message: 'WindowsPool web: has no taint.' },
    }),
    sampleNode({
      name: `ip-10-100-200-104${suffix}`,
      annotations: { 'winpool.dev/replace': 'true' },
      unschedulable: true,
    }),
    sampleNode({
      name: `ip-10-100-200-105${suffix}`,
      verified: { status: 'Unknown', reason: 'Joining', message: 'WindowsPool web: is joining: lacks 1 of 2 images.' },
      conditions: ['winpool.dev/ImagesPending=True', 'winpool.dev/SmokeTestPending=True'],
      taints: [GATE_TAINT],
      createdAt: NOW - 90_000,
    }),
    sampleNode({ name: 'unreadable', kernelVersion: 'Linux 6.1' }),
  ];
  const rows = nodes.map((node, index) => rowOf(node, index === 0 ? undefined : index));

  it('shows a line for each node in 80 columns, and all of it when it is wide', async () => {
    const [narrow = [], wide = []] = [80, Number.POSITIVE_INFINITY].map((columns) =>
      nodeTable(rows, columns, NOW, plain),
    );
    assert.ok(
      narrow.every((line) => line.length <= 80),
      narrow.join('\n'),
    );
    await assertGolden('plugin/nodes', `${[...narrow, '', ...wide].join('\n')}\n`);
  });

  it('shortens a name only if it stays unique', () => {
    const names = ['a.one', 'a.two', 'b.one'];
    assert.deepEqual(
      names.map((name) => shortName(name, names)),
      ['a.one', 'a.two', 'b'],
    );
  });
});
