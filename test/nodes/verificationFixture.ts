/** Shared by the suites of the gate and of the quarantine: watches that record each version of nodes and pods. */
import assert from 'node:assert/strict';
import type { V1Node, V1PodSpec } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import {
  GATE_TAINT_KEY,
  NODE_GROUP_LABEL,
  PLAIN_GATE_TAINT_KEY,
  QUARANTINE_TAINT_KEY,
} from '../../controllers/windowspool/api/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { readAudit } from '../fakes/testenv/audit.ts';
import { type Watched, watchEvents } from '../fakes/testenv/watchEvents.ts';
import { withOperator } from '../sharedWorld.ts';

/** A Windows build of no pool in these suites. */
export const OTHER_BUILD = '10.0.17763';

/** A Node, or a Pod with the node that it is bound to. */
type Node = Stored<V1Node> & { readonly spec: Pick<V1PodSpec, 'nodeName'> };

/** The first version of a pod in which it has a node. */
interface Bound {
  readonly node: string;
  readonly at: number;
}

/** One version of a node; etcd counts versions for all objects together. */
export interface NodeVersion {
  readonly name: string;
  readonly at: number;
  readonly isGated: boolean;
}

/** A pod that can run on any node of the pool, or only on the named one; only a taint of the operator prevents that. */
export const waitingPod = (name: string, pool: string, node?: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    nodeSelector: { [NODE_GROUP_LABEL]: pool, ...(node && { 'kubernetes.io/hostname': node }) },
    tolerations: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
    containers: [{ name: 'app', image: 'example.com/app' }],
  },
});

/** Runs an operator, a watch of nodes and one of pods during the suite. */
export function withVerification() {
  const fixture = withOperator('--join-grace=10s');

  const nodesOf = (pool: string) => fixture.world.nodesOf<Node>(pool);
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
      what: `${what}: ${want.join(', ') || 'no node'} with ${key}`,
    });
  const setPolicy = (pool: string, verification: object) => fixture.world.patchPool(pool, { verification });
  const becomes = (pool: string, type: string, state: string) =>
    fixture.world.waitForConditions(pool, `${type}=${state}`);

  /** Every version of nodes and of pods, in the order of a watch that runs during the suite. */
  const versions: Readonly<Record<'nodes' | 'pods', Node[]>> = { nodes: [], pods: [] };
  const watches: Watched[] = [];
  before(async () => {
    for (const [resource, history] of Object.entries(versions)) {
      const { adminKubeconfig } = fixture.world.controlPlane;
      const watch = await watchEvents<Node>(adminKubeconfig, `/api/v1/${resource}`, ({ object }) =>
        history.push(object),
      );
      watches.push(watch);
    }
  });
  after(async () => {
    for (const watch of watches) await watch.stop();
    // Otherwise they are on the nodes of the next suite that have the same names.
    await fixture.world?.kubectl('delete', 'pods', '--all', '--grace-period=0', '--force');
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
    const { items } = JSON.parse(await fixture.world.kubectl('get', '--raw', `/api/v1/${resource}`)) as {
      items: Node[];
    };
    const isSeen = ({ metadata }: Node) =>
      versions[resource].some((seen) => seen.metadata.resourceVersion === metadata.resourceVersion);
    await waitFor(() => items.every(isSeen), { what: `the watch of ${resource} to catch up` });
    return versions[resource].filter(({ metadata }) => Number(metadata.resourceVersion) > Number(since));
  };
  /** Every pod that was bound to a node since a resourceVersion, by name. */
  const boundSince = async (since: string): Promise<ReadonlyMap<string, Bound>> => {
    const first = new Map<string, Bound>();
    for (const { metadata, spec } of await eventsSince('pods', since)) {
      if (spec.nodeName === undefined || first.has(metadata.name)) continue;
      first.set(metadata.name, { node: spec.nodeName, at: Number(metadata.resourceVersion) });
    }
    return first;
  };
  /** The pods that the scheduler bound, from the audit log. */
  const bindings = async (): Promise<(string | undefined)[]> =>
    (await readAudit(fixture.world.controlPlane.auditLog, '/binding'))
      .filter(
        ({ verb, objectRef, responseStatus }) =>
          verb === 'create' && objectRef?.subresource === 'binding' && responseStatus?.code === 201,
      )
      .map(({ objectRef }) => objectRef?.name);
  const makePods = (...pods: readonly object[]) => fixture.world.apply({ apiVersion: 'v1', kind: 'List', items: pods });
  const nodeOf = (pod: string) =>
    fixture.world.kubectl('get', 'pod', pod, '--ignore-not-found', '-o', 'jsonpath={.spec.nodeName}');
  const untilBound = (pod: string) =>
    waitFor(async () => (await nodeOf(pod)) !== '', { what: `pod ${pod} to be bound` });
  /** Waits until the scheduler places no pod on the node: it observes a taint later than the API server. */
  const untilAvoided = async (pool: string, node: string): Promise<void> => {
    const name = `probe-of-${pool}`;
    const isAvoided = async () => {
      await makePods(waitingPod(name, pool, node));
      const query = 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].status}';
      const decided = async () => (await fixture.world.kubectl('get', 'pod', name, '-o', query)) || undefined;
      const answer = await waitFor(decided, { what: `the scheduler to process pod ${name}` });
      await fixture.world.kubectl('delete', 'pod', name, '--grace-period=0', '--force');
      return answer === 'False';
    };
    await waitFor(isAvoided, { what: `the scheduler to avoid ${node}` });
  };
  /** Pods that can run on any node of the pool. */
  const fill = async (pool: string, what: string): Promise<void> => {
    const names = Array.from({ length: 10 }, (_, index) => `${pool}-${what}-${index}`);
    await makePods(...names.map((name) => waitingPod(name, pool)));
    for (const name of names) await untilBound(name);
  };
  const versionNow = async (): Promise<string> =>
    JSON.parse(await fixture.world.kubectl('get', '--raw', '/api/v1/nodes?limit=1')).metadata.resourceVersion;
  const namesOf = async (pool: string): Promise<string[]> =>
    (await nodesOf(pool)).map(({ metadata }) => metadata.name).sort();
  /** Asserts that the scheduler bound each bound pod with such a name, while the node had no taint of the operator. */
  const assertBoundWithoutTaint = async (names: RegExp, count: number): Promise<void> => {
    const own = [GATE_TAINT_KEY, PLAIN_GATE_TAINT_KEY, QUARANTINE_TAINT_KEY];
    const nodes = await eventsSince('nodes', '0');
    const first = [...(await boundSince('0'))].filter(([pod]) => names.test(pod));
    const bound = (await bindings()).filter((name) => names.test(name ?? ''));
    assert.deepEqual(bound.sort(), first.map(([pod]) => pod).sort());
    assert.equal(first.length, count, 'pods that got a node');
    for (const [pod, { node, at }] of first) {
      const before = nodes.findLast(({ metadata }) => metadata.name === node && Number(metadata.resourceVersion) < at);
      const found = before?.spec.taints?.filter(({ key }) => own.includes(key)) ?? [];
      assert.deepEqual([before?.metadata.name, found], [node, []], pod);
    }
  };

  return {
    fixture,
    nodesOf,
    tainted,
    waitForTaints,
    setPolicy,
    becomes,
    historyOf,
    eventsSince,
    boundSince,
    makePods,
    untilBound,
    untilAvoided,
    fill,
    versionNow,
    namesOf,
    assertBoundWithoutTaint,
  };
}
