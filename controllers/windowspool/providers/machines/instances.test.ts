import assert from 'node:assert/strict';
import type { Instances, MachineSet } from '../../ports/machines.ts';
import { MINUTE, NOW } from '../../testing/fixtures.ts';
import { assertBrief } from '../../testing/goldenTexts.ts';
import { conditionOf, ready, wake } from '../../testing/life.ts';
import { machinesWorld } from '../../testing/machineScenes.ts';
import { annotate, nodeOf } from '../../testing/nodeLife.ts';
import { REPLACE } from '../../testing/nodeScenes.ts';

const ALL: Instances = {
  providerIDs: ['sim://a', 'sim://b', 'sim://c'],
  nodes: ['a', 'b', 'c'],
  incompleteSince: undefined,
};
const NOT_REPLACEABLE = 'has no Machines, because its infrastructure provider does not create them';

/** A pool of three instances without Machines. */
async function instancesWorld(
  instances: Partial<Instances> = {},
  set: Partial<MachineSet> = {},
  spec: Parameters<typeof machinesWorld>[0] = {},
) {
  const { world, deps } = await machinesWorld(spec);
  const { machines } = world;
  const object = machines.set ?? assert.fail('no object');
  machines.machines = [];
  machines.set = { ...object, ...set, instances: { ...ALL, ...instances } };
  await wake(world, deps);
  return { world, deps };
}

describe('a pool of the instances of a MachinePool without Machines', () => {
  it('has their nodes, and is Ready', async () => {
    const { world } = await instancesWorld();
    assert.equal(ready(world), 'True');
    const { status } = world.pools.get('web') ?? {};
    assert.equal(status?.nodes?.verified, 3);
    assert.deepEqual(status?.machines, { replicas: 3, total: 3, withoutNode: 0, deleting: 0, outdated: 0 });
    assertBrief(conditionOf(world, 'MachinesReady') ?? '', 'True MachinesReady', '3 instances');
  });

  it('takes no node that has only the name of one of theirs', async () => {
    const { world, deps } = await instancesWorld();
    const a = nodeOf(world, 'a') ?? assert.fail('no node');
    const others = world.nodes.filter(({ name }) => name !== 'a');
    for (const providerID of ['', 'sim://other']) {
      world.nodes = [...others, { ...a, uid: `uid-${providerID}`, providerID }];
      await wake(world, deps);
      assert.equal(world.pools.get('web')?.status?.nodes?.total, 2, providerID);
    }
    assertBrief(conditionOf(world, 'NodesVerified') ?? '', 'False NodesMissing', '2 of 3 nodes', 'Not counted: a.');
  });

  const rows: readonly (readonly [
    what: string,
    instances: Partial<Instances>,
    set: Partial<MachineSet>,
    ...words: [string, ...string[]],
  ])[] = [
    ['it grows', { incompleteSince: NOW }, { replicas: 5 }, 'False MachinesScaling', '3 of 5 instances'],
    ['it shrinks', {}, { replicas: 2 }, 'False MachinesScaling', '3 of 2 instances'],
    ['an instance starts', { nodes: ['a', 'b'], incompleteSince: NOW }, {}, 'False MachinesScaling', '1 of them'],
    [
      'an instance has had no node for long',
      { nodes: ['a', 'b'], incompleteSince: NOW - 30 * MINUTE },
      {},
      'False MachinesWithoutNode',
      '1 of them without a node',
      'kubectl -n clusters describe machinepools.cluster.x-k8s.io windows',
    ],
    [
      'instances have been missing for long',
      { incompleteSince: NOW - 30 * MINUTE },
      { replicas: 5, problem: 'no quota' },
      'False MachinesMissing',
      '3 of 5 instances',
      'no quota',
    ],
    [
      'all nodes have joined, but one is not Ready',
      { incompleteSince: NOW - 30 * MINUTE },
      {},
      'True MachinesReady',
      '3 instances',
    ],
  ];
  for (const [what, instances, set, ...words] of rows)
    it(`says that ${what}`, async () => {
      const { world } = await instancesWorld(instances, set);
      assertBrief(conditionOf(world, 'MachinesReady') ?? '', ...words);
    });

  it('rejects a replacement, and says why', async () => {
    const { world, deps } = await instancesWorld();
    annotate(world, 'a', REPLACE);
    await wake(world, deps);
    const condition = conditionOf(world, 'Disrupting') ?? '';
    assertBrief(condition, 'True MachinePoolWithoutMachines', NOT_REPLACEABLE, 'kubectl drain');
    assert.deepEqual(world.machines.changes, []);
  });

  it('does not remediate, and says why', async () => {
    const { world } = await instancesWorld(
      {},
      {},
      { remediation: { policy: 'Replace', unhealthyAfter: '10m', maxUnhealthy: '40%' } },
    );
    assertBrief(
      conditionOf(world, 'RemediationAllowed') ?? '',
      'False MachinePoolWithoutMachines',
      NOT_REPLACEABLE,
      'remediation.policy: Report',
    );
  });

  it('keeps its nodes when the provider begins to create Machines', async () => {
    const { world, deps } = await instancesWorld();
    const { machines: made } = (await machinesWorld()).world.machines;
    world.machines.machines = made.slice(0, 1).map((one) => ({ ...one, node: '', providerID: '' }));
    await wake(world, deps);
    assert.equal(world.pools.get('web')?.status?.nodes?.verified, 3);
    world.machines.machines = made.slice(0, 1).map((one) => ({ ...one, providerID: 'sim://other' }));
    await wake(world, deps);
    assert.equal(world.pools.get('web')?.status?.nodes?.verified, 2);
  });

  it('has its Machines once the provider creates some', async () => {
    const { world, deps } = await machinesWorld();
    const object = world.machines.set ?? assert.fail('no object');
    world.machines.set = { ...object, instances: { ...ALL, nodes: ['a', 'b', 'c', 'd'] } };
    annotate(world, 'a', REPLACE);
    await wake(world, deps);
    assertBrief(conditionOf(world, 'Disrupting') ?? '', 'True Draining', 'a');
  });
});
