import type { WindowsPool } from './api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION, POOL_KEY, RETRY_ANNOTATION } from './labels.ts';
import type { DrainState } from './model/disruption.ts';
import type { ObservedCluster, ObservedNodeGroup, ObservedState } from './model/observedState.ts';
import type { StepError } from './model/stepError.ts';
import { Adoptions } from './providers/eks/adoption.ts';
import { SharedAnswers } from './providers/eks/prerequisites/sharedAnswers.ts';
import { WindowsIpamLock } from './providers/eks/prerequisites/windowsIpamLock.ts';
import { groupOf, isDeleting } from './queries.ts';
import { isIpamStep } from './steps/isIpamStep.ts';
import { isAwsError } from './steps/steps.ts';

/** What AWS said of a pool at one look. */
export interface AwsSnapshot {
  readonly group: ObservedNodeGroup;
  /** The operator's update that ended well just before. */
  readonly update: ObservedState['update'];
  readonly prerequisites: ObservedState['prerequisites'];
  readonly instances: ObservedState['instances'];
  readonly newestRelease: ObservedState['newestRelease'];
  readonly autoscaler: ObservedState['autoscaler'];
  /** What AWS refused then: not asked again before the next look. */
  readonly errors: readonly StepError[];
}

export interface Entry {
  /** When AWS was asked, in epoch milliseconds. */
  readonly at: number;
  readonly view: AwsSnapshot;
  readonly wanted: string;
  /** Since when the group has been seen in its status, in epoch milliseconds. */
  readonly since: number;
  readonly until: number;
}

/**
 * What AWS said of each pool, so that a node's event costs no call. Kept in memory only: after a restart everything is looked at
 * again.
 */
export class AwsCache {
  readonly #entries = new Map<string, Entry>();
  cluster: ObservedCluster | undefined;
  /** What many pools ask alike. */
  readonly shared = new SharedAnswers();
  readonly adoptions = new Adoptions();
  readonly windowsIpam = new WindowsIpamLock();
  /** What was last seen of nodes that go, by pool. */
  readonly operations = new Map<string, DrainState>();

  /** What was seen before, while nothing asks for another look: the spec is the same and it is not time. */
  current(pool: WindowsPool, now: number): AwsSnapshot | undefined {
    const entry = this.#entries.get(pool.metadata.name);
    return entry?.wanted === specKeyOf(pool) && now < entry.until ? entry.view : undefined;
  }

  /**
   * What AWS has refused since a time (epoch milliseconds) to end of instances that never became nodes: told also after another look, until it
   * was tried again.
   */
  refusedTerminations(pool: WindowsPool, since: number): readonly StepError[] {
    const entry = this.#entries.get(pool.metadata.name);
    if (entry?.wanted !== specKeyOf(pool)) return [];
    return entry.view.errors.filter(({ step, at }) => step === 'terminateUnregistered' && at >= since);
  }

  last(name: string): ObservedNodeGroup | undefined {
    return this.#entries.get(name)?.view.group;
  }

  /**
   * How old an answer may be when everything is asked, in milliseconds: half the poll interval, so that pools that look at the same time share it.
   * Of a group that exists, polls can come sooner than that, and each of them is fresh: it is younger than the pool's last look.
   */
  completeAge({ pool, group, settings, now }: ObservedState): number {
    if (group.kind === 'absent') return settings.pollMs / 2;
    const lookedAt = this.#entries.get(pool.metadata.name)?.at ?? Number.NEGATIVE_INFINITY;
    return Math.max(0, Math.min(settings.pollMs / 2, now - lookedAt));
  }

  /** Whether EKS has created the group since the pool's last look, as far as this process knows. */
  isNewlyCreated({ pool, group }: ObservedState): boolean {
    if (group.kind !== 'seen' || group.group.status === 'CREATING') return false;
    const last = this.last(pool.metadata.name);
    const before = last && groupOf({ group: last });
    return before === undefined || before.status === 'CREATING';
  }

  /** When the next look is due, in epoch milliseconds. */
  dueAt(name: string): number {
    return this.#entries.get(name)?.until ?? 0;
  }

  /**
   * Since when this process has seen the group of the situation in its status, in epoch milliseconds. `begun`: EKS has just accepted another
   * operation, which the status alone may not show.
   */
  statusSince({ pool, group }: ObservedState, begun: boolean, now: number): number {
    const entry = this.#entries.get(pool.metadata.name);
    return entry && !begun && statusOf(entry.view.group) === statusOf(group) ? entry.since : now;
  }

  /** Keeps what AWS said in a situation until the next look is due. Times are epoch milliseconds. */
  keep({ pool, errors, ...seen }: ObservedState, since: number, until: number): void {
    const { group, prerequisites, instances, newestRelease, autoscaler } = seen;
    const kept = errors.filter((entry) => isAwsError(entry) || isIpamStep({ kind: entry.step }));
    const update = seen.update?.status === 'Successful' ? seen.update : undefined;
    const view = { group, update, prerequisites, instances, newestRelease, autoscaler, errors: kept };
    this.#entries.set(pool.metadata.name, { at: seen.now, view, wanted: specKeyOf(pool), since, until });
  }

  /** Forgets a pool that is gone, and what others saw of its group: they may have waited for the name. */
  forget(name: string): void {
    this.#entries.delete(name);
    this.operations.delete(name);
    for (const [other, { view }] of this.#entries) {
      if (view.group.kind === 'seen' && view.group.group.tags[POOL_KEY] === name) this.#entries.delete(other);
    }
  }
}

/** The status of a group, with what tells it from one that had its name before. */
function statusOf(view: ObservedNodeGroup): string {
  return view.kind === 'seen' ? `${view.group.arn} ${view.group.status}` : view.kind;
}

/** What the user says: another look is due when that changes. */
function specKeyOf(pool: WindowsPool): string {
  const { generation, annotations } = pool.metadata;
  return JSON.stringify([
    generation,
    isDeleting(pool),
    annotations?.[RETRY_ANNOTATION],
    annotations?.[IGNORE_PREREQUISITES_ANNOTATION],
  ]);
}
