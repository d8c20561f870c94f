/** The condition NodePoolReady. Pure. */

import { REPLACE_ANNOTATION } from '../../api/labels.ts';
import { falseCondition, trueCondition, unknownCondition } from '../../conditions/condition.ts';
import { describeOpening, isInWindow, nextOpening, windowFault } from '../../disruption/maintenance.ts';
import { releasing } from '../../membership/releasing.ts';
import type { ConditionState } from '../../model/conditions.ts';
import type { Decision } from '../../model/decisions.ts';
import type { Settings } from '../../model/observedState.ts';
import type { CallError } from '../../ports/callResult.ts';
import type { KarpenterKind, KarpenterObject, NodeClaim } from '../../ports/karpenter.ts';
import { karpenterIn } from '../../rules/nodeSource.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { waitOf } from '../../rules/ruleChains.ts';
import { count, describeFailure, duration, joined, sentence } from '../../util/words.ts';
import { describeWaitingPods } from './heldNodes.ts';
import {
  isOwned,
  type KarpenterDerived,
  type KarpenterState,
  liveClaims,
  objectIn,
  objectName,
} from './karpenterState.ts';

const WINDOWS_FIELD = 'spec.karpenter.update.maintenanceWindows';

/** How long Karpenter may take to evaluate a NodePool, in milliseconds: it takes seconds. */
const EVALUATION_MS = 60_000;

/** How many NodeClaims a message names. */
const CLAIMS_IN_MESSAGE = 3;

/** Whether the NodePool exists, is as the spec says, and Karpenter can create nodes from it. */
export function nodePoolReady(s: KarpenterDerived, decisions: readonly Decision[]): ConditionState {
  const own = waitOf(decisions, 'nodeClass') ?? waitOf(decisions, 'nodePool');
  if (isDeleting(s.pool)) return notDeleted(s) ?? (own ? waiting(own) : releasing(s));
  const { karpenter } = s;
  const name = objectName(s);
  if (karpenter.kind === 'unknown') return unknown(s, karpenter.error);
  if (own) return waiting(own);
  const failed = errorOf(s, 'applyKarpenterObject');
  if (failed) return rejected(failed);
  const { nodePool } = karpenter;
  if (!nodePool) return falseCondition('NodePoolNotReady', `${name} is being created.`, 'working');
  if (nodePool.deleting) {
    const message = `${name} is being deleted, and its nodes with it. The operator creates it again after that.`;
    return falseCondition('NodePoolDeleting', message, 'working');
  }
  const fault = windowFault(karpenterIn(s.pool.spec).update?.maintenanceWindows, WINDOWS_FIELD);
  if (fault) return falseCondition('InvalidMaintenanceWindow', fault, 'stalled');
  const nodeClass = isOwned(s, 'EC2NodeClass') ? objectIn(s, 'EC2NodeClass') : undefined;
  if (nodeClass && nodeClass.ready !== 'True') return notReady(s, 'EC2NodeClass', nodeClass);
  if (nodePool.ready !== 'True') return notReady(s, 'NodePool', nodePool);
  if (nodePool.registrationProblem !== '') {
    const message = `Nodes of ${name} do not register: ${sentence(nodePool.registrationProblem)} See: kubectl describe nodepool ${s.pool.metadata.name}`;
    return falseCondition('NodeClaimsWithoutNode', message);
  }
  const late = liveClaims(s).filter((claim) => isLate(claim, s));
  if (late.length > 0) return withoutNode(s, late);
  return trueCondition('NodePoolReady', `${counts(s)}${drifted(s)}${describeWaitingPods(s)}${unknownRepair(s)}`);
}

/** When Karpenter should have evaluated the objects of the pool, in epoch milliseconds; undefined if it has. */
export function evaluationEnd(s: KarpenterState): number | undefined {
  const waiting = (['NodePool', 'EC2NodeClass'] as const).flatMap((kind) => evaluationEndOf(objectIn(s, kind)) ?? []);
  return waiting.length > 0 ? Math.max(...waiting) : undefined;
}

function evaluationEndOf(object: KarpenterObject | undefined): number | undefined {
  if (!object || object.ready === 'True' || object.ready === 'False') return undefined;
  return Math.max(object.appliedAt, object.readySince) + EVALUATION_MS;
}

/** Karpenter deletes a NodeClaim that is no node after 15 minutes. */
const LONGEST_START_MS = 10 * 60_000;

/** How long a NodeClaim may have no node before that is reported, in milliseconds. */
export function startMs({ joinGraceMs }: Pick<Settings, 'joinGraceMs'>): number {
  return Math.min(joinGraceMs, LONGEST_START_MS);
}

/** Whether a NodeClaim has had no node for longer than a node takes to join. */
function isLate({ node, createdAt }: NodeClaim, { now, settings }: KarpenterState): boolean {
  return node === '' && now - createdAt >= startMs(settings);
}

function waiting({ reason, message = '', progress }: NonNullable<ReturnType<typeof waitOf>>): ConditionState {
  return falseCondition(reason, message, progress ? 'working' : 'stalled');
}

/** The error of a step in this run. A conflict is expected: another client wrote first. */
function errorOf(
  { errors }: KarpenterState,
  of: 'applyKarpenterObject' | 'deleteKarpenterObject',
): CallError | undefined {
  return errors.find(({ step, error }) => step === of && error.kind !== 'conflict')?.error;
}

function rejected(error: CallError): ConditionState {
  if (error.kind === 'gone') return missing();
  const isLasting = error.kind === 'refused';
  const remedy = isLasting ? ' Correct spec.karpenter, or the labels and taints of the pool.' : '';
  const message = `The objects of Karpenter could not be applied: ${describeFailure(error)}${remedy}`;
  return falseCondition('NodePoolRejected', message, isLasting ? 'stalled' : 'working');
}

/** Why the NodePool of a deleted pool is not deleted. */
function notDeleted(s: KarpenterState): ConditionState | undefined {
  const failed = errorOf(s, 'deleteKarpenterObject');
  if (!failed) return undefined;
  const message = `The objects of Karpenter could not be deleted: ${describeFailure(failed)} To delete the pool without them, set deletionPolicy: Retain.`;
  return falseCondition('NodePoolDeleting', message, failed.kind === 'unavailable' ? 'working' : 'stalled');
}

function unknown(s: KarpenterState, error: CallError | undefined): ConditionState {
  const name = objectName(s);
  if (!error)
    return unknownCondition('NodePoolUnknown', `${name} has not been read yet. The pool keeps its nodes until then.`);
  if (error.kind === 'gone') return missing();
  const why = `${name} cannot be read: ${describeFailure(error)} The pool keeps its nodes until then.`;
  if (error.kind !== 'denied') return unknownCondition('NodePoolUnknown', why);
  const fix = "Grant the operator's ServiceAccount the permissions in config/karpenter.";
  return unknownCondition('AccessDenied', `${why} ${fix}`, 'stalled');
}

function notReady(s: KarpenterState, kind: KarpenterKind, object: KarpenterObject): ConditionState {
  const { ready, problem } = object;
  const name = objectName(s, kind);
  const see = `See: kubectl describe ${kind.toLowerCase()} ${s.pool.metadata.name}`;
  const end = evaluationEndOf(object);
  if (ready === 'False' || end === undefined) {
    const why = problem === '' ? '.' : `: ${sentence(problem)}`;
    return falseCondition('NodePoolNotReady', `Karpenter cannot create nodes with ${name}${why} ${see}`, 'stalled');
  }
  if (s.now < end) return falseCondition('NodePoolNotReady', `Karpenter is evaluating ${name}.`, 'working');
  const message = `Karpenter has not evaluated ${name} for ${duration(EVALUATION_MS)}. Check that it runs: kubectl get deployments -A -l app.kubernetes.io/name=karpenter`;
  return falseCondition('NodePoolNotReady', message, 'stalled');
}

function missing(): ConditionState {
  const message =
    'The cluster does not serve karpenter.sh/v1 or the API of the node class. Install Karpenter 1.0 or later. The pool keeps its nodes until then.';
  return falseCondition('KarpenterMissing', message, 'stalled');
}

function withoutNode(s: KarpenterState, late: readonly NodeClaim[]): ConditionState {
  const [first] = late;
  const names = joined(
    late.map(({ name }) => name),
    CLAIMS_IN_MESSAGE,
  );
  const reported = first?.problem ? ` Karpenter reports: ${sentence(first.problem)}` : '';
  const message = `${count(late.length, 'NodeClaim')} of ${objectName(s)} ${late.length === 1 ? 'has' : 'have'} had no node for ${duration(startMs(s.settings))} or longer: ${names}.${reported} See: kubectl describe nodeclaim ${first?.name}`;
  return falseCondition('NodeClaimsWithoutNode', message);
}

function counts(s: KarpenterState): string {
  const live = liveClaims(s);
  const without = live.filter(({ node }) => node === '').length;
  const part = without > 0 ? `, ${without} of them without a node yet` : '';
  return `${objectName(s)} has ${count(live.length, 'NodeClaim')}${part}.`;
}

/** That both may replace the same nodes. */
function unknownRepair({ nodeRepair }: KarpenterDerived): string {
  if (!nodeRepair || nodeRepair.ok) return '';
  return ` It is not known whether Karpenter runs with the feature gate NodeRepair, which replaces failing nodes, too: ${describeFailure(nodeRepair.error)}`;
}

/** What Karpenter replaces, and when; empty if there is nothing. */
function drifted(s: KarpenterState): string {
  const all = liveClaims(s).filter(({ drift }) => drift !== '');
  // Karpenter disrupts no node that still has a startup taint.
  const held = all.filter(({ node, isInitialized }) => node !== '' && !isInitialized);
  const claims = all.filter((claim) => !held.includes(claim));
  return `${willBeReplaced(claims, s)}${notReplaced(held)}${abandoned(s)}`;
}

/**
 * How long Karpenter waits until the node that replaces another one is Ready and has no startup taints, in milliseconds: then it keeps the other one, and tries again.
 * Source: minRetryDuration in pkg/controllers/disruption/queue.go of https://github.com/kubernetes-sigs/karpenter
 */
const REPLACEMENT_MS = 10 * 60_000;

/** When Karpenter gives up a replacement that is not initialized, in epoch milliseconds. */
export function replacementEnds(s: KarpenterState): readonly number[] {
  return startingReplacements(s).map(({ createdAt }) => createdAt + REPLACEMENT_MS);
}

/** The NodeClaims that may replace nodes which have drifted. */
function startingReplacements(s: KarpenterState): readonly NodeClaim[] {
  const live = liveClaims(s);
  const hasDrifted = live.some(({ drift }) => drift !== '');
  return hasDrifted ? live.filter(({ drift, isInitialized }) => drift === '' && !isInitialized) : [];
}

/** That drifted nodes are never replaced if each replacement starts or is verified too late. */
function abandoned(s: KarpenterState): string {
  const late = startingReplacements(s).filter(({ createdAt }) => createdAt + REPLACEMENT_MS <= s.now);
  const [first] = late;
  if (!first) return '';
  const name = first.node === '' ? `nodeclaim ${first.name}` : `node ${first.node}`;
  return ` ${count(late.length, 'new node')} did not become Ready without startup taints within ${duration(REPLACEMENT_MS)}, after which Karpenter keeps the old node and tries again. Check why: kubectl describe ${name}`;
}

function notReplaced(held: readonly NodeClaim[]): string {
  const [first] = held;
  if (!first) return '';
  return ` Karpenter does not replace ${count(held.length, 'drifted node')} with a startup taint, such as the gate: kubectl annotate node ${first.node} ${REPLACE_ANNOTATION}=true`;
}

function willBeReplaced(claims: readonly NodeClaim[], s: KarpenterState): string {
  if (claims.length === 0) return '';
  const reasons = joined([...new Set(claims.map(({ drift }) => drift))].sort());
  const [them, differs] = claims.length === 1 ? ['it', 'differs'] : ['them', 'differ'];
  const what = `${count(claims.length, 'node')} ${differs} from the NodePool or the node class (${reasons})`;
  const windows = karpenterIn(s.pool.spec).update?.maintenanceWindows;
  const opening = isInWindow(windows, s.now) ? undefined : nextOpening(windows, s.now);
  const limit = s.pool.spec.disruption?.maxUnavailable ?? 1;
  const when = opening
    ? `from ${describeOpening(opening)} on, in a maintenance window`
    : `at most ${limit} at a time (disruption.maxUnavailable)`;
  return ` ${what}. Karpenter replaces ${them} ${when}.`;
}
