/** What the API server stores, as it was: restored from a backup of etcd, or of single objects. AWS and the instances stay as they are. */
import type { LocalAwsWorld } from './localAwsWorld.ts';

/** The objects of an API server at one time. */
export type Backup = Pick<LocalAwsWorld, 'pools' | 'runtimeClasses' | 'nodes'>;

/** How a backup comes back. */
export const RESTORATIONS = {
  'etcd is restored': restoreEtcd,
  'etcd is restored, and the operator restarted': (world: LocalAwsWorld, backup: Backup) => {
    restoreEtcd(world, backup);
    restart(world);
  },
  'etcd is restored, and GitOps applies the spec again': (world: LocalAwsWorld, backup: Backup) => {
    const specs = [...world.pools.values()].filter(({ metadata }) => !metadata.deletionTimestamp);
    restoreEtcd(world, backup);
    restart(world);
    for (const pool of specs) world.apply(pool);
  },
  'pools are restored with their status': (world: LocalAwsWorld, backup: Backup) => restorePools(world, backup),
  'pools are restored without status': (world: LocalAwsWorld, backup: Backup) =>
    restorePools(world, {
      ...backup,
      pools: new Map([...backup.pools].map(([name, { status: _, ...rest }]) => [name, rest])),
    }),
} as const satisfies Readonly<Record<string, (world: LocalAwsWorld, backup: Backup) => void>>;

export type Restoration = keyof typeof RESTORATIONS;

/** The objects as they are now. */
export function backupOf({ pools, runtimeClasses, nodes }: LocalAwsWorld): Backup {
  return { pools: new Map(pools), runtimeClasses: new Map(runtimeClasses), nodes };
}

/** All objects are as they were, and users create again the pools that did not exist. Kubelets and the controllers of nodes have already corrected which nodes there are, but not what others wrote to them. */
function restoreEtcd(world: LocalAwsWorld, backup: Backup): void {
  const created = [...world.pools.values()].filter(({ metadata: { name } }) => !backup.pools.has(name));
  world.pools.clear();
  for (const { status: _, metadata, ...pool } of created) {
    const { deletionTimestamp: _deletion, finalizers: _finalizers, ...rest } = metadata;
    world.apply({ ...pool, metadata: { ...rest, uid: `${metadata.uid}-again` } });
  }
  for (const pool of backup.pools.values()) world.restore(pool);
  world.runtimeClasses = new Map(backup.runtimeClasses);
  for (const now of world.nodes) {
    const before = backup.nodes.find(({ uid }) => uid === now.uid);
    if (!before) continue;
    const { labels, annotations, ownership, taints, unschedulable, verified, verifiedSince } = before;
    world.setNode({ ...now, labels, annotations, ownership, taints, unschedulable, verified, verifiedSince });
  }
}

/** Pools are created from the backup, with other UIDs, after all of them were lost. */
function restorePools(world: LocalAwsWorld, backup: Backup): void {
  for (const pool of backup.pools.values()) {
    const { deletionTimestamp: _, ...metadata } = pool.metadata;
    const uid = `${metadata.uid}-restored`;
    world.restore({ ...pool, metadata: { ...metadata, uid, generation: 1 } });
  }
  restart(world);
}

/** The next call ends the process, and another one starts. */
function restart(world: LocalAwsWorld): void {
  world.callsLeft = 1;
}
