import assert from 'node:assert/strict';
import { nodeGroupPools, soakSettings } from './settings.ts';

describe('the settings of the soak test', () => {
  it('have defaults for variables that are unset or empty', () => {
    assert.deepEqual(soakSettings({ SOAK_NODES: '' }), { minutes: 10, nodes: 5_000, pools: 100 });
  });

  it('are read from the environment', () => {
    const environment = { SOAK_MINUTES: '1.5', SOAK_NODES: '200', SOAK_POOLS: '10' };
    assert.deepEqual(soakSettings(environment), { minutes: 1.5, nodes: 200, pools: 10 });
  });

  for (const [name, value] of [
    ['SOAK_MINUTES', '0'],
    ['SOAK_MINUTES', 'ten'],
    ['SOAK_NODES', '10.5'],
    ['SOAK_POOLS', '1'],
    ['SOAK_POOLS', '501'],
  ] as const)
    it(`do not accept ${name}=${value}, and name the variable`, () => {
      assert.throws(() => soakSettings({ [name]: value }), new RegExp(`^Error: ${name} is "${value}"\\. Set it to`));
    });

  it('include pools of both kinds', () => {
    assert.deepEqual(
      [2, 10, 100].map((pools) => nodeGroupPools({ pools })),
      [1, 2, 20],
    );
  });
});
