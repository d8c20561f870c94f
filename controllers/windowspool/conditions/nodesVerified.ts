/** The condition NodesVerified. */

import { type NodeCheck, remedyFor } from '../api/reasons.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { Derived } from '../model/due.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { VerificationResult } from '../model/poolNodesView.ts';
import { neededNodes } from '../rules/poolQueries.ts';
import { isNodeWriteError } from '../steps/stepKinds.ts';
import { count, joined, sentence } from '../util/words.ts';
import { falseCondition, trueCondition, unknownCondition } from './condition.ts';

/** How many failing nodes a message spells out; status.failingNodes has more. */
const NODES_IN_MESSAGE = 3;

/** A state, and what to do about it: the end of the message, because a command must be the last thing in it. */
export type Verification = ConditionState & { readonly remedy?: string };

/** What a provider adds to the condition. */
export interface NodesVerifiedParts<S> {
  /** The state while the provider has not brought all desired nodes; undefined when it has. */
  missing(s: S): Verification | undefined;
  /** What explains that nodes fail these checks, in sentences that begin with a space; empty if nothing is known. */
  explain?(s: S, checks: readonly NodeCheck[]): string;
  /** Nodes that are not counted although they claim to be of the pool, in a sentence; empty if there are none. */
  notCounted?(s: S): string;
}

/** Whether the nodes of the pool pass verification. */
export function nodesVerified<S extends Derived>(s: S, parts: NodesVerifiedParts<S>): ConditionState {
  const { remedy = '', ...state } = verification(s, parts);
  const notCounted = parts.notCounted?.(s) ?? '';
  const message = [state.message, notCounted, unschedulable(s), heldNodes(s), refusedWrites(s), remedy]
    .filter((text) => text !== '')
    .join(' ');
  return { ...state, message };
}

/**
 * Writes to nodes that an admission policy refuses; missing permissions are reported in PrerequisitesMet. Only the first error in
 * alphabetical order is quoted, so that the message is stable.
 */
function refusedWrites({ errors }: ObservedState): string {
  const refused = errors.filter((entry) => isNodeWriteError(entry) && entry.error.kind === 'refused');
  const [first] = refused.map(({ error }) => `${error.operation} failed: ${error.message}`).sort();
  return first
    ? `${count(refused.length, 'write')} to nodes ${refused.length === 1 ? 'was' : 'were'} refused: ${sentence(first)}`
    : '';
}

/** `2 nodes are gated and 1 node is quarantined: no new pods are scheduled there.`; empty when there are none. */
function unschedulable({ poolNodes: { gated, quarantined } }: ObservedState): string {
  const counted = [
    [gated, 'gated'],
    [quarantined, 'quarantined'],
  ] as const;
  const parts = counted.flatMap(([nodes, how]) =>
    nodes > 0 ? [`${count(nodes, 'node')} ${nodes === 1 ? 'is' : 'are'} ${how}`] : [],
  );
  return parts.length > 0 ? `${joined(parts)}: no new pods are scheduled there.` : '';
}

/** Verified nodes that pods cannot use yet; empty when there are none. */
function heldNodes({ poolNodes: { awaitingRule: nodes } }: ObservedState): string {
  if (nodes === 0) return '';
  const [verb, rules] =
    nodes === 1 ? ['has', 'its NodeReadinessRule removes it'] : ['have', 'NodeReadinessRules remove it'];
  return `${count(nodes, 'verified node')} ${verb} a taint under readiness.k8s.io/ until ${rules}: see kubectl describe nodereadinessrules.`;
}

function verification<S extends Derived>(s: S, parts: NodesVerifiedParts<S>): Verification {
  const { total, verified, awaitingRule, failing, joining } = s.poolNodes;
  if (failing.length > 0) return failure(s, parts);
  const waiting = parts.missing(s);
  if (waiting) return waiting;
  if (joining.length > 0) {
    const message = `${count(joining.length, 'node')} joined and ${joining.length === 1 ? 'is' : 'are'} not ready yet: ${name(joining)}`;
    return unknownCondition('Joining', message, firstNodes(s));
  }
  const isAwaited = verified - awaitingRule < neededNodes(s.pool);
  const message = `${count(total, 'node')} verified.${warnings(s.poolNodes.warned)}`;
  return trueCondition('AllVerified', message, isAwaited ? 'working' : undefined);
}

function failure<S extends Derived>(s: S, { explain }: NodesVerifiedParts<S>): Verification {
  const { failing, total } = s.poolNodes;
  const reasons = new Set(failing.map(({ failures }) => failures[0]?.reason));
  const [only] = reasons;
  const same = reasons.size === 1 ? only : undefined;
  const known = failing.find(({ failures: [first] }) => first?.remedy !== undefined)?.failures[0]?.remedy;
  const checks = failing.flatMap(({ failures }) => failures.map(({ reason }) => reason));
  const cause = explain?.(s, checks) ?? '';
  // What is known to be the cause has its own remedy, which the general one would contradict.
  const general = cause === '' ? remedyFor : () => '';
  const remedy = same ? (known ?? general(same, failing[0]?.node.name ?? '')) : 'See status.failingNodes.';
  const message = `${failing.length} of ${count(total, 'node')} failed verification: ${name(failing)}${cause}`;
  return { ...falseCondition(same ?? 'NodesFailing', message), remedy };
}

/** The first names, and how many more there are. */
export function firstNames(names: readonly string[]): string {
  const more = names.length > NODES_IN_MESSAGE ? ` and ${names.length - NODES_IN_MESSAGE} more` : '';
  return `${names.slice(0, NODES_IN_MESSAGE).join(', ')}${more}`;
}

/** `ip-10-0-1-23 runs build …; ip-10-0-1-24 is not Ready … and 2 more.` */
function name(results: readonly VerificationResult[]): string {
  const lines = results.slice(0, NODES_IN_MESSAGE).map(({ node, failures }) => `${node.name} ${failures[0]?.message}`);
  const more = results.length > NODES_IN_MESSAGE ? ` and ${results.length - NODES_IN_MESSAGE} more` : '';
  return sentence(`${lines.join('; ')}${more}`);
}

function warnings(warned: readonly VerificationResult[]): string {
  const [first] = warned;
  if (!first) return '';
  return ` ${count(warned.length, 'node')} with a warning, such as ${sentence(`${first.node.name} ${first.warnings[0]?.message}`)}`;
}

/** Reconciling is not reported while a pool grows beyond the nodes that it needs. */
export function firstNodes(s: ObservedState): 'working' | undefined {
  return s.poolNodes.verified < neededNodes(s.pool) ? 'working' : undefined;
}
