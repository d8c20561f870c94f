import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const GROUP_LABEL = 'eks.amazonaws.com/nodegroup';
const BUILD_LABEL = 'node.kubernetes.io/windows-build';

describe('the verification of nodes', () => {
  const fixture = withOperator('--join-grace=10s');
  const POOL = 'checked';

  const becomes = (type: string, state: string, what = `to have ${type}=${state}`) =>
    fixture.world.waitForPool(POOL, what, (pool) => conditionOf(pool, type) === state);
  const nodes = () => fixture.world.nodeNamesOf(POOL);
  const labelOf = async (node: string) =>
    (await fixture.world.get<Stored<V1Node>>('node', node))?.metadata.labels?.[BUILD_LABEL];
  const firstNodeName = async (): Promise<string> => {
    const [node] = await nodes();
    assert.ok(node);
    return node;
  };

  before(async () => {
    await fixture.world.apply(poolManifest(POOL, { nodeGroup: { scaling: { minSize: 2, maxSize: 4 } } }));
    await becomes('Ready', 'True/EnoughNodesVerified');
  });

  it('names a node with another build, and keeps the pool Ready while enough others are verified', async () => {
    fixture.world.cloud.faults.nextNode({ group: POOL, build: '10.0.17763' });
    await fixture.world.kubectl('scale', 'windowspool', POOL, '--replicas=3');
    const pool = await becomes('NodesVerified', 'False/WrongBuild');
    assert.equal(conditionOf(pool, 'Ready'), 'True/EnoughNodesVerified');
    const [failing] = pool?.status?.failingNodes ?? [];
    const message = messageOf(pool, 'NodesVerified');
    assertNames(
      message,
      '1 of 3',
      /2019 \(10\.0\.17763\).*2022 \(10\.0\.20348\)/,
      `kubectl annotate node ${failing?.name} winpool.dev/replace=true`,
    );
    assert.equal(pool?.status?.summary?.build, '2 builds');
    fixture.world.cloud.faults.terminateInstance({ node: failing?.name ?? '' });
    await becomes('NodesVerified', 'True/AllVerified');
  });

  it('restores the label windows-build if it is missing or stale', async () => {
    const node = await firstNodeName();
    for (const change of [`${BUILD_LABEL}-`, `${BUILD_LABEL}=10.0.17763`]) {
      await fixture.world.kubectl('label', 'node', node, change, '--overwrite');
      await waitFor(async () => (await labelOf(node)) === '10.0.20348', { what: `the label after ${change}` });
    }
  });

  it('names a node that loses or changes the label of its group, and counts it again when the label is restored', async () => {
    const node = await firstNodeName();
    const total = (await fixture.world.pool(POOL))?.status?.nodes?.total ?? 0;
    for (const change of [`${GROUP_LABEL}-`, `${GROUP_LABEL}=another`]) {
      await fixture.world.kubectl('label', 'node', node, change, '--overwrite');
      const pool = await becomes('NodesVerified', 'False/MembershipLabelRemoved');
      assertNames(messageOf(pool, 'NodesVerified'), '1 node', node, `kubectl label node NAME ${GROUP_LABEL}=${POOL}`);
      assert.equal(pool?.status?.nodes?.total, total - 1);
      await fixture.world.kubectl('label', 'node', node, `${GROUP_LABEL}=${POOL}`, '--overwrite');
      await becomes('NodesVerified', 'True/AllVerified');
    }
  });

  it('names the instance of a node that never joins, and no instance of a warm pool', async () => {
    await fixture.world.kubectl('scale', 'windowspool', POOL, '--replicas=3');
    await fixture.world.waitForPool(
      POOL,
      'to have 3 nodes',
      (found) => found?.status?.nodes?.total === 3 && conditionOf(found, 'NodesVerified') === 'True/AllVerified',
    );
    fixture.world.cloud.faults.nextNode({ group: POOL, neverJoins: true });
    await fixture.world.kubectl('scale', 'windowspool', POOL, '--replicas=4');
    await fixture.world.waitForPool(POOL, 'to have the size 4', (found) => found?.status?.nodes?.desired === 4);
    fixture.world.cloud.faults.warmPool({ group: POOL, size: 2 });
    const pool = await becomes('NodesVerified', 'False/NodesMissing');
    const message = messageOf(pool, 'NodesVerified');
    assertNames(message, '1 of 4 nodes did not join', /aws ssm start-session --target i-[0-9a-f]+$/);
    fixture.world.cloud.faults.warmPool({ group: POOL, size: 0 });
    fixture.world.cloud.faults.terminateInstance({ node: /i-[0-9a-f]+/.exec(message)?.[0] ?? '' });
    await becomes('NodesVerified', 'True/AllVerified');
  });
});
