/*
 * How EKS replaces the nodes of a group, by the user guide's "phases of node updates":
 *
 *   DEFAULT   setup -> more instances, until they have joined -> replace the old ones, a few at a time -> fewer instances again
 *   MINIMAL   setup -> replace the old ones, a few at a time
 *
 * To replace is to cordon, drain and terminate an instance; the Auto Scaling group launches another one. After a failure, the additional
 * instances are terminated, the old nodes may be uncordoned, and the replaced ones remain.
 */
import type { ErrorDetail, Update } from '@aws-sdk/client-eks';
import { durations } from '../durations.ts';
import { livingInstances, terminate } from '../ec2/instances.ts';
import { copyTemplate } from '../ec2/launchConfig.ts';
import { resize, scaleInVictim } from '../ec2/scaling.ts';
import { settingsChanged } from '../ec2/warmPool.ts';
import { cordon, drain, stopDrain } from '../nodes/nodeDrain.ts';
import type { GroupRecord, InstanceRecord, Rollout, UpdateFailure } from '../records.ts';
import { type LocalAwsState, takePlan } from '../state.ts';
import { checkLaunches, later, reviewAccess, setStatus } from './groupStatus.ts';
import { changesNothing, joinError, parallelOf, podError, templateError, zonesOf } from './rolloutFacts.ts';

/** Starts a change of a group to another version. The group itself changes when all of its nodes have. */
export function startRollout(
  cloud: LocalAwsState,
  group: GroupRecord,
  update: Update,
  aim: Pick<Rollout, 'target' | 'template' | 'force'>,
): void {
  const degraded = group.nodegroup.status === 'DEGRADED';
  setStatus(cloud, group, 'UPDATING');
  later(cloud, group, durations.versionSetup, () => {
    const outdated = new Set(livingInstances(cloud, group.name).map(({ id }) => id));
    new Rolling(cloud, group, { ...aim, update, outdated }, degraded).start();
  });
}

class Rolling {
  readonly #cloud: LocalAwsState;
  readonly #group: GroupRecord;
  readonly #degraded: boolean;
  readonly #busy = new Set<string>();
  #rollout: Rollout;

  constructor(cloud: LocalAwsState, group: GroupRecord, rollout: Rollout, degraded: boolean) {
    this.#cloud = cloud;
    this.#group = group;
    this.#rollout = rollout;
    this.#degraded = degraded;
  }

  start(): void {
    this.#group.rollout = this.#rollout;
    const failure = takePlan(this.#cloud.plans.updateFailures, this.#group.name) ?? templateError(this.#rollout);
    if (failure !== undefined) this.#fail(failure);
    else if (this.#rollout.outdated.size === 0 || changesNothing(this.#group.nodegroup, this.#rollout.target))
      this.#succeed();
    else this.#begin();
  }

  #begin(): void {
    copyTemplate(this.#cloud, this.#group);
    settingsChanged(this.#cloud, this.#group);
    if (this.#minimal) this.#replace();
    else this.#scaleUp();
  }

  get #minimal(): boolean {
    return this.#group.nodegroup.updateConfig?.updateStrategy === 'MINIMAL';
  }

  #scaleUp(): void {
    this.#group.growth = Math.max(2 * zonesOf(this.#cloud, this.#group), parallelOf(this.#group));
    resize(this.#cloud, this.#group);
    this.#untilJoined(() => {
      for (const instance of this.#outdated()) cordon(this.#cloud, instance, true);
      this.#replace();
    });
  }

  // Starts to replace as many old nodes as allowed. When none remain, the growth is removed.
  #replace(): void {
    const waiting = this.#outdated().filter(({ id }) => !this.#busy.has(id));
    for (const instance of waiting.slice(0, parallelOf(this.#group) - this.#busy.size)) this.#replaceOne(instance);
    if (this.#busy.size === 0) this.#scaleDown(() => this.#succeed());
  }

  #replaceOne(instance: InstanceRecord): void {
    this.#busy.add(instance.id);
    if (this.#minimal) cordon(this.#cloud, instance, true);
    const end = () => {
      terminate(this.#cloud, instance);
      resize(this.#cloud, this.#group);
      this.#untilJoined(() => {
        this.#busy.delete(instance.id);
        this.#replace();
      });
    };
    const stuck = () => {
      if (this.#rollout.force) end();
      else this.#fail({ errors: [podError(this.#group, instance)] });
    };
    this.#drain(instance, () => this.#during(durations.drained, end), stuck);
  }

  // One by one. Nodes whose pods cannot be evicted are terminated nevertheless.
  #scaleDown(then: () => void): void {
    const surplus = this.#surplus();
    const victim = scaleInVictim(surplus);
    if (this.#group.growth <= 0 || victim === undefined) {
      this.#group.growth = 0;
      then();
      return;
    }
    const end = () => {
      this.#group.growth -= 1;
      terminate(this.#cloud, victim);
      resize(this.#cloud, this.#group);
      this.#scaleDown(then);
    };
    cordon(this.#cloud, victim, true);
    this.#drain(victim, end, end);
  }

  #succeed(): void {
    const { target, template } = this.#rollout;
    Object.assign(this.#group.nodegroup, structuredClone(target));
    if (template !== undefined) this.#group.template = template;
    this.#rollout.update.status = 'Successful';
    this.#group.nodegroup.health = { issues: [] };
    this.#end('ACTIVE');
  }

  #fail({ errors, degraded = false, status = 'Failed' }: Omit<UpdateFailure, 'group'>): void {
    // A new object cancels what is scheduled for the old one; instances are launched as before the rollout.
    const { template: _void, ...rest } = this.#rollout;
    this.#rollout = { ...rest, target: {} };
    this.#group.rollout = this.#rollout;
    copyTemplate(this.#cloud, this.#group);
    settingsChanged(this.#cloud, this.#group);
    for (const instance of this.#outdated()) {
      stopDrain(instance);
      cordon(this.#cloud, instance, false);
    }
    this.#group.growth = Math.max(0, livingInstances(this.#cloud, this.#group.name).length - this.#desired());
    this.#scaleDown(() => {
      this.#rollout.update.status = status;
      this.#rollout.update.errors = structuredClone<ErrorDetail[]>(errors);
      this.#end(this.#degraded || degraded ? 'DEGRADED' : 'ACTIVE');
    });
  }

  #end(status: 'ACTIVE' | 'DEGRADED'): void {
    delete this.#group.rollout;
    resize(this.#cloud, this.#group);
    setStatus(this.#cloud, this.#group, status);
    checkLaunches(this.#cloud, this.#group);
    reviewAccess(this.#cloud, this.#group);
  }

  #desired(): number {
    return this.#group.nodegroup.scalingConfig?.desiredSize ?? 0;
  }

  #outdated(): InstanceRecord[] {
    return livingInstances(this.#cloud, this.#group.name).filter(({ id }) => this.#rollout.outdated.has(id));
  }

  #surplus(): InstanceRecord[] {
    const fresh = livingInstances(this.#cloud, this.#group.name).filter(({ id }) => !this.#rollout.outdated.has(id));
    const absent = fresh.filter(({ joined }) => !joined);
    return absent.length > 0 ? absent : fresh;
  }

  #untilJoined(then: () => void): void {
    const joined = () => {
      // An Auto Scaling group keeps trying.
      if (this.#group.launchIssue !== undefined) resize(this.#cloud, this.#group);
      const fresh = livingInstances(this.#cloud, this.#group.name).filter(({ id }) => !this.#rollout.outdated.has(id));
      const ready = fresh.every((instance) => instance.joined && instance.defect.notReady !== true);
      return ready && this.#group.launchIssue === undefined;
    };
    this.#until(joined, durations.versionJoin, then, () =>
      this.#fail({ errors: [joinError(this.#cloud, this.#group, this.#rollout)] }),
    );
  }

  #drain(instance: InstanceRecord, then: () => void, stuck: () => void): void {
    drain(this.#cloud, instance);
    this.#until(
      () => instance.drained || instance.state === 'terminated',
      durations.drain,
      then,
      () => {
        stopDrain(instance);
        stuck();
      },
    );
  }

  // Polls, independent of the cause of a change.
  #until(test: () => boolean, seconds: number, then: () => void, otherwise: () => void): void {
    const poll = (left: number): void => {
      if (test()) then();
      else if (left <= 0) otherwise();
      else this.#during(durations.look, () => poll(left - 1));
    };
    poll(Math.round(seconds / durations.look));
  }

  #during(seconds: number, run: () => void): void {
    const rollout = this.#rollout;
    later(this.#cloud, this.#group, seconds, () => {
      if (this.#group.rollout === rollout) run();
    });
  }
}
