/**
 * What a pool of existing nodes writes to a node, in one patch: labels, taints, and a record of the values before. The record is an annotation
 * of the node, so it is deleted with the node. A kubelet can write it, so it only says which of the pool's own marks are on the node: what no spec of
 * the pool has set is never undone. The marks of a pool are in its status, where kubelets cannot write. Pure.
 *
 *   node --markChangeFor--> labels, taints and record of the pool --releaseOf--> the original node
 */
import type { WindowsPool, WindowsPoolSpec } from '../api/api.gen.ts';
import { POOL_KEY } from '../api/labels.ts';
import type { TaintChange } from '../model/poolNodesView.ts';
import type { NodeMarks, NodeRecord, Taint } from '../ports/nodes.ts';
import { nodeSourceOf } from '../rules/nodeSource.ts';
import { labelIn } from '../util/labelSelector.ts';
import { hasGateTaintOf, isOurs, isSameTaint, REGISTRATION_TAINT, registrationTaintsOf } from './nodeTaints.ts';
import { buildOf, parseKernelVersion, WINDOWS_BUILD_LABEL } from './windowsVersions.ts';

/** A label that the pool set: the value before, null for none, and the value that the pool set. */
interface LabelRecord {
  readonly was: string | null;
  readonly is: string;
}

/** The ownership record of a pool on a node. */
export interface OwnershipRecord {
  readonly pool: string;
  /** Whether the node had the gate taint when the pool took it. */
  readonly gated: boolean;
  readonly labels: Readonly<Record<string, LabelRecord>>;
  /** Taints that the pool added. */
  readonly taints: readonly Taint[];
}

/** The labels and taints that a pool sets or has set, such as `label/tier=web` and `taint/os=windows:NoSchedule`. */
export type Marks = ReadonlySet<string>;

const labelMark = (key: string, value: string): string => `label/${key}=${value}`;
const taintMark = ({ key, value = '', effect }: Taint): string => `taint/${key}=${value}:${effect}`;

/** The marks of a spec, for status. */
export function marksIn(spec: WindowsPoolSpec): string[] {
  const labels = Object.entries(spec.labels ?? {}).map(([key, value]) => labelMark(key, value));
  return [...labels, ...expectedTaints(spec).map(taintMark)].sort();
}

/** The marks that the pool may undo: those of its spec, and those of earlier specs that status records. */
export function marksOf({ spec, status }: Pick<WindowsPool, 'spec' | 'status'>): Marks {
  return new Set([...marksIn(spec), ...(status?.tracking?.marks ?? [])]);
}

/** The part of a record that the pool can have written. */
function trusted(record: OwnershipRecord | undefined, marks: Marks): OwnershipRecord | undefined {
  if (!record) return undefined;
  const isOwn = ([key, { is }]: readonly [string, LabelRecord]) =>
    OWN_LABELS.includes(key) || marks.has(labelMark(key, is));
  return {
    ...record,
    labels: Object.fromEntries(Object.entries(record.labels).filter(isOwn)),
    taints: record.taints.filter((taint) => marks.has(taintMark(taint))),
  };
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set. The API server rejects any other value. */
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Keys that no pool sets. A record that names them was written by someone else, who may have fewer permissions than the operator. */
const FOREIGN_KEY = /^(.*\.)?(kubernetes\.io|k8s\.io|eks\.amazonaws\.com|winpool\.dev)\//;
const OWN_LABELS: readonly string[] = [POOL_KEY, WINDOWS_BUILD_LABEL];

/**
 * The ownership record of a node; undefined when there is none that can be parsed. A kubelet can write its node's annotations, so every
 * value is validated.
 */
export function ownershipOf({ ownership }: Pick<NodeRecord, 'ownership'>): OwnershipRecord | undefined {
  if (!ownership) return undefined;
  // Every pool evaluates the same node in turn, so the last result is kept.
  if (last?.text !== ownership) last = { text: ownership, ownership: parsed(ownership) };
  return last.ownership;
}

/** The pool that the ownership record of a node names; undefined when there is none. */
export function ownerOf(node: Pick<NodeRecord, 'ownership'>): string | undefined {
  if (!node.ownership) return undefined;
  const known = owners.get(node);
  if (known !== undefined) return known;
  const owner = ownershipOf(node)?.pool;
  if (owner !== undefined) owners.set(node, owner);
  return owner;
}

/** A change of a pool compares it with the owner of every node, so records are not parsed again. */
const owners = new WeakMap<Pick<NodeRecord, 'ownership'>, string>();

let last: { readonly text: string; readonly ownership: OwnershipRecord | undefined } | undefined;

function parsed(ownership: string): OwnershipRecord | undefined {
  try {
    return ownershipIn(JSON.parse(ownership));
  } catch {
    return undefined;
  }
}

function ownershipIn(value: unknown): OwnershipRecord | undefined {
  const { pool, gated, labels, taints } = fieldsOf(value);
  if (typeof pool !== 'string') return undefined;
  return {
    pool,
    gated: gated === true,
    labels: Object.fromEntries(Object.entries(fieldsOf(labels)).flatMap(recordIn)),
    taints: Array.isArray(taints) ? taints.flatMap(taintIn) : [],
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function recordIn([key, value]: [string, unknown]): [string, LabelRecord][] {
  const { was, is } = fieldsOf(value);
  const isPossible = OWN_LABELS.includes(key) || !FOREIGN_KEY.test(key);
  if (!isPossible || typeof is !== 'string' || (typeof was !== 'string' && was !== null)) return [];
  return was === null || LABEL_VALUE.test(was) ? [[key, { was, is }]] : [];
}

function taintIn(item: unknown): Taint[] {
  const { key, value, effect } = fieldsOf(item);
  if (typeof key !== 'string' || FOREIGN_KEY.test(key)) return [];
  // A pool cannot have NoExecute.
  if (effect !== 'NoSchedule' && effect !== 'PreferNoSchedule') return [];
  return [typeof value === 'string' ? { key, value, effect } : { key, effect }];
}

/** The change that gives the node the pool's labels and taints; undefined when it has them. */
export function markChangeFor(
  node: NodeRecord,
  pool: string,
  spec: WindowsPoolSpec,
  marks: Marks,
): NodeMarks | undefined {
  const before = trusted(ownershipOf(node), marks) ?? {
    pool,
    gated: hasGateTaintOf(spec, node),
    labels: {},
    taints: [],
  };
  const labels = labelsFor(node, desiredLabels(node, pool, spec), before);
  const taints = taintsFor(node, expectedTaints(spec), before);
  const ownership = JSON.stringify({ pool, gated: before.gated, labels: labels.record, taints: taints.record });
  if (ownership === node.ownership && Object.keys(labels.change).length === 0 && isEmpty(taints.change))
    return undefined;
  return { labels: labels.change, taints: taints.change, ownership };
}

/**
 * The change that restores the node, and removes the operator's other taints. Values that others have changed since are kept.
 * @param isAwaited another pool selects the node, so the operator's taints stay: that pool removes or keeps them
 */
export function releaseOf(node: NodeRecord, isAwaited: boolean, marks: Marks): NodeMarks {
  const before = trusted(ownershipOf(node), marks);
  const { change: labels } = labelsFor(node, {}, before);
  const { change } = taintsFor(node, [], before);
  const remove = [...change.remove, ...ownTaints(node, isAwaited)];
  return { labels, taints: { set: [], remove }, ownership: undefined };
}

function ownTaints({ taints }: NodeRecord, isAwaited: boolean): Taint[] {
  return isAwaited ? [] : taints.filter(isOurs);
}

/** The labels that the node would have without this pool: a pool must not lose a node because it sets a label that its own selector matches. */
export function labelsWithout(node: NodeRecord, pool: string, marks: Marks): NodeRecord['labels'] {
  if (ownerOf(node) !== pool) return node.labels;
  const { change } = labelsFor(node, {}, trusted(ownershipOf(node), marks));
  const kept = Object.entries({ ...node.labels, ...change }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return Object.fromEntries(kept);
}

/** The change for a node that keeps the labels and taints of its pool: only the operator's own taints are removed. */
export function operatorMarksOf(node: NodeRecord, isAwaited: boolean): NodeMarks {
  return { labels: {}, taints: { set: [], remove: ownTaints(node, isAwaited) }, ownership: undefined };
}

/** The taints of the spec that the node already has with another value, set by someone else. */
export function foreignTaints(node: NodeRecord, spec: WindowsPoolSpec): { found: Taint; wanted: Taint }[] {
  const ours = ownershipOf(node)?.taints ?? [];
  return expectedTaints(spec).flatMap((wanted) => {
    const found = node.taints.find((taint) => isSameTaint(taint, wanted));
    return found && !isAlike(found, wanted) && !ours.some((taint) => isEqual(taint, found)) ? [{ found, wanted }] : [];
  });
}

/** What the label windows-build of a node should say; undefined while its kernel is not known. */
export function buildLabelFor({ kernelVersion }: NodeRecord, spec: WindowsPoolSpec): string | undefined {
  return nodeSourceOf({ spec }).declaresBuild ? buildOf(spec.windowsVersion) : parseKernelVersion(kernelVersion)?.build;
}

function desiredLabels(node: NodeRecord, pool: string, spec: WindowsPoolSpec): Record<string, string> {
  const build = buildLabelFor(node, spec);
  // The kubelet's own label may be outdated or missing, and pods are scheduled by it.
  return { ...spec.labels, [POOL_KEY]: pool, ...(build && { [WINDOWS_BUILD_LABEL]: build }) };
}

function expectedTaints(spec: WindowsPoolSpec): readonly Taint[] {
  return [...registrationTaintsOf(spec), ...(spec.taints ?? [])];
}

function labelsFor(
  { labels }: NodeRecord,
  wanted: Readonly<Record<string, string>>,
  before: OwnershipRecord | undefined,
) {
  const known = new Map(Object.entries(before?.labels ?? {}));
  const change: Record<string, string | null> = {};
  const record: Record<string, LabelRecord> = {};
  for (const [key, is] of sorted(wanted)) {
    const found = labelIn(labels, key) ?? null;
    record[key] = { was: (known.get(key) ?? { was: found }).was, is };
    if (found !== is) change[key] = is;
  }
  for (const [key, { was, is }] of known) {
    const isDropped = labelIn(wanted, key) === undefined;
    if (isDropped && labelIn(labels, key) === is && was !== is) change[key] = was;
  }
  return { change, record };
}

function taintsFor({ taints }: NodeRecord, wanted: readonly Taint[], before: OwnershipRecord | undefined) {
  const known = before?.taints ?? [];
  const set: Taint[] = [];
  const record: Taint[] = [];
  for (const taint of wanted) {
    const found = taints.find((other) => isSameTaint(other, taint));
    const isPools =
      known.some((other) => isSameTaint(other, taint)) && (!found || known.some((o) => isEqual(o, found)));
    if (!found || (isPools && !isAlike(found, taint))) set.push(taint);
    if (!found || isPools) record.push(taint);
  }
  const remove = taints.filter(
    (taint) => known.some((other) => isEqual(other, taint)) && !wanted.some((other) => isSameTaint(other, taint)),
  );
  return { change: { set, remove }, record };
}

function sorted(labels: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
}

function isEmpty({ set, remove }: TaintChange): boolean {
  return set.length + remove.length === 0;
}

function isEqual(a: Taint, b: Taint): boolean {
  return isSameTaint(a, b) && (a.value ?? '') === (b.value ?? '');
}

/** Whether the taints have the same effect: OpenShift writes os=Windows for os=windows. */
function isAlike(a: Taint, b: Taint): boolean {
  const normalized = ({ key, value = '' }: Taint) => (key === REGISTRATION_TAINT.key ? value.toLowerCase() : value);
  return isSameTaint(a, b) && normalized(a) === normalized(b);
}
