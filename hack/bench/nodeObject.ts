import type { NodeJson, NodeParts, NodeTaint } from '../../controllers/kubernetes/testing/nodeJson.ts';
import { kubeletConditions, windowsNode } from '../../controllers/kubernetes/testing/nodes.ts';
import { chosenSeries } from '../controlplane/binaries.ts';

/** The revision (UBR) of a fresh node's kernel. */
export const REVISION = 5020;

export function kernelVersion(revision: number): string {
  return `10.0.20348.${revision}`;
}

/** Not newer than the API server, which the operator checks. */
const KUBELET = `v${chosenSeries()}.3-eks-1a2b3c4`;

/** The node group of a node, for this number of groups. */
export function groupName(index: number, groups: number): string {
  return `windows-${index % groups}`;
}

/** Fields of a node in addition to those of every node. */
export interface Extras extends Pick<NodeParts, 'labels'> {
  readonly taints?: readonly NodeTaint[];
}

/** The Node with this number, which passes every check of its pool. The pool has the name of its group. */
export function nodeObject(index: number, group: string, { labels, taints = [] }: Extras = {}): NodeJson {
  const { metadata, spec, status, ...type } = windowsNode(index);
  // Some nodes are cordoned and excluded from drain, to compare how caches keep these fields, too.
  const isSpecial = index % 97 === 1;
  return {
    ...type,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, 'eks.amazonaws.com/nodegroup': group, 'winpool.dev/pool': group, ...labels },
      annotations: { ...metadata.annotations, ...(isSpecial && { 'winpool.dev/exclude-from-drain': 'true' }) },
    },
    spec: { ...spec, ...(isSpecial && { unschedulable: true }), taints: [...(spec.taints ?? []), ...taints] },
    status: {
      ...status,
      conditions: [...conditions(new Date()), verified(group)],
      nodeInfo: { ...status.nodeInfo, kubeletVersion: KUBELET, kernelVersion: kernelVersion(REVISION) },
    },
  };
}

/** The conditions of a healthy node at a heartbeat. */
export const conditions = (now: Date) => kubeletConditions(`${now.toISOString().slice(0, 19)}Z`);

/** The condition that the operator wrote long ago. */
const verified = (group: string) => ({
  type: 'winpool.dev/Verified',
  status: 'True',
  reason: 'ChecksPassed',
  message: `WindowsPool ${group}: passes every check.`,
  lastTransitionTime: '2026-01-15T08:01:30Z',
});
