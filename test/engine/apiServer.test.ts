/** The API server stops and restarts, and the operator gets SIGTERM. In an environment of its own: others would be disturbed. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { hasConditions, READY, startTestEnv, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { Cable } from './detour.ts';

const CRD = fileURLToPath(new URL('../../crds/windowspools.yaml', import.meta.url));
const FLAGS = ['--poll-interval=200ms', '--retry-base=50ms', '--retry-max=1s'];
const LEASE = ['lease', 'windowspool-operator', '-n', 'kube-system'];
const isReady = (pool: WindowsPool | undefined) => hasConditions(pool, READY);

describe('an operator', function () {
  this.timeout(120_000);
  let world: TestEnv;
  let operator: OperatorProcess;

  before(async () => {
    world = await startTestEnv({ speed: 4 });
  });
  after(async () => world?.stop());
  afterEach(async () => operator?.kill());

  const ready = (name: string) => world.waitForPool(name, 'to be Ready', isReady);
  const groupIn = (name: string) => world.cloud.state.groups.get(name)?.nodegroup;
  const remove = (name: string) => world.kubectl('delete', 'windowspool', name, '--timeout=40s');
  const withoutElection = () => world.operator([...FLAGS, '--leader-elect=false']);

  /** Waits until it serves, and fails unless it is live and not ready. */
  async function assertWaits(message: RegExp): Promise<void> {
    const serves = () => operator.lines.some(({ healthPort }) => healthPort !== undefined);
    await waitFor(serves, { what: 'the operator to serve', explain: () => operator.tail() });
    const failed = () => operator.lines.filter(({ msg }) => msg === 'list or watch failed').length >= 2;
    await waitFor(failed, { what: 'failed tries', explain: () => operator.tail() });
    const { status, body } = await operator.get('/readyz');
    assert.equal(status, 503);
    assert.match(body, message);
    assert.equal((await operator.get('/healthz')).status, 200);
    assertUnharmed();
  }

  /** It still runs, and there was no uncaught exception. */
  function assertUnharmed(): void {
    assert.ok(operator.running, operator.tail());
    assert.deepEqual(operator.otherLines, []);
    assert.deepEqual(
      operator.lines.filter(({ level }) => level === 'fatal'),
      [],
    );
  }

  it('waits for a missing CRD, logs that, and starts when the CRD exists', async () => {
    await world.kubectl('delete', '-f', CRD);
    operator = withoutElection();
    await assertWaits(/cache-pools.*not synced yet/);
    await world.kubectl('apply', '-f', CRD);
    await operator.ready();
    await world.apply(poolManifest('late'));
    await ready('late');
    await remove('late');
    assertUnharmed();
  });

  it('waits for an API server that is down at the start, logs that, and starts when it is up', async () => {
    await world.controlPlane.stopApiServer();
    operator = world.operator(FLAGS);
    await assertWaits(/not synced yet\n(?:.*\n)*.*leader-election: /);
    await world.controlPlane.startApiServer();
    await operator.ready();
    await world.apply(poolManifest('patient'));
    await ready('patient');
    await remove('patient');
    assertUnharmed();
  });

  it('survives a restart of the API server: pools from before, during and after it converge', async () => {
    operator = await withoutElection().ready();
    await world.apply(poolManifest('settled'));
    await world.apply(poolManifest('leaving'));
    await Promise.all(['settled', 'leaving'].map(ready));
    world.cloud.faults.speed({ speed: 0.01 });
    await world.apply(poolManifest('growing'));
    await world.waitForPool('growing', 'to be CREATING', (pool) => pool?.status?.nodeGroup?.status === 'CREATING');
    await world.kubectl('delete', 'windowspool', 'leaving', '--wait=false');
    await waitFor(() => groupIn('leaving')?.status === 'DELETING', { what: 'the deletion' });

    await world.controlPlane.stopApiServer();
    world.cloud.faults.speed({ speed: 4 });
    await waitFor(() => groupIn('leaving') === undefined, { what: 'the group to be deleted' });
    world.cloud.faults.edit({ group: 'settled', scalingConfig: { minSize: 2, maxSize: 3, desiredSize: 2 } });
    assert.equal((await operator.get('/healthz')).status, 200);
    assertUnharmed();
    await world.controlPlane.startApiServer();

    await world.apply(poolManifest('settled', { labels: { tier: 'web' } }));
    await world.apply(poolManifest('new'));
    await Promise.all(['growing', 'new'].map(ready));
    await world.waitForPool('leaving', 'to be gone', (pool) => pool === undefined);
    await world.waitForPool(
      'settled',
      'to have 2 nodes and the label',
      (pool) => isReady(pool) && pool?.status?.nodes?.verified === 2 && groupIn('settled')?.labels?.tier === 'web',
    );
    assert.deepEqual([...world.cloud.state.groups.keys()].sort(), ['growing', 'new', 'settled']);
    assert.equal((await operator.get('/readyz')).status, 200);
    await Promise.all(['growing', 'new', 'settled'].map(remove));
    assertUnharmed();
  });

  describe('on SIGTERM', () => {
    beforeEach(async () => {
      // Of an operator that was killed before.
      await world.kubectl('delete', ...LEASE, '--ignore-not-found');
    });

    it('releases its lease and exits with 0', async () => {
      await startLeader();
      await assertEndsWell();
    });

    it('aborts an AWS call that hangs, and the next operator finishes what it started', async () => {
      await startLeader();
      world.cloud.faults.calls.hang({ operation: 'CreateNodegroup', after: true });
      await world.apply(poolManifest('hung'));
      await waitFor(() => groupIn('hung'), { what: 'the call that hangs' });
      await assertEndsWell();
      const begun = groupIn('hung')?.nodegroupArn;
      await startLeader();
      assert.equal((await ready('hung'))?.status?.nodeGroup?.arn, begun);
      await remove('hung');
    });

    it('does the same when the API server does not respond', async () => {
      await using cable = await Cable.start(world.controlPlane, world.operatorKubeconfig);
      await startLeader(cable.kubeconfig);
      cable.cut();
      // The lease can only expire.
      await assertStops();
    });

    async function startLeader(kubeconfig = world.operatorKubeconfig): Promise<void> {
      operator = world.operator(FLAGS, { credentials: kubeconfig });
      const leads = () => operator.lines.some(({ msg }) => msg === 'controller started');
      await waitFor(leads, { what: 'the operator to lead', explain: () => operator.tail() });
    }

    async function assertEndsWell(): Promise<void> {
      await assertStops();
      assert.equal(
        await world.kubectl('get', ...LEASE, '-o', 'jsonpath={.spec.holderIdentity}'),
        '',
        'the lease is free',
      );
    }

    /** Within the 30 s that Kubernetes gives a pod. The grace periods that add up to it are tested with a simulated clock. */
    async function assertStops(): Promise<void> {
      const asked = performance.now();
      assert.equal(await operator.stop(), 0, operator.tail());
      const took = performance.now() - asked;
      assert.ok(took < 30_000, `took ${Math.round(took)} ms`);
      assert.deepEqual(operator.otherLines, []);
    }
  });
});
