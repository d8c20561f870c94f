/** The conditions of a pool of existing nodes. NodesFound stands where a pool with a node group has NodeGroupReady. Pure. */
import { type CommonAssessment, conclude, type Finding } from './assess.ts';
import { assessNodes, noneFound } from './assessNodes.ts';
import { assessRuntimeClass } from './assessRuntimeClass.ts';
import { isDeleting, isPaused } from './facts.ts';
import { assessPrerequisites } from './prerequisites/assessPrerequisites.ts';
import type { Situation } from './situation.ts';
import { count, joined } from './words.ts';

export interface ExistingAssessment extends CommonAssessment {
  readonly NodesFound: Finding;
}

/** How many nodes a message names. */
const NODES_IN_MESSAGE = 3;

export function assessExisting(s: Situation): ExistingAssessment {
  const parts = {
    PrerequisitesMet: assessPrerequisites(s),
    NodesFound: assessFound(s),
    RuntimeClassReady: assessRuntimeClass(s),
    NodesVerified: assessNodes(s),
  };
  const stalled = isDeleting(s.pool) ? undefined : Object.values(parts).find((finding) => finding.stalled);
  return conclude(s, summarize(s, parts, stalled), parts, stalled);
}

type Parts = Omit<ExistingAssessment, 'Ready' | 'Reconciling' | 'Stalled' | 'Paused'>;

/** Ready is about what pods need: a RuntimeClass and a verified node. Nobody knows how many nodes there should be. */
function summarize(s: Situation, parts: Parts, stalled: Finding | undefined): Finding {
  if (stalled) return { ...stalled, status: 'False' };
  if (isDeleting(s.pool)) return { ...parts.NodesFound, status: 'False' };
  if (parts.RuntimeClassReady.status !== 'True') return { ...parts.RuntimeClassReady, status: 'False' };
  const { verified, total } = s.roster;
  if (verified > 0)
    return { status: 'True', reason: 'Verified', message: `${verified} of ${count(total, 'node')} verified.` };
  return { ...(total === 0 ? parts.NodesFound : parts.NodesVerified), status: 'False' };
}

/** Whether the nodes that the spec names are the pool's. */
function assessFound(s: Situation): Finding {
  if (isDeleting(s.pool)) return assessReleasing(s);
  const [first, ...more] = s.holding?.contested ?? [];
  if (first) {
    const others = more.length > 0 ? ` So ${more.length === 1 ? 'is 1 node' : `are ${more.length} nodes`} more.` : '';
    const message = `Node ${first.node} is wanted here and belongs to WindowsPool ${first.holder}, which had it first.${others} Narrow spec.existingNodes of one of the two.`;
    return { status: 'False', reason: 'ClaimedByAnother', message };
  }
  const { total } = s.roster;
  if (total === 0) return noneFound(s);
  return { status: 'True', reason: 'NodesFound', message: `${count(total, 'node')} found.` };
}

function assessReleasing(s: Situation): Finding {
  const leaving = s.holding?.leaving ?? [];
  const names = joined(
    leaving.map(({ name }) => name),
    NODES_IN_MESSAGE,
  );
  const what =
    s.pool.spec.deletionPolicy === 'Retain' ? 'lose only the marks of the operator' : 'get back what they had';
  const wait = isPaused(s.pool) ? ' The pool is paused, so nothing happens.' : '';
  const message =
    leaving.length > 0
      ? `The nodes of the pool ${what}: ${names} to go.${wait}`
      : `The nodes of the pool ${what}.${wait}`;
  return { status: 'False', reason: 'Releasing', message, working: true };
}
