/** What is due for a pool with a node group, what failed before, and what waits. Plain data. */
import type { FailedChange, RollbackState } from '../../../api/api.gen.ts';
import type { CheckResults, PrerequisiteResult } from '../../../checks/runChecks.ts';
import type { Opening, ReleaseFailure } from '../../../model/disruption.ts';
import type { Due, Unchanged } from '../../../model/due.ts';
import type { ConfigChange, TemplateVersion, VersionChange } from '../../../ports/eks.ts';
import type { Difference, TagChange } from './changes.ts';
import type { CheckInput, Scope } from './checkFacts.ts';
import type { EksState } from './groupState.ts';

/** The observed state of a pool with a node group, with what is due. */
export interface EksDerived extends EksState, Unchanged {
  readonly due: EksDue;
}

/** What is due for a pool with a node group. */
export interface EksDue extends Due {
  /** The rolling update that is due, whether it may begin or not. */
  readonly version: DueVersion | undefined;
  /** What the spec would create the main group from now. */
  readonly creation: Creation | undefined;
  /** The desired version of its launch template; undefined if it has none, it is unknown, or EKS would refuse it. */
  readonly template: TemplateVersion | undefined;
  /** How the main group differs from the spec. */
  readonly differences: GroupDifferences;
  /** Whether the pool adopts the group with its name, which it does not own; undefined if there is no such group. */
  readonly adoption: Adoption | undefined;
  /** The update of the settings of the group that is due. */
  readonly config: DueConfig | undefined;
  /** The part of it that must be sent before the rolling update. */
  readonly preparation: DueConfig | undefined;
  /** The change of the tags of the group that is due. */
  readonly tags: TagChange | undefined;
  /** The version of the launch template that the group lacks although the spec did not change. */
  readonly followedTemplate: TemplateVersion | undefined;
  readonly failures: Failures;
  /** The rollback of the main group that automatic updates must not undo. */
  readonly rollback: Rollback | undefined;
  /** The differences for which another group has to replace the main one, in words. */
  readonly replacement: readonly string[];
  /** Whether a group must be created: there is none, it failed to create, or another one must replace it. */
  readonly isToBeMade: boolean;
  readonly prerequisites: DueChecks;
}

/** How the main group, as last known, differs from the spec; empty if it is not known. */
export interface GroupDifferences {
  /** By field, and sorted by it. */
  readonly all: readonly Difference[];
  /** Those that the operator corrects. */
  readonly toCorrect: readonly Difference[];
  /** The drift that is reported and not corrected. */
  readonly reported: readonly Difference[];
  /** Those that EKS cannot change, in words. */
  readonly immutable: readonly string[];
  /** The same, with a change of settings in a launch template of the operator that was deleted. */
  readonly unchangeable: readonly string[];
}

/** What a group was created from: a hash of the spec and, if there was a retry annotation, one of its value. */
export interface Creation {
  readonly spec: string;
  readonly retry?: string;
}

/** Whether a group can be adopted. `refused`: `why` is the rest of a sentence about the group, and `fix` what permits the adoption, with a command or a full stop as its end. */
export type Adoption =
  | { readonly kind: 'take' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'refused'; readonly why: string; readonly fix?: string };

/** A rollback of the group to an older release. */
export interface Rollback {
  readonly record: RollbackState;
  /** When it is over at the latest, in epoch milliseconds; undefined if that depends on no time. */
  readonly until: number | undefined;
  /** The newest release, if an update to it would undo the rollback. */
  readonly heldRelease: string | undefined;
}

/** A change of the group's versions that is due. */
export interface DueVersion extends OpenVersion {
  /** Whether the last attempt failed and is not to be repeated. */
  readonly hasFailed: boolean;
  /** The failure of its release in another pool, whether it waits for that or not. */
  readonly releaseFailure: ReleaseFailure | undefined;
  /** Whether it waits for a maintenance window. */
  readonly waitsForWindow: boolean;
  /** The next start of the window for which it waits, if there is one. */
  readonly opening: Opening | undefined;
  /** Whether it waits because EKS updates the cluster, or rolls it back. */
  readonly waitsForCluster: boolean;
  /** Whether it waits because of `releaseFailure`. */
  readonly waitsForRelease: boolean;
  /** Whether it may begin: it has not failed, and waits neither for the cluster, nor for a window or a release. */
  readonly mayBegin: boolean;
  /** Whether it waits because the maximum number of other pools disrupts nodes. */
  readonly waitsForBudget: boolean;
  /** Whether a canary of it is to be created now. */
  readonly isCanaryDue: boolean;
}

/** A change of the group's versions, whatever became of earlier attempts. */
export interface OpenVersion {
  readonly change: VersionChange;
  /** Whether it is due because of policy Automatic: it is to what the spec does not pin. */
  readonly isAutomatic: boolean;
  /** A hash of what it sends and how nodes are replaced. */
  readonly target: string;
  /** For an automatic one: a hash of what it installs. Undefined while that is not known. */
  readonly content: string | undefined;
  /** Whether the open canary tries it. */
  readonly isTried: boolean;
}

/** A change of the group's settings that is due. */
export interface DueConfig extends OpenConfig {
  /** Whether the last attempt failed and is not to be repeated. */
  readonly hasFailed: boolean;
  /** Whether another client reverted the operator's last correction as soon as it was made. */
  readonly isUndone: boolean;
}

/** A change of the group's settings, whatever became of earlier attempts. */
export interface OpenConfig {
  readonly change: ConfigChange;
  /** A hash of the update and of the desired settings. */
  readonly target: string;
}

/** A change that failed and is due: `target` is the hash of what it was to reach. */
export type FailedTarget = FailedChange & { readonly target: string };

/** Changes that EKS refused or failed to make, of this run or from status. */
export interface Failures {
  /** The failure of what the spec asks for. Automatic updates are excluded. */
  readonly asked: FailedTarget | undefined;
  /** The failure of the automatic update that is due. */
  readonly automatic: FailedTarget | undefined;
  /** Those in status whose targets are still open, and for which the user has requested no retry. */
  readonly remembered: readonly FailedTarget[];
  /** Those of all changes that are due. */
  readonly targets: readonly FailedTarget[];
  /** All failures for status: those of changes that are due, and then those of other automatic updates, the last one first. */
  readonly changes: readonly FailedChange[];
}

/** The checks of a pool, as far as their facts were read. */
export interface DueChecks {
  /** How many facts must be read. */
  readonly scope: Scope;
  /** Both undefined if nothing is checked. */
  readonly input: CheckInput | undefined;
  readonly results: CheckResults | undefined;
  /** The required checks that block the creation of the node group or of a canary; empty when none is to be created. */
  readonly blocking: readonly PrerequisiteResult[];
}
