/** Pools whose new nodes get pods of the operator. The real scheduler binds them, and the suite plays their kubelets. */
import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { GATE_TAINT_KEY } from '../../controllers/windowspool/api/labels.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type OperatorFixture, withOperator } from '../sharedWorld.ts';

/** In config/rbac, and the default of --node-pod-namespace. */
const NAMESPACE = 'winpool-node-pods';
/** kwok leaves pods with images of this registry alone. */
const REGISTRY = 'kubelet.test';

/** An image whose kubelet the suite plays. */
export const image = (name: string) => `${REGISTRY}/${name}:1`;

type Pod = Stored<V1Pod>;

/** The state of a container, as a kubelet reports it. */
type State =
  | { readonly waiting: { readonly reason: string; readonly message: string } }
  | { readonly terminated: { readonly exitCode: number; readonly reason: string; readonly message?: string } };

export interface NodePodFixture {
  readonly fixture: OperatorFixture;
  /** The operator's pods of a pool that have not ended. */
  working(pool: string): Promise<readonly Pod[]>;
  /** Waits until the pool has exactly one such pod, for this image, which the scheduler has bound to a node; and until `isMeant`. */
  running(pool: string, image: string, isMeant?: (pod: Pod) => boolean): Promise<Pod>;
  /** Reports the states of a pod's containers, and its phase. */
  report(
    pod: Pod,
    phase: 'Pending' | 'Succeeded' | 'Failed',
    states: Readonly<Record<string, State>>,
  ): Promise<unknown>;
  /** Waits until every pod of this pool is deleted. */
  untilNone(pool: string): Promise<unknown>;
  becomes(pool: string, type: string, state: string): Promise<unknown>;
  /** The nodes of a pool with the gate taint. */
  gated(pool: string): Promise<readonly string[]>;
}

/** Runs an operator during the suite. */
export function withNodePods(...flags: readonly string[]): NodePodFixture {
  const fixture = withOperator(...flags);
  const podsOf = (pool: string) => {
    const selector = `app.kubernetes.io/managed-by=windowspool-operator,winpool.dev/pool=${pool}`;
    return fixture.world.list<Pod>('pods', '-n', NAMESPACE, '-l', selector);
  };
  const working = async (pool: string) =>
    (await podsOf(pool)).filter(({ status }) => !['Succeeded', 'Failed'].includes(status.phase ?? ''));
  return {
    fixture,
    working,
    running: (pool, name, isMeant = () => true) =>
      waitFor(
        async () => {
          const found = (await working(pool)).filter(isMeant);
          assert.ok(found.length < 2, `several pods at a time: ${found.map(({ metadata }) => metadata.name)}`);
          return found.find(({ spec }) => spec.containers[0]?.image === name && spec.nodeName !== undefined);
        },
        { what: `a pod of pool ${pool} with ${name} to be bound` },
      ),
    report: (pod, phase, states) => {
      const containerStatuses = Object.entries(states).map(([name, state]) => ({
        name,
        image: pod.spec.containers[0]?.image,
        imageID: 'terminated' in state ? 'sha256:1' : '',
        ready: false,
        restartCount: 0,
        state,
      }));
      const patch = JSON.stringify({
        status: { phase, containerStatuses, podIPs: [{ ip: '10.0.0.9' }], podIP: '10.0.0.9' },
      });
      const name = ['pod', pod.metadata.name, '-n', NAMESPACE];
      return fixture.world.kubectl('patch', ...name, '--subresource=status', '--type=merge', '--patch', patch);
    },
    untilNone: (pool) =>
      waitFor(
        // Without a kubelet, the pod garbage collector removes a deleted pod after about a minute.
        async () => (await podsOf(pool)).every(({ metadata }) => 'deletionTimestamp' in metadata),
        { what: `no pod of pool ${pool}` },
      ),
    becomes: (pool, type, state) => fixture.world.waitForConditions(pool, `${type}=${state}`),
    gated: async (pool) =>
      (await fixture.world.nodesOf(pool))
        .filter(({ spec }) => spec.taints?.some(({ key }) => key === GATE_TAINT_KEY))
        .map(({ metadata }) => metadata.name),
  };
}
