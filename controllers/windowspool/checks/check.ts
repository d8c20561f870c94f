/** What a check is, and what it can find. A provider has a list of checks; the runner, status, conditions and metrics treat all of them alike. */

import type { CheckState, WindowsPoolSpec } from '../api/api.gen.ts';
import type { AdviceReason, CheckReason, NodeCheck, PrerequisiteReason } from '../api/reasons.ts';
import type { CallError } from '../ports/callResult.ts';
import type { HealthCode, LaunchError } from '../ports/eks.ts';
import { sentence } from '../util/words.ts';

/**
 * - `Required`: while it is not met, nothing is created.
 * - `Warning`: it may become a problem, or affects only some workloads. Blocks nothing.
 * - `Advice`: it would make a pool that works more robust. Blocks nothing, and is in no condition and no event.
 */
export type Severity = CheckState['severity'];

interface Named<S extends Severity, R extends CheckReason> {
  readonly reason: R;
  /** The severity of what it finds. A required check can also find a warning. */
  readonly severity: S;
  /** The heading in docs/reference/checks.md, or in docs/reference/advice.md for advice, as an anchor. It is the name of the check in status. */
  readonly section: string;
}

/** The symptom of an unmet prerequisite: a check that nodes fail, nodes that do not join, or what EKS and EC2 report of a group. */
export type Symptom = NodeCheck | 'NodesMissing' | HealthCode | LaunchError;

/** What a pool requires, as messages, status and metrics name it. */
export interface Prerequisite extends Named<'Required' | 'Warning', PrerequisiteReason> {
  /** The subject in a message that it could not be checked: `Windows IPAM`. */
  readonly about: string;
}

/** A check as messages, status and metrics name it. */
export type CheckName = Prerequisite | Advice;

/** What would make a pool more robust, as messages, status and metrics name it. */
export type Advice = Named<'Advice', AdviceReason>;

/** The name of a check that blocks the creation of the node group while it is not met. */
export function required(reason: PrerequisiteReason, section: string, about: string): Prerequisite {
  return { reason, severity: 'Required', section, about };
}

/** The name of a check that warns. */
export function warns(reason: PrerequisiteReason, section: string, about: string): Prerequisite {
  return { reason, severity: 'Warning', section, about };
}

/** The name of a check that advises. */
export function advises(reason: AdviceReason, section: string): Advice {
  return { reason, severity: 'Advice', section };
}

/** A check of an input `I`, for which facts with the names `F` are read. */
export type Check<I, F extends string> = CheckName & {
  /** The facts that are read for it; absent: the input has everything. */
  readonly needs?: readonly F[];
  /** Whether advice may become due for a pool with this spec at any time: its facts are then read also while the pool looks healthy. */
  readonly concerns?: (spec: WindowsPoolSpec) => boolean;
  /** What nodes and the node group show while it is not met: a check that nodes fail, or another symptom. */
  readonly explains?: readonly Symptom[];
  /** The same for what it only warns of. Default: `explains`. */
  readonly explainsAsWarning?: readonly Symptom[];
  /** Pure. Undefined when a fact was not read, or the check does not apply. */
  readonly evaluate: (input: I) => Answer | undefined;
};

/** What a check found. */
export interface Answer {
  readonly status: 'Met' | 'NotMet' | 'Unknown';
  /**
   * If it is not met, what was found, and the remedy. If it is unknown, the cause. If it is met only later, automatically, why no action is needed.
   * Without a full stop; empty if there is nothing to say.
   */
  readonly message: string;
  /** What to do, in sentences that end with a command: `Enable Windows IPAM: kubectl ...`. Without a full stop, so that the command can be copied. */
  readonly fix?: string;
  /** What was found is only a warning. */
  readonly severity?: 'Warning';
  /** It resolves automatically. */
  readonly isTransient?: true;
  /** The permission that is missing to read a fact. */
  readonly right?: string;
}

/** It is met, or does not apply to the pool. */
export const met: Answer = { status: 'Met', message: '' };

/** It will be met without an action of the user; `message` says when. */
export function metWith(message: string): Answer {
  return { status: 'Met', message };
}

/** It is not met. */
export function notMet(message: string, fix?: string): Answer {
  return { status: 'NotMet', message, ...(fix !== undefined && { fix }) };
}

/** It is not met, and will be without an action of the user. */
export function notMetYet(message: string): Answer {
  return { status: 'NotMet', message, isTransient: true };
}

/** It may not be met. */
export function warning(message: string, fix?: string): Answer {
  return { ...notMet(message, fix), severity: 'Warning' };
}

/** A fact could not be read. `permission`: what reading it needs; `permissions`: what reading any fact needs. */
export function unknown(error: CallError, permission: string, permissions: readonly string[]): Answer {
  if (error.kind === 'denied') {
    // A fact may need several calls: if the denied one is known, it is reported.
    const right = permissions.find((each) => each === error.operation) ?? permission;
    return { status: 'Unknown', message: `missing permission ${right}`, right };
  }
  const text = sentence(error.message).slice(0, -1);
  return { status: 'Unknown', message: `${error.operation} failed${text && `: ${text}`}` };
}
