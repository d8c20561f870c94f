/** What a phase of the crash tests runs in: one pool, and an operator that can be killed at any of its requests. */
import type { Nodegroup } from '@aws-sdk/client-eks';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { LocalAws } from '../fakes/localaws/localAws.ts';
import type { CallEntry } from '../fakes/localaws/wire/callLog.ts';

const POOL_TAG = 'winpool.dev/pool';
/** The statuses of a node group in which EKS works on it. */
export const BUSY: readonly string[] = ['CREATING', 'UPDATING', 'DELETING'];

/** Everything that AWS did for a pool. */
export interface History {
  /** The ARNs of its node groups. */
  readonly groups: Set<string>;
  /** The ids of updates that carried a desired size. */
  readonly resizes: Set<string>;
  readonly creationTokens: Set<string>;
}

/** One world with one pool under test. The operator runs as a process on a real API server, or in memory. */
export interface CrashFixture {
  readonly world: { readonly cloud: Pick<LocalAws, 'state' | 'faults'> };
  /** The name of the pool. */
  readonly name: string;
  /** Whether the node group may outlive the pool. */
  retained: boolean;
  /** Whether EKS finishes nothing, however often it is polled. */
  held: boolean;
  readonly history: History;
  /** Starts an operator if none runs. */
  start(): void;
  /** Starts an operator if none runs, and waits until its caches are synced. */
  ready(): Promise<void>;
  /** Kills the operator without warning. */
  kill(): Promise<void>;
  /** Server-side apply of the pool as its user. */
  apply(manifest: object): Promise<void>;
  /** Deletes the pool as its user. */
  delete(): Promise<void>;
  /** Lets the operator work until the pool is as described. Rejects with the pool's conditions if that does not happen. */
  until(what: string, predicate: (pool: WindowsPool | undefined) => boolean): Promise<WindowsPool | undefined>;
  /** Lets EKS finish its work on the pool's node group, including its nodes. */
  settle(): Promise<void>;
  /** The pool's node groups, as groupsOf. */
  groups(): Nodegroup[];
  /** The RuntimeClass with the pool's name. */
  runtimeClass(): Promise<Wire<V1RuntimeClass> | undefined>;
}

/** A history in which nothing has happened. */
export function emptyHistory(): History {
  return { groups: new Set(), resizes: new Set(), creationTokens: new Set() };
}

/** The node groups that carry the pool's tag, under any name, and the group with the pool's name. */
export function groupsOf({ state }: Pick<LocalAws, 'state'>, pool: string): Nodegroup[] {
  const all = [...state.groups.values()].map(({ nodegroup }) => nodegroup);
  return all.filter(({ tags, nodegroupName }) => tags?.[POOL_TAG] === pool || nodegroupName === pool);
}

/** The names of the pool's launch templates: those with its tag. */
export function templatesOf({ state }: Pick<LocalAws, 'state'>, pool: string): string[] {
  return [...state.launchTemplates.values()].filter(({ tags }) => tags?.[POOL_TAG] === pool).map(({ name }) => name);
}

/** Adds what a call to AWS has done for a pool. Call it after the call took effect. */
export function record(
  history: History,
  cloud: Pick<LocalAws, 'state'>,
  pool: string,
  { operation, input }: Pick<CallEntry, 'operation' | 'input'>,
): void {
  for (const { nodegroupArn } of groupsOf(cloud, pool)) history.groups.add(nodegroupArn ?? '');
  if (operation === 'CreateNodegroup') {
    history.creationTokens.add((input as { clientRequestToken: string }).clientRequestToken);
  }
  for (const { group, update } of cloud.state.updates.values()) {
    if (group === pool && update.params?.some(({ type }) => type === 'DesiredSize')) {
      history.resizes.add(update.id ?? '');
    }
  }
}
