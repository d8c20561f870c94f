/** Pools of Karpenter. */
import assert from 'node:assert/strict';
import type { KarpenterSpec, WindowsPool, WindowsPoolSpec, WindowsPoolStatus } from '../api/api.gen.ts';
import type { KarpenterManifest, KarpenterView } from '../ports/karpenter.ts';
import { dueObjects } from '../providers/karpenter/karpenterObjects.ts';
import type { Deps } from '../reconcile.ts';
import { machine } from './existingScenes.ts';
import { FakeKarpenter } from './fakeKarpenter.ts';
import { FakeWorld } from './fakeWorld.ts';
import { NOW, samplePool } from './fixtures.ts';
import { wake } from './life.ts';

const KARPENTER: KarpenterSpec = {
  nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'windows' },
  adoption: 'Never',
  expireAfter: 'Never',
  consolidation: { policy: 'WhenEmptyOrUnderutilized', consolidateAfter: '10m' },
};

/** With a node class that the operator creates. */
export const NODE_CLASS: Partial<KarpenterSpec> = {
  nodeClass: {
    edition: 'Core',
    role: 'windows-nodes',
    subnets: [{ tags: { tier: 'private' } }],
    securityGroups: [{ id: 'sg-0123456789abcdef0' }],
    ami: { id: 'ami-0123456789abcdef0' },
  },
};

/** A pool of Karpenter. */
export function karpenterPool(
  spec: Partial<Omit<WindowsPoolSpec, 'karpenter'>> & { readonly karpenter?: Partial<KarpenterSpec> } = {},
  rest: { metadata?: Partial<WindowsPool['metadata']>; status?: WindowsPoolStatus } = {},
): WindowsPool {
  const { nodeGroup: _group, ...common } = samplePool().spec;
  const { nodeClassRef, ...more } = KARPENTER;
  const source = spec.karpenter?.nodeClass ? more : { nodeClassRef, ...more };
  return {
    ...samplePool({}, rest),
    spec: { ...common, ...spec, karpenter: { ...source, ...spec.karpenter } as KarpenterSpec },
  };
}

/** The manifests of the objects of a pool, the NodePool first. */
export function manifestsOf(pool: WindowsPool, now = NOW): readonly KarpenterManifest[] {
  return Object.values(dueObjects({ pool, now, karpenter: new FakeKarpenter().view }).objects).map(
    ({ manifest }) => manifest,
  );
}

/** What a NodePool with two NodeClaims has. */
export function karpenterView(): KarpenterView {
  const karpenter = new FakeKarpenter();
  karpenter.demand = 2;
  for (const manifest of manifestsOf(karpenterPool())) karpenter.apply(manifest, NOW);
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

/** Sets the spec of the pool to that of a pool of Karpenter with these fields. */
export function editPool(world: FakeWorld, spec: Parameters<typeof karpenterPool>[0]): void {
  world.apply({ ...karpenterPool(spec), metadata: (world.pools.get('web') ?? assert.fail('no pool')).metadata });
}
