/** The verification results of a pool's nodes, updated one node at a time: the cost of a node event does not grow with the pool. */

import { CORDONED_ANNOTATION, NODE_GROUP_LABEL } from '../api/labels.ts';
import { isUnavailable, operationFor } from '../disruption/nodeAnnotations.ts';
import type { NodePodNeed } from '../model/nodePodNeeds.ts';
import type {
  CheckFailure,
  ControllerAnswer,
  Expectation,
  GroupMembers,
  GroupNodes,
  Mistainted,
  PoolNodesView,
  Unmarked,
  Unreported,
  VerificationResult,
} from '../model/poolNodesView.ts';
import { needOf } from '../nodePods/need.ts';
import { preparationOf, runsNodePods } from '../nodePods/preparation.ts';
import type { NodePod } from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { ControllerWarning } from '../ports/prerequisites.ts';
import { canonical } from '../util/hash.ts';
import { parseQuantity } from '../util/quantity.ts';
import { ByName } from './byName.ts';
import { isReported, reportFor } from './nodeCondition.ts';
import { isAwaitingRule, isGated, isQuarantined, taintChangeFor } from './nodeTaints.ts';
import { buildLabelFor, markChangeFor } from './ownershipRecord.ts';
import { instanceIdOf, UnwatchedNodes } from './unwatchedNodes.ts';
import { graceEnd, verifyNode } from './verify.ts';
import { POD_ADDRESSES, WINDOWS_BUILD_LABEL } from './windowsVersions.ts';

/** How long AWS is not asked again about a node in the same state, in milliseconds: the list is read again at each resync anyway. */
const ASKED_MS = 300_000;

/** The verification results of the nodes of one pool. */
export class PoolNodes implements PoolNodesView {
  readonly #results = new ByName<VerificationResult>();
  readonly #failing = new ByName<VerificationResult>();
  readonly #joining = new ByName<VerificationResult>();
  readonly #warned = new ByName<VerificationResult>();
  readonly #mislabelled = new ByName<NodeRecord>();
  readonly #mistainted = new ByName<Mistainted>();
  readonly #unreported = new ByName<Unreported>();
  readonly #unmarked = new ByName<Unmarked>();
  readonly #requested = new ByName<NodeRecord>();
  readonly #cordoned = new ByName<NodeRecord>();
  readonly #unavailable = new ByName<string>();
  readonly #answers = new Map<string, ControllerAnswer>();
  readonly #podNeeds = new ByName<NodePodNeed>();
  readonly builds = new Map<string, number>();
  /** EC2 instance ID -> number of nodes that report it. */
  readonly #instances = new Map<string, number>();
  /** The instances of the pool's node groups; undefined while they are not known: then the label of a node decides. */
  #members: GroupMembers | undefined;
  readonly #nonMembers = new ByName<NodeRecord>();
  /** The non-members that AWS was asked for, as they were then: an instance of a warm pool can join the group later. */
  #asked = new Set<string>();
  /** Since when states are kept in it, in epoch milliseconds. */
  #askedSince = Number.NEGATIVE_INFINITY;
  readonly unwatchedNodes = new UnwatchedNodes();
  /** How many different lists of the groups' instances there have been. */
  lists = 0;
  ready = 0;
  gated = 0;
  awaitingRule = 0;
  quarantined = 0;
  belowMinimum = 0;
  #podAddresses = 0;
  /** How many nodes report their pod addresses. */
  #addressed = 0;
  #expected: Expectation;
  #expectedKey: string;
  #marks: ReadonlySet<string>;

  readonly #podsOf: PodsOf;

  /** @param podsOf the operator's pods on a node, as far as they are the pool's */
  constructor(nodes: Iterable<NodeRecord>, expected: Expectation, now: number, podsOf: PodsOf = () => []) {
    this.#podsOf = podsOf;
    this.#expected = expected;
    this.#expectedKey = canonical(expected);
    this.#marks = new Set(expected.marks);
    for (const node of nodes) this.put(node, now);
  }

  get expected(): Expectation {
    return this.#expected;
  }

  get total(): number {
    return this.#results.size;
  }

  get verified(): number {
    return this.#results.size - this.#failing.size - this.#joining.size;
  }

  get failing(): readonly VerificationResult[] {
    return this.#failing.ordered;
  }

  get joining(): readonly VerificationResult[] {
    return this.#joining.ordered;
  }

  get warned(): readonly VerificationResult[] {
    return this.#warned.ordered;
  }

  get mislabelled(): readonly NodeRecord[] {
    return this.#mislabelled.ordered;
  }

  get mistainted(): readonly Mistainted[] {
    return this.#mistainted.ordered;
  }

  get unreported(): readonly Unreported[] {
    return this.#unreported.ordered;
  }

  get unmarked(): readonly Unmarked[] {
    return this.#unmarked.ordered;
  }

  get requested(): readonly NodeRecord[] {
    return this.#requested.ordered;
  }

  get cordoned(): readonly NodeRecord[] {
    return this.#cordoned.ordered;
  }

  get unavailable(): readonly string[] {
    return this.#unavailable.ordered;
  }

  get podNeeds(): readonly NodePodNeed[] {
    return this.#podNeeds.ordered;
  }

  get nextPodAt(): number {
    return Math.min(...[...this.#podNeeds.values()].map(({ nextAt }) => nextAt), Number.POSITIVE_INFINITY);
  }

  get podAddresses(): number | undefined {
    return this.#addressed > 0 ? this.#podAddresses : undefined;
  }

  get nextGraceEnd(): number {
    return Math.min(...[...this.#joining.values()].map((result) => graceEnd(result, this.#expected)));
  }

  get unlabelledNodes(): readonly NodeRecord[] {
    return this.unwatchedNodes.unlabelledNodes;
  }

  get nextReadAt(): number {
    return this.unwatchedNodes.nextReadAt;
  }

  get nonMembers(): readonly NodeRecord[] {
    return this.#nonMembers.ordered;
  }

  /** Whether AWS was asked about every node that is not on an instance of the group. */
  get isConfirmed(): boolean {
    return [...this.#nonMembers.values()].every((node) => this.#asked.has(stateOf(node)));
  }

  isMember(node: NodeRecord): boolean {
    if (this.#members === undefined) return true;
    const { groupOfInstance, unlisted } = this.#members;
    return groupOfInstance.has(instanceIdOf(node)) || unlisted.has(node.labels[NODE_GROUP_LABEL] ?? '');
  }

  isListed(node: NodeRecord): boolean {
    return this.#members === undefined || this.#members.groupOfInstance.has(instanceIdOf(node));
  }

  /** Whether the last list of the groups' instances has this one. */
  isInstance(instance: string): boolean {
    return this.#members?.groupOfInstance.has(instance) === true;
  }

  has(name: string): boolean {
    return this.#results.has(name);
  }

  groupOf(node: NodeRecord): string | undefined {
    return this.#members?.groupOfInstance.get(instanceIdOf(node)) ?? node.labels[NODE_GROUP_LABEL];
  }

  inGroup(group: string): GroupNodes {
    const results = this.#results.ordered.filter(({ node }) => this.groupOf(node) === group);
    const nodes = results.map(({ node }) => node);
    return {
      nodes,
      total: nodes.length,
      ready: nodes.filter(({ ready }) => ready === 'True').length,
      verified: results.filter(({ node, state }) => state === 'verified' && !isAwaitingRule(node)).length,
      unavailable: nodes.filter(isUnavailable).map(({ name }) => name),
    };
  }

  /** Counts only the nodes on these instances: a label can be set by anyone who can change nodes, and by a kubelet on its own node. */
  confirm(members: GroupMembers, now: number): void {
    const counted = [...this.#results.values()].map(({ node }) => node);
    const wasListed = new Set(counted.filter((node) => this.isListed(node)));
    if (!isSameList(this.#members?.groupOfInstance, members.groupOfInstance)) this.lists += 1;
    this.#members = members;
    const changed = counted.filter((node) => !this.isMember(node) || wasListed.has(node) !== this.isListed(node));
    const joined = [...this.#nonMembers.values()].filter((node) => this.isMember(node));
    for (const node of [...changed, ...joined]) this.put(node, now);
  }

  /**
   * AWS was asked about the present nodes: they are confirmed, whatever it answered. States of before stay confirmed for a time: a kubelet that flips between two
   * costs no more calls.
   */
  markAsked(now: number): void {
    if (now - this.#askedSince >= ASKED_MS) {
      this.#asked = new Set();
      this.#askedSince = now;
    }
    for (const node of this.#nonMembers.values()) this.#asked.add(stateOf(node));
  }

  nodesBefore(time: number): readonly NodeRecord[] {
    return this.#results.ordered.map(({ node }) => node).filter(({ createdAt }) => createdAt < time);
  }

  isMarked(name: string): boolean {
    return this.#results.has(name) && !this.#unmarked.has(name);
  }

  hasInstance(id: string): boolean {
    return this.#instances.has(id);
  }

  /** Verifies a node that joined or changed. A node that is being deleted counts as gone. */
  put(node: NodeRecord, now: number): void {
    this.drop(node.name);
    this.unwatchedNodes.returned(node.name);
    if (node.deleting) return;
    if (!this.isMember(node)) {
      this.#exclude(node);
      return;
    }
    const { verification } = this.#expected.spec;
    const pods = runsNodePods(verification) ? this.#podsOf(node) : [];
    const preparation = preparationOf(node, verification, pods, now);
    const result = verifyNode(node, this.#expected, now, preparation, this.#warningsOf(node));
    if (!lacksAddresses(result)) this.#answers.delete(node.name);
    this.#results.set(node.name, result);
    const need = needOf({ ...result, preparation }, this.#expected, pods, now);
    // Its pods get image pull Secrets, which a kubelet must not have for a label.
    if (need && this.isListed(node)) this.#podNeeds.set(node.name, need);
    if (result.state === 'failing') this.#failing.set(node.name, result);
    if (result.state === 'joining') this.#joining.set(node.name, result);
    if (result.state === 'verified' && result.warnings.length > 0) this.#warned.set(node.name, result);
    // A write could undo what was not read, such as other taints.
    const isReadable = node.unreadable === '';
    if (isReadable && isMislabelled(node, this.#expected)) this.#mislabelled.set(node.name, node);
    if (operationFor(node)) this.#requested.set(node.name, node);
    if (CORDONED_ANNOTATION in node.annotations) this.#cordoned.set(node.name, node);
    if (isUnavailable(node)) this.#unavailable.set(node.name, node.name);
    const change = taintChangeFor(result, this.#expected.taints);
    if (isReadable && change) this.#mistainted.set(node.name, { node, change });
    const { reportedBy, owner, spec } = this.#expected;
    const marks = owner === undefined ? undefined : markChangeFor(node, owner, spec, this.#marks);
    if (isReadable && marks) this.#unmarked.set(node.name, { node, change: marks });
    const report = reportedBy === undefined ? {} : reportFor(result, verification, reportedBy);
    if (!isReported(node, report)) this.#unreported.set(node.name, { node, report });
    this.#tally(result, 1);
  }

  controllerAnswer(name: string): ControllerAnswer | undefined {
    return this.#answers.get(name);
  }

  /**
   * Takes in what the VPC resource controller reports of a node without pod addresses, and verifies the node again. A failed read changes only when it was asked.
   * Of a node that left in the meantime, nothing is kept.
   */
  reported({ name, uid }: NodeRecord, answer: ControllerAnswer['answer'], now: number): void {
    const node = this.#results.get(name)?.node;
    if (node?.uid !== uid) return;
    const known = this.#answers.get(name);
    const isKept = !answer.ok && known?.uid === uid && known.answer.ok;
    this.#answers.set(name, { uid, at: now, answer: isKept ? known.answer : answer });
    this.put(node, now);
  }

  #warningsOf({ name, uid }: NodeRecord): readonly ControllerWarning[] {
    const known = this.#answers.get(name);
    return known?.uid === uid && known.answer.ok ? known.answer.value : [];
  }

  #exclude(node: NodeRecord): void {
    this.#nonMembers.set(node.name, node);
    // Its instance has a node nevertheless: it is not one that never joined.
    count(this.#instances, instanceIdOf(node), 1);
  }

  /** Adds a node to the counts, or subtracts it. */
  #tally({ node, state, failures, warnings }: VerificationResult, change: 1 | -1): void {
    if (node.ready === 'True') this.ready += change;
    if (isGated(node)) this.gated += change;
    if (state === 'verified' && isAwaitingRule(node)) this.awaitingRule += change;
    if (isQuarantined(node)) this.quarantined += change;
    if ([failures, warnings].some((findings) => findings.some(isBelowMinimum))) this.belowMinimum += change;
    const addresses = parseQuantity(node.allocatable[POD_ADDRESSES]);
    if (addresses !== undefined) {
      this.#addressed += change;
      this.#podAddresses += change * addresses;
    }
    count(this.builds, node.kernelVersion, change);
    count(this.#instances, instanceIdOf(node), change);
  }

  /** A node left the pool: it was deleted, or lost its label. */
  leave(node: NodeRecord): void {
    const wasCounted = !this.#nonMembers.has(node.name);
    this.drop(node.name);
    this.#answers.delete(node.name);
    if (wasCounted && !node.deleting) this.unwatchedNodes.left(node);
  }

  /** Removes a node. */
  drop(name: string): void {
    const excluded = this.#nonMembers.get(name);
    if (excluded && this.#nonMembers.delete(name)) count(this.#instances, instanceIdOf(excluded), -1);
    const before = this.#results.get(name);
    if (!before) return;
    const lists = [
      this.#failing,
      this.#joining,
      this.#warned,
      this.#mislabelled,
      this.#requested,
      this.#unavailable,
      this.#cordoned,
      this.#podNeeds,
    ];
    const writes = [this.#mistainted, this.#unreported, this.#unmarked];
    for (const map of [this.#results, ...lists, ...writes]) map.delete(name);
    this.#tally(before, -1);
  }

  /** Verifies a node again after a change of the operator's pods on it. */
  podsChanged(name: string, now: number): void {
    const before = this.#results.get(name);
    if (before) this.put(before.node, now);
  }

  /**
   * Verifies again the nodes that another spec or the passage of time affects: all nodes, or only those that are joining or on which the operator runs
   * pods.
   */
  verifyAgainst(expected: Expectation, now: number): void {
    const expectedKey = canonical(expected);
    const changed = expectedKey !== this.#expectedKey;
    this.#expected = expected;
    this.#expectedKey = expectedKey;
    if (changed) this.#marks = new Set(expected.marks);
    const affected = changed ? [this.#results] : [this.#joining, this.#podNeeds];
    const nodes = new Set(affected.flatMap((map) => [...map.values()].map(({ node }) => node)));
    for (const node of nodes) this.put(node, now);
  }
}

/** The operator's pods on a node. */
type PodsOf = (node: NodeRecord) => readonly NodePod[];

/** Whether the node has no addresses for pods. */
export function lacksAddresses({ failures }: VerificationResult): boolean {
  return failures.some(({ reason }) => reason === 'NoPodAddresses');
}

function count<K>(counts: Map<K, number>, key: K, change: number): void {
  const nodes = (counts.get(key) ?? 0) + change;
  if (nodes > 0) counts.set(key, nodes);
  else counts.delete(key);
}

function stateOf({ uid, ready, providerID }: NodeRecord): string {
  return `${uid} ${ready} ${providerID}`;
}

function isBelowMinimum({ reason }: CheckFailure): boolean {
  return reason === 'RevisionTooLow';
}

function isMislabelled(node: NodeRecord, { spec }: Expectation): boolean {
  const build = buildLabelFor(node, spec);
  return build !== undefined && node.labels[WINDOWS_BUILD_LABEL] !== build;
}

function isSameList(some: GroupMembers['groupOfInstance'] | undefined, others: GroupMembers['groupOfInstance']) {
  return some?.size === others.size && [...others.keys()].every((instance) => some.has(instance));
}
