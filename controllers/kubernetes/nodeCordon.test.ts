import assert from 'node:assert/strict';
import type { StoreView } from '../runtime/ports.ts';
import type { NodeRecord } from '../windowspool/ports/nodes.ts';
import { createNodes, nodeRecordOf } from './nodes.ts';
import { json, loopback } from './testing/loopbackServer.ts';

const { signal } = new AbortController();
const MARK = '/metadata/annotations/winpool.dev~1cordoned';

interface Seen {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly unschedulable?: boolean;
}

const object = ({ annotations, unschedulable }: Seen = {}) => ({
  metadata: { name: 'ip-1', uid: 'u', resourceVersion: '7', labels: { 'kubernetes.io/os': 'windows' }, annotations },
  spec: { unschedulable },
});

/** The patch without the test of the version, which is always first. */
async function sent(write: (nodes: ReturnType<typeof createNodes>, node: NodeRecord) => unknown, seen: Seen) {
  await using server = await loopback((_request, response) => json(response, 200, object()));
  const store = { observeWrite: () => undefined } as unknown as StoreView<NodeRecord>;
  await write(createNodes(server.client, store), nodeRecordOf(object(seen)));
  const [request] = server.requests;
  assert.ok(request);
  const [test, ...patch] = request.body as readonly object[];
  assert.deepEqual(test, { op: 'test', path: '/metadata/resourceVersion', value: '7' });
  assert.deepEqual([request.method, request.path], ['PATCH', '/api/v1/nodes/ip-1']);
  assert.equal(request.headers['content-type'], 'application/json-patch+json');
  return patch;
}

describe('the cordon of a node', () => {
  const set = { op: 'add', path: '/spec/unschedulable', value: true };
  const marked = (value: string) => ({ op: 'add', path: MARK, value });
  const table: readonly (readonly [string, Seen, readonly object[]])[] = [
    [
      'is recorded in the same patch, also on a node without annotations',
      {},
      [{ op: 'add', path: '/metadata/annotations', value: {} }, marked('by-operator'), set],
    ],
    ['keeps other annotations', { annotations: { other: 'x' } }, [marked('by-operator'), set]],
    [
      'is recorded as that of another user if the node is cordoned',
      { annotations: { a: 'b' }, unschedulable: true },
      [marked('before'), set],
    ],
  ];
  for (const [name, seen, want] of table) {
    it(name, async () => assert.deepEqual(await sent((nodes, node) => nodes.cordon(node, signal), seen), want));
  }

  const unset = { op: 'remove', path: '/spec/unschedulable' };
  const unmark = { op: 'remove', path: MARK };
  const by = (value: string, more: object = {}) => ({ annotations: { 'winpool.dev/cordoned': value, ...more } });
  const backs: readonly (readonly [string, Seen, readonly object[]])[] = [
    ['is removed with its record', { ...by('by-operator'), unschedulable: true }, [unmark, unset]],
    ['is kept if the node was cordoned before', { ...by('before'), unschedulable: true }, [unmark]],
    ['is not removed again if another user removed it', by('by-operator'), [unmark]],
    ['is kept if the operator did not set it', { annotations: { a: 'b' }, unschedulable: true }, []],
  ];
  for (const [name, seen, want] of backs) {
    it(name, async () =>
      assert.deepEqual(await sent((nodes, node) => nodes.restore(node, undefined, signal), seen), want),
    );
  }

  it('is removed together with the result in the annotation', async () => {
    const answer = { key: 'winpool.dev/replace', value: 'timed-out' };
    const seen = { ...by('by-operator', { 'winpool.dev/replace': 'true' }), unschedulable: true };
    assert.deepEqual(await sent((nodes, node) => nodes.restore(node, answer, signal), seen), [
      unmark,
      unset,
      { op: 'add', path: '/metadata/annotations/winpool.dev~1replace', value: 'timed-out' },
    ]);
  });

  it('is removed with the result also on a failing node without an annotation', async () => {
    const answer = { key: 'winpool.dev/remediation', value: 'refused' };
    assert.deepEqual(await sent((nodes, node) => nodes.restore(node, answer, signal), {}), [
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'add', path: '/metadata/annotations/winpool.dev~1remediation', value: 'refused' },
    ]);
  });
});
