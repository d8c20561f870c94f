/** The nodes that a pool of existing nodes selects, contests or has to release. */
import type { InstanceList, NodeRecord } from '../ports/nodes.ts';

/** The nodes that the pool selects and other pools hold. */
export interface Contested {
  /** The first of them by name. */
  readonly node: string;
  /** The pool that holds it. */
  readonly holder: string;
  /** The number of the others. */
  readonly more: number;
}

/** The result of the pool's instance list. */
export interface ListedInstances {
  readonly list: InstanceList;
  /** Addresses that no Windows node has, as written in the list, sorted. */
  readonly unknown: readonly string[];
  /** What a look-up of these found, as the rest of a sentence, by the entry; absent for entries that were not looked up. */
  readonly lookups: ReadonlyMap<string, string>;
  /** Those of them that could not be looked up: the pool keeps its nodes. Sorted. */
  readonly unanswered: readonly string[];
  /** Entries that name the same host, such as its address and its DNS name. */
  readonly doubles: readonly (readonly [string, string])[];
  readonly malformed: readonly MalformedEntry[];
  readonly hasUsernames: boolean;
}

/** The nodes of one pool besides its PoolNodes. Lists are sorted by node name. */
export interface NodeMembershipView {
  /** Undefined when the pool names no list. */
  readonly listed: ListedInstances | undefined;
  /** Undefined if there are none. */
  readonly contested: Contested | undefined;
  /** Nodes that the pool owns and no longer selects. */
  readonly toRelease: readonly NodeRecord[];
  /** The names of those that another pool selects. */
  readonly awaited: ReadonlySet<string>;
  /** Nodes of the pool whose marks are not corrected again until a time. */
  readonly contention: ContentionView;
  /** When nodes that left the watch may be read again from the API server, in epoch milliseconds; Infinity when there are none. */
  readonly nextReadAt: number;
}

/** Nodes whose marks another controller keeps changing: not written for now. */
export interface ContentionView {
  /** By name, sorted. */
  readonly nodes: readonly string[];
  /** When the first of them may be written again, in epoch milliseconds; Infinity when there are none. */
  readonly until: number;
}

/**
 * An entry of an instance list that is not used, and why. The list is OpenShift's ConfigMap of Windows instances: an IPv4 address or DNS name for
 * each, with `username=...` as its value.
 * https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/windows_container_support_for_openshift/byoh-windows-instance
 */
export interface MalformedEntry {
  readonly entry: string;
  readonly message: string;
}
