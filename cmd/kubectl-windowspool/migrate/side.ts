/** The two pools of a migration, as the scheduler sees them. Pure. */
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { NODE_GROUP_LABEL } from '../../../controllers/windowspool/api/labels.ts';
import { isUnavailable } from '../../../controllers/windowspool/disruption/nodeAnnotations.ts';
import {
  isOurs,
  isReadinessTaint,
  isSameTaint,
  registrationTaintsOf,
} from '../../../controllers/windowspool/nodes/nodeTaints.ts';
import {
  buildOf,
  releaseOf,
  WINDOWS_BUILD_LABEL,
  yearOf,
} from '../../../controllers/windowspool/nodes/windowsVersions.ts';
import type { NodeRecord, Taint } from '../../../controllers/windowspool/ports/nodes.ts';
import { labelsFor, nodeGroupNameOf } from '../../../controllers/windowspool/providers/nodeGroups.ts';
import { nodeSourceOf } from '../../../controllers/windowspool/rules/nodeSource.ts';
import { runtimeClassFor } from '../../../controllers/windowspool/runtimeClass/runtimeClass.ts';
import { labelIn, selects } from '../../../controllers/windowspool/util/labelSelector.ts';
import type { ClusterRuntimeClass } from '../runtimeClasses.ts';

type Labels = Readonly<Record<string, string>>;

/** A pool, with what matters for placing pods. */
export interface Side {
  readonly name: string;
  readonly pool: WindowsPool;
  readonly build: string;
  /** `Windows Server 2022`. */
  readonly release: string;
  /** The part of image tags: `ltsc2022`. */
  readonly tag: string;
  readonly nodes: readonly NodeRecord[];
  /** Labels that each node of the pool has, by its spec. */
  readonly labels: Labels;
  /** Its nodes with these labels; without nodes, what is known of them. */
  readonly candidates: readonly Candidate[];
  /** As in the cluster; if it does not exist there, as the operator would create it. */
  readonly runtimeClass: ClusterRuntimeClass;
}

/** A node on which pods may run; without a name, a future one, of which only the labels of the spec are known. */
interface Candidate {
  readonly name: string | undefined;
  readonly labels: Labels;
}

/** The old and the new pool. */
export interface Move {
  readonly from: Side;
  readonly to: Side;
  /** Those of the cluster and of both pools. */
  readonly runtimeClasses: readonly ClusterRuntimeClass[];
}

/** The move from one pool with its nodes to another. */
export function moveOf(
  from: readonly [pool: WindowsPool, nodes: readonly NodeRecord[]],
  to: readonly [pool: WindowsPool, nodes: readonly NodeRecord[]],
  existing: readonly ClusterRuntimeClass[],
): Move {
  const sides = { from: sideOf(...from, existing), to: sideOf(...to, existing) };
  return { ...sides, runtimeClasses: [...existing, sides.from.runtimeClass, sides.to.runtimeClass] };
}

function sideOf(pool: WindowsPool, nodes: readonly NodeRecord[], existing: readonly ClusterRuntimeClass[]): Side {
  const { windowsVersion } = pool.spec;
  const build = buildOf(windowsVersion);
  const { name, handler, ...scheduling } = runtimeClassFor(pool);
  const found = existing.find(({ metadata }) => metadata.name === name);
  const labels = {
    ...labelsFor(pool),
    'kubernetes.io/os': 'windows',
    'kubernetes.io/arch': 'amd64',
    [WINDOWS_BUILD_LABEL]: build,
    ...(nodeSourceOf(pool).rollsNodes && { [NODE_GROUP_LABEL]: nodeGroupNameOf(pool) }),
  };
  return {
    name: pool.metadata.name,
    pool,
    build,
    release: releaseOf(build) ?? build,
    tag: `ltsc${yearOf(windowsVersion)}`,
    nodes,
    labels,
    candidates:
      nodes.length === 0
        ? [{ name: undefined, labels }]
        : nodes.map((node) => ({ name: node.name, labels: { ...node.labels, ...labels } })),
    runtimeClass: found ?? { metadata: { name }, handler, scheduling },
  };
}

/** Whether the scheduler can place pods on the node, and the operator has verified it. */
export function isUsable(node: NodeRecord): boolean {
  return node.verified?.status === 'True' && !node.deleting && !isUnavailable(node) && !node.taints.some(isOurs);
}

/** The nodes on which pods of the pool can be placed. */
export function usableNodes({ nodes }: Pick<Side, 'nodes'>): readonly NodeRecord[] {
  return nodes.filter(isUsable);
}

/** Taints that pods must tolerate to run in the pool: those that all usable nodes have; without such a node, those of the spec. */
export function taintsOf(side: Side): readonly Taint[] {
  const [first, ...others] = usableNodes(side);
  const { taints = [] } = side.pool.spec;
  const found = first ? first.taints : [...registrationTaintsOf(side.pool.spec), ...taints];
  return found
    .filter((taint) => taint.effect !== 'PreferNoSchedule' && !isTemporary(taint))
    .filter((taint) => others.every((node) => node.taints.some((other) => isSameTaint(taint, other))));
}

/** Taints of the operator, of rules about readiness, and of the node lifecycle controller come and go. */
function isTemporary(taint: Taint): boolean {
  return isOurs(taint) || isReadinessTaint(taint) || taint.key.startsWith('node.kubernetes.io/');
}

/** A requirement of a node affinity. */
interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** A term of a required node affinity. */
export interface Term {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

/** What a pod requires of the labels and the name of its node. */
export interface Requirements {
  readonly nodeSelector: Labels;
  /** One of them must match; undefined: no node affinity is required. */
  readonly terms: readonly Term[] | undefined;
}

/** Whether a node of the pool has the labels. If the pool has no nodes, labels that its spec does not set are taken for granted. */
export function fits({ candidates, labels }: Side, { nodeSelector, terms }: Requirements): boolean {
  // Most workloads select nothing but labels that all nodes of the pool have: then there is no need to look at each node.
  const others = Object.entries(nodeSelector).filter(([key, value]) => labelIn(labels, key) !== value);
  if (others.some(([key]) => labelIn(labels, key) !== undefined)) return false;
  if (others.length === 0 && terms === undefined) return true;
  return candidates.some(
    (candidate) =>
      others.every(([key, value]) => hasLabel(candidate, key, value)) &&
      (terms === undefined || terms.some((term) => matches(term, candidate))),
  );
}

function hasLabel({ name, labels }: Candidate, key: string, value: string): boolean {
  const found = labelIn(labels, key);
  return found === value || (name === undefined && found === undefined);
}

function matches({ matchExpressions = [], matchFields = [] }: Term, candidate: Candidate): boolean {
  // An empty term matches no node: https://kubernetes.io/docs/reference/kubernetes-api/definitions/node-selector-v1-core/
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = candidate.name === undefined ? {} : { 'metadata.name': candidate.name };
  return (
    matchExpressions.every((requirement) => holds(requirement, candidate)) &&
    matchFields.every((requirement) => holds(requirement, { name: candidate.name, labels: fields }))
  );
}

function holds({ key, operator, values = [] }: Requirement, { name, labels }: Candidate): boolean {
  const value = labelIn(labels, key);
  if (name === undefined && value === undefined) return true;
  switch (operator) {
    case 'Gt':
      return Number(value) > Number(values[0]);
    case 'Lt':
      return Number(value) < Number(values[0]);
    case 'In':
    case 'NotIn':
    case 'Exists':
    case 'DoesNotExist':
      return selects({ matchExpressions: [{ key, operator, values: [...values] }] }, labels);
    default:
      return false;
  }
}
