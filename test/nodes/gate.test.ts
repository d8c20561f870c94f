import assert from 'node:assert/strict';
import {
  GATE_TAINT_KEY,
  NODE_GROUP_LABEL,
  PLAIN_GATE_TAINT_KEY,
  QUARANTINE_TAINT_KEY,
  VERIFIED_CONDITION,
} from '../../controllers/windowspool/labels.ts';
import type { NodeCondition, Taint } from '../../controllers/windowspool/ports/nodes.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { readAudit } from '../../hack/world/audit.ts';
import { type Watched, watchEvents } from '../../hack/world/watchEvents.ts';
import { conditionOf } from '../../hack/world/world.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch, withOperator } from '../sharedWorld.ts';

/** What is looked at of Nodes and Pods. */
interface Node {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly labels?: Record<string, string>;
  };
  readonly spec: { readonly taints?: readonly Taint[]; readonly nodeName?: string };
  readonly status: { readonly conditions?: readonly (NodeCondition & { readonly type: string })[] };
}

/** The first version of a pod in which it has a node. */
interface Bound {
  readonly node: string;
  readonly at: number;
}

/** One version of a node, at its place in the history of the whole API server: etcd counts for all objects together. */
interface NodeVersion {
  readonly name: string;
  readonly at: number;
  readonly isGated: boolean;
}

/** A pod that any node of the pool would suit, or only the named one: a taint of the operator alone keeps it away. */
const waitingPod = (name: string, pool: string, node?: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    nodeSelector: { [NODE_GROUP_LABEL]: pool, ...(node && { 'kubernetes.io/hostname': node }) },
    tolerations: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
    containers: [{ name: 'app', image: 'example.com/app' }],
  },
});

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
      timeoutMs: 60_000,
    });
  const setPolicy = (pool: string, verification: object) => stage.world.patchPool(pool, { verification });
  const becomes = (pool: string, type: string, state: string) =>
    stage.world.waitForPool(pool, `to have ${type}=${state}`, (found) => conditionOf(found, type) === state);

  /** Every version of nodes and of pods, in the order of a watch that runs as long as the suite. */
  const versions: Readonly<Record<'nodes' | 'pods', Node[]>> = { nodes: [], pods: [] };
  const watches: Watched[] = [];
  before(async () => {
    for (const [resource, seen] of Object.entries(versions)) {
      const { adminKubeconfig } = stage.world.controlPlane;
      const watch = await watchEvents<Node>(adminKubeconfig, `/api/v1/${resource}`, ({ object }) => seen.push(object));
      watches.push(watch);
    }
  });
  after(async () => {
    for (const watch of watches) await watch.stop();
  });

  /** Every version of the pool's nodes since a resourceVersion, oldest first, with the gate's taint or without. */
  const historyOf = async (pool: string, since: string): Promise<readonly NodeVersion[]> =>
    (await eventsSince('nodes', since))
      .filter(({ metadata }) => metadata.labels?.[NODE_GROUP_LABEL] === pool)
      .map(({ metadata, spec }) => ({
        name: metadata.name,
        at: Number(metadata.resourceVersion),
        isGated: spec.taints?.some(({ key }) => key === GATE_TAINT_KEY) === true,
      }));
  const eventsSince = async (resource: 'nodes' | 'pods', since: string): Promise<readonly Node[]> => {
    const { items } = JSON.parse(await stage.world.kubectl('get', '--raw', `/api/v1/${resource}`)) as { items: Node[] };
    const isSeen = ({ metadata }: Node) =>
      versions[resource].some((seen) => seen.metadata.resourceVersion === metadata.resourceVersion);
    await waitFor(() => items.every(isSeen), { what: `the watch of ${resource} to come so far`, timeoutMs: 30_000 });
    return versions[resource].filter(({ metadata }) => Number(metadata.resourceVersion) > Number(since));
  };
  /** Every pod that ever got a node since a resourceVersion, by name. */
  const boundSince = async (since: string): Promise<ReadonlyMap<string, Bound>> => {
    const first = new Map<string, Bound>();
    for (const { metadata, spec } of await eventsSince('pods', since)) {
      if (spec.nodeName === undefined || first.has(metadata.name)) continue;
      first.set(metadata.name, { node: spec.nodeName, at: Number(metadata.resourceVersion) });
    }
    return first;
  };
  /** The pods that the scheduler bound, as the audit log has them. */
  const bindings = async (): Promise<(string | undefined)[]> =>
    (await readAudit(stage.world.controlPlane.auditLog))
      .filter(
        ({ verb, objectRef, responseStatus }) =>
          verb === 'create' && objectRef?.subresource === 'binding' && responseStatus?.code === 201,
      )
      .map(({ objectRef }) => objectRef?.name);
  const makePods = (...pods: readonly object[]) => stage.world.apply({ apiVersion: 'v1', kind: 'List', items: pods });
  const nodeOf = (pod: string) =>
    stage.world.kubectl('get', 'pod', pod, '--ignore-not-found', '-o', 'jsonpath={.spec.nodeName}');
  const untilBound = (pod: string) =>
    waitFor(async () => (await nodeOf(pod)) !== '', { what: `pod ${pod} to be bound`, timeoutMs: 60_000 });
  /** Pods that any node of the pool suits, once the scheduler has seen what the nodes have become. */
  const fill = async (pool: string, what: string): Promise<void> => {
    const names = Array.from({ length: 10 }, (_, index) => `${pool}-${what}-${index}`);
    await makePods(...names.map((name) => waitingPod(name, pool)));
    for (const name of names) await untilBound(name);
  };
  const versionNow = async (): Promise<string> =>
    JSON.parse(await stage.world.kubectl('get', '--raw', '/api/v1/nodes?limit=1')).metadata.resourceVersion;
  const namesOf = async (pool: string): Promise<string[]> =>
    (await nodesOf(pool)).map(({ metadata }) => metadata.name).sort();
  const gateOfGroup = (pool: string): number =>
    stage.world.cloud.state.group(pool).nodegroup.taints?.filter(({ key }) => key === GATE_TAINT_KEY).length ?? 0;
  const atGate = (node: string) => `${node} ${GATE_TAINT_KEY}:NoSchedule`;

  describe('under Gate, with two hundred pods that wait for twenty nodes, of which one in four has another build', () => {
    const POOL = 'gated';
    const PODS = 200;
    const NODES = 20;
    const BAD = 5;
    let since: string;
    let history: readonly NodeVersion[];

    before(async () => {
      await stage.world.apply(
        poolManifest(POOL, { scaling: { min: 0, max: NODES + 1 }, verification: { policy: 'Gate' } }),
      );
      await becomes(POOL, 'Ready', 'True/NoNodes');
      since = await versionNow();
      await stage.world.apply({
        apiVersion: 'v1',
        kind: 'List',
        items: Array.from({ length: PODS }, (_, i) => waitingPod(`gated-${i}`, POOL)),
      });
      for (let i = 0; i < BAD; i++) stage.world.cloud.faults.nextNode({ group: POOL, build: OTHER_BUILD });
      await stage.world.kubectl('scale', 'windowspool', POOL, `--replicas=${NODES}`);
      await stage.world.waitForPool(
        POOL,
        'to have its good nodes verified and the others at the gate',
        (found) => found?.status?.nodes?.verified === NODES - BAD && found.status.nodes.gated === BAD,
      );
      const isBound = async () => {
        const names = await stage.world.kubectl('get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}');
        return names.split(' ').filter(Boolean).length === PODS;
      };
      await waitFor(isBound, { what: 'the pods to be bound', timeoutMs: 30_000 });
      history = await historyOf(POOL, since);
    });

    after(async () => {
      await stage.world.kubectl('delete', 'pods', '--all', '--grace-period=0', '--force');
    });

    it('bears every node with the taint', () => {
      const born = new Map(history.toReversed().map((version) => [version.name, version]));
      assert.deepEqual(
        [...born.values()].map(({ isGated }) => isGated),
        Array.from({ length: NODES }, () => true),
      );
    });

    it('binds no pod to a node before the version in which it is released', async () => {
      const first = await boundSince(since);
      const told = (await bindings()).filter((name) => name?.startsWith('gated-'));
      assert.deepEqual(told.sort(), [...first.keys()].sort());
      assert.equal(first.size, PODS);
      for (const [pod, { node, at }] of first) {
        const before = history.findLast((version) => version.name === node && version.at < at);
        assert.equal(before?.isGated, false, `${pod} on ${node}`);
      }
    });

    it('tells every node what was found, as kubectl describe shows it', async () => {
      const texts = (await nodesOf(POOL)).map(({ status }) => {
        const found = status.conditions?.find(({ type }) => type === VERIFIED_CONDITION);
        return `${found?.status} ${found?.reason} ${found?.message}`;
      });
      const failing =
        'False WrongBuild WindowsPool gated: runs build 10.0.17763 (Windows Server 2019) and the pool needs 10.0.20348 (Windows2022).';
      const passing = 'True ChecksPassed WindowsPool gated: passes every check.';
      assert.deepEqual(texts.sort(), [
        ...Array.from({ length: BAD }, () => failing),
        ...Array.from({ length: NODES - BAD }, () => passing),
      ]);
      const [bad = ''] = (await tainted(POOL, GATE_TAINT_KEY)).map((line) => line.split(' ')[0]);
      assert.match(await stage.world.kubectl('describe', 'node', bad), /winpool\.dev\/Verified +False .*WrongBuild/);
    });

    it('leaves the conditions of the kubelet as they are', async () => {
      for (const { status } of await nodesOf(POOL)) assert.ok(status.conditions?.some(({ type }) => type === 'Ready'));
    });

    it('keeps the nodes of another build at the gate, and says so', async () => {
      const pool = await stage.world.pool(POOL);
      const bad = pool?.status?.failingNodes?.map(({ name }) => name) ?? [];
      assert.equal(bad.length, BAD);
      assert.deepEqual(await tainted(POOL, GATE_TAINT_KEY), bad.map(atGate).sort());
      const { message } = pool?.status?.conditions?.find(({ type }) => type === 'NodesVerified') ?? {};
      assert.match(message ?? '', / 5 nodes are gated: no new pod lands there\.$/);
    });

    it('quarantines a released node that comes back from a reboot with another build, and only until it passes', async () => {
      const { failingNodes = [] } = (await stage.world.pool(POOL))?.status ?? {};
      const good = (await namesOf(POOL)).find((name) => !failingNodes.some((failing) => failing.name === name)) ?? '';
      const rebooted = await versionNow();
      stage.world.cloud.faults.patchKernel({ node: good, build: OTHER_BUILD });
      const held = `${good} ${QUARANTINE_TAINT_KEY}=WrongBuild:NoSchedule`;
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held], 'after the reboot');
      await fill(POOL, 'rebooted');
      stage.world.cloud.faults.patchKernel({ node: good, build: '10.0.20348' });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'after the second reboot');
      const versions = (await historyOf(POOL, rebooted)).filter(({ name }) => name === good);
      assert.deepEqual([versions.length > 0, versions.filter(({ isGated }) => isGated)], [true, []]);
    });

    it('leaves the gate: the group first, then the nodes', async () => {
      const [bad = ''] = (await tainted(POOL, GATE_TAINT_KEY)).map((line) => line.split(' ')[0]);
      await makePods(waitingPod('gated-report', POOL, bad));
      await setPolicy(POOL, { policy: 'Report' });
      await waitForTaints(POOL, GATE_TAINT_KEY, [], 'under Report');
      assert.equal(gateOfGroup(POOL), 0);
      await untilBound('gated-report');
    });
  });

  describe('where EKS refuses the key of the gate', () => {
    const POOL = 'plain';

    it('uses the plain one instead, says so once, and releases nodes from that', async () => {
      const restore = setSwitch(stage.world, 'reservedTaints', 'reject');
      try {
        await stage.world.apply(poolManifest(POOL, { scaling: { min: 0, max: 2 }, verification: { policy: 'Gate' } }));
        await becomes(POOL, 'Ready', 'True/NoNodes');
        const since = await versionNow();
        stage.world.cloud.faults.nextNode({ group: POOL, build: OTHER_BUILD });
        await stage.world.kubectl('scale', 'windowspool', POOL, '--replicas=2');
        const pool = await stage.world.waitForPool(
          POOL,
          'to have one node verified and one at the gate',
          (found) => found?.status?.nodes?.verified === 1 && found.status.nodes.gated === 1,
        );
        assert.equal(pool?.status?.nodeGroup?.gateTaint, PLAIN_GATE_TAINT_KEY);
        assert.equal((await tainted(POOL, PLAIN_GATE_TAINT_KEY)).length, 1);
        const born = (await eventsSince('nodes', since)).filter(
          ({ metadata }) => metadata.labels?.[NODE_GROUP_LABEL] === POOL,
        );
        assert.ok(born[0]?.spec.taints?.some(({ key }) => key === PLAIN_GATE_TAINT_KEY));
        const told = async () =>
          (await stage.world.kubectl('get', 'events', '-A', '-o', 'jsonpath={.items[*].reason}'))
            .split(' ')
            .filter((reason) => reason === 'GateTaintReplaced').length;
        await waitFor(async () => (await told()) === 1, {
          what: 'an event that tells of the other key',
          timeoutMs: 60_000,
        });
        await setPolicy(POOL, { policy: 'Report' });
        await waitForTaints(POOL, PLAIN_GATE_TAINT_KEY, [], 'under Report');
      } finally {
        restore();
      }
    });
  });

  describe('when a pool with nodes becomes gated', () => {
    const POOL = 'late';
    const isSettled = async () => {
      const pool = await stage.world.pool(POOL);
      return conditionOf(pool, 'UpToDate') === 'True/AsSpecified' && pool?.status?.nodeGroup?.status === 'ACTIVE';
    };

    before(async () => {
      await stage.world.apply(poolManifest(POOL, { scaling: { min: 2, max: 3 }, deletionPolicy: 'Retain' }));
      await becomes(POOL, 'Ready', 'True/Verified');
    });

    it('releases the living nodes that EKS taints with their group', async () => {
      const since = await versionNow();
      await setPolicy(POOL, { policy: 'Gate' });
      const wereGated = async () => {
        const gated = (await historyOf(POOL, since)).filter(({ isGated }) => isGated).map(({ name }) => name);
        return new Set(gated).size === 2;
      };
      await waitFor(wereGated, { what: 'EKS to taint both nodes', timeoutMs: 30_000 });
      await waitFor(isSettled, { what: 'the group to be ACTIVE again', timeoutMs: 60_000 });
      await waitForTaints(POOL, GATE_TAINT_KEY, [], 'though the group has the taint');
      assert.equal(gateOfGroup(POOL), 1);
      await fill(POOL, 'released');
    });

    it('takes the taint from the group and from the nodes when it goes with Retain', async () => {
      stage.world.cloud.faults.nextNode({ group: POOL, build: OTHER_BUILD });
      await stage.world.kubectl('scale', 'windowspool', POOL, '--replicas=3');
      await stage.world.waitForPool(POOL, 'to hold a node', (found) => found?.status?.nodes?.gated === 1);
      const [bad = ''] = (await tainted(POOL, GATE_TAINT_KEY)).map((line) => line.split(' ')[0]);
      await makePods(waitingPod('late-retain', POOL, bad));
      await stage.world.kubectl('delete', 'windowspool', POOL, '--timeout=60s');
      await untilBound('late-retain');
      assert.equal(gateOfGroup(POOL), 0);
      assert.deepEqual(await tainted(POOL, GATE_TAINT_KEY), []);
      const told = (await nodesOf(POOL)).flatMap(({ status }) => status.conditions ?? []).map(({ type }) => type);
      assert.deepEqual([told.includes('Ready'), told.includes(VERIFIED_CONDITION)], [true, false]);
      stage.world.cloud.faults.consoleDelete({ group: POOL });
      await stage.world.kubectl('delete', 'runtimeclass', 'windows-2022');
    });
  });

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
      await makePods(waitingPod('strict-warned', POOL, bad));
      await setPolicy(POOL, { warnOnly: ['WrongBuild'] });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'with warnOnly');
      await untilBound('strict-warned');
      await setPolicy(POOL, { warnOnly: null });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held(bad)], 'without warnOnly');
      await fill(POOL, 'beside');
      await makePods(waitingPod('strict-report', POOL, bad));
      await setPolicy(POOL, { policy: 'Report' });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'under Report');
      await becomes(POOL, 'NodesVerified', 'False/WrongBuild');
      await untilBound('strict-report');
      await setPolicy(POOL, { policy: 'Quarantine' });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [held(bad)], 'under Quarantine again');
    });

    it('releases the node when it passes', async () => {
      await makePods(waitingPod('strict-passes', POOL, bad));
      stage.world.cloud.faults.patchKernel({ node: bad, build: '10.0.20348' });
      await waitForTaints(POOL, QUARANTINE_TAINT_KEY, [], 'when it passes');
      await becomes(POOL, 'NodesVerified', 'True/AllVerified');
      await untilBound('strict-passes');
    });
  });

  describe('in all of this, the scheduler', () => {
    it('binds no pod to a node that has a taint of the operator', async () => {
      const own = [GATE_TAINT_KEY, PLAIN_GATE_TAINT_KEY, QUARANTINE_TAINT_KEY];
      const nodes = await eventsSince('nodes', '0');
      const made = /^(gated|late|strict)-/;
      const first = [...(await boundSince('0'))].filter(([pod]) => made.test(pod));
      const told = (await bindings()).filter((name) => made.test(name ?? ''));
      assert.deepEqual(told.sort(), first.map(([pod]) => pod).sort());
      assert.ok(first.length > 230, `${first.length} pods`);
      for (const [pod, { node, at }] of first) {
        const before = nodes.findLast(
          ({ metadata }) => metadata.name === node && Number(metadata.resourceVersion) < at,
        );
        const found = before?.spec.taints?.filter(({ key }) => own.includes(key)) ?? [];
        assert.deepEqual([before?.metadata.name, found], [node, []], pod);
      }
    });
  });
});
