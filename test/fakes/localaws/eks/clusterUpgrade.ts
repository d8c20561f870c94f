import { durations } from '../durations.ts';
import { minorNumber, minors, type ReleaseDay } from '../releases.ts';
import type { LocalAwsState } from '../state.ts';
import { openUpdate } from './updates.ts';

/** Upgrades the control plane by one minor, as EKS allows; it is UPDATING for `durations.clusterUpgrade`. Throws RangeError. */
export function upgradeCluster(cloud: LocalAwsState, version: string): void {
  const { clusterState: cluster } = cloud;
  if (!minors.includes(version) || minorNumber(version) !== minorNumber(cluster.version) + 1)
    throw new RangeError(`the cluster has ${cluster.version}; give the next of ${minors.join(', ')}, not ${version}`);
  const from = cluster.version;
  setVersion(cloud, 'VersionUpdate', version, () => {
    cluster.upgraded = { from, at: cloud.timeline.now().getTime() };
  });
}

function setVersion(
  cloud: LocalAwsState,
  type: 'VersionUpdate' | 'VersionRollback',
  version: string,
  then = () => {},
): void {
  const { clusterState: cluster } = cloud;
  if (cluster.status !== 'ACTIVE' || cluster.runningUpdate !== undefined)
    throw new RangeError(
      `the cluster is ${cluster.status}; change its version when it is ACTIVE and not being updated`,
    );
  const update = openUpdate(cloud, {}, type, [{ type: 'Version', value: version }]);
  cluster.status = 'UPDATING';
  cluster.runningUpdate = update.id ?? '';
  cloud.timeline.after(durations.clusterUpgrade, () => {
    cluster.version = version;
    cluster.status = 'ACTIVE';
    delete cluster.runningUpdate;
    update.status = 'Successful';
    then();
  });
}

/** How long after its upgrade EKS rolls a control plane back, in seconds: https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html */
const ROLLBACK_WINDOW = 7 * 86_400;

/**
 * Rolls the control plane back to the minor version from which it was upgraded within the last 7 days; it is UPDATING meanwhile. Node groups must have
 * that version already, unless `force` is true. Throws RangeError.
 */
export function rollbackCluster(cloud: LocalAwsState, force: boolean): void {
  const { clusterState: cluster } = cloud;
  const { upgraded } = cluster;
  if (upgraded === undefined || cloud.timeline.now().getTime() > upgraded.at + ROLLBACK_WINDOW * 1_000)
    throw new RangeError(`the cluster has ${cluster.version}, and was not upgraded to it within the last 7 days`);
  const newer = [...cloud.groups.values()].find(
    ({ nodegroup }) => minorNumber(nodegroup.version ?? '') > minorNumber(upgraded.from),
  );
  if (newer !== undefined && !force)
    throw new RangeError(`node group ${newer.name} has ${newer.nodegroup.version}; roll it back first, or give force`);
  setVersion(cloud, 'VersionRollback', upgraded.from);
  delete cluster.upgraded;
}

/** A new release, or a change of one: `public: false` makes the images of that date private. */
export interface ReleaseChange extends Partial<ReleaseDay> {
  readonly date: string;
}

/** Publishes the images of a date as the newest ones, or changes whether those of a date can be launched. Throws RangeError. */
export function setRelease(cloud: LocalAwsState, { date, ...change }: ReleaseChange): void {
  if (!/^\d{4}([.-])\d\d\1\d\d$/.test(date))
    throw new RangeError(`release.date is ${date}; give one such as 2026.05.19`);
  const known = cloud.releases.find((release) => release.date === date);
  if (known !== undefined) {
    if (change.public === undefined) delete known.public;
    else known.public = change.public;
    return;
  }
  const newest = cloud.releases.at(-1);
  if (newest === undefined || date.replaceAll('-', '.') <= newest.date.replaceAll('-', '.'))
    throw new RangeError(`release.date is ${date}; a new one must be after ${newest?.date}`);
  const { containerd, revisions } = newest;
  // The default is one month of patches.
  const patched = { '2019': revisions[2019] + 120, '2022': revisions[2022] + 130, '2025': revisions[2025] + 150 };
  const release: ReleaseDay = { containerd, ...change, date, revisions: { ...patched, ...change.revisions } };
  cloud.releases.push(release);
  if (cloud.switches.releaseInEks === 'atOnce') return;
  release.ahead = true;
  cloud.timeline.after(durations.releaseLag, () => delete release.ahead);
}
