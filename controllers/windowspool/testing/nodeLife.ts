/** A pool of three nodes in the fake world, from which nodes are taken away. */
import assert from 'node:assert/strict';
import { durations } from '../../../hack/localaws/durations.ts';
import type { LeavingNode, WindowsPoolSpec } from '../api.gen.ts';
import { REMOVE_ANNOTATION, REPLACE_ANNOTATION } from '../labels.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { desiredFields, entriesOf } from '../providers/eks/applied.ts';
import type { Deps } from '../reconcile.ts';
import { FakeWorld } from './fakeWorld.ts';
import { knownStatus, MINUTE, sampleGroup, samplePool } from './fixtures.ts';
import { ready, wake } from './life.ts';
import { podOn } from './nodeScenes.ts';

/** A pool of the nodes a, b and c, 2 to 5 of them, with a pod on each. */
export async function populated(spec: Partial<WindowsPoolSpec> = {}): Promise<{ world: FakeWorld; deps: Deps }> {
  const world = new FakeWorld();
  const pool = samplePool({ scaling: { min: 2, max: 5 }, ...spec });
  world.makeGroup(sampleGroup(pool, { scaling: { min: 2, max: 5, desired: 3 } }));
  world.apply({ ...pool, status: knownStatus({ applied: entriesOf(desiredFields(pool)) }) });
  renameNodes(world, ['a', 'b', 'c']);
  world.pods = world.nodes.map(({ name }) => ({
    ...podOn({ name: `cart-${name}`, uid: `uid-cart-${name}` }),
    node: name,
  }));
  // Another process looks at everything anew.
  const deps = world.start();
  await wake(world, deps);
  assert.equal(ready(world), 'True');
  world.calls.splice(0);
  return { world, deps };
}

/** Gives the nodes of the world these names, and their instances the ids that go with them: that of `a` is i-a. */
export function renameNodes(world: FakeWorld, names: readonly string[]): void {
  const { instances } = world.cloud.state;
  assert.equal(world.nodes.length, names.length);
  world.nodes = world.nodes.map((node, i) => {
    const instance = [...instances.values()].find(({ nodeName }) => nodeName === node.name);
    const name = names[i];
    assert.ok(instance && name !== undefined);
    const id = `i-${name}`;
    instances.delete(instance.id);
    instances.set(id, { ...instance, id, nodeName: name });
    return { ...node, name, uid: `uid-${name}`, providerID: `aws:///${instance.subnet.zone}/${id}`, addresses: [name] };
  });
}

/** EC2 ends the instance of a node, and the one in its place never joins: its id. */
export function loseForGood(world: FakeWorld, name: string): string {
  world.cloud.faults.nextNode({ neverJoins: true });
  world.cloud.faults.terminateInstance({ node: name });
  world.now += 2_000;
  const late = [...world.cloud.state.instances.values()].find(({ joined }) => !joined);
  return late?.id ?? assert.fail('every instance joined');
}

/** An instance says that it is in another scaling group. */
export function giveAway(world: FakeWorld, id: string, autoScalingGroup: string): void {
  const { instances } = world.cloud.state;
  instances.set(id, { ...(instances.get(id) ?? assert.fail(`there is no ${id}`)), autoScalingGroup });
}

/** EKS' lifecycle hook keeps instances for so long. */
export function hold(world: FakeWorld, ms: number): void {
  world.cloud.faults.speed({ speed: (durations.hook * 1_000) / ms });
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

/** Whether so many instances were ended, and all is over. */
export function hasEnded(world: FakeWorld, instances: number): boolean {
  return world.ended.length >= instances && isSettled(world);
}
