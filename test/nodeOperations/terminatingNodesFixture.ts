/** Shared by the suites about nodes that are replaced or removed: a pool with nodes, pods on given nodes, and the annotations. */
import assert from 'node:assert/strict';
import type { V1Eviction, V1Node, V1OwnerReference } from '@kubernetes/client-node';
import type { Stored, Wire } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf } from '../awsCalls.ts';
import { ofOperator, readAudit } from '../fakes/testenv/audit.ts';
import { conditionOf, hasConditions, messageOf } from '../fakes/testenv/testEnv.ts';
import { type OperatorFixture, withOperator } from '../sharedWorld.ts';
import { budget, controllerOf, namespaceCalled } from '../userObjects.ts';

/** A Node of a pool. */
export type Node = Stored<V1Node>;

/** How a pod differs from the default. `owner` null: none. Default: a controller that recreates no pod. */
interface PodOptions {
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: V1OwnerReference | null;
}

const NAMESPACE = 'tenants';

/** Runs an operator during the suite that calls this. After each test its pods and budgets are deleted, and no node is terminating. */
export function withTerminatingNodes(...flags: readonly string[]) {
  after(() => fixture.world?.kubectl('delete', 'namespace', NAMESPACE, '--ignore-not-found', '--timeout=60s'));
  const fixture: OperatorFixture = withOperator('--resync-interval=1s', ...flags);
  let owner: V1OwnerReference;
  const kubectl = (...args: readonly string[]) => fixture.world.kubectl('-n', NAMESPACE, ...args);

  before(async () => {
    await fixture.world.apply(namespaceCalled(NAMESPACE));
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: NAMESPACE, name: 'owner' } };
    await fixture.world.apply(map);
    owner = await controllerOf(fixture.world, NAMESPACE, 'owner');
  });
  afterEach(async () => {
    const held = await kubectl('get', 'pods', '-o', 'jsonpath={.items[?(@.metadata.finalizers)].metadata.name}');
    for (const pod of held.split(' ').filter((name) => name !== ''))
      await kubectl('patch', 'pod', pod, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
    await kubectl('delete', 'poddisruptionbudgets,daemonsets,pods', '--all', '--force', '--grace-period=0');
  });

  const nodes = (pool: string) => fixture.world.nodesOf(pool);
  const node = (name: string) => fixture.world.get<Node>('node', name);
  const annotate = (name: string, ...annotations: readonly string[]) =>
    fixture.world.kubectl('annotate', 'node', name, '--overwrite', ...annotations);
  const becomes = (pool: string, type: string, state: string) =>
    fixture.world.waitForPool(pool, `to have ${type}=${state}`, (found) => conditionOf(found, type) === state, 30_000);
  const becomesLeaving = (pool: string, state: string) => becomes(pool, 'Disrupting', state);
  const isSettled = (pool: WindowsPool | undefined, size: number) =>
    pool?.status?.disruption === undefined &&
    pool?.status?.nodes?.verified === size &&
    hasConditions(pool, 'Disrupting=absent', 'NodesVerified=True/AllVerified');

  return {
    fixture,
    kubectl,
    nodes,
    node,
    annotate,
    becomesLeaving,

    /** Waits until the pool has this number of nodes, all verified and none terminating. */
    settled: (pool: string, size: number) =>
      fixture.world.waitForPool(
        pool,
        `to have ${size} nodes, none of them terminating`,
        (found) => isSettled(found, size),
        40_000,
      ),

    /** Waits until the predicate is true for a node, which is undefined when it is gone. */
    waitForNode: (name: string, what: string, predicate: (found: Node | undefined) => boolean) => {
      let last: Node | undefined;
      const explain = () => `${JSON.stringify(last?.metadata.annotations)} ${fixture.operator.tail()}`;
      const probe = async () => {
        last = await node(name);
        return predicate(last);
      };
      return waitFor(probe, { what: `node ${name} ${what}`, explain });
    },

    /** Runs a pod on a node, and waits until it runs. */
    async pod(
      nodeName: string,
      name: string,
      { spec, annotations, owner: own = owner }: PodOptions = {},
    ): Promise<void> {
      await fixture.world.apply({
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
          nodeName,
          tolerations: [{ key: 'os', operator: 'Exists' }],
          containers: [{ name: 'main', image: 'main' }],
          ...spec,
        },
      });
      await kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=20s');
    },

    /** Creates a PodDisruptionBudget that requires one pod of the app, and waits until its controller has processed it. */
    async budget(app: string): Promise<void> {
      await fixture.world.apply(budget(NAMESPACE, app, { minAvailable: 1 }, `${app}-budget`));
      await kubectl('wait', '--for=jsonpath={.status.currentHealthy}=1', `pdb/${app}-budget`, '--timeout=20s');
    },

    /** The names of the existing pods of the suite, sorted. */
    pods: async () =>
      (await kubectl('get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}'))
        .split(' ')
        .filter((name) => name !== ''),

    /** The operator's evictions of a pod: the grace period of each in seconds, and the status of the response. */
    evictions: async (pod: string): Promise<readonly (readonly [number | undefined, number | undefined])[]> =>
      ofOperator(await readAudit(fixture.world.controlPlane.auditLog, `/pods/${pod}/eviction`))
        .filter(({ objectRef }) => objectRef?.subresource === 'eviction')
        .map(({ requestObject, responseStatus }) => {
          const { deleteOptions } = requestObject as Wire<V1Eviction>;
          return [deleteOptions?.gracePeriodSeconds, responseStatus?.code] as const;
        }),

    /** The IDs of the instances that were terminated since the calls of the local AWS were reset, and whether the group shrank. */
    terminations: () =>
      callsOf(fixture.world, 'TerminateInstanceInAutoScalingGroup').map(({ input }) => {
        const { InstanceId = '', ShouldDecrementDesiredCapacity: shrink } = input as Record<string, unknown>;
        return `${InstanceId}${shrink === true ? ' smaller' : ''}`;
      }),

    becomes,
    /** The message of a condition. */
    message: async (pool: string, type: string) => messageOf(await fixture.world.pool(pool), type),
    /** The message of the condition Disrupting. */
    leavingMessage: async (pool: string) => messageOf(await fixture.world.pool(pool), 'Disrupting'),

    /** Moves the start of a removal into the past. */
    makeStartedLongAgo: (pool: string, index = 0) => {
      const past = [
        { op: 'replace', path: `/status/disruption/nodes/${index}/startTime`, value: '2026-01-01T00:00:00Z' },
      ];
      const patch = ['--subresource=status', '--type=json', '-p', JSON.stringify(past)];
      return fixture.world.kubectl('patch', 'windowspool', pool, ...patch);
    },

    /** Waits for an event about the pool. */
    eventSays: (reason: string, ...words: readonly string[]) =>
      fixture.until(`an event ${reason} with ${words.join(' and ')}`, async () =>
        (await fixture.world.notesOf(reason)).some((note) => words.every((word) => note.includes(word))),
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
