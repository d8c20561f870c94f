/** How many nodes fit into an empty subnet. Pure. */
import type { InstanceType } from '../ports/prerequisites.ts';
import { type AddressMode, addressesWith, BLOCK, modeOn } from './addressMode.ts';

/** AWS reserves the first four addresses and the last one: https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html */
const RESERVED = 5;
/** The blocks with these addresses cannot be assigned as prefixes: the first and the last. */
const RESERVED_BLOCKS = 2;

/** The smallest and the largest subnets of a VPC, as the lengths of their prefixes; the same source. */
export const LONGEST_PREFIX = 28;
export const SHORTEST_PREFIX = 16;

/** The addresses of an empty subnet with that length of prefix that AWS does not reserve: 251 for 24. */
export function usableAddresses(prefixLength: number): number {
  return 2 ** (32 - prefixLength) - RESERVED;
}

/**
 * The most nodes with that many pods each in an empty subnet. With prefix delegation, each node also needs whole /28 blocks; addresses of other network
 * interfaces in the subnet can split further blocks.
 */
export function nodesInSubnet(prefixLength: number, pods: number, mode: AddressMode, type: InstanceType): number {
  const addresses = addressesWith(pods, mode, type);
  const byAddresses = Math.floor(usableAddresses(prefixLength) / addresses);
  if (modeOn(mode, type).kind === 'secondary') return byAddresses;
  const blocks = Math.max(0, 2 ** (32 - prefixLength) / BLOCK - RESERVED_BLOCKS);
  return Math.min(byAddresses, Math.floor(blocks / Math.floor(addresses / BLOCK)));
}
