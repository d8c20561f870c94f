import assert from 'node:assert/strict';
import type { Machine, MachineSet } from '../ports/machines.ts';
import { hasNode, isSameNodes, nodesOfMachines } from './machineNodes.ts';

const machine = (change: Partial<Machine>): Machine => ({
  name: 'm',
  uid: 'uid-m',
  resourceVersion: '1',
  createdAt: 0,
  deleting: false,
  node: 'win-1',
  providerID: 'sim://1',
  labels: {},
  hasReadinessGate: false,
  verified: '',
  hasFailed: false,
  problem: '',
  controllerUid: 'uid-set',
  isOutdated: false,
  goesAtSize: undefined,
  drainExcludedBy: 'nobody',
  ...change,
});

describe('the nodes of Machines', () => {
  it('have the provider ID of the Machine that stays if a deleted one had a node of the same name', () => {
    const [former, next] = [machine({ deleting: true }), machine({ name: 'n', providerID: 'sim://2' })];
    for (const machines of [
      [former, next],
      [next, former],
    ])
      assert.deepEqual([...nodesOfMachines({ machines })], [['win-1', new Set(['sim://2'])]]);
  });

  it('are those with a name and a provider ID', () => {
    assert.equal(nodesOfMachines({ machines: [machine({ node: '' }), machine({ providerID: '' })] }).size, 0);
  });

  describe('that a MachinePool does not have', () => {
    const nodesOf = (nodes: readonly string[], providerIDs: readonly string[]) => {
      const set = { instances: { nodes, providerIDs, incompleteSince: undefined } } as unknown as MachineSet;
      return nodesOfMachines({ set, machines: [] });
    };
    const two = nodesOf(['win-1', 'win-2'], ['sim://1', 'sim://2']);

    it('are those of its instances, with any of their provider IDs', () => {
      assert.ok(hasNode(two, { name: 'win-1', providerID: 'sim://2' }));
      assert.ok(!hasNode(two, { name: 'win-3', providerID: 'sim://1' }));
      assert.ok(!hasNode(two, { name: 'win-1', providerID: 'sim://3' }));
      assert.ok(!hasNode(nodesOf(['win-1'], ['']), { name: 'win-1', providerID: '' }));
    });

    it('are the same while neither the nodes nor the instances change', () => {
      assert.ok(isSameNodes(two, nodesOf(['win-2', 'win-1'], ['sim://2', 'sim://1'])));
      assert.ok(!isSameNodes(two, nodesOf(['win-1', 'win-2'], ['sim://1', 'sim://3'])));
      assert.ok(!isSameNodes(two, nodesOf(['win-1', 'win-3'], ['sim://1', 'sim://2'])));
    });
  });
});
