import assert from 'node:assert/strict';
import type { CallResult } from '../ports/callResult.ts';
import type { KnownInstance } from '../ports/ec2.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { sampleError, sampleNode } from '../testing/fixtures.ts';
import { otherNode, type Termination, terminateInstance } from './terminateInstance.ts';

const { signal } = new AbortController();
const node = sampleNode({ name: 'ip-1', providerID: 'aws:///eu-west-1a/i-1' });
const ending: Termination = {
  name: 'ip-1',
  instanceID: 'i-1',
  scalingGroups: ['eks-web'],
  shrink: true,
  whyNot: (now) => otherNode(now, node, 'i-1'),
};

interface World {
  readonly node: NodeRecord | undefined;
  readonly instance: KnownInstance | undefined;
  readonly lifecycle: string | undefined;
  /** The call that fails. */
  readonly fails?: string;
}

const healthy: World = {
  node,
  instance: { state: 'running', scalingGroup: 'eks-web', privateDnsName: 'ip-1' },
  lifecycle: 'InService',
};

async function attempt(world: World, what: Termination = ending) {
  const calls: string[] = [];
  const respond = async <T>(call: string, value: T): Promise<CallResult<T>> => {
    calls.push(call);
    return world.fails === call ? { ok: false, error: sampleError('throttled') } : { ok: true, value };
  };
  const writers = {
    nodes: {
      read: (name: string) =>
        respond(name === what.name ? 'read' : `read ${name}`, name === world.node?.name ? world.node : undefined),
    },
    instances: { find: () => respond('find', world.instance) },
    scalingGroups: {
      lifecycleOf: () => respond('lifecycle', world.lifecycle),
      terminateInstance: (id: string, shrink: boolean) => respond(`end ${id} ${shrink}`, undefined),
    },
  };
  const answer = await terminateInstance(what, writers, signal);
  return { calls, outcome: answer.ok ? 'ok' : `${answer.error.kind} ${answer.error.code}` };
}

describe('the termination of an instance', () => {
  const all = ['read', 'find', 'lifecycle'];
  const conflict = 'conflict Changed';
  const table: readonly (readonly [string, Partial<World>, string, readonly string[]])[] = [
    ['is requested after all checks', {}, 'ok', [...all, 'end i-1 true']],
    ['is requested if the node is gone and its instance is not', { node: undefined }, 'ok', [...all, 'end i-1 true']],
    ['is not requested if another node has the name', { node: { ...node, uid: 'other' } }, conflict, ['read']],
    [
      'is not requested if the node reports another instance',
      { node: { ...node, providerID: 'aws:///a/i-2' } },
      conflict,
      ['read'],
    ],
    ['is done if EC2 no longer finds the instance', { instance: undefined }, 'ok', ['read', 'find']],
    ...['shutting-down', 'terminated'].map(
      (state) =>
        [
          `is over when the instance is ${state}`,
          { instance: { state, scalingGroup: 'eks-web', privateDnsName: 'ip-1' } },
          'ok',
          ['read', 'find'],
        ] as const,
    ),
    [
      'is requested for a stopped instance',
      { instance: { state: 'stopped', scalingGroup: 'eks-web', privateDnsName: 'ip-1' } },
      'ok',
      [...all, 'end i-1 true'],
    ],
    [
      'is not requested for an instance of another group',
      { instance: { state: 'running', scalingGroup: 'eks-api', privateDnsName: 'ip-1' } },
      'refused NotAMember',
      ['read', 'find'],
    ],
    [
      'is not requested for an instance without a group',
      { instance: { state: 'running', scalingGroup: undefined, privateDnsName: 'ip-1' } },
      'refused NotAMember',
      ['read', 'find'],
    ],
    [
      'is not requested for the instance of another node of the group',
      { instance: { state: 'running', scalingGroup: 'eks-web', privateDnsName: 'ip-2' } },
      'refused NotAMember',
      ['read', 'find'],
    ],
    ['is in progress while a lifecycle hook delays it', { lifecycle: 'Terminating:Wait' }, 'ok', all],
    ['is done if the instance is in a warm pool again', { lifecycle: 'Warmed:Pending' }, 'ok', all],
    ['is done if the scaling group no longer has the instance', { lifecycle: undefined }, 'ok', all],
    ...all.map(
      (fails, at) =>
        [`does not come when ${fails} fails`, { fails }, 'throttled throttledException', all.slice(0, at + 1)] as const,
    ),
  ];
  for (const [name, change, outcome, calls] of table) {
    it(name, async () => assert.deepEqual(await attempt({ ...healthy, ...change }), { calls, outcome }));
  }

  describe('of which status says that it did not join', () => {
    const forged: Termination = { ...ending, name: 'i-1', whyNot: () => undefined, mustBeNodeless: { hasNode: false } };
    const before = ['read', 'find', 'read ip-1'];

    it('is requested if the API server has no node with the name that EC2 gives it', async () => {
      const calls = [...before, 'lifecycle', 'end i-1 true'];
      assert.deepEqual(await attempt({ ...healthy, node: undefined }, forged), { calls, outcome: 'ok' });
    });

    it('is not requested if there is such a node, or one that reports the instance', async () => {
      assert.deepEqual(await attempt(healthy, forged), { calls: before, outcome: 'refused HasNode' });
      const seen = { ...forged, mustBeNodeless: { hasNode: true } };
      assert.deepEqual(await attempt(healthy, seen), { calls: ['read', 'find'], outcome: 'refused HasNode' });
    });

    it('is not requested if the node cannot be read', async () => {
      const calls = before;
      assert.deepEqual(await attempt({ ...healthy, fails: 'read ip-1' }, forged), {
        calls,
        outcome: 'throttled throttledException',
      });
    });
  });

  it('is not requested if the annotation was removed in the meantime', async () => {
    const seen: NodeRecord[] = [];
    const withdrawn = { ...ending, whyNot: (now: NodeRecord) => `withdrawn ${seen.push(now)}` };
    assert.deepEqual(await attempt(healthy, withdrawn), { calls: ['read'], outcome: conflict });
    assert.deepEqual(seen, [node]);
  });
});
