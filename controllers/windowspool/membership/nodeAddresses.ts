/** The addresses of all Windows nodes, with which the lists of hosts are compared. */
import type { NodeRecord } from '../ports/nodes.ts';
import { comparable } from './windowsInstances.ts';

/** Keeps how many nodes have each address. */
export class NodeAddresses {
  readonly #ofNode = new Map<string, ReadonlySet<string>>();
  readonly #nodes = new Map<string, number>();

  constructor(nodes: Iterable<NodeRecord>) {
    for (const node of nodes) if (!node.deleting) this.put(node.name, node.addresses);
  }

  /** Whether a node has this address, as `comparable` returns it. */
  has(address: string): boolean {
    return this.#nodes.has(address);
  }

  /** Takes in the addresses of a node: none if it is gone. Returns those that it got or lost. */
  put(node: string, addresses: readonly string[]): readonly string[] {
    const before = this.#ofNode.get(node) ?? new Set();
    const after = new Set(addresses.map(comparable));
    const [lost, got] = [[...before.difference(after)], [...after.difference(before)]];
    for (const address of lost) this.#count(address, -1);
    for (const address of got) this.#count(address, 1);
    if (after.size > 0) this.#ofNode.set(node, after);
    else this.#ofNode.delete(node);
    return [...lost, ...got];
  }

  #count(address: string, change: 1 | -1): void {
    const nodes = (this.#nodes.get(address) ?? 0) + change;
    if (nodes > 0) this.#nodes.set(address, nodes);
    else this.#nodes.delete(address);
  }
}
