/**
 * What is due for a pool with a node group, in stages: the open changes, the failures among them, what the version change waits for, and the
 * prerequisites of what is to be created. Pure. Everything after observe reads only the result. While facts are still being read, `observe` asks the
 * stages on which the next reads depend.
 */
import { admit } from '../../../disruption/admission.ts';
import { capacityOf } from '../groupCapacity.ts';
import type { Scope } from '../model/checkFacts.ts';
import type { DueChecks, DueConfig, DueVersion, EksDue, OpenConfig } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { adoptionIn } from './adoptionDue.ts';
import { isToBeMade, prerequisitesOf, scopeOf, type ToBeMade } from './checkResults.ts';
import { isUndone } from './configChange.ts';
import { dueVersionOf } from './dueVersion.ts';
import { failuresOf, type KnownFailures } from './failures.ts';
import { type OpenChanges, openChangesOf } from './openChanges.ts';

/** What is due for a pool with a node group. */
export function dueForNodeGroup(s: EksState): EksDue {
  const { open, failures, version, made } = changesStage(s);
  const capacity = capacityOf(s);
  const { asked, automatic, remembered, targets, changes } = failures;
  const undone = open.config !== undefined && isUndone(s, open.differences, open.config);
  const dueConfig = (config: OpenConfig | undefined): DueConfig | undefined =>
    config && { ...config, hasFailed: failures.standing.has(config.target), isUndone: undone };
  return {
    capacity,
    nodes: admit(s, capacity),
    creation: open.creation,
    template: open.template,
    differences: open.differences,
    adoption: adoptionIn(s),
    version,
    config: dueConfig(open.config),
    preparation: dueConfig(open.preparation),
    tags: open.tags,
    followedTemplate: open.followedTemplate,
    rollback: open.rollback,
    failures: { asked, automatic, remembered, targets, changes },
    replacement: open.replacement,
    isToBeMade: made.isToBeMade,
    prerequisites: prerequisitesOf(s, made),
  };
}

/** How many facts must be read, from what is known so far. */
export function scopeToRead(s: EksState): Scope {
  return scopeOf(s, changesStage(s).made);
}

/** Whether another group is to replace the main one, from what is known so far. */
export function isToBeReplaced(s: EksState): boolean {
  return openChangesOf(s).replacement.length > 0;
}

/** The prerequisites, from the facts that were read so far. */
export function knownPrerequisites(s: EksState): DueChecks {
  return prerequisitesOf(s, changesStage(s).made);
}

interface ChangesStage {
  readonly open: OpenChanges;
  readonly failures: KnownFailures;
  readonly version: DueVersion | undefined;
  readonly made: ToBeMade;
}

/** The stages before the prerequisites. */
function changesStage(s: EksState): ChangesStage {
  const open = openChangesOf(s);
  const failures = failuresOf(s, open);
  const version = dueVersionOf(s, open, failures);
  const { replacement } = open;
  const made = {
    replacement,
    isToBeMade: isToBeMade(s, replacement),
    isCanaryDue: version?.isCanaryDue === true,
  };
  return { open, failures, version, made };
}
