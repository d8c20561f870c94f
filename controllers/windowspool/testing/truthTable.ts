/** The truth table of a pool's conditions: how its lines are written, and what they have in common. */
import assert from 'node:assert/strict';
import type { WindowsPoolStatus } from '../api.gen.ts';
import type { NodeGroupConditions } from '../model/conditions.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { NodeGroup } from '../ports/eks.ts';
import { nodeGroupConditions } from '../providers/eks/conditions.ts';
import { knownStatus, MINUTE, NOW, sampleGroup, sampleNode, samplePool } from './fixtures.ts';

/** Conditions by type, each in one line. */
export type Shown = Readonly<Record<string, string>>;

/** Every condition in one line: status, reason and message. UpToDate, on which no other depends, has a table of its own. */
function shown(s: ObservedState): Shown {
  return Object.fromEntries(
    Object.entries(nodeGroupConditions(s) as unknown as Record<string, NodeGroupConditions['Ready']>)
      .filter(([type]) => type !== 'UpToDate')
      .map(([type, finding]) => [type, `${finding.status} ${finding.reason}: ${finding.message}`]),
  );
}

const HEALTHY = {
  Ready: 'True Verified: 3 of 3 nodes verified.',
  PrerequisitesMet: 'True Met: All prerequisites in EKS cluster prod are met.',
  NodeGroupReady: 'True Active: Node group web is ACTIVE.',
  RuntimeClassReady: 'True Available: RuntimeClass windows-2022 selects nodes with Windows build 10.0.20348.',
  NodesVerified: 'True AllVerified: 3 nodes verified.',
};
/** NodesVerified before there is a group. */
export const NO_NODES_YET = 'False Pending: Waiting for the node group.';
/** The failure of a `wrongNode`. */
export const OTHER_BUILD = 'runs Windows Server 2025 (10.0.26100), expected Windows Server 2022 (10.0.20348)';

/** A pool whose group was created. */
export const pool = samplePool({}, { status: knownStatus() });

/** The observed group of the pool, with a change. */
export function group(change: Partial<NodeGroup>, of = pool): Pick<ObservedState, 'group'> {
  return { group: { kind: 'seen', group: sampleGroup(of, change) } };
}

/** A status in which NodesVerified has had a reason for some minutes. */
export function since(minutes: number, reason: string): WindowsPoolStatus {
  const lastTransitionTime = new Date(NOW - minutes * MINUTE).toISOString();
  return {
    ...knownStatus(),
    conditions: [{ type: 'NodesVerified', status: 'Unknown', reason, message: '', lastTransitionTime }],
  };
}

/** A node of another Windows version. */
export function wrongNode(name: string) {
  const labels = { ...sampleNode().labels, 'node.kubernetes.io/windows-build': '10.0.26100' };
  return sampleNode({ name, kernelVersion: '10.0.26100.32230', labels });
}

/** A line of the truth table: the observed state, and the conditions that differ from those of a healthy pool. */
type Line = readonly [name: string, observed: ObservedState, differing: Shown];

/** One test for each line. Ready points to Stalled, unless the line has another Ready. */
export function check(lines: readonly Line[]): void {
  for (const [name, observed, differing] of lines) {
    const reason = differing.Stalled?.match(/^True (\w+):/)?.[1];
    const pointer = reason ? ` The pool is stalled (${reason}): see the condition Stalled.` : '';
    it(name, () => assert.deepEqual(shown(observed), { ...HEALTHY, Ready: HEALTHY.Ready + pointer, ...differing }));
  }
}

/** A condition that stalls the pool and makes it not Ready: both repeat it. */
export function stalled(type: string, finding: string): Shown {
  return { Ready: `False${afterStatus(finding)}`, ...stalledAndReady(type, finding) };
}

/** A condition that stalls a pool with enough verified nodes: Ready stays True. */
export function stalledAndReady(type: string, finding: string): Shown {
  return { [type]: finding, Stalled: `True${afterStatus(finding)}` };
}

function afterStatus(finding: string): string {
  return finding.slice(finding.indexOf(' '));
}

/** A condition that the operator is working on and that makes the pool not Ready. */
export function working(type: string, finding: string): Shown {
  const rest = afterStatus(finding);
  return { Ready: `False${rest}`, [type]: finding, Reconciling: `True${rest}` };
}

/** NodeGroupReady before the creation. */
export const NOT_CREATED = 'False Creating: Node group web is about to be created.';
/** No group, no nodes. */
export const absent = { group: { kind: 'absent' }, nodes: [] } as const;
