/** A pool of three nodes in the fake world, whose nodes are replaced or removed. */
import assert from 'node:assert/strict';
import { durations } from '../../../test/fakes/localaws/durations.ts';
import type { LeavingNode } from '../api/api.gen.ts';
import { REMOVE_ANNOTATION, REPLACE_ANNOTATION } from '../api/labels.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { desiredFields, entriesOf } from '../providers/nodeGroup/changes/appliedFields.ts';
import type { Deps } from '../reconcile.ts';
import { FakeWorld } from './fakeWorld.ts';
import { knownStatus, MINUTE, type SpecChange, sampleGroup, samplePool } from './fixtures.ts';
import { ready, wake } from './life.ts';
import { podOn } from './nodeScenes.ts';

/** A pool of the nodes a, b and c, 2 to 5 of them, with a pod on each. */
export async function populated(spec: SpecChange = {}): Promise<{ world: FakeWorld; deps: Deps }> {
  const world = new FakeWorld();
  const scaling = { minSize: 2, maxSize: 5, ...spec.nodeGroup?.scaling };
  const pool = samplePool({ ...spec, nodeGroup: { ...spec.nodeGroup, scaling } });
  world.makeGroup(sampleGroup(pool, { scaling: { minSize: 2, maxSize: 5, desiredSize: 3 } }));
  world.apply({ ...pool, status: knownStatus({ applied: entriesOf(desiredFields(pool)) }) });
  renameNodes(world, ['a', 'b', 'c']);
  world.pods = world.nodes.map(({ name }) => ({
    ...podOn({ name: `cart-${name}`, uid: `uid-cart-${name}` }),
    node: name,
  }));
  // A new process reads everything again.
  const deps = world.start();
  await wake(world, deps);
  assert.equal(ready(world), 'True');
  world.calls.splice(0);
  return { world, deps };
}

/** Renames the nodes of the world, and their instances: that of `a` is i-a. */
export function renameNodes(world: FakeWorld, names: readonly string[]): void {
  const { instances } = world.cloud.state;
  assert.equal(world.nodes.length, names.length);
  world.nodes = world.nodes.map((node, i) => {
    const instance = [...instances.values()].find(({ nodeName }) => nodeName === node.name);
    const name = names[i];
    assert.ok(instance && name !== undefined);
    const id = `i-${name.replaceAll('-', '')}`;
    instances.delete(instance.id);
    instances.set(id, { ...instance, id, nodeName: name });
    return { ...node, name, uid: `uid-${name}`, providerID: `aws:///${instance.subnet.zone}/${id}`, addresses: [name] };
  });
}

/** Terminates the instance of a node. Returns the ID of its replacement, which never joins. */
export function replaceByUnregistered(world: FakeWorld, name: string): string {
  world.cloud.faults.nextNode({ neverJoins: true });
  world.cloud.faults.terminateInstance({ node: name });
  world.now += 2_000;
  const late = [...world.cloud.state.instances.values()].find(({ joined }) => !joined);
  return late?.id ?? assert.fail('every instance joined');
}

/** Moves an instance to another scaling group. */
export function moveInstance(world: FakeWorld, id: string, autoScalingGroup: string): void {
  const { instances } = world.cloud.state;
  instances.set(id, { ...(instances.get(id) ?? assert.fail(`there is no ${id}`)), autoScalingGroup });
}

/** Sets how long the lifecycle hook of EKS delays terminations. */
export function delayTerminations(world: FakeWorld, ms: number): void {
  world.cloud.faults.speed({ speed: (durations.hook * 1_000) / ms });
}

export function nodeOf(world: FakeWorld, name: string): NodeRecord | undefined {
  return world.nodes.find((node) => node.name === name);
}

/** Like kubectl annotate; annotations for other operations are removed. */
export function annotate(world: FakeWorld, name: string, annotations: Readonly<Record<string, string>>): void {
  const node = nodeOf(world, name);
  assert.ok(node, `there is no node ${name}`);
  const { [REPLACE_ANNOTATION]: _replace, [REMOVE_ANNOTATION]: _remove, ...others } = node.annotations;
  world.setNode({ ...node, annotations: { ...others, ...annotations } });
}

/** Like kubectl cordon and kubectl uncordon. */
export function cordon(world: FakeWorld, name: string, unschedulable: boolean): void {
  const node = nodeOf(world, name);
  assert.ok(node, `there is no node ${name}`);
  world.setNode({ ...node, unschedulable });
}

/** Runs for some minutes, with the requested time between two runs. */
export async function pass(world: FakeWorld, deps: Deps, minutes: number): Promise<void> {
  const end = world.now + minutes * MINUTE;
  while (world.now < end) {
    const next = await wake(world, deps);
    world.now += next.kind === 'requeueAfter' ? next.ms : 2_000;
  }
}

/** The terminating nodes that status records. */
export function terminatingIn(world: FakeWorld): readonly LeavingNode[] {
  return world.pools.get('web')?.status?.disruption?.nodes ?? [];
}

/** Whether the pool has released its share of the budget. */
export function isSettled(world: FakeWorld): boolean {
  return world.pools.get('web')?.status?.disruption === undefined;
}

/** Whether this many instances were terminated and the pool is settled. */
export function hasEnded(world: FakeWorld, instances: number): boolean {
  return world.ended.length >= instances && isSettled(world);
}
