/** The page about conditions, from the catalogue of reasons. */
import type { ConditionType } from '../../controllers/windowspool/api/metricCatalogue.ts';
import { type Reason, reasons } from '../../controllers/windowspool/api/reasons.ts';

/** A condition without a line here does not compile. */
const CONDITIONS: Readonly<Record<ConditionType, string>> = {
  Ready:
    'The RuntimeClass can be used, and the pool has at least `nodeGroup.scaling.minSize` verified nodes (at least one), or its desired size is 0. A pool of `existingNodes` needs one verified node, and a pool of `karpenter` only one if it has nodes. `Ready` stays True while an update fails.',
  NodeGroupReady: 'The EKS node group exists, is managed by the pool, and is healthy.',
  NodePoolReady:
    'Only with `karpenter`, instead of `NodeGroupReady` and `UpToDate`: the NodePool exists, matches the spec, and Karpenter can create nodes from it.',
  MachinesReady:
    'Only with `machines`, instead of `NodeGroupReady` and `UpToDate`: the object in `machines.ref` has all its machines, and each has a node.',
  NodesFound: 'Only with `existingNodes`, instead of `NodeGroupReady`: the pool has the nodes that the spec selects.',
  RuntimeClassReady: 'The RuntimeClass exists and schedules pods to nodes of this Windows build.',
  NodesVerified:
    'All desired nodes have joined and pass every check. If one node fails, `NodesVerified` is False, and `Ready` stays True while enough nodes are verified.',
  PrerequisitesMet:
    'The operator has its permissions, and the EKS cluster meets the [prerequisites](../how-to/prerequisites.md). `status.checks` lists those that need attention.',
  UpToDate:
    'The node group matches the spec, and no newer AMI release is available. Only with `nodeGroup`. See [drift](../concepts/adoption.md).',
  RemediationAllowed:
    'Present only while False: more nodes fail than `remediation.maxUnhealthy` allows, so none is replaced. See [replacing nodes](../how-to/replace-nodes.md#remediation).',
  Disrupting:
    'Present only while nodes are replaced or removed, or are due for replacement. See [replacing nodes](../how-to/replace-nodes.md).',
  Reconciling:
    'Present only while the operator, EKS or a joining node makes progress towards the desired state (kstatus).',
  Stalled:
    'Present only while the pool cannot reach the desired state without a user (kstatus). `Ready` can be True at the same time.',
  Paused: 'Present only while the pool is paused.',
};

/** The text of docs/reference/reasons.md. */
export function conditionsPage(): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    '<!-- Generated from controllers/windowspool/api/reasons.ts by `make generate`. Do not edit. -->',
    '# Conditions and reasons',
    '',
    'This page describes the conditions of a pool, and each reason that a condition, an event or a pending step can have.',
    '',
    'Read `Ready` first: while it is False, it has the reason and message of the condition that causes it. Each message names the object, the cause and the next step.',
    '',
    row(['condition', 'True if']),
    row(['---', '---']),
    ...Object.entries(CONDITIONS).map(([type, meaning]) => row([`\`${type}\``, meaning])),
    '',
    '## Reasons',
    '',
    'Conditions, events and `status.pendingSteps` have only these reasons.',
    '',
    // A heading each, so that a link can lead to a reason.
    ...(Object.keys(reasons) as Reason[]).sort().flatMap((reason) => [`### ${reason}`, '', reasons[reason], '']),
  ].join('\n');
}
