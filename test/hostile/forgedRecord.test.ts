/** A kubelet forges the record that a pool of existing nodes keeps on its nodes. Taints of others stay, at every moment, and the pool can be deleted. */
import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { OWNERSHIP_ANNOTATION, QUARANTINE_TAINT_KEY } from '../../controllers/windowspool/api/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { describeWrite, ofOperator, readAudit } from '../fakes/testenv/audit.ts';
import { type Watched, watchEvents } from '../fakes/testenv/watchEvents.ts';
import { withExistingNodes } from '../nodes/existingNodesFixture.ts';
import { existingPool, poolManifest } from '../pools.ts';
import { markNode, nodeOf } from './kubelet.ts';

const POOL = 'club';
const SITE = { matchLabels: { site: 'fra' } };
const STRANGER = 'stranger';
/** Set by an administrator. The pool sets another value for one of the keys. */
const ADMIN_TAINTS = [
  { key: 'quarantine.example.com', value: 'audit', effect: 'NoExecute' },
  { key: 'dedicated', value: 'billing', effect: 'NoSchedule' },
  { key: QUARANTINE_TAINT_KEY, value: 'manual', effect: 'NoExecute' },
] as const;
const ADMIN_LABELS = { site: 'ams', tier: 'gold', 'node-restriction.kubernetes.io/zone': 'secret' };

const recordOf = (pool: string, more: object = {}): string =>
  JSON.stringify({ pool, gated: true, labels: {}, taints: [], ...more });
const wasNone = (labels: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(labels).map(([key, is]) => [key, { was: null, is }]));

/** Records of the pool that name what others set. */
const forged: readonly (readonly [what: string, record: string])[] = [
  ['all taints and labels', recordOf(POOL, { labels: wasNone(ADMIN_LABELS), taints: ADMIN_TAINTS })],
  ['a former label that the pool selects', recordOf(POOL, { labels: { site: { was: 'fra', is: 'ams' } } })],
  [
    'odd keys',
    `{"pool":"${POOL}","labels":{"__proto__":{"was":null,"is":"gold"},"":{"was":null,"is":""}},"taints":{}}`,
  ],
  ['a hundred taints', recordOf(POOL, { taints: Array.from({ length: 40 }, () => ADMIN_TAINTS).flat() })],
];

/** What is not a record of any pool. */
const unreadable: readonly (readonly [what: string, record: string])[] = [
  ['no JSON', '{'],
  ['the name of no pool', recordOf('nobody', { taints: ADMIN_TAINTS })],
  ['a name that is no text', '{"pool":{"toString":"club"}}'],
  ['more than the operator reads', recordOf(POOL, { taints: Array.from({ length: 400 }, () => ADMIN_TAINTS).flat() })],
];

const describeTaint = ({ key, value = '', effect }: { key: string; value?: string; effect: string }) =>
  `${key}=${value}:${effect}`;

describe('a kubelet that forges the record of a pool', () => {
  const { fixture, node, join, writtenFields, waitForCondition, waitForNodes, waitUntilRestored } = withExistingNodes();
  let watch: Watched | undefined;
  /** Taints that were missing from the watched node at any time. */
  const missing = new Set<string>();

  async function watchTaints(name: string, taints: Parameters<typeof describeTaint>[0][]): Promise<void> {
    const path = `/api/v1/nodes?fieldSelector=metadata.name%3D${name}`;
    watch = await watchEvents<Stored<V1Node>>(fixture.world.controlPlane.adminKubeconfig, path, ({ type, object }) => {
      const found = new Set((object.spec.taints ?? []).map(describeTaint));
      if (type !== 'DELETED') for (const taint of taints.map(describeTaint)) if (!found.has(taint)) missing.add(taint);
    });
  }

  /** The writes of operators to a node, by the audit log. */
  async function writesTo(name: string): Promise<string[]> {
    const events = ofOperator(await readAudit(fixture.world.controlPlane.auditLog, `/nodes/${name}`));
    return events.filter(({ verb, objectRef }) => verb === 'patch' && objectRef?.name === name).map(describeWrite);
  }

  const forge = async (name: string, record: string): Promise<void> =>
    assert.equal(await markNode(fixture.world, name, { annotations: { [OWNERSHIP_ANNOTATION]: record } }), undefined);

  const applyPool = async (): Promise<void> => {
    const taints = [{ key: 'dedicated', value: 'iis', effect: 'NoSchedule' }];
    await join({ name: 'member', labels: { site: 'fra' } });
    await fixture.world.apply(existingPool(POOL, SITE, { labels: { tier: 'web' }, taints }));
    await waitForNodes(POOL, 1);
    await waitForCondition(POOL, 'Ready', 'True/EnoughNodesVerified');
  };
  const joinStranger = async (): Promise<void> => {
    await join({ name: STRANGER, labels: ADMIN_LABELS, taints: ADMIN_TAINTS });
    await watchTaints(STRANGER, [...ADMIN_TAINTS]);
  };

  afterEach(async () => {
    await watch?.stop();
    watch = undefined;
    assert.deepEqual([...missing], []);
    missing.clear();
  });

  it('changes nothing but its own annotation, whatever the record names', async () => {
    await applyPool();
    await joinStranger();
    const before = await writtenFields(STRANGER);
    for (const [what, record] of forged) {
      await forge(STRANGER, record);
      await waitUntilRestored(STRANGER, before).catch((cause: unknown) => {
        throw new Error(`after a record with ${what}`, { cause });
      });
    }
    assert.deepEqual(
      await writesTo(STRANGER),
      forged.map(() => `patch nodes ${STRANGER}: 200`),
    );
    await waitForNodes(POOL, 1);
    await waitForCondition(POOL, 'Ready', 'True/EnoughNodesVerified');
  });

  it('has no effect with a record that no pool can have written', async () => {
    await applyPool();
    for (const [index, [, record]] of unreadable.entries()) {
      await join({ name: `unreadable-${index}`, labels: ADMIN_LABELS, taints: ADMIN_TAINTS });
      await forge(`unreadable-${index}`, record);
    }
    // The operator processes events in order.
    await join({ name: 'member-2', labels: { site: 'fra' } });
    await waitForNodes(POOL, 2);
    await waitForCondition(POOL, 'Ready', 'True/EnoughNodesVerified');
    for (const [index, [what, record]] of unreadable.entries()) {
      assert.deepEqual(await writesTo(`unreadable-${index}`), [], what);
      assert.equal((await node(`unreadable-${index}`)).metadata.annotations?.[OWNERSHIP_ANNOTATION], record, what);
    }
  });

  it('does not release itself from the quarantine of the pool that it belongs to', async () => {
    await applyPool();
    const { world } = fixture;
    await world.apply(poolManifest('strict', { verification: { policy: 'Quarantine' } }));
    await waitForCondition('strict', 'Ready', 'True/EnoughNodesVerified');
    const name = await nodeOf(world, 'strict');
    world.cloud.faults.patchKernel({ node: name, build: '10.0.17763' });
    await world.waitForPool('strict', 'to quarantine it', (pool) => pool?.status?.nodes?.quarantined === 1);
    const held = { key: QUARANTINE_TAINT_KEY, value: 'WrongBuild', effect: 'NoSchedule' };
    await watchTaints(name, [held]);
    await forge(name, recordOf(POOL, { taints: [held] }));
    await waitFor(async () => (await node(name)).metadata.annotations?.[OWNERSHIP_ANNOTATION] === undefined, {
      what: 'the record to be removed',
      timeoutMs: 20_000,
    });
    assert.equal((await world.pool('strict'))?.status?.nodes?.quarantined, 1);
  });

  it('does not keep the pool from being deleted, also if it repeats the record', async () => {
    await applyPool();
    await joinStranger();
    const record = recordOf(POOL, { labels: wasNone(ADMIN_LABELS), taints: ADMIN_TAINTS });
    let repeats = 0;
    let pending: Promise<unknown> = forge(STRANGER, record);
    const path = `/api/v1/nodes?fieldSelector=metadata.name%3D${STRANGER}`;
    const { adminKubeconfig } = fixture.world.controlPlane;
    const kubelet = await watchEvents<Stored<V1Node>>(adminKubeconfig, path, ({ object }) => {
      if (object.metadata.annotations?.[OWNERSHIP_ANNOTATION] !== undefined) return;
      repeats += 1;
      pending = pending.then(() => forge(STRANGER, record));
    });
    await waitFor(() => repeats > 2, { what: 'the kubelet to repeat its record', timeoutMs: 20_000 });
    await fixture.world.kubectl('delete', 'windowspool', POOL, '--timeout=30s');
    await kubelet.stop();
    await pending;
    const { labels, taints } = await writtenFields(STRANGER);
    assert.deepEqual(taints?.map(describeTaint), ADMIN_TAINTS.map(describeTaint));
    for (const [key, value] of Object.entries(ADMIN_LABELS)) assert.equal(labels?.[key], value);
    assert.equal((await node('member')).metadata.annotations?.[OWNERSHIP_ANNOTATION], undefined);
  });
});
