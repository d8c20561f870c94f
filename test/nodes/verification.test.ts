import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const GROUP_LABEL = 'eks.amazonaws.com/nodegroup';
const BUILD_LABEL = 'node.kubernetes.io/windows-build';

describe('the verification of nodes', () => {
  const stage = withOperator('--join-grace=10s');
  const POOL = 'checked';

  const becomes = (type: string, state: string, what = `to have ${type}=${state}`) =>
    stage.world.waitForPool(POOL, what, (pool) => conditionOf(pool, type) === state);
  const nodes = async (): Promise<string[]> =>
    (
      await stage.world.kubectl(
        'get',
        'nodes',
        '-l',
        `${GROUP_LABEL}=${POOL}`,
        '-o',
        'jsonpath={.items[*].metadata.name}',
      )
    )
      .split(' ')
      .filter(Boolean);
  const labelOf = (node: string) =>
    stage.world.kubectl('get', 'node', node, '-o', `jsonpath={.metadata.labels.node\\.kubernetes\\.io/windows-build}`);
  const someNode = async (): Promise<string> => {
    const [node] = await nodes();
    assert.ok(node);
    return node;
  };

  before(async () => {
    await stage.world.apply(poolManifest(POOL, { scaling: { min: 2, max: 4 } }));
    await becomes('Ready', 'True/Verified');
  });

  it('names a node of another build and keeps the pool Ready while enough others are verified', async () => {
    stage.world.cloud.faults.nextNode({ group: POOL, build: '10.0.17763' });
    await stage.world.kubectl('scale', 'windowspool', POOL, '--replicas=3');
    const pool = await becomes('NodesVerified', 'False/WrongBuild');
    assert.equal(conditionOf(pool, 'Ready'), 'True/Verified');
    const [failing] = pool?.status?.failingNodes ?? [];
    const message = pool?.status?.conditions?.find(({ type }) => type === 'NodesVerified')?.message;
    assert.equal(
      message,
      `1 of 3 nodes fails verification: ${failing?.name} runs build 10.0.17763 (Windows Server 2019) and the pool needs 10.0.20348 (Windows2022). Drain and end the node, and check the AMI.`,
    );
    assert.equal(pool?.status?.summary?.build, '2 builds');
    stage.world.cloud.faults.terminateInstance({ node: failing?.name ?? '' });
    await becomes('NodesVerified', 'True/AllVerified');
  });

  it('sees a build that changes under a node, at the restart of its kubelet', async () => {
    const node = await someNode();
    stage.world.cloud.faults.patchKernel({ node, build: '10.0.17763' });
    const pool = await becomes('NodesVerified', 'False/WrongBuild');
    assert.equal(pool?.status?.failingNodes?.[0]?.name, node);
    stage.world.cloud.faults.patchKernel({ node, build: '10.0.20348' });
    await becomes('NodesVerified', 'True/AllVerified');
  });

  it('puts back the label windows-build where it is missing or stale', async () => {
    const node = await someNode();
    for (const change of [`${BUILD_LABEL}-`, `${BUILD_LABEL}=10.0.17763`]) {
      await stage.world.kubectl('label', 'node', node, change, '--overwrite');
      await waitFor(async () => (await labelOf(node)) === '10.0.20348', {
        what: `the label after ${change}`,
        timeoutMs: 60_000,
      });
    }
  });

  it('names a node that loses the label of its group, or changes it, and counts it as a node again when that is back', async () => {
    const node = await someNode();
    const total = (await stage.world.pool(POOL))?.status?.nodes?.total ?? 0;
    for (const change of [`${GROUP_LABEL}-`, `${GROUP_LABEL}=another`]) {
      await stage.world.kubectl('label', 'node', node, change, '--overwrite');
      const pool = await becomes('NodesVerified', 'False/MembershipLabelRemoved');
      assert.equal(
        pool?.status?.conditions?.find(({ type }) => type === 'NodesVerified')?.message,
        `1 node of the pool lacks the label ${GROUP_LABEL}=${POOL}, by which nodes are counted: ${node}. Put the label back, or end the instance.`,
      );
      assert.equal(pool?.status?.nodes?.total, total - 1);
      await stage.world.kubectl('label', 'node', node, `${GROUP_LABEL}=${POOL}`, '--overwrite');
      await becomes('NodesVerified', 'True/AllVerified');
    }
  });

  it('holds nodes to the patch floor, and only warns when told to', async () => {
    const patch = (verification: object) => stage.world.patchPool(POOL, { verification });
    await patch({ minimumRevision: 99_999 });
    const low = await becomes('NodesVerified', 'False/RevisionTooLow');
    assert.equal(conditionOf(low, 'Ready'), 'False/RevisionTooLow');
    await patch({ warnOnly: ['RevisionTooLow'] });
    const warned = await becomes('NodesVerified', 'True/AllVerified');
    assert.match(
      warned?.status?.conditions?.find(({ type }) => type === 'NodesVerified')?.message ?? '',
      /with a warning, such as .* at least revision 99999/,
    );
    await patch({ minimumRevision: null, warnOnly: null });
    await becomes('Ready', 'True/Verified');
  });

  it('waits for pod addresses within the join grace and fails the node after it', async () => {
    stage.world.cloud.faults.nextNode({ group: POOL, noPodAddresses: true });
    await stage.world.kubectl('scale', 'windowspool', POOL, '--replicas=4');
    const waiting = await stage.world.waitForPool(
      POOL,
      'to have a joining node',
      (pool) => pool?.status?.nodes?.joining === 1,
    );
    assert.equal(conditionOf(waiting, 'NodesVerified'), 'Unknown/Joining');
    const pool = await becomes('NodesVerified', 'False/NoPodAddresses');
    stage.world.cloud.faults.terminateInstance({ node: pool?.status?.failingNodes?.[0]?.name ?? '' });
    await becomes('NodesVerified', 'True/AllVerified');
  });

  it('names the instance of a node that never joins, and none of a warm pool', async () => {
    stage.world.cloud.faults.warmPool({ group: POOL, size: 2 });
    await stage.world.kubectl('scale', 'windowspool', POOL, '--replicas=3');
    await stage.world.waitForPool(
      POOL,
      'to have 3 nodes',
      (found) => found?.status?.nodes?.total === 3 && conditionOf(found, 'NodesVerified') === 'True/AllVerified',
    );
    stage.world.cloud.faults.nextNode({ group: POOL, neverJoins: true });
    await stage.world.kubectl('scale', 'windowspool', POOL, '--replicas=4');
    const pool = await becomes('NodesVerified', 'False/NodesMissing');
    const message = pool?.status?.conditions?.find(({ type }) => type === 'NodesVerified')?.message ?? '';
    assert.match(
      message,
      /^3 of 4 nodes joined and 1 did not within .*Running and not joined: i-[0-9a-f]+\. Look at the kubelet/,
    );
    stage.world.cloud.faults.warmPool({ group: POOL, size: 0 });
    stage.world.cloud.faults.terminateInstance({ node: /i-[0-9a-f]+/.exec(message)?.[0] ?? '' });
    await becomes('NodesVerified', 'True/AllVerified');
  });

  it('fails a node that is not Ready for good', async () => {
    const node = await someNode();
    stage.world.cloud.faults.nodeReady({ node, ready: false });
    const pool = await becomes('NodesVerified', 'False/NotReady');
    assert.equal(pool?.status?.failingNodes?.[0]?.name, node);
    stage.world.cloud.faults.nodeReady({ node, ready: true });
    await becomes('NodesVerified', 'True/AllVerified');
  });
});
