/**
 * The leader is stopped (SIGSTOP) in the only place where it can still send something when it continues: between the check of the lease and the
 * system call that sends the request. test/README.md names it as a limit; this suite shows that it is one request, and that the log has it.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PAUSED_WHILE_SENDING } from '../../controllers/runtime/leaderElection.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';
import { countRequests, HeldReplica, sentSince } from './heldReplica.ts';
import { isSettled } from './pausedWrites.ts';
import { LEASE, REPLICA_FLAGS, untilLeads } from './replicas.ts';

const POOL = 'sending';
const NODE_FLAGS = [`--import=${fileURLToPath(new URL('stopBeforeSending.ts', import.meta.url))}`];

describe('a leader that is paused between the check of the lease and the request', function () {
  this.timeout(120_000);
  let world: TestEnv;
  let other: OperatorProcess | undefined;

  before(async () => {
    world = await theWorld();
    await world.kubectl('delete', ...LEASE, '--ignore-not-found');
  });
  after(async () => {
    if (other?.running) await world.kubectl('delete', 'windowspool', POOL, '--timeout=60s');
    await other?.stop();
  });

  const cases: readonly [what: string, request: string, sent: RegExp][] = [
    // Which of both depends on whether the other replica has written the status before.
    ['to the API server', `PUT /windowspools/${POOL}/status`, /^update windowspools\/status sending: (200|409)$/],
    // With the client request token of the other replica's call, so it is the same one for EKS.
    ['to AWS', `POST /node-groups/${POOL}/update-config`, /^UpdateNodegroupConfig: ok$/],
  ];
  for (const [what, request, sent] of cases) {
    it(`${what} sends this one request when it continues, logs it, and exits`, async () => {
      const file = join(world.controlPlane.dir, 'stop-before-sending');
      const environment = { STOP_BEFORE_SENDING: file };
      await using paused = await HeldReplica.start(world, REPLICA_FLAGS, { environment, nodeFlags: NODE_FLAGS });
      await paused.process.ready();
      await other?.stop();
      await untilLeads(paused.process);
      await world.apply(poolManifest(POOL));
      await world.waitForPool(POOL, 'to be settled', isSettled);
      other = await world.operator(REPLICA_FLAGS).ready();
      await writeFile(file, request);
      await world.patchPool(POOL, { labels: { tier: what.replaceAll(' ', '-') } });
      await paused.untilStopped();
      await untilLeads(other);
      const before = await countRequests(world);
      await world.waitForPool(POOL, 'to be settled by the other replica', isSettled);
      assert.deepEqual(await sentSince(world, before), []);
      await paused.resume();
      const [late = '', ...more] = await sentSince(world, before);
      assert.match(late, sent);
      assert.deepEqual(more, []);
      const reports = paused.process.lines.filter(({ msg }) => msg === PAUSED_WHILE_SENDING);
      assert.equal(reports.length, 1, paused.process.tail());
      // On a busy machine, the same turn of the event loop may have sent another request before the pause, which counts too.
      assert.ok(Number(reports[0]?.requests) >= 1, paused.process.tail());
      await world.waitForPool(POOL, 'to be settled', isSettled);
    });
  }
});
