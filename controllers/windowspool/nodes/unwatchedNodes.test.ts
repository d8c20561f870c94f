import assert from 'node:assert/strict';
import type { CallResult } from '../ports/callResult.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { reconcile } from '../reconcile.ts';
import { MINUTE, NOW, sampleError, sampleNode, settings } from '../testing/fixtures.ts';
import { assertBrief, type Brief } from '../testing/goldenTexts.ts';
import { readyWorld, signal, until, wake } from '../testing/life.ts';
import { renameNodes } from '../testing/nodeLife.ts';
import { wholeCondition } from '../testing/wholeCondition.ts';
import { instanceIdOf, UnwatchedNodes } from './unwatchedNodes.ts';

const LABEL = 'eks.amazonaws.com/nodegroup';
const labelled = (name: string, group: string | undefined, change: Partial<NodeRecord> = {}): NodeRecord => {
  return inGroup(sampleNode({ name, ...change }), group);
};
const inGroup = (node: NodeRecord, group: string | undefined): NodeRecord => {
  const { [LABEL]: _, ...labels } = node.labels;
  return { ...node, labels: group === undefined ? labels : { ...labels, [LABEL]: group } };
};
/** Whether a node lacks the label of the group. */
const isOut = ({ labels }: NodeRecord) => labels[LABEL] !== 'web';
const names = (nodes: readonly NodeRecord[]) => nodes.map(({ name }) => name);

/** A fake API server with these nodes, and the names that were read. */
function server(...nodes: readonly NodeRecord[]) {
  const reads: string[] = [];
  const read = async (name: string): Promise<CallResult<NodeRecord | undefined>> => {
    reads.push(name);
    return { ok: true, value: nodes.find((node) => node.name === name) };
  };
  return { reads, read };
}

describe('a node that left the cache', () => {
  const node = labelled('ip-1', 'web');
  const cases: readonly (readonly [string, NodeRecord | undefined, boolean])[] = [
    ['is deleted when no node has its name', undefined, false],
    ['is deleted when another node has its name', labelled('ip-1', undefined, { uid: 'another' }), false],
    ['is not unlabelled while it is being deleted', labelled('ip-1', undefined, { deleting: true }), false],
    ['is not unlabelled when the label was restored', node, false],
    ['is unlabelled when it lacks the label', labelled('ip-1', undefined), true],
    ['is unlabelled when it has the label of another group', labelled('ip-1', 'api'), true],
  ];
  for (const [what, found, isUnlabelled] of cases) {
    it(what, async () => {
      const unwatchedNodes = new UnwatchedNodes();
      unwatchedNodes.left(node);
      assert.equal(await unwatchedNodes.read(isOut, server(...(found ? [found] : [])), NOW, signal), undefined);
      assert.deepEqual(names(unwatchedNodes.unlabelledNodes), isUnlabelled ? ['ip-1'] : []);
      assert.equal(unwatchedNodes.nextReadAt, Number.POSITIVE_INFINITY);
    });
  }

  it('is no longer unlabelled when it is back in the cache, deleted, or no node is missing', async () => {
    const ends: readonly ((unwatchedNodes: UnwatchedNodes) => unknown)[] = [
      (unwatchedNodes) => unwatchedNodes.returned('ip-1'),
      (unwatchedNodes) => unwatchedNodes.forget(),
      async (unwatchedNodes) => {
        unwatchedNodes.recheckUnlabelled();
        assert.deepEqual(names(unwatchedNodes.unlabelledNodes), ['ip-1'], 'it stays unlabelled until it is read');
        await unwatchedNodes.read(isOut, server(), NOW + MINUTE, signal);
      },
    ];
    for (const end of ends) {
      const unwatchedNodes = new UnwatchedNodes();
      unwatchedNodes.left(node);
      await unwatchedNodes.read(isOut, server(labelled('ip-1', undefined)), NOW, signal);
      await end(unwatchedNodes);
      assert.deepEqual(unwatchedNodes.unlabelledNodes, []);
    }
  });

  it('is found by its instance when the watch did not report that it left', async () => {
    const found = labelled('ip-1', undefined);
    for (const [id, expected] of [
      [instanceIdOf(found), ['ip-1']],
      ['i-another', []],
    ] as const) {
      const unwatchedNodes = new UnwatchedNodes();
      unwatchedNodes.missed({ id, privateDnsName: 'ip-1', launchedAt: NOW });
      unwatchedNodes.missed({ id: 'i-without-a-name', privateDnsName: '', launchedAt: NOW });
      const { reads, read } = server(found);
      await unwatchedNodes.read(isOut, { read }, NOW, signal);
      assert.deepEqual([reads, names(unwatchedNodes.unlabelledNodes)], [['ip-1'], expected]);
    }
  });
});

describe('nodes that joined without the label of the pool', () => {
  it('are listed once in an interval, and not those that are being deleted', async () => {
    const unwatchedNodes = new UnwatchedNodes();
    let lists = 0;
    const list = async () => {
      lists += 1;
      const value = [labelled('ip-1', undefined), labelled('ip-2', undefined, { deleting: true })];
      return { ok: true, value } as const;
    };
    for (const at of [0, 1, MINUTE - 1, MINUTE, MINUTE + 1]) await unwatchedNodes.find(list, NOW + at, MINUTE);
    assert.deepEqual([lists, names(unwatchedNodes.unlabelledNodes)], [2, ['ip-1']]);
    assert.equal(unwatchedNodes.nextReadAt, NOW + 2 * MINUTE);
    unwatchedNodes.forget();
    assert.equal(unwatchedNodes.nextReadAt, Number.POSITIVE_INFINITY);
  });

  it('are listed again after an error', async () => {
    const unwatchedNodes = new UnwatchedNodes();
    const error = sampleError('unavailable');
    assert.equal(await unwatchedNodes.find(async () => ({ ok: false, error }), NOW, MINUTE), error);
    assert.equal(unwatchedNodes.nextReadAt, NOW + MINUTE);
  });
});

describe('thousands of nodes that left the cache', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => labelled(`ip-${index}`, 'web'));

  it('are read at a rate of ten per second', async () => {
    const unwatchedNodes = new UnwatchedNodes();
    for (const node of many) unwatchedNodes.left(node);
    const { reads, read } = server();
    for (let ms = 0; ms < 3_000; ms += 100) await unwatchedNodes.read(isOut, { read }, NOW + ms, signal);
    assert.equal(reads.length, 30);
    assert.equal(unwatchedNodes.nextReadAt, NOW + 3_000);
  });

  it('are not read when the pool lacks no nodes', async () => {
    const unwatchedNodes = new UnwatchedNodes();
    for (const node of many) unwatchedNodes.left(node);
    unwatchedNodes.forget();
    const { reads, read } = server();
    await unwatchedNodes.read(isOut, { read }, NOW, signal);
    assert.deepEqual(reads, []);
  });

  it('are read again after an error, which ends a batch', async () => {
    const unwatchedNodes = new UnwatchedNodes();
    for (const node of many) unwatchedNodes.left(node);
    let reads = 0;
    const error = sampleError('unavailable');
    const read = async (): Promise<CallResult<NodeRecord | undefined>> => {
      reads += 1;
      return reads === 3 ? { ok: false, error } : { ok: true, value: undefined };
    };
    assert.equal(await unwatchedNodes.read(isOut, { read }, NOW, signal), error);
    assert.equal(unwatchedNodes.nextReadAt, NOW + 1_000);
    assert.equal(await unwatchedNodes.read(isOut, { read }, NOW + 1_000, signal), undefined);
    assert.equal(reads, 13);
  });
});

describe('a pool with a node that loses the label of its group', () => {
  const verified = (world: Awaited<ReturnType<typeof readyWorld>>['world']) => {
    const found = wholeCondition(world.pools.get('web'), 'NodesVerified');
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  };
  const removed = (label: string): Brief => [
    'False MembershipLabelRemoved',
    '1 node',
    'ip-1',
    `kubectl label node NAME ${label}`,
  ];
  const GROUP_LABEL_REMOVED = removed('eks.amazonaws.com/nodegroup=web');

  /** A Ready pool, and a function that sets or removes the label of its first node. */
  async function losing() {
    const { world, deps } = await readyWorld();
    renameNodes(world, ['ip-1', 'ip-2', 'ip-3']);
    await wake(world, deps);
    assert.match(verified(world), /^True AllVerified/);
    world.calls.splice(0);
    const give = (group: string | undefined): void => {
      world.nodes = world.nodes.map((node) => (node.name === 'ip-1' ? inGroup(node, group) : node));
    };
    return { world, deps, give };
  }

  it('names the node at once, with one read and no AWS call', async () => {
    const { world, deps, give } = await losing();
    give(undefined);
    await wake(world, deps);
    assertBrief(verified(world), ...GROUP_LABEL_REMOVED);
    assert.deepEqual(world.pools.get('web')?.status?.nodes?.total, 2);
    const calls = world.calls.splice(0);
    assert.deepEqual(calls, ['read node', 'write status']);
    give('web');
    await wake(world, deps);
    assert.match(verified(world), /^True AllVerified/);
  });

  it('names the node after a restart', async () => {
    const { world, deps, give } = await losing();
    give(undefined);
    await wake(world, deps);
    world.now += settings.joinGraceMs;
    const restarted = world.start();
    await wake(world, restarted);
    assertBrief(verified(world), ...GROUP_LABEL_REMOVED);
  });

  it('names the label of the operating system when a Windows node lost that', async () => {
    const { world, deps } = await losing();
    const [first, ...others] = world.nodes;
    assert.ok(first);
    world.nodes = [{ ...first, labels: { ...first.labels, 'kubernetes.io/os': 'linux' } }, ...others];
    await wake(world, deps);
    assertBrief(verified(world), ...removed('kubernetes.io/os=windows'));
  });

  it('reports an instance that joined with another operating system, also after a restart, until it is gone', async () => {
    const { world, deps } = await losing();
    // A new instance replaces the first one: its node is never in the cache of Windows nodes.
    world.cloud.faults.nextNode({ operatingSystem: 'linux' });
    world.cloud.faults.terminateInstance({ node: 'ip-1' });
    world.now += 2_000;
    const { name = '' } = world.nodes.find(({ operatingSystem }) => operatingSystem === 'linux') ?? {};
    const isReported = () => verified(world).startsWith('False WrongOperatingSystem');
    await until(world, deps, isReported, 'the other operating system');
    const restarted = world.start();
    await wake(world, restarted);
    assertBrief(verified(world), 'False WrongOperatingSystem', '1 instance', `${name} runs linux`);
    world.cloud.faults.terminateInstance({ node: name });
    await until(world, restarted, () => verified(world).startsWith('True AllVerified'), 'a Windows node in its place');
  });

  /** A pool that waits for a fourth node, with a function that adds a Linux node with the labels of the pool on an instance. */
  async function growing() {
    const { world, deps } = await losing();
    const [first] = world.nodes;
    assert.ok(first);
    world.cloud.faults.nextNode({ neverJoins: true });
    world.cloud.faults.edit({ group: 'web', scalingConfig: { desiredSize: 4 } });
    world.now = deps.readCache.dueAt('web');
    await wake(world, deps);
    assert.match(verified(world), /^Unknown Joining: 3 of 4 nodes joined/);
    const join = (id = '') => {
      const labels = { ...first.labels, 'kubernetes.io/os': 'linux' };
      const providerID = `aws:///eu-west-1a/${id}`;
      const linux = { ...first, name: 'ip-4', uid: 'ip-4', providerID, labels, operatingSystem: 'linux' };
      world.nodes = [...world.nodes, linux];
    };
    world.now += settings.pollMs;
    world.calls.splice(0);
    return { world, deps, join };
  }

  it('reports within the poll interval that a new instance joined with another operating system', async () => {
    const { world, deps, join } = await growing();
    join([...world.cloud.state.instances.values()].find(({ joined }) => !joined)?.id);
    await wake(world, deps);
    const words = ['1 instance', 'ip-4 runs linux', 'terminate the instance', 'aws eks describe-nodegroup'];
    assertBrief(verified(world), 'False WrongOperatingSystem', ...words);
    assert.deepEqual(world.calls.splice(0), ['list nodes outside', 'write status']);
    world.now += settings.pollMs;
    // Nothing is sought any more.
    assert.notEqual((await wake(world, deps)).kind, 'requeue');
    assert.deepEqual(world.calls, []);
  });

  it('does not report a node of another operating system that only has the labels of the pool', async () => {
    const { world, deps, join } = await growing();
    join('i-0f0f0f0f');
    await wake(world, deps);
    assert.match(verified(world), /^Unknown Joining: 3 of 4 nodes joined/);
    assert.deepEqual(world.calls, ['list nodes outside', 'DescribeAutoScalingGroups']);
  });

  it('reports a missing node when the unlabelled node is deleted', async () => {
    const { world, deps, give } = await losing();
    give(undefined);
    await wake(world, deps);
    world.nodes = world.nodes.slice(1);
    await until(world, deps, () => verified(world).startsWith('False NodesMissing'), 'missing');
  });

  it('reads the node again after an error, and reports a missing node in the meantime', async () => {
    const { world, deps, give } = await losing();
    world.fails = (call) => (call === 'read node' ? sampleError('unavailable') : undefined);
    give(undefined);
    world.now += 2_000;
    assert.equal((await reconcile('web', deps, signal)).kind, 'requeue');
    assert.match(verified(world), /^Unknown Joining: 2 of 3 nodes joined/);
    world.fails = () => undefined;
    world.now += 1_000;
    await wake(world, deps);
    assertBrief(verified(world), ...GROUP_LABEL_REMOVED);
  });

  it('reports the missing permission to read nodes', async () => {
    const { world, deps, give } = await losing();
    world.fails = (call) => (call === 'read node' ? sampleError('denied') : undefined);
    give(undefined);
    world.now += 2_000;
    const next = await reconcile('web', deps, signal);
    assert.ok(next.kind === 'requeueAfter' && next.ms <= settings.deniedRetryMs);
    const met = wholeCondition(world.pools.get('web'), 'PrerequisitesMet');
    assert.equal(met?.reason, 'AccessDenied');
  });
});
