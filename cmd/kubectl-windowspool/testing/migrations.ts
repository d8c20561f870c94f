/** Two pools, and workloads that move from one to the other, for tests. */
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import {
  knownStatus,
  type ObservedStateChange,
  type SpecChange,
  sampleNode,
  samplePool,
  sampleState,
} from '../../../controllers/windowspool/testing/fixtures.ts';
import { podOn } from '../../../controllers/windowspool/testing/nodeScenes.ts';
import type { FoundPod, FoundWorkload } from '../migrate/inventory.ts';
import { type PodSpec, placementOf, selectsOldPool } from '../migrate/placement.ts';
import { type Move, moveOf } from '../migrate/side.ts';
import { reported } from './situations.ts';

/** A pool that is Ready, as the operator reports it. */
export function readyPool(name: string, spec: SpecChange = {}, change: ObservedStateChange = {}): WindowsPool {
  const status = { ...knownStatus({ name }), observedGeneration: 1 };
  return reported(
    sampleState({ pool: samplePool(spec, { metadata: { name, uid: `uid-${name}` }, status }), ...change }),
  );
}

/** Healthy nodes of the pool: `old-1` and so on. */
export function nodesOf(pool: WindowsPool, count: number, change: Partial<NodeRecord> = {}): NodeRecord[] {
  const { name } = pool.metadata;
  const labels = {
    'kubernetes.io/os': 'windows',
    'kubernetes.io/arch': 'amd64',
    'node.kubernetes.io/windows-build': pool.spec.windowsVersion === 'Windows2019' ? '10.0.17763' : '10.0.20348',
    'eks.amazonaws.com/nodegroup': name,
    'winpool.dev/pool': name,
    ...pool.spec.labels,
  };
  return Array.from({ length: count }, (_, index) => sampleNode({ name: `${name}-${index + 1}`, labels, ...change }));
}

/** A Windows 2019 pool with three nodes. */
export const OLD = readyPool('old', { windowsVersion: 'Windows2019', disruption: { maxUnavailable: 1 } });
/** A Windows 2022 pool with three nodes. */
export const NEW = readyPool('new');

/** The move between these pools, or others. */
export function sampleMove({
  from = OLD,
  to = NEW,
  fromNodes = nodesOf(from, 3),
  toNodes = nodesOf(to, 3),
}: {
  readonly from?: WindowsPool;
  readonly to?: WindowsPool;
  readonly fromNodes?: readonly NodeRecord[];
  readonly toNodes?: readonly NodeRecord[];
} = {}): Move {
  return moveOf([from, fromNodes], [to, toNodes], []);
}

/** A pod spec with one container, `app`. */
export function podSpec(image: string, spec: Partial<PodSpec> = {}): PodSpec {
  return { containers: [{ name: 'app', image }], ...spec };
}

/** A pod on a node of the old pool. */
export function foundPod(
  name: string,
  change: Partial<FoundPod> = {},
  pod: Parameters<typeof podOn>[0] = {},
): FoundPod {
  return {
    node: 'old-1',
    pod: podOn({ name, uid: `uid-${name}`, ...pod }),
    blockedBy: undefined,
    usage: { memory: 1024 ** 3, addresses: 1 },
    selectsOldPool: false,
    ...change,
  };
}

/** A workload of the namespace shop with this template. */
export function foundWorkload(
  kind: string,
  name: string,
  spec: PodSpec,
  move: Move,
  change: Partial<FoundWorkload> = {},
): FoundWorkload {
  return {
    kind,
    namespace: 'shop',
    name,
    placement: placementOf(spec, kind, move),
    selectsOldPool: selectsOldPool(spec, move),
    pods: [foundPod(`${name}-0`)],
    ...change,
  };
}
