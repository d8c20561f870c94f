/** Pools of Karpenter. */
import type { KarpenterSpec, WindowsPool, WindowsPoolSpec, WindowsPoolStatus } from '../api/api.gen.ts';
import type { KarpenterView } from '../ports/karpenter.ts';
import { manifestFor } from '../providers/karpenter/nodePoolManifest.ts';
import type { Deps } from '../reconcile.ts';
import { machine } from './existingScenes.ts';
import { FakeKarpenter } from './fakeKarpenter.ts';
import { FakeWorld } from './fakeWorld.ts';
import { NOW, samplePool } from './fixtures.ts';
import { wake } from './life.ts';

const KARPENTER: KarpenterSpec = {
  nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'windows' },
  expireAfter: 'Never',
  consolidation: { policy: 'WhenEmptyOrUnderutilized', consolidateAfter: '10m' },
};

/** A pool of Karpenter. */
export function karpenterPool(
  spec: Partial<Omit<WindowsPoolSpec, 'karpenter'>> & { readonly karpenter?: Partial<KarpenterSpec> } = {},
  rest: { metadata?: Partial<WindowsPool['metadata']>; status?: WindowsPoolStatus } = {},
): WindowsPool {
  const { nodeGroup: _group, ...common } = samplePool().spec;
  return { ...samplePool({}, rest), spec: { ...common, ...spec, karpenter: { ...KARPENTER, ...spec.karpenter } } };
}

/** What a NodePool with two NodeClaims has. */
export function karpenterView(): KarpenterView {
  const karpenter = new FakeKarpenter();
  karpenter.demand = 2;
  karpenter.apply(manifestFor(karpenterPool(), undefined, NOW), NOW);
  karpenter.settle([], (name) => machine(name), NOW);
  return karpenter.view;
}

/** Lets Karpenter work. */
export function settleKarpenter(world: FakeWorld): void {
  const nodeOf = (name: string) => machine(name, { uid: `uid-${name}`, createdAt: world.now });
  world.nodes = world.karpenter.settle(world.nodes, nodeOf, world.now);
}

/** A pool of Karpenter in a world in which pods need this number of nodes. */
export async function karpenterWorld(
  spec: Parameters<typeof karpenterPool>[0] = {},
  demand = 3,
): Promise<{ world: FakeWorld; deps: Deps }> {
  const world = new FakeWorld();
  world.karpenter.demand = demand;
  world.apply(karpenterPool(spec, { metadata: { finalizers: [], generation: 0 } }));
  const deps = world.start();
  for (let run = 0; run < 3; run++) {
    await wake(world, deps);
    settleKarpenter(world);
  }
  await wake(world, deps);
  world.karpenter.changes.splice(0);
  world.calls.splice(0);
  world.events.splice(0);
  return { world, deps };
}
