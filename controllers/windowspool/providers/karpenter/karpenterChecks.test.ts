import assert from 'node:assert/strict';
import type { NodeRequirement } from '../../api/api.gen.ts';
import { POOL_KEY } from '../../api/labels.ts';
import { assertBrief } from '../../testing/goldenTexts.ts';
import { karpenterWorld } from '../../testing/karpenterScenes.ts';
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
