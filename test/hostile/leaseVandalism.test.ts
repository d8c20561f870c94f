/**
 * Another client with permission on the lease changes it, while three replicas run. There is never a write of a replica after another one led, and
 * one of them works again within 80 s.
 */
import assert from 'node:assert/strict';
import { createKubernetesClient, type KubernetesClient, PATCH } from '../../controllers/kubernetes/client.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { ApiProxy } from '../engine/apiProxy.ts';
import { ofOperator, readAudit } from '../fakes/testenv/audit.ts';
import { type ReplicaWrite, replicaWrite, writesWithoutLease } from '../fakes/testenv/leaseHolder.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';
import { startMarkingProxy } from './markingProxy.ts';
import { LEASE, REPLICA_FLAGS } from './replicas.ts';

const POOL = 'vandalised';
const MARKS = ['replica-a', 'replica-b', 'replica-c'] as const;
const WITHIN_MS = 80_000;
const LEASE_WRITE = /^(?:POST|PUT) \S+\/leases\b/;

interface Replica {
  readonly mark: string;
  readonly proxy: ApiProxy;
  readonly process: OperatorProcess;
}

interface Case {
  readonly what: string;
  readonly vandalise: (world: TestEnv) => Promise<unknown>;
  /** Whether the leader remains the leader, according to what it reads. */
  readonly remains: boolean;
}

const patchLease = (world: TestEnv, spec: object) =>
  world.kubectl('patch', ...LEASE, '--type=merge', '-p', JSON.stringify({ spec }));

const cases: readonly Case[] = [
  { what: 'deletes the lease', vandalise: (world) => world.kubectl('delete', ...LEASE), remains: true },
  {
    what: 'sets the duration of the lease to a day',
    vandalise: (world) => patchLease(world, { leaseDurationSeconds: 86_400 }),
    remains: true,
  },
  {
    what: 'writes a holder of the lease that does not exist',
    vandalise: (world) => patchLease(world, { holderIdentity: '\u001b[2J nobody \u202e' }),
    remains: false,
  },
  {
    what: 'writes a holder of the lease that does not exist, for a day',
    vandalise: (world) => patchLease(world, { holderIdentity: 'nobody', leaseDurationSeconds: 86_400 }),
    remains: false,
  },
];

describe('if another client', function () {
  this.timeout(180_000);
  let world: TestEnv;
  let admin: KubernetesClient;
  const replicas: Replica[] = [];
  /** Writes of the lease and calls to AWS, in the order in which the test observed them. */
  const observed: ReplicaWrite[] = [];
  let user: NodeJS.Timeout;
  let tier = 0;

  before(async () => {
    world = await theWorld();
    await world.kubectl('delete', ...LEASE, '--ignore-not-found');
    const { adminKubeconfig: kubeconfigPath } = world.controlPlane;
    admin = await createKubernetesClient({ kubeconfigPath, log: silentLog, version: 'user-of-tests' });
    world.cloud.setGate(({ userAgent, operation }, phase) => {
      const mark = MARKS.find((found) => userAgent.includes(found));
      if (mark && phase === 'before') observed.push({ kind: 'write', replica: mark, text: operation });
    });
    for (const mark of MARKS) replicas.push(await startReplica(mark));
    await world.apply(poolManifest(POOL));
    await world.waitForReady(POOL);
    // A user who never stops, so that a leader always has something to write.
    user = setInterval(() => void changePool(), 300);
  });
  after(async () => {
    clearInterval(user);
    await world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
    await Promise.all(replicas.map(({ process }) => process.stop()));
    for (const { proxy } of replicas) await proxy[Symbol.asyncDispose]();
    world.cloud.setGate(() => {});
    admin.close();
  });

  async function startReplica(mark: string): Promise<Replica> {
    const proxy = await startMarkingProxy(world, mark, (text) => async (moment, status = 500) => {
      if (moment === 'response' && status < 300 && LEASE_WRITE.test(text))
        observed.push({ kind: 'lease', replica: mark, text });
    });
    const environment = { AWS_SDK_UA_APP_ID: mark };
    const process = await world.operator(REPLICA_FLAGS, { credentials: proxy.kubeconfig, environment }).ready();
    return { mark, proxy, process };
  }

  async function changePool(): Promise<void> {
    tier += 1;
    const options = { body: { spec: { labels: { tier: `t${tier}` } } }, contentType: PATCH.merge };
    const signal = AbortSignal.timeout(10_000);
    await admin
      .request('PATCH', `/apis/winpool.dev/v1alpha1/windowspools/${POOL}`, { ...options, signal })
      .catch(() => undefined);
  }

  const holder = () => observed.findLast(({ kind }) => kind === 'lease')?.replica;
  const tierInAws = () => Number(world.cloud.state.group(POOL).nodegroup.labels?.tier?.slice(1));

  /** Waits until a label that a user sets from now on is in AWS. */
  async function untilWorks(): Promise<void> {
    const since = tier + 1;
    await waitFor(() => tierInAws() >= since, {
      what: `label ${since} in AWS`,
      timeoutMs: WITHIN_MS,
      explain: () => replicas.map(({ process }) => process.tail(5)).join('\n\n'),
    });
  }

  const describeAll = (writes: readonly ReplicaWrite[]) => writes.map(({ replica, text }) => `${replica}: ${text}`);

  /** The calls to AWS of a replica other than the one that wrote the lease last. */
  const strayCalls = () => describeAll(writesWithoutLease(observed));

  /** The same for writes to the API server, by its audit log. */
  async function strayWrites(): Promise<string[]> {
    const events = ofOperator(await readAudit(world.controlPlane.auditLog, 'replica-'));
    const writes = events.flatMap((event) => replicaWrite(event, event.userAgent?.split('/').at(-1) ?? '') ?? []);
    return describeAll(writesWithoutLease(writes));
  }

  for (const { what, vandalise, remains } of cases)
    it(`${what}, no replica writes that does not lead, and one works within ${WITHIN_MS / 1_000} s`, async () => {
      await untilWorks();
      const leader = holder();
      await vandalise(world);
      const leaves = replicas.filter(({ mark }) => mark === leader).map(({ process }) => process);
      if (!remains) await waitFor(() => leaves.every(({ running }) => !running), { what: `${leader} to exit` });
      const writes = observed.filter(({ kind }) => kind === 'lease').length;
      await waitFor(() => observed.filter(({ kind }) => kind === 'lease').length > writes, {
        what: 'a replica to write the lease again',
        timeoutMs: WITHIN_MS,
      });
      await untilWorks();
      assert.deepEqual([holder() === leader, strayCalls(), await strayWrites()], [remains, [], []]);
      assert.ok(observed.some(({ kind, replica }) => kind === 'write' && replica === holder()));
    });
});
