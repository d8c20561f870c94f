import assert from 'node:assert/strict';
import { subnetIds } from '../fakes/localaws/network.ts';
import { conditionOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const [first, second, third] = subnetIds;

describe('a pool that names its role and selects its subnets by tags', () => {
  const fixture = withOperator('--resync-interval=1s', '--poll-interval=300ms');
  const tagged = (id: string, tags: Readonly<Record<string, string>>) =>
    fixture.world.cloud.faults.subnet({ id, tags });
  const tier = (value: string) => ({ tags: { tier: value } });
  const groupIn = (name: string) => fixture.world.cloud.state.groups.get(name)?.nodegroup;
  const ready = (name: string) =>
    fixture.world.waitForPool(name, 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/EnoughNodesVerified');

  after(() => {
    for (const id of subnetIds) tagged(id, {});
  });

  it('waits while no subnet has the tags, and reports them', async () => {
    await fixture.world.apply(
      poolManifest('tagged', { nodeGroup: { nodeRole: 'windows-nodes', subnets: [tier('private')] } }),
    );
    const pool = await fixture.world.waitForPool(
      'tagged',
      'to miss its subnets',
      (found) => conditionOf(found, 'PrerequisitesMet') === 'False/SubnetNotFound',
    );
    assertNames(pool?.status?.checks?.[0]?.message, 'tier=private', 'vpc-0a1b2c3d4e5f60718', 'nodeGroup.subnets');
    assert.equal(groupIn('tagged'), undefined);
  });

  it('gets a group in the subnets with the tags, with the role of the account', async () => {
    tagged(first, { tier: 'private', team: 'web' });
    tagged(second, { tier: 'private' });
    tagged(third, { tier: 'public' });
    const pool = await ready('tagged');
    assert.deepEqual(groupIn('tagged')?.subnets, [first, second]);
    assert.equal(groupIn('tagged')?.nodeRole, 'arn:aws:iam::111122223333:role/windows-nodes');
    assert.deepEqual(pool?.status?.nodeGroup?.subnets, [first, second]);
  });

  it('reports a subnet that gets the tags later, and keeps the group', async () => {
    tagged(third, { tier: 'private' });
    const warned = await fixture.world.waitForPool(
      'tagged',
      'to report the subnet',
      (found) => conditionOf(found, 'PrerequisitesMet') === 'True/MetWithWarnings',
    );
    const [entry] = warned?.status?.checks ?? [];
    assert.deepEqual([entry?.severity, entry?.status], ['Warning', 'NotMet']);
    assertNames(entry?.message, third, 'nodeGroup.subnets');
    assert.equal(conditionOf(warned, 'Ready'), 'True/EnoughNodesVerified');
    assert.deepEqual(groupIn('tagged')?.subnets, [first, second]);
  });

  it('keeps the group when a subnet loses the tags', async () => {
    tagged(second, {});
    tagged(third, {});
    const pool = await fixture.world.waitForPool(
      'tagged',
      'to have its prerequisites met',
      (found) => conditionOf(found, 'PrerequisitesMet') === 'True/Met',
    );
    assert.equal(conditionOf(pool, 'UpToDate'), 'True/MatchesSpec');
    assert.deepEqual(pool?.status?.nodeGroup?.subnets, [first, second]);
  });
});
