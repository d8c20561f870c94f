/** A pool of three nodes in the fake world, from which nodes are taken away. */
import assert from 'node:assert/strict';
import type { LeavingNode, WindowsPoolSpec } from '../api.gen.ts';
import { REMOVE_ANNOTATION, REPLACE_ANNOTATION } from '../labels.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { Deps } from '../reconcile.ts';
import type { FakeWorld } from './fakeWorld.ts';
import { MINUTE } from './fixtures.ts';
import { readyWorld, wake } from './life.ts';
import { podOn } from './nodeScenes.ts';

/** A pool of the nodes a, b and c, 2 to 5 of them, with a pod on each. */
export async function populated(spec: Partial<WindowsPoolSpec> = {}): Promise<{ world: FakeWorld; deps: Deps }> {
  const { world } = await readyWorld({ scaling: { min: 2, max: 5 }, ...spec });
  const [group] = world.groups.values();
  const [model] = world.nodes;
  assert.ok(group && model);
  world.groups.set(group.name, { ...group, scaling: { ...group.scaling, desired: 3 } });
  world.nodes = ['a', 'b', 'c'].map((name) => ({
    ...model,
    name,
    uid: `uid-${name}`,
    providerID: `aws:///eu-west-1a/i-${name}`,
    addresses: [name],
  }));
  world.pods = world.nodes.map(({ name }) => ({
    ...podOn({ name: `cart-${name}`, uid: `uid-cart-${name}` }),
    node: name,
  }));
  // Another process looks at everything anew.
  const deps = world.start();
  await wake(world, deps);
  world.calls.splice(0);
  return { world, deps };
}

export function nodeOf(world: FakeWorld, name: string): NodeRecord | undefined {
  return world.nodes.find((node) => node.name === name);
}

/** As kubectl annotate: what is not named is taken away. */
export function order(world: FakeWorld, name: string, annotations: Readonly<Record<string, string>>): void {
  const node = nodeOf(world, name);
  assert.ok(node, `there is no node ${name}`);
  const { [REPLACE_ANNOTATION]: _replace, [REMOVE_ANNOTATION]: _remove, ...others } = node.annotations;
  world.setNode({ ...node, annotations: { ...others, ...annotations } });
}

/** As kubectl cordon and uncordon. */
export function cordon(world: FakeWorld, name: string, unschedulable: boolean): void {
  const node = nodeOf(world, name);
  assert.ok(node, `there is no node ${name}`);
  world.setNode({ ...node, unschedulable });
}

/** Some runs, with the time between them that each asks for. */
export async function pass(world: FakeWorld, deps: Deps, minutes: number): Promise<void> {
  const end = world.now + minutes * MINUTE;
  while (world.now < end) {
    world.finishEndings();
    const next = await wake(world, deps);
    world.now += next.kind === 'requeueAfter' ? next.ms : 2_000;
  }
}

/** What status remembers of nodes that go. */
export function leavingIn(world: FakeWorld): readonly LeavingNode[] {
  return world.pools.get('web')?.status?.disruption?.nodes ?? [];
}

/** Whether the pool has given back its share of the budget. */
export function isSettled(world: FakeWorld): boolean {
  return world.pools.get('web')?.status?.disruption === undefined;
}

/** Whether so many instances were ended, and all is over. Instances end while time passes. */
export function hasEnded(world: FakeWorld, instances: number): boolean {
  world.finishEndings();
  return world.ended.length >= instances && isSettled(world);
}
