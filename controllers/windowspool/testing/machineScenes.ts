/** Pools of machines. */
import type {
  MachineSetReference,
  MachinesSpec,
  WindowsPool,
  WindowsPoolSpec,
  WindowsPoolStatus,
} from '../api/api.gen.ts';
import type { MachineSet, MachinesView } from '../ports/machines.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { Deps } from '../reconcile.ts';
import { machine } from './existingScenes.ts';
import { FakeMachines } from './fakeMachines.ts';
import { FakeWorld } from './fakeWorld.ts';
import { NOW, samplePool } from './fixtures.ts';
import { wake } from './life.ts';
import { podOn } from './nodeScenes.ts';

const REF: MachineSetReference = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  namespace: 'clusters',
  name: 'windows',
};

/** A pool of the Machines of MachineDeployment clusters/windows. */
export function machinesPool(
  spec: Partial<Omit<WindowsPoolSpec, 'machines'>> & { readonly machines?: Partial<MachinesSpec> } = {},
  rest: { metadata?: Partial<WindowsPool['metadata']>; status?: WindowsPoolStatus } = {},
): WindowsPool {
  const { nodeGroup: _group, ...common } = samplePool().spec;
  const { ref: _ref, template, ...machines } = spec.machines ?? {};
  const source = template ? { template } : { ref: spec.machines?.ref ?? REF };
  return { ...samplePool({}, rest), spec: { ...common, ...spec, machines: { ...source, ...machines } } };
}

/** A node as it joins from a Machine. */
const nodeOfMachine = (name: string): NodeRecord => machine(name, { uid: `uid-${name}` });

/** What a MachineDeployment with three Machines has. */
export function machinesView(): MachinesView {
  const machines = new FakeMachines();
  machines.create({}, nodeOfMachine, NOW);
  return machines.view;
}

/** Lets the controller of the Machines work, and pods start on new nodes. */
export function settleMachines(world: FakeWorld): void {
  const before = new Set(world.nodes.map(({ name }) => name));
  world.nodes = world.machines.settle(world.nodes, nodeOfMachine, world.now);
  const added = world.nodes.filter(({ name }) => !before.has(name));
  world.pods = [
    ...world.pods.filter(({ node }) => world.nodes.some(({ name }) => name === node)),
    ...added.map(({ name }) => ({ ...podOn({ name: `cart-${name}`, uid: `uid-${name}` }), node: name })),
  ];
}

/** A pool of the Machines a, b and c, whose nodes have a pod each. */
export async function machinesWorld(
  spec: Parameters<typeof machinesPool>[0] = {},
  set: Partial<MachineSet> = {},
): Promise<{ world: FakeWorld; deps: Deps }> {
  const world = new FakeWorld();
  world.machines.create({ ...set, replicas: 0 }, nodeOfMachine, world.now);
  world.machines.scale(set.replicas ?? 3);
  settleMachines(world);
  world.machines.changes.splice(0);
  world.apply(machinesPool(spec, { metadata: { finalizers: [], generation: 0 } }));
  const deps = world.start();
  await wake(world, deps);
  world.calls.splice(0);
  world.events.splice(0);
  return { world, deps };
}
