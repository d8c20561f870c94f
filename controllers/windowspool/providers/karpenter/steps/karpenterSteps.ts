/** Steps that change the NodePool of a pool and its NodeClaims. */

import type { NodePool, NodePoolManifest } from '../../../ports/karpenter.ts';
import { type StepKinds, unobserved } from '../../../steps/stepKind.ts';
import { joined } from '../../../util/words.ts';
import { type ClaimDeletion, deleteClaim } from '../deleteClaim.ts';

declare module '../../../model/steps.ts' {
  interface Steps {
    /** Creates the NodePool, or changes these fields of it. */
    applyNodePool: {
      manifest: NodePoolManifest;
      isNew: boolean;
      changes: readonly string[];
      replacesNodes: boolean;
    };
    /** Deletes the NodePool, and with it its nodes. */
    deleteNodePool: { seen: NodePool };
    /** Deletes the NodeClaim of a node after a last check of all conditions. */
    deleteNodeClaim: ClaimDeletion;
  }
}

export const karpenterSteps: StepKinds<'applyNodePool' | 'deleteNodePool' | 'deleteNodeClaim'> = {
  applyNodePool: {
    subject: () => 'nodePool',
    describe: ({ manifest: { metadata }, isNew, changes, replacesNodes }) => {
      if (isNew) return `create NodePool ${metadata.name}`;
      const what = changes.length > 0 ? `${joined(changes)} of ` : '';
      return `change ${what}NodePool ${metadata.name}${replacesNodes ? ' (replaces every node)' : ''}`;
    },
    reason: 'NodePoolApplied',
    needsFreshRead: true,
    appliesSpec: true,
    run: unobserved(({ manifest, isNew }, { nodePools }, signal) => nodePools.apply(manifest, isNew, signal)),
  },
  deleteNodePool: {
    subject: () => 'nodePool',
    describe: ({ seen }) => `delete NodePool ${seen.name}, with its nodes`,
    onlyStarts: true,
    run: unobserved(({ seen }, { nodePools }, signal) => nodePools.delete(seen, signal)),
  },
  deleteNodeClaim: {
    subject: ({ node }) => `node ${node.name}`,
    describe: ({ node }) => `delete the NodeClaim of node ${node.name}, which Karpenter drains`,
    describeMany: (nodes) => `delete the NodeClaims of ${nodes}, which Karpenter drains`,
    onlyStarts: true,
    reason: 'NodeClaimDeleted',
    nodeReason: 'NodeClaimDeleted',
    needsFreshRead: true,
    takesNodes: true,
    blocks: 'drain',
    run: unobserved((step, writers, signal, s) => deleteClaim(step, s, writers, signal)),
  },
};
