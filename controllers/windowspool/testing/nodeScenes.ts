/** Nodes of a node group with removal annotations, and during their removal. */
import type { LeavingNode, WindowsPoolSpec, WindowsPoolStatus } from '../api/api.gen.ts';
import { CORDONED_ANNOTATION, REMOVE_ANNOTATION, REPLACE_ANNOTATION } from '../api/labels.ts';
import type { TerminatingNodeView } from '../model/disruption.ts';
import type { DrainState } from '../model/observedState.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../providers/nodeGroup/model/groupState.ts';
import { known } from './answers.ts';
import { knownStatus, MINUTE, NOW, sampleGroup, sampleNode, samplePool, sampleState } from './fixtures.ts';

export const REPLACE = { [REPLACE_ANNOTATION]: 'true' };
export const REMOVE = { [REMOVE_ANNOTATION]: 'true' };
export const BY_OPERATOR = { [CORDONED_ANNOTATION]: 'by-operator' };

/** A node of the pool: `a`, whose instance is i-a. */
export function node(name: string, change: Partial<NodeRecord> = {}): NodeRecord {
  return sampleNode({ name, providerID: `aws:///eu-west-1a/i-${name}`, ...change });
}

/** The fields of a node that is cordoned for its replacement. */
export const cordoned = { unschedulable: true, annotations: { ...REPLACE, ...BY_OPERATOR } };

/** The record in status of a removal that started two minutes ago. */
export function terminating(name: string, change: Partial<LeavingNode> = {}): LeavingNode {
  const startTime = new Date(NOW - 2 * MINUTE).toISOString();
  return { name, uid: `uid-${name}`, instanceID: `i-${name}`, operation: 'Replace', startTime, ...change };
}

/** A pod that must leave its node. */
export function podOn(change: Partial<DrainPod> = {}): DrainPod {
  return {
    namespace: 'shop',
    name: 'cart-0',
    uid: 'uid-cart-0',
    createdAt: NOW - 60 * MINUTE,
    deletingAt: undefined,
    gracePeriodSeconds: 30,
    controller: 'ReplicaSet',
    mirror: false,
    phase: 'Running',
    emptyDir: false,
    toleratesCordon: false,
    ...change,
  };
}

interface Scene {
  readonly spec?: Parameters<typeof samplePool>[0];
  readonly group?: Partial<NodeGroup>;
  readonly nodes?: readonly NodeRecord[];
  /** The records of removals in status. */
  readonly entries?: readonly LeavingNode[];
  readonly disruption?: WindowsPoolStatus['disruption'];
  readonly views?: readonly TerminatingNodeView[];
  readonly fresh?: boolean;
  readonly rest?: Partial<EksState>;
}

/** A settled pool of the nodes a, b and c, 2 to 5 of them. */
export function scene({ spec, group, nodes, entries, disruption, views, fresh = true, rest }: Scene = {}): EksDerived {
  const reservation = entries && {
    reason: 'NodeReplacement' as const,
    startTime: '2026-03-01T11:58:00Z',
    nodes: [...entries],
  };
  const lost = disruption ?? reservation;
  const status = { ...knownStatus(), ...(lost && { disruption: lost }) };
  const scaling = { minSize: 2, maxSize: 5, ...spec?.nodeGroup?.scaling };
  const pool = samplePool({ ...spec, nodeGroup: { ...spec?.nodeGroup, scaling } }, { status });
  const operations: DrainState | undefined = views && { fresh, nextAt: NOW, nodes: views, blocked: [] };
  const seen = sampleGroup(pool, { scaling: { minSize: 2, maxSize: 5, desiredSize: 3 }, ...group });
  return sampleState({
    pool,
    group: { kind: 'seen', group: seen },
    nodes: nodes ?? [node('a'), node('b'), node('c')],
    ...(operations && { operations }),
    ...rest,
  });
}

/** The instance of the node a in EC2. */
export const MEMBER = known({ state: 'running', scalingGroup: 'eks-web-0a1b', privateDnsName: 'a' });

/** The node a during its removal, and the others. */
export function terminatingScene(
  view: Omit<TerminatingNodeView, 'entry'>,
  entry: Partial<LeavingNode> = {},
  change: Scene = {},
): EksDerived {
  const its = terminating('a', entry);
  const a = view.node.ok && view.node.value ? [view.node.value] : [];
  return scene({ nodes: [...a, node('b'), node('c')], entries: [its], views: [{ entry: its, ...view }], ...change });
}

/** The node a, cordoned and without pods. */
export const drainedScene = (change: Partial<NodeRecord> = {}, entry: Partial<LeavingNode> = {}, rest: Scene = {}) =>
  terminatingScene({ node: known(node('a', { ...cordoned, ...change })), pods: known([]) }, entry, rest);

/** The node a, cordoned, with pods to evict. */
export const drainingScene = (pods: readonly DrainPod[], rest: Scene = {}, entry: Partial<LeavingNode> = {}) =>
  terminatingScene({ node: known(node('a', cordoned)), pods: known(pods) }, entry, rest);

/** The start of a removal that has timed out: the time-out is 15 minutes. */
export const longAgo = new Date(NOW - 15 * MINUTE).toISOString();

/** A pool of three nodes of which a and b, or as many as `failing`, have failed verification for 15 minutes. */
export function failingScene(remediation: NonNullable<WindowsPoolSpec['remediation']>, failing = 2): EksDerived {
  const broken = { ready: 'False', verifiedSince: NOW - 15 * MINUTE } as const;
  const verified = { status: 'False', reason: 'NotReady', message: '' } as const;
  const nodes = ['a', 'b', 'c'].map((name, i) => node(name, i < failing ? { ...broken, verified } : {}));
  return scene({ nodes, spec: { remediation } });
}
