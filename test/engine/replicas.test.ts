/** Two operators with leader election, at its default times: a lease of 15 s, renewed every 2 s, given up after 10 s. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';
import { Cable } from './detour.ts';

const FLAGS = ['--poll-interval=200ms', '--retry-base=50ms', '--retry-max=1s'];
const LEASE = ['lease', 'windowspool-operator', '-n', 'kube-system'] as const;

describe('two operators', function () {
  this.timeout(120_000);
  let world: TestEnv;
  let leader: OperatorProcess;
  let standby: OperatorProcess;
  const cables: Cable[] = [];

  before(async () => {
    world = await theWorld();
  });
  beforeEach(async () => {
    await world.kubectl('delete', ...LEASE, '--ignore-not-found');
  });
  afterEach(async () => {
    world.cloud.faults.speed({ speed: 4 });
    // Pools are deleted while an operator runs that removes their finalizers.
    if (leader.running || standby.running) {
      await world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
    }
    await Promise.all([leader.stop(), standby.stop()]);
    for (const cable of cables.splice(0)) await cable[Symbol.asyncDispose]();
  });

  const metric = async (operator: OperatorProcess, name: string): Promise<string[]> => {
    const { body } = await operator.get('/metrics');
    return body.split('\n').filter((line) => line.startsWith(name));
  };
  const leads = async (operator: OperatorProcess) =>
    operator.running && (await metric(operator, 'leader_election_master_status')).some((line) => line.endsWith(' 1'));
  const toLead = (operator: OperatorProcess) =>
    waitFor(() => leads(operator), {
      what: 'the other operator to lead',
      intervalMs: 50,
      explain: () => operator.tail(),
    });

  async function startBoth(kubeconfig?: string, standbyFlags: readonly string[] = []): Promise<void> {
    leader = await world.operator(FLAGS, kubeconfig ? { credentials: kubeconfig } : {}).ready();
    await toLead(leader);
    standby = await world.operator([...FLAGS, ...standbyFlags]).ready();
  }

  /** Applies a pool and returns while its group is CREATING, for which EKS takes long. */
  async function beginCreation(name: string): Promise<void> {
    world.cloud.faults.speed({ speed: 0.01 });
    await world.apply(poolManifest(name));
    await world.waitForPool(name, 'to be CREATING', (pool) => pool?.status?.nodeGroup?.status === 'CREATING');
  }

  /** Lets EKS continue; the new leader finishes the pool with the group that was started. */
  async function assertFinished(name: string): Promise<void> {
    const begun = world.cloud.state.groups.get(name)?.nodegroup.nodegroupArn;
    world.cloud.faults.speed({ speed: 4 });
    const pool = await world.waitForReady(name);
    assert.equal(pool?.status?.nodeGroup?.arn, begun);
  }

  async function lease(): Promise<{ holderIdentity: string; acquireTime: string; renewTime: string }> {
    return JSON.parse(await world.kubectl('get', ...LEASE, '-o', 'jsonpath={.spec}'));
  }

  it('take turns, also from two namespaces: only the leader works, and the other one only reads the lease', async () => {
    await startBoth(undefined, ['--pod-namespace=elsewhere']);
    await world.apply(poolManifest('turns'));
    await world.waitForReady('turns');
    assert.deepEqual([await leads(leader), await leads(standby)], [true, false]);
    const requests = await metric(standby, 'rest_client_requests_total{');
    assert.deepEqual(
      requests.filter((line) => !line.includes('method="GET"')),
      [],
    );
    assert.deepEqual(await metric(standby, 'windowspool_aws_requests_total{'), []);
    assert.deepEqual(
      await metric(standby, 'controller_runtime_reconcile_total{controller="windowspool",result="success"}'),
      ['controller_runtime_reconcile_total{controller="windowspool",result="success"} 0'],
    );
  });

  it('hand over at once when the leader gets SIGTERM in the middle of a creation', async () => {
    await startBoth();
    await beginCreation('handed');
    assert.equal(await leader.stop(), 0);
    const released = performance.now();
    await toLead(standby);
    // A candidate polls every 2 to 4.4 s, as client-go's does. One that waits for the lease to expire starts after 13 s or more.
    assert.ok(performance.now() - released < 12_000, `took ${Math.round(performance.now() - released)} ms`);
    await assertFinished('handed');
  });

  it('wait until the lease expires when the leader is killed, and finish what it started', async () => {
    await startBoth();
    await beginCreation('orphaned');
    await leader.kill();
    const held = await lease();
    const taken = async () => {
      const now = await lease();
      return now.holderIdentity !== held.holderIdentity && now;
    };
    const next = await waitFor(taken, { what: 'another holder of the lease', intervalMs: 200 });
    const took = Date.parse(next.acquireTime) - Date.parse(held.renewTime);
    // The other polls every 2 to 4.4 s, and a busy machine adds to that.
    assert.ok(took >= 15_000 && took < 40_000, `it was taken ${took} ms after it was renewed for 15 s`);
    await toLead(standby);
    await assertFinished('orphaned');
  });

  it('are never both leaders: a leader that cannot reach the API server exits before the other one leads', async () => {
    const cable = await Cable.start(world.controlPlane, world.operatorKubeconfig);
    cables.push(cable);
    await startBoth(cable.kubeconfig);
    await beginCreation('severed');
    cable.cut();
    const ended = waitFor(() => !leader.running, { what: 'the leader to exit', intervalMs: 20 }).then(() =>
      performance.now(),
    );
    const began = toLead(standby).then(() => performance.now());
    const [end, beginning] = await Promise.all([ended, began]);

    assert.ok(end < beginning, `the old leader ended ${Math.round(end - beginning)} ms after the new one began`);
    assert.equal(await leader.stop(), 1);
    assert.match(leader.tail(), /the lease was not renewed for 10 s/);
    await assertFinished('severed');
  });
});
