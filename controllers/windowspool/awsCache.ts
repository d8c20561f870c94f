import type { WindowsPool } from './api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION, POOL_KEY, RETRY_ANNOTATION } from './labels.ts';
import type { DrainState, ObservedCluster, ObservedNodeGroup, ObservedState } from './model/observedState.ts';
import type { StepError } from './model/stepError.ts';
import { groupOf } from './providers/eks/groups.ts';
import { SharedAnswers } from './providers/eks/prerequisites/sharedAnswers.ts';
import { WindowsIpamLock } from './providers/eks/prerequisites/windowsIpamLock.ts';
import { ServiceTimes } from './providers/eks/serviceTimes.ts';
import { isDeleting } from './queries.ts';
import { isIpamStep } from './steps/isIpamStep.ts';
import { isAwsError } from './steps/steps.ts';

/** What one read of AWS returned for a pool. */
export interface AwsSnapshot {
  readonly group: ObservedNodeGroup;
  readonly former: ObservedState['former'];
  /** The operator's update that has just succeeded. */
  readonly update: ObservedState['update'];
  readonly prerequisites: ObservedState['prerequisites'];
  readonly instances: ObservedState['instances'];
  readonly newestRelease: ObservedState['newestRelease'];
  readonly autoscaler: ObservedState['autoscaler'];
  readonly machineTemplate: ObservedState['machineTemplate'];
  /** Calls that AWS refused: not repeated before the next read. */
  readonly errors: readonly StepError[];
}

/** The last snapshot of a pool and its validity. */
export interface Entry {
  /** When AWS was read, in epoch milliseconds. */
  readonly at: number;
  readonly view: AwsSnapshot;
  readonly specKey: string;
  /** When this process first saw the group in its current status, in epoch milliseconds. */
  readonly since: number;
  readonly until: number;
}

/** The last AWS snapshot of each pool, so that node events cause no AWS calls. Kept in memory only: after a restart, everything is read again. */
export class AwsCache {
  readonly #entries = new Map<string, Entry>();
  cluster: ObservedCluster | undefined;
  /** Answers that are the same for many pools. */
  readonly shared = new SharedAnswers();
  readonly windowsIpam = new WindowsIpamLock();
  readonly serviceTimes = new ServiceTimes();
  /** The last drain state of each pool. */
  readonly operations = new Map<string, DrainState>();

  /** The snapshot of a pool while it is valid: the spec is unchanged and the next read is not due. */
  current(pool: WindowsPool, now: number): AwsSnapshot | undefined {
    const entry = this.#entries.get(pool.metadata.name);
    return entry?.specKey === specKeyOf(pool) && now < entry.until ? entry.view : undefined;
  }

  /**
   * The refused terminations of unregistered instances since a time (epoch milliseconds): reported after later reads too, until they are tried again.
   */
  refusedTerminations(pool: WindowsPool, since: number): readonly StepError[] {
    const entry = this.#entries.get(pool.metadata.name);
    if (entry?.specKey !== specKeyOf(pool)) return [];
    return entry.view.errors.filter(({ step, at }) => step === 'terminateUnregistered' && at >= since);
  }

  last(name: string): ObservedNodeGroup | undefined {
    return this.#entries.get(name)?.view.group;
  }

  /** The group that is being replaced, at the last read. */
  lastFormer(name: string): ObservedNodeGroup | undefined {
    return this.#entries.get(name)?.view.former;
  }

  /**
   * The maximum age of a shared answer for a complete read, in milliseconds: half the poll interval, so that pools that read at the same time share
   * it. A group that exists may be polled more often, and each poll must be fresh: younger than the pool's last read.
   */
  completeAge({ pool, group, settings, now }: ObservedState): number {
    if (group.kind === 'absent') return settings.pollMs / 2;
    const readAt = this.#entries.get(pool.metadata.name)?.at ?? Number.NEGATIVE_INFINITY;
    return Math.max(0, Math.min(settings.pollMs / 2, now - readAt));
  }

  /** Whether EKS finished creating the group since the pool's last read, as far as this process knows. */
  isNewlyCreated({ pool, group }: ObservedState): boolean {
    if (group.kind !== 'seen' || group.group.status === 'CREATING') return false;
    const last = this.last(pool.metadata.name);
    const before = last && groupOf({ group: last });
    return before === undefined || before.status === 'CREATING';
  }

  /** When the next read is due, in epoch milliseconds. */
  dueAt(name: string): number {
    return this.#entries.get(name)?.until ?? 0;
  }

  /**
   * When this process first saw the observed group in its current status, in epoch milliseconds. `begun`: EKS has just accepted another operation,
   * which the status alone may not show.
   */
  statusSince({ pool, group }: Pick<ObservedState, 'pool' | 'group'>, begun: boolean, now: number): number {
    const entry = this.#entries.get(pool.metadata.name);
    return entry && !begun && statusOf(entry.view.group) === statusOf(group) ? entry.since : now;
  }

  /** Keeps what AWS returned until the next read is due. Times are epoch milliseconds. */
  keep({ pool, errors, ...seen }: ObservedState, since: number, until: number): void {
    const { group, former, prerequisites, instances, newestRelease, autoscaler, machineTemplate } = seen;
    const kept = errors.filter((entry) => isAwsError(entry) || isIpamStep({ kind: entry.step }));
    const update = seen.update?.status === 'Successful' ? seen.update : undefined;
    const read = { group, former, update, prerequisites, instances, newestRelease, autoscaler, machineTemplate };
    const view = { ...read, errors: kept };
    this.#entries.set(pool.metadata.name, { at: seen.now, view, specKey: specKeyOf(pool), since, until });
  }

  /** Forgets a deleted pool, and the snapshots of its group that other pools have: they may have waited for the group's name. */
  forget(name: string): void {
    this.#entries.delete(name);
    this.operations.delete(name);
    this.serviceTimes.forget(name);
    for (const [other, { view }] of this.#entries) {
      if (view.group.kind === 'seen' && view.group.group.tags[POOL_KEY] === name) this.#entries.delete(other);
    }
  }
}

/**
 * The status of a group with its ARN, which differs for a group that is recreated under the same name, and with its owner; or the kind of the answer.
 */
function statusOf(view: ObservedNodeGroup): string {
  if (view.kind === 'unreachable') return `${view.kind} ${view.error.kind}`;
  return view.kind === 'seen' ? `${view.group.arn} ${view.group.status} ${view.group.tags[POOL_KEY]}` : view.kind;
}

/** What the user sets: a change makes another read due. */
function specKeyOf(pool: WindowsPool): string {
  const { generation, annotations } = pool.metadata;
  return JSON.stringify([
    generation,
    isDeleting(pool),
    annotations?.[RETRY_ANNOTATION],
    annotations?.[IGNORE_PREREQUISITES_ANNOTATION],
  ]);
}
