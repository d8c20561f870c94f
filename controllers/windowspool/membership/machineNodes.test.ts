import assert from 'node:assert/strict';
import type { Machine } from '../ports/machines.ts';
import { nodesOfMachines } from './machineNodes.ts';

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
      assert.deepEqual([...nodesOfMachines(machines)], [['win-1', 'sim://2']]);
  });

  it('are those with a name and a provider ID', () => {
    assert.equal(nodesOfMachines([machine({ node: '' }), machine({ providerID: '' })]).size, 0);
  });
});
