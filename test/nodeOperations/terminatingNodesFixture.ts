/** What the suites about nodes that are replaced or removed share: a pool with nodes, pods where a test wants them, and the annotations. */
import assert from 'node:assert/strict';
import type { V1Eviction, V1Node, V1OwnerReference } from '@kubernetes/client-node';
import type { Stored, Wire } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { ofOperator, readAudit } from '../../hack/testenv/audit.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { type OperatorFixture, withOperator } from '../sharedWorld.ts';

/** A Node of a pool. */
export type Node = Stored<V1Node>;

/** How a pod of a test differs. `owner` null: none. Default: a controller that recreates no pod. */
interface PodOptions {
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: V1OwnerReference | null;
}

const NAMESPACE = 'tenants';
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };

/** Runs an operator during the suite that calls this. After each test its pods and budgets are gone, and no node goes. */
export function withTerminatingNodes(...flags: readonly string[]) {
  after(() => stage.world?.kubectl('delete', 'namespace', NAMESPACE, '--ignore-not-found', '--timeout=60s'));
  const stage: OperatorFixture = withOperator('--resync-interval=1s', ...flags);
  let owner: V1OwnerReference;
  const kubectl = (...args: readonly string[]) => stage.world.kubectl('-n', NAMESPACE, ...args);

  before(async () => {
    await stage.world.apply(namespace);
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: NAMESPACE, name: 'owner' } };
    await stage.world.apply(map);
    const uid = await kubectl('get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}');
    owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
  });
  afterEach(async () => {
    const held = await kubectl('get', 'pods', '-o', 'jsonpath={.items[?(@.metadata.finalizers)].metadata.name}');
    for (const pod of held.split(' ').filter((name) => name !== ''))
      await kubectl('patch', 'pod', pod, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
    await kubectl('delete', 'poddisruptionbudgets,daemonsets,pods', '--all', '--force', '--grace-period=0');
  });

  const nodes = async (pool: string): Promise<Node[]> => {
    const text = await stage.world.kubectl('get', 'nodes', '-l', `eks.amazonaws.com/nodegroup=${pool}`, '-o', 'json');
    return (JSON.parse(text) as { items: Node[] }).items;
  };
  const node = (name: string) => stage.world.get<Node>('node', name);
  const annotate = (name: string, ...annotations: readonly string[]) =>
    stage.world.kubectl('annotate', 'node', name, '--overwrite', ...annotations);
  const leavingIs = (pool: string, state: string) =>
    stage.world.waitForPool(
      pool,
      `to have NodesLeaving=${state}`,
      (found) => conditionOf(found, 'NodesLeaving') === state,
      30_000,
    );
  const isSettled = (pool: WindowsPool | undefined, size: number) =>
    pool?.status?.disruption === undefined &&
    pool?.status?.nodes?.verified === size &&
    conditionOf(pool, 'NodesLeaving') === 'absent' &&
    conditionOf(pool, 'NodesVerified') === 'True/AllVerified';

  return {
    stage,
    kubectl,
    nodes,
    node,
    annotate,
    leavingIs,

    /** Waits until the pool has so many nodes, all verified, and none of them goes. */
    settled: (pool: string, size: number) =>
      stage.world.waitForPool(
        pool,
        `to have ${size} nodes, of which none goes`,
        (found) => isSettled(found, size),
        40_000,
      ),

    /** Waits until a node is as described, undefined when it is gone. */
    nodeIs: (name: string, what: string, isSo: (found: Node | undefined) => boolean) => {
      let last: Node | undefined;
      const explain = () => `${JSON.stringify(last?.metadata.annotations)} ${stage.operator.tail()}`;
      const look = async () => {
        last = await node(name);
        return isSo(last);
      };
      return waitFor(look, { what: `node ${name} ${what}`, timeoutMs: 30_000, explain });
    },

    /** Runs a pod on a node, and waits until it runs. */
    async pod(on: string, name: string, { spec, annotations, owner: own = owner }: PodOptions = {}): Promise<void> {
      await stage.world.apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          namespace: NAMESPACE,
          name,
          labels: { app: name },
          ...(annotations && { annotations }),
          ...(own && { ownerReferences: [{ ...own, controller: true }] }),
        },
        spec: {
          nodeName: on,
          tolerations: [{ key: 'os', operator: 'Exists' }],
          containers: [{ name: 'main', image: 'main' }],
          ...spec,
        },
      });
      await kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=20s');
    },

    /** A PodDisruptionBudget that wants one pod of the app, which is known to the API server when this resolves. */
    async budget(app: string): Promise<void> {
      await stage.world.apply({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { namespace: NAMESPACE, name: `${app}-budget` },
        spec: { minAvailable: 1, selector: { matchLabels: { app } } },
      });
      await kubectl('wait', '--for=jsonpath={.status.currentHealthy}=1', `pdb/${app}-budget`, '--timeout=20s');
    },

    /** The pods of the suite that are there, by name, in order. */
    pods: async () =>
      (await kubectl('get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}'))
        .split(' ')
        .filter((name) => name !== ''),

    /** The operator's evictions of a pod: the grace in seconds that each one gives, and the answer's status. */
    evictions: async (pod: string): Promise<readonly (readonly [number | undefined, number | undefined])[]> =>
      ofOperator(await readAudit(stage.world.controlPlane.auditLog, `/pods/${pod}/eviction`))
        .filter(({ objectRef }) => objectRef?.subresource === 'eviction')
        .map(({ requestObject, responseStatus }) => {
          const { deleteOptions } = requestObject as Wire<V1Eviction>;
          return [deleteOptions?.gracePeriodSeconds, responseStatus?.code] as const;
        }),

    /** The ids of the instances whose end was asked for since the local AWS' calls were reset, and whether the group got smaller by them. */
    ended: () =>
      stage.world.cloud
        .calls()
        .filter(({ operation }) => operation === 'TerminateInstanceInAutoScalingGroup')
        .map(({ input }) => {
          const { InstanceId = '', ShouldDecrementDesiredCapacity: shrink } = input as Record<string, unknown>;
          return `${InstanceId}${shrink === true ? ' smaller' : ''}`;
        }),

    /** The condition NodesLeaving. */
    reported: async (pool: string) => messageOf(await stage.world.pool(pool), 'NodesLeaving'),

    /** Moves into the past since when a node goes. */
    longSince: (pool: string, index = 0) => {
      const past = [{ op: 'replace', path: `/status/disruption/nodes/${index}/since`, value: '2026-01-01T00:00:00Z' }];
      const patch = ['--subresource=status', '--type=json', '-p', JSON.stringify(past)];
      return stage.world.kubectl('patch', 'windowspool', pool, ...patch);
    },

    /** Waits for an event about the pool. */
    eventSays: (reason: string, ...words: readonly string[]) =>
      waitFor(
        async () => {
          const flags = [
            `--field-selector=reason=${reason}`,
            '-A',
            '-o',
            'jsonpath={range .items[*]}{.note}{"\\n"}{end}',
          ];
          const notes = (await stage.world.kubectl('get', 'events.events.k8s.io', ...flags)).split('\n');
          return notes.some((note) => words.every((word) => note.includes(word)));
        },
        { what: `an event ${reason} with ${words.join(' and ')}`, timeoutMs: 10_000 },
      ),
  };
}

/** The instance in a node's providerID. */
export function instanceOf({ spec }: Node): string {
  return spec.providerID?.split('/').at(-1) ?? '';
}

/** The first of some. */
export function firstOf<T>([first]: readonly T[]): T {
  assert.ok(first !== undefined, 'there is none');
  return first;
}
