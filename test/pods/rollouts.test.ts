/** The operator's Deployment on two real nodes: rollouts, failures of the leader, and drains. */
import assert from 'node:assert/strict';
import { isAccepted, isFencedWrite, ofOperator, readAudit } from '../fakes/testenv/audit.ts';
import { poolManifest } from '../pools.ts';
import { withOperatorPods } from './operatorPodsFixture.ts';

describe("the operator's Deployment", function () {
  this.timeout(180_000);
  const operator = withOperatorPods();
  before(async () => {
    await operator.deploy();
    await operator.world.apply(poolManifest('rollouts'));
    await operator.world.waitForReady('rollouts');
  });

  /** Changes the size of the pool, which only the leader does. */
  async function scale(size: number): Promise<void> {
    await operator.world.kubectl('scale', 'windowspool', 'rollouts', `--replicas=${size}`);
    const has = (count?: number) => count === size;
    await operator.world.waitForPool('rollouts', `to have ${size} nodes`, (pool) => has(pool?.status?.nodes?.verified));
  }

  it('keeps the old pod while the image of a new one does not exist, and goes back with kubectl rollout undo', async () => {
    const { metadata } = await operator.leader();
    await operator.kubectl(
      'set',
      'image',
      'deployment/windowspool-operator',
      'operator=docker.io/library/windowspool-operator:none',
    );
    const stuck = operator.kubectl('rollout', 'status', 'deployment/windowspool-operator', '--timeout=5s');
    await assert.rejects(stuck, /timed out waiting for the condition/);
    await scale(2);
    await operator.kubectl('rollout', 'undo', 'deployment/windowspool-operator');
    await operator.rolledOut();
    assert.equal((await operator.leader()).metadata.name, metadata.name);
  });

  it('hands the lease over at a rollout, without waiting for it to expire', async () => {
    const { metadata } = await operator.leader();
    const started = performance.now();
    await operator.kubectl('rollout', 'restart', 'deployment/windowspool-operator');
    await operator.rolledOut();
    await operator.leader(metadata.name);
    console.log(`    A new pod led after ${Math.round((performance.now() - started) / 100) / 10} s.`);
    await scale(1);
  });

  it('with config/ha has a replica on each node; when the leader is killed, the other one takes over', async () => {
    await operator.deploy({ base: 'ha' });
    const pods = await operator.pods();
    assert.deepEqual(pods.map(({ spec }) => spec.nodeName).sort(), [...operator.nodes.names].sort());
    const { metadata } = await operator.leader();
    const started = performance.now();
    await operator.kubectl('delete', 'pod', metadata.name, '--force', '--grace-period=0');
    await operator.leader(metadata.name);
    console.log(`    The other replica led after ${Math.round((performance.now() - started) / 100) / 10} s.`);
    await scale(2);
    await operator.rolledOut();
  });

  it('is drained from one node after the other within its PodDisruptionBudget, and one replica works at any time', async () => {
    const { nodes, world } = operator;
    for (const node of nodes.names) {
      // The DaemonSet pods of a real cluster do not exist here. A replica has no place on another node until the drain is over.
      await world.kubectl('drain', node, '--timeout=120s', '--delete-emptydir-data', '--ignore-daemonsets');
      await operator.leader();
      await scale(node === nodes.names[0] ? 1 : 2);
      await world.kubectl('uncordon', node);
      await operator.rolledOut();
    }
  });

  it('has written only as its leader', async () => {
    const writes = ofOperator(await readAudit(operator.world.controlPlane.auditLog))
      .filter(isFencedWrite)
      .filter(isAccepted);
    const podOf = ({ user }: (typeof writes)[number]) =>
      user.extra?.['authentication.kubernetes.io/pod-name']?.[0] ?? '';
    const order = writes.map(podOf).filter((pod, index, all) => pod !== all[index - 1]);
    assert.equal(order.length, new Set(order).size, order.join(', '));
  });
});
