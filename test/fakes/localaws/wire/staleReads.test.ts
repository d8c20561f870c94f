import assert from 'node:assert/strict';
import { openPolicy, sampleCluster, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';

const WEB = { clusterName: sampleCluster.name, nodegroupName: 'web' };

/** A cloud, and the result of calls: the status of the group, or the name of the error. */
function start() {
  const { cloud, clock } = memoryCloud({ policy: openPolicy });
  const nameOf = (error: unknown) => (error as Error).name;
  const describe = () => cloud.send('DescribeNodegroup', WEB).then(({ nodegroup }) => nodegroup?.status, nameOf);
  const create = () => cloud.send('CreateNodegroup', sampleGroup()).then(() => 'ok', nameOf);
  return { cloud, clock, describe, create };
}

describe('stale reads', () => {
  it('return earlier responses for so long, errors included, while writes see the current state', async () => {
    const { cloud, clock, describe, create } = start();
    cloud.faults.staleReads({ seconds: 5 });
    assert.equal(await describe(), 'ResourceNotFoundException');
    assert.equal(await create(), 'ok');
    clock.advance(4.9);
    assert.deepEqual([await describe(), await create()], ['ResourceNotFoundException', 'ResourceInUseException']);
    clock.advance(0.1);
    assert.equal(await describe(), 'ACTIVE');
    await cloud.send('DeleteNodegroup', WEB);
    assert.equal(await describe(), 'ACTIVE');
  });

  it('end when they are switched off', async () => {
    const { cloud, describe, create } = start();
    cloud.faults.staleReads({ seconds: 60 });
    await describe();
    await create();
    cloud.faults.staleReads({ seconds: 0 });
    assert.equal(await describe(), 'CREATING');
    assert.throws(() => cloud.faults.staleReads({ seconds: -1 }), /^RangeError: seconds is -1; give a number from 0$/);
  });

  it('are not changed by what a client does with a response', async () => {
    const { cloud } = start();
    cloud.faults.staleReads({ seconds: 60 });
    await cloud.send('CreateNodegroup', sampleGroup());
    const { nodegroup } = await cloud.send('DescribeNodegroup', WEB);
    if (nodegroup) nodegroup.status = 'DELETING';
    assert.equal((await cloud.send('DescribeNodegroup', WEB)).nodegroup?.status, 'CREATING');
  });
});

describe('a quota of calls', () => {
  it('throttles each service beyond so many calls in a second', async () => {
    const { cloud, clock, describe } = start();
    cloud.faults.calls.quota({ perSecond: 2 });
    const read = async () => [await describe(), await describe(), await describe()];
    const results = ['ResourceNotFoundException', 'ResourceNotFoundException', 'ThrottlingException'];
    assert.deepEqual(await read(), results);
    await cloud.send('DescribeSubnets', {});
    clock.advance(1);
    assert.deepEqual(await read(), results);
    cloud.faults.calls.clear();
    assert.equal(await describe(), 'ResourceNotFoundException');
    assert.throws(
      () => cloud.faults.calls.quota({ perSecond: 0 }),
      /^RangeError: perSecond is 0; give a whole number from 1$/,
    );
  });
});
