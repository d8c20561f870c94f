import assert from 'node:assert/strict';
import type { NodeRequirement } from '../../api/api.gen.ts';
import { POOL_KEY } from '../../api/labels.ts';
import type { FakeWorld } from '../../testing/fakeWorld.ts';
import { sampleError } from '../../testing/fixtures.ts';
import { assertBrief } from '../../testing/goldenTexts.ts';
import { karpenterWorld, NODE_CLASS } from '../../testing/karpenterScenes.ts';
import { conditionOf, wake } from '../../testing/life.ts';

const WINDOWS: NodeRequirement = { key: 'kubernetes.io/os', operator: 'In', values: ['windows'] };
const build = (operator: NodeRequirement['operator'], value: string): NodeRequirement => ({
  key: 'node.kubernetes.io/windows-build',
  operator,
  values: [value],
});
const BUILD = '10.0.20348';

interface Template {
  readonly requirements?: readonly NodeRequirement[];
  readonly labels?: Record<string, string>;
  readonly taints?: readonly object[];
}

/** The condition PrerequisitesMet of a pool beside a NodePool with this template. */
async function metBeside({ requirements = [WINDOWS], labels, taints }: Template, change: object = {}, pool = {}) {
  const { world, deps } = await karpenterWorld(pool);
  const nodePool = world.karpenter.nodePool ?? assert.fail('no NodePool');
  const spec = { template: { metadata: { labels }, spec: { requirements, taints } } };
  world.karpenter.others = [
    { ...nodePool, name: 'theirs', uid: 'theirs', createdFor: '', appliedAt: 0, spec, ...change },
  ];
  await wake(world, deps);
  return { text: conditionOf(world, 'PrerequisitesMet') ?? '', checks: world.pools.get('web')?.status?.checks };
}

const noSchedule = (key: string, value: string) => [{ key, value, effect: 'NoSchedule' }];

describe('the check of other NodePools', () => {
  for (const [what, template] of [
    ['Windows nodes of any build', {}],
    ['nodes of the build of the pool', { requirements: [WINDOWS, build('In', BUILD)] }],
    ['nodes of other builds than one', { requirements: [WINDOWS, build('NotIn', '10.0.17763')] }],
    ['nodes with the taint that the RuntimeClass tolerates', { taints: noSchedule('os', 'windows') }],
    ['nodes with a taint that only prefers other pods', { taints: [{ key: 'a', effect: 'PreferNoSchedule' }] }],
  ] satisfies [string, Template][])
    it(`warns of ${what}`, async () => {
      const { text, checks } = await metBeside(template);
      assertBrief(text, 'True MetWithWarnings', 'NodePool theirs', 'kubectl edit nodepool theirs', '#other-nodepools');
      assert.deepEqual(
        checks?.map(({ reason, severity, status }) => [reason, severity, status]),
        [['NodePoolsOverlap', 'Warning', 'NotMet']],
      );
    });

  for (const [what, template] of [
    ['Linux nodes', { requirements: [{ ...WINDOWS, values: ['linux'] }] }],
    ['nodes of any operating system, which its node class decides', { requirements: [] }],
    ['nodes of another build', { requirements: [WINDOWS, build('In', '10.0.17763')] }],
    ['nodes with the label of another build', { labels: { 'node.kubernetes.io/windows-build': '10.0.17763' } }],
    ['nodes with another taint', { taints: noSchedule('team', 'a') }],
  ] satisfies [string, Template][])
    it(`does not warn of ${what}`, async () => assert.match((await metBeside(template)).text, /^True Met:/));

  it('does not warn of NodePools of other pools, or that are being deleted', async () => {
    assert.match((await metBeside({}, { createdFor: 'other' })).text, /^True Met:/);
    assert.match((await metBeside({}, { deleting: true })).text, /^True Met:/);
  });

  it('warns of a NodePool with the label of a pool that has a RuntimeClass of its own, and of no other', async () => {
    const own = { runtimeClass: { name: 'web', handler: 'runhcs-wcow-process', adoption: 'Never' } };
    assert.match((await metBeside({}, {}, own)).text, /^True Met:/);
    assert.match((await metBeside({ labels: { [POOL_KEY]: 'web' } }, {}, own)).text, /^True MetWithWarnings/);
  });
});

describe('the check of Windows IPAM for a pool of Karpenter', () => {
  const OF_KWOK = { karpenter: { nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'a' } } };
  const cniConfig = (world: FakeWorld) => world.calls.filter((call) => call.includes('amazon-vpc-cni'));

  it('finds that it is disabled, and soon that it is enabled', async () => {
    const { world, deps } = await karpenterWorld({ karpenter: NODE_CLASS });
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True Met:/);
    world.kubeSystem.cniConfig = {};
    world.now += deps.settings.resyncMs;
    const next = await wake(world, deps);
    assertBrief(
      conditionOf(world, 'PrerequisitesMet') ?? '',
      'False WindowsIPAMDisabled',
      'aws eks describe-addon --cluster-name CLUSTER',
      'enable-windows-ipam: "true"',
      '#windows-ipam',
    );
    assert.ok(next.kind === 'requeueAfter' && next.ms <= 2 * deps.settings.pollMs, JSON.stringify(next));
    world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'true' };
    world.now += deps.settings.pollMs;
    await wake(world, deps);
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True Met:/);
  });

  it('is not made for nodes outside of AWS, and finds nothing if the ConfigMap cannot be read', async () => {
    const { world } = await karpenterWorld(OF_KWOK);
    assert.deepEqual(cniConfig(world), []);
    const denied = await karpenterWorld();
    denied.world.fails = (call) => (call.includes('amazon-vpc-cni') ? sampleError('denied') : undefined);
    denied.world.now += denied.deps.settings.resyncMs;
    await wake(denied.world, denied.deps);
    assert.match(conditionOf(denied.world, 'PrerequisitesMet') ?? '', /^True Met:/);
    assert.notEqual(cniConfig(denied.world).length, 0);
  });
});
