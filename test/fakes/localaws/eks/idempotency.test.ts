import assert from 'node:assert/strict';
import { assertNames } from '../../../messages.ts';
import { sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { active, group, rejection } from '../testing/testGroup.ts';

describe('client request tokens', () => {
  const clientRequestToken = 'token-1';

  it('return the same response for the same request, and create once', async () => {
    const { cloud, clock } = memoryCloud();
    const first = await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken }));
    clock.advance(10);
    const second = await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken }));
    assert.deepEqual(second.nodegroup, first.nodegroup);
    assert.equal(cloud.state.groups.size, 1);
  });

  it('are rejected for another request', async () => {
    const { cloud } = memoryCloud();
    await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken }));
    assertNames(
      await rejection(cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken, diskSize: 99 }))),
      'InvalidRequestException',
      'token-1',
    );
  });

  it('are not used up by a request that failed', async () => {
    const { cloud } = memoryCloud();
    assert.match(
      await rejection(cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken, diskSize: 0 }))),
      /diskSize/,
    );
    assert.ok(await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken })));
  });

  it('return a running update instead of a conflict', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    const request = { ...group, scalingConfig: { maxSize: 6 }, clientRequestToken };
    const first = await cloud.send('UpdateNodegroupConfig', request);
    assert.deepEqual((await cloud.send('UpdateNodegroupConfig', request)).update, first.update);
    assert.equal(cloud.state.updates.size, 1);
  });

  it('outlive their group or are forgotten with it, depending on the switch', async () => {
    for (const [tokensAfterDelete, groups] of [
      ['remembered', 0],
      ['forgotten', 1],
    ] as const) {
      const { cloud, clock } = memoryCloud({ switches: { tokensAfterDelete } });
      await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken }));
      await cloud.send('DeleteNodegroup', group);
      clock.advance(2);
      await cloud.send('CreateNodegroup', sampleGroup({ clientRequestToken }));
      assert.equal(cloud.state.groups.size, groups, tokensAfterDelete);
    }
  });
});
