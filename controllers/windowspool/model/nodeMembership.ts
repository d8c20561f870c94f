/** The nodes that a pool of existing nodes wants, contests or has to release. */
import type { InstanceList, NodeRecord } from '../ports/nodes.ts';

/** A node that the pool wants and another pool has. */
export interface Contested {
  readonly node: string;
  readonly holder: string;
}

/** What came of the pool's list of hosts. */
export interface ListedInstances {
  readonly list: InstanceList;
  /** Addresses that no Windows node has, as they were written, sorted. */
  readonly unknown: readonly string[];
  readonly malformed: readonly MalformedEntry[];
  readonly hasUsernames: boolean;
}

/** The nodes of one pool beside its roster. Lists are sorted by node name. */
export interface NodeMembershipView {
  /** Undefined where the pool names no list. */
  readonly listed: ListedInstances | undefined;
  readonly contested: readonly Contested[];
  /** Nodes that the pool claimed and that are not its any more. */
  readonly toRelease: readonly NodeRecord[];
  /** The names of those among them that another pool wants. */
  readonly awaited: ReadonlySet<string>;
  /** Nodes that the pool has, and that are not marked again for a while. */
  readonly contention: ContentionView;
  /** When nodes that left the watch may be read past the cache, epoch milliseconds; infinity when none did. */
  readonly nextReadAt: number;
}

/** The nodes that are left alone for now. */
export interface ContentionView {
  /** By name, sorted. */
  readonly nodes: readonly string[];
  /** When the first of them may be written again, epoch milliseconds; infinity when there is none. */
  readonly until: number;
}

/**
 * OpenShift's list of Windows hosts, a ConfigMap: an address for each, IPv4 or DNS name, with `username=...` as its value.
 * https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/windows_container_support_for_openshift/byoh-windows-instance
 * Pure.
 */

/** An entry that is not used, and what is wrong with it. */
export interface MalformedEntry {
  readonly entry: string;
  readonly message: string;
}
