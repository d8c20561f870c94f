/** The truth table of a pool's conditions: how its lines are written, and what they have in common. */
import assert from 'node:assert/strict';
import type { Tracking, WindowsPoolStatus } from '../api/api.gen.ts';
import type { ConditionStatus, NodeGroupConditions } from '../model/conditions.ts';
import type { NodeGroup } from '../ports/eks.ts';
import { nodeGroupConditions } from '../providers/nodeGroup/conditions/nodeGroupConditions.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../providers/nodeGroup/model/groupState.ts';
import { knownStatus, MINUTE, NOW, outcomeOf, sampleGroup, sampleNode, samplePool } from './fixtures.ts';
import { type Brief, briefOf, goldenTexts, sentencesOf } from './goldenTexts.ts';

/** Conditions by type, in the short form: status and reason, and the arguments of the message. */
export type Shown = Readonly<Record<string, Brief>>;

/** Every condition as `status reason: message`. UpToDate, on which no other depends, has a table of its own. */
function findingsOf(s: EksDerived): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(nodeGroupConditions(outcomeOf(s)) as unknown as Record<string, NodeGroupConditions['Ready']>)
      .filter(([type]) => type !== 'UpToDate')
      .map(([type, { status, reason, message }]) => [type, `${status} ${reason}: ${message}`]),
  );
}

/** The conditions of a line for its golden page. Those with the same message follow each other, and only the first shows it. */
function textsOf(s: EksDerived, types: readonly string[]): string[] {
  const findings = Object.entries(findingsOf(s)).filter(([type]) => types.includes(type));
  const byMessage = Map.groupBy(findings, ([, finding]) => sentencesOf(finding));
  return [...byMessage].map(
    ([message, same]) =>
      `${same.map(([type, finding]) => `${type}=${finding.slice(0, finding.indexOf(':'))}`).join(', ')}: ${message}`,
  );
}

const HEALTHY: Shown = {
  Ready: ['True EnoughNodesVerified', '3 of 3'],
  PrerequisitesMet: ['True Met', 'prod'],
  NodeGroupReady: ['True Active', 'web', 'ACTIVE'],
  RuntimeClassReady: ['True Available', 'windows-2022', '10.0.20348'],
  NodesVerified: ['True AllVerified', '3 nodes'],
};
/** NodesVerified before there is a group. */
export const NO_NODES_YET: Brief = ['False Pending'];

/** A pool whose group was created. */
export const pool = samplePool({}, { status: knownStatus() });

/** The observed group of the pool, with a change. */
export function group(change: Partial<NodeGroup>, of = pool): Pick<EksState, 'group'> {
  return { group: { kind: 'seen', group: sampleGroup(of, change) } };
}

/** A status that records what is known of missing nodes. */
export function recorded(missing: Pick<Tracking, 'joiningSince' | 'nodesMissing'>): WindowsPoolStatus {
  const status = knownStatus();
  return { ...status, tracking: { ...status?.tracking, ...missing } };
}

/** A status in which nodes have been joining for some minutes. */
export function joiningFor(minutes: number): WindowsPoolStatus {
  return recorded({ joiningSince: new Date(NOW - minutes * MINUTE).toISOString() });
}

/** A node of another Windows version. */
export function wrongNode(name: string) {
  const labels = { ...sampleNode().labels, 'node.kubernetes.io/windows-build': '10.0.26100' };
  return sampleNode({ name, kernelVersion: '10.0.26100.32230', labels });
}

/** A line of the truth table: the observed state, and the conditions that differ from those of a healthy pool. */
type Line = readonly [name: string, observed: EksDerived, differing: Shown];

/**
 * A function that defines one test for each line, and a test that compares the messages of all lines with test/golden/texts/NAME.txt. Ready
 * repeats the message of Stalled, unless the line has another Ready.
 */
export function truthTable(name: string): (lines: readonly Line[]) => void {
  const golden = goldenTexts(name);
  return (lines) => {
    for (const [title, observed, differing] of lines) {
      const [, ...cause] = differing.Stalled ?? [''];
      const repeated = differing.Stalled && { Ready: ['True EnoughNodesVerified', '3 of 3', ...cause] as const };
      const want: Shown = { ...HEALTHY, ...repeated, ...differing };
      const test = it(title, () => {
        const found = Object.entries(findingsOf(observed)).map(([type, text]) => [type, briefOf(text, want[type])]);
        assert.deepEqual(Object.fromEntries(found), want);
      });
      golden(test, () => textsOf(observed, Object.keys({ ...repeated, ...differing })));
    }
  };
}

/** A condition that stalls the pool and makes it not Ready: both repeat it. */
export function stalled(type: string, finding: Brief): Shown {
  return { Ready: withStatus('False', finding), ...stalledAndReady(type, finding) };
}

/** A condition that stalls a pool with enough verified nodes: Ready stays True. */
export function stalledAndReady(type: string, finding: Brief): Shown {
  return { [type]: finding, Stalled: withStatus('True', finding) };
}

function withStatus(status: ConditionStatus, [identity, ...args]: Brief): Brief {
  return [`${status} ${identity.split(' ')[1]}`, ...args];
}

/** A condition that the operator is working on and that makes the pool not Ready. */
export function working(type: string, finding: Brief): Shown {
  return { Ready: withStatus('False', finding), [type]: finding, Reconciling: withStatus('True', finding) };
}

/** NodeGroupReady before the creation. */
export const NOT_CREATED: Brief = ['False Creating', 'web'];
/** No group, no nodes. */
export const absent = { group: { kind: 'absent' }, nodes: [] } as const;
