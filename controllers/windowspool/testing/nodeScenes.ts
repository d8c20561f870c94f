/** Nodes of a node group that are to go, and go. */
import type { LeavingNode, WindowsPoolSpec, WindowsPoolStatus } from '../api.gen.ts';
import { CORDONED_ANNOTATION, REMOVE_ANNOTATION, REPLACE_ANNOTATION } from '../labels.ts';
import type { DrainState, TerminatingNodeView } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { DrainPod } from '../ports/pods.ts';
import { known } from './answers.ts';
import { knownStatus, MINUTE, NOW, sampleGroup, sampleNode, samplePool, sampleState } from './fixtures.ts';

export const REPLACE = { [REPLACE_ANNOTATION]: 'true' };
export const REMOVE = { [REMOVE_ANNOTATION]: 'true' };
export const BY_OPERATOR = { [CORDONED_ANNOTATION]: 'by-operator' };

/** A node of the pool: `a`, whose instance is i-a. */
export function node(name: string, change: Partial<NodeRecord> = {}): NodeRecord {
  return sampleNode({ name, providerID: `aws:///eu-west-1a/i-${name}`, ...change });
}

/** What a node has that was cordoned for being replaced. */
export const cordoned = { unschedulable: true, annotations: { ...REPLACE, ...BY_OPERATOR } };

/** What status remembers of a node that goes since two minutes. */
export function terminating(name: string, change: Partial<LeavingNode> = {}): LeavingNode {
  const since = new Date(NOW - 2 * MINUTE).toISOString();
  return { name, uid: `uid-${name}`, instance: `i-${name}`, operation: 'Replace', since, ...change };
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
  /** What status remembers of nodes that go. */
  readonly entries?: readonly LeavingNode[];
  readonly disruption?: WindowsPoolStatus['disruption'];
  readonly awsCache?: readonly TerminatingNodeView[];
  readonly fresh?: boolean;
  readonly rest?: Partial<ObservedState>;
}

/** A settled pool of the nodes a, b and c, 2 to 5 of them. */
export function scene({
  spec,
  group,
  nodes,
  entries,
  disruption,
  awsCache,
  fresh = true,
  rest,
}: Scene = {}): ObservedState {
  const reservation = entries && { cause: 'NodeOperation', since: '2026-03-01T11:58:00Z', nodes: [...entries] };
  const lost = disruption ?? reservation;
  const status = { ...knownStatus(), ...(lost && { disruption: lost }) };
  const scaling = { min: 2, max: 5, ...spec?.scaling };
  const pool = samplePool({ ...spec, scaling } as Partial<WindowsPoolSpec>, { status });
  const operations: DrainState | undefined = awsCache && { fresh, nextAt: NOW, nodes: awsCache, blocked: [] };
  const seen = sampleGroup(pool, { scaling: { min: 2, max: 5, desired: 3 }, ...group });
  return sampleState({
    pool,
    group: { kind: 'seen', group: seen },
    nodes: nodes ?? [node('a'), node('b'), node('c')],
    ...(operations && { operations }),
    ...rest,
  });
}

/** What EC2 says of the instance of the node a. */
export const MEMBER = known({ state: 'running', scalingGroup: 'eks-web-0a1b', privateDnsName: 'a' });

/** The node a as it goes, and the others. */
export function going(
  view: Omit<TerminatingNodeView, 'entry'>,
  entry: Partial<LeavingNode> = {},
  change: Scene = {},
): ObservedState {
  const its = terminating('a', entry);
  const a = view.node.ok && view.node.value ? [view.node.value] : [];
  return scene({ nodes: [...a, node('b'), node('c')], entries: [its], awsCache: [{ entry: its, ...view }], ...change });
}

/** The node a, cordoned and without pods. */
export const goingEmpty = (change: Partial<NodeRecord> = {}, entry: Partial<LeavingNode> = {}, rest: Scene = {}) =>
  going({ node: known(node('a', { ...cordoned, ...change })), pods: known([]) }, entry, rest);

/** The node a, cordoned, with pods that must leave it. */
export const goingWithPods = (pods: readonly DrainPod[], rest: Scene = {}, entry: Partial<LeavingNode> = {}) =>
  going({ node: known(node('a', cordoned)), pods: known(pods) }, entry, rest);

/** Since when a node goes whose time is over: the time-out is 15 minutes. */
export const longAgo = new Date(NOW - 15 * MINUTE).toISOString();
