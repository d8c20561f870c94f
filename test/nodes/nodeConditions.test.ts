/** Conditions of nodes that agents set, and images: the gate waits for some, and other conditions make a node fail. */
import assert from 'node:assert/strict';
import { GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../../controllers/windowspool/api/labels.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames, namesAll } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withVerification } from './verificationFixture.ts';

const POOL = 'conditions';
const AGENT = 'example.com/AntivirusReady';
const IMAGE = 'mcr.microsoft.com/windows/servercore:ltsc2022';

describe('a pool with conditions of its nodes', () => {
  const { fixture, nodesOf, waitForTaints, becomes } = withVerification();
  let node = '';

  /** What an agent on the node reports. */
  const report = (type: string, status: 'True' | 'False') => {
    const patch = JSON.stringify({ status: { conditions: [{ type, status, reason: 'Reported', message: '' }] } });
    return fixture.world.kubectl('patch', 'node', node, '--subresource=status', '--type=strategic', '--patch', patch);
  };

  const setImages = (names: readonly string[]) => {
    const images = names.map((name) => ({ names: [name], sizeBytes: 2_000_000_000 }));
    const patch = JSON.stringify({ status: { images } });
    return fixture.world.kubectl('patch', 'node', node, '--subresource=status', '--type=merge', '--patch', patch);
  };

  before(async () => {
    await fixture.world.apply(
      poolManifest(POOL, {
        verification: {
          policy: 'Gate',
          requiredConditions: [{ type: AGENT, status: 'True' }],
          requiredImages: [IMAGE],
          unhealthyConditions: [{ type: 'DiskPressure', status: 'True' }],
        },
      }),
    );
  });

  it('keeps the gate taint on a node without the required condition, and reports it after the join grace', async () => {
    const pool = await becomes(POOL, 'NodesVerified', 'False/RequiredConditionMissing');
    node = (await nodesOf(POOL))[0]?.metadata.name ?? assert.fail('there is no node');
    assertNames(messageOf(pool, 'NodesVerified'), `${AGENT}=True`, 'verification.requiredConditions');
    await waitForTaints(POOL, GATE_TAINT_KEY, [`${node} ${GATE_TAINT_KEY}:NoSchedule`], 'without the condition');
  });

  it('keeps the gate taint on a node with the condition and without the required image', async () => {
    await report(AGENT, 'True');
    const pool = await becomes(POOL, 'NodesVerified', 'False/ImagesMissing');
    assertNames(messageOf(pool, 'NodesVerified'), '1 of 1', 'verification.requiredImages', IMAGE);
    await waitForTaints(POOL, GATE_TAINT_KEY, [`${node} ${GATE_TAINT_KEY}:NoSchedule`], 'without the image');
  });

  it('removes the gate taint when the node has the image, and keeps the node verified when it is removed', async () => {
    await setImages([IMAGE]);
    await becomes(POOL, 'Ready', 'True/EnoughNodesVerified');
    await waitForTaints(POOL, GATE_TAINT_KEY, [], 'with the condition and the image');
    await setImages([]);
    await report('MemoryPressure', 'True');
    const pool = await fixture.world.waitForPool(POOL, 'to evaluate the node again', (found) =>
      namesAll(messageOf(found, 'NodesVerified'), 'MemoryPressure=True'),
    );
    assert.equal(pool?.status?.nodes?.verified, 1);
    await report('MemoryPressure', 'False');
  });

  it('quarantines a node with an unhealthy condition until the condition has another status', async () => {
    await report('DiskPressure', 'True');
    await becomes(POOL, 'NodesVerified', 'False/UnhealthyCondition');
    const taint = `${node} ${QUARANTINE_TAINT_KEY}=UnhealthyCondition:NoSchedule`;
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [taint], 'under disk pressure');
    await report('DiskPressure', 'False');
    await becomes(POOL, 'NodesVerified', 'True/AllVerified');
    await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'without disk pressure');
  });

  it('warns about memory pressure, and the node stays verified', async () => {
    await report('MemoryPressure', 'True');
    const pool = await fixture.world.waitForPool(POOL, 'to warn about memory pressure', (found) =>
      namesAll(messageOf(found, 'NodesVerified'), 'MemoryPressure=True'),
    );
    assert.equal(pool?.status?.nodes?.verified, 1);
    await report('MemoryPressure', 'False');
  });
});
