import assert from 'node:assert/strict';
import type { DeleteNodegroupRequest, DescribeNodegroupRequest } from '@aws-sdk/client-eks';
import { openPolicy, sampleCluster, sampleGroup } from '../../test/fakes/localaws/testing/fixtures.ts';
import { memoryCloud } from '../../test/fakes/localaws/testing/testClock.ts';
import { issues } from '../../test/fakes/localaws/testing/testGroup.ts';
import { RUN_TAG, removeGroup, removePool } from './pool.ts';
import type { Run } from './run.ts';

const never = new AbortController().signal;
const ID = 'a1b2c3';

/** A run whose pool `web` exists with its node group, on an AWS in memory. `deletes`: whether its operator deletes the pool. */
async function runWith({ running = true, deletes = false, tag = ID } = {}) {
  const { cloud, clock } = memoryCloud({ policy: openPolicy });
  await cloud.send('CreateNodegroup', sampleGroup({ tags: { [RUN_TAG]: tag } }));
  clock.advance(10);
  const steps: string[] = [];
  let exists = true;
  const eks = {
    describeNodegroup: (input: DescribeNodegroupRequest) => cloud.send('DescribeNodegroup', input),
    deleteNodegroup: async (input: DeleteNodegroupRequest) => {
      steps.push('delete the node group');
      const reply = await cloud.send('DeleteNodegroup', input);
      clock.advance(10);
      return reply;
    },
  };
  const operator = {
    running,
    stop: async () => {
      if (operator.running) steps.push('stop the operator');
      operator.running = false;
    },
  };
  const kubectl = {
    get: async () => (exists ? { metadata: { name: 'web' } } : undefined),
    run: async ([verb]: readonly string[]) => {
      steps.push(`${verb} the pool`);
      if (verb === 'patch') exists = false;
      if (verb === 'delete' && deletes) {
        exists = false;
        await eks.deleteNodegroup({ clusterName: sampleCluster.name, nodegroupName: 'web' });
      }
    },
  };
  const settings = { clusterName: sampleCluster.name, timeoutFactor: 0.01 };
  const run = { settings, id: ID, pool: 'web', aws: { eks }, kubectl, operator, say: () => undefined };
  return { run: run as unknown as Run, cloud, steps };
}

describe('the removal of the pool', () => {
  it('is done by the operator', async () => {
    const { run, steps, cloud } = await runWith({ deletes: true });
    await removePool(run, never, 60_000);
    assert.deepEqual(steps, ['delete the pool', 'delete the node group']);
    assert.equal(cloud.state.groups.size, 0);
  });

  it('does not wait for an operator that has exited', async () => {
    const { run, steps, cloud } = await runWith({ running: false });
    await removePool(run, never, 60_000);
    assert.deepEqual(steps, ['delete the pool', 'delete the node group', 'patch the pool']);
    assert.equal(cloud.state.groups.size, 0);
  });

  it('stops an operator that does not delete it in time, before it deletes the node group', async () => {
    const { run, steps, cloud } = await runWith();
    await removePool(run, never, 0);
    assert.deepEqual(steps, ['delete the pool', 'stop the operator', 'delete the node group', 'patch the pool']);
    assert.equal(cloud.state.groups.size, 0);
  });
});

describe('the removal of a node group', () => {
  it('rejects one without the tag of the run', async () => {
    const { run, steps, cloud } = await runWith({ tag: 'another' });
    await assert.rejects(
      removeGroup(run, 'web', never),
      /Node group web does not have the tag winpool\.dev-e2e=a1b2c3/,
    );
    assert.deepEqual([steps, cloud.state.groups.size], [[], 1]);
  });

  it('retries while EKS changes it', async () => {
    const { run, steps, cloud } = await runWith();
    cloud.faults.calls.error({
      operation: 'DeleteNodegroup',
      name: 'ResourceInUseException',
      message: 'busy',
      count: 1,
    });
    await removeGroup(run, 'web', never);
    assert.deepEqual(steps, ['delete the node group', 'delete the node group']);
    assert.equal(cloud.state.groups.size, 0);
  });

  it('ends with the error of EKS if EKS rejects it', async () => {
    const { run, cloud } = await runWith();
    cloud.faults.calls.error({
      operation: 'DeleteNodegroup',
      name: 'AccessDeniedException',
      message: 'denied',
      count: 1,
    });
    await assert.rejects(removeGroup(run, 'web', never), /node group web: AccessDeniedException: denied/);
  });

  it('ends with the health issues of the group if EKS fails to delete it', async () => {
    const { run, cloud } = await runWith();
    cloud.faults.deleteFailure({ group: 'web', issues });
    await assert.rejects(removeGroup(run, 'web', never), /node group web\. NodeCreationFailure: it failed/);
  });

  it('succeeds if the group does not exist', async () => {
    const { run } = await runWith();
    await removeGroup(run, 'another', never);
  });
});
