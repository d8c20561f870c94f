import assert from 'node:assert/strict';
import { NODE_GROUP_LABEL, QUARANTINE_TAINT_KEY } from '../controllers/windowspool/labels.ts';
import type { Taint } from '../controllers/windowspool/ports.ts';
import { waitFor } from '../hack/controlplane/wait.ts';
import { conditionOf } from '../hack/world/world.ts';
import { poolManifest } from './pools.ts';
import { withOperator } from './sharedWorld.ts';

interface Node {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly taints?: readonly Taint[] };
}

const OTHER_BUILD = '10.0.17763';

describe('trust in nodes', () => {
  const stage = withOperator('--join-grace=10s');

  const nodesOf = async (pool: string): Promise<readonly Node[]> =>
    JSON.parse(await stage.world.kubectl('get', 'nodes', '-l', `${NODE_GROUP_LABEL}=${pool}`, '-o', 'json')).items;
  /** The nodes with a taint of this key, each as `key=value:effect`, sorted. */
  const tainted = async (pool: string, key: string): Promise<string[]> =>
    (await nodesOf(pool))
      .flatMap(({ metadata: { name }, spec: { taints = [] } }) =>
        taints
          .filter((taint) => taint.key === key)
          .map(({ value, effect }) => `${name} ${value ? `${key}=${value}` : key}:${effect}`),
      )
      .sort();
  const waitForTaints = (pool: string, key: string, want: readonly string[], what: string) =>
    waitFor(async () => JSON.stringify(await tainted(pool, key)) === JSON.stringify([...want].sort()), {
      what: `${what}: ${want.join(', ') || 'nobody'} with ${key}`,
      timeoutMs: 20_000,
    });
  const setPolicy = (pool: string, verification: object) =>
    stage.world.kubectl('patch', 'windowspool', pool, '--type=merge', '-p', JSON.stringify({ spec: { verification } }));
  const becomes = (pool: string, type: string, state: string) =>
    stage.world.waitForPool(pool, `to have ${type}=${state}`, (found) => conditionOf(found, type) === state);

  describe('under Quarantine', () => {
    const POOL = 'strict';
    const held = (node: string, reason = 'WrongBuild') => `${node} ${QUARANTINE_TAINT_KEY}=${reason}:NoSchedule`;
    let bad: string;

    before(async () => {
      await stage.world.apply(
        poolManifest(POOL, { scaling: { min: 2, max: 4 }, verification: { policy: 'Quarantine' } }),
      );
      await becomes(POOL, 'Ready', 'True/Verified');
      [bad = ''] = (await nodesOf(POOL)).map(({ metadata }) => metadata.name).sort();
      stage.world.cloud.faults.patchKernel({ node: bad, build: OTHER_BUILD });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held(bad)], 'after a change of the build');
    });

    it('taints a node that fails, with the reason, and nothing else of it', async () => {
      const node = (await nodesOf(POOL)).find(({ metadata }) => metadata.name === bad);
      assert.deepEqual(
        node?.spec.taints?.map(({ key, value }) => `${key}=${value}`),
        ['os=windows', `${QUARANTINE_TAINT_KEY}=WrongBuild`],
      );
    });

    it('counts the node, and says so', async () => {
      const pool = await stage.world.waitForPool(
        POOL,
        'to count its quarantined node',
        (found) => found?.status?.nodes?.quarantined === 1,
      );
      const { message } = pool?.status?.conditions?.find(({ type }) => type === 'NodesVerified') ?? {};
      assert.match(message ?? '', / 1 node is quarantined: no new pod lands there\.$/);
    });

    it('puts the taint back that somebody removes or changes', async () => {
      for (const change of [`${QUARANTINE_TAINT_KEY}-`, `${QUARANTINE_TAINT_KEY}=fine:NoSchedule`]) {
        await stage.world.kubectl('taint', 'node', bad, change, '--overwrite');
        await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held(bad)], `after ${change}`);
      }
    });

    it('only warns where it is told to, and taints nobody under Report', async () => {
      await setPolicy(POOL, { warnOnly: ['WrongBuild'] });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'with warnOnly');
      await setPolicy(POOL, { warnOnly: null });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held(bad)], 'without warnOnly');
      await setPolicy(POOL, { policy: 'Report' });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'under Report');
      await becomes(POOL, 'NodesVerified', 'False/WrongBuild');
      await setPolicy(POOL, { policy: 'Quarantine' });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held(bad)], 'under Quarantine again');
    });

    it('releases the node when it passes', async () => {
      stage.world.cloud.faults.patchKernel({ node: bad, build: '10.0.20348' });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'when it passes');
      await becomes(POOL, 'NodesVerified', 'True/AllVerified');
    });
  });
});
