/** Steps that change the NodePool and the EC2NodeClass of a pool, and its NodeClaims. */

import type { KarpenterKind, KarpenterManifest, KarpenterObject } from '../../../ports/karpenter.ts';
import { type StepKinds, unobserved } from '../../../steps/stepKind.ts';
import { joined } from '../../../util/words.ts';
import { type ClaimDeletion, deleteClaim } from '../deleteClaim.ts';

declare module '../../../model/steps.ts' {
  interface Steps {
    /** Creates the NodePool or the EC2NodeClass, or changes these fields of it. */
    applyKarpenterObject: {
      manifest: KarpenterManifest;
      isNew: boolean;
      changes: readonly string[];
      replacesNodes: boolean;
    };
    /** Deletes the NodePool, and with it its nodes, or the EC2NodeClass. */
    deleteKarpenterObject: { object: KarpenterKind; seen: KarpenterObject };
    /** Deletes the NodeClaim of a node after a last check of all conditions. */
    deleteNodeClaim: ClaimDeletion;
  }
}

export const karpenterSteps: StepKinds<'applyKarpenterObject' | 'deleteKarpenterObject' | 'deleteNodeClaim'> = {
  applyKarpenterObject: {
    subject: ({ manifest }) => manifest.kind,
    describe: ({ manifest: { kind, metadata }, isNew, changes, replacesNodes }) => {
      if (isNew) return `create ${kind} ${metadata.name}`;
      const what = changes.length > 0 ? `${joined(changes)} of ` : '';
      return `change ${what}${kind} ${metadata.name}${replacesNodes ? ' (replaces every node)' : ''}`;
    },
    reason: 'NodePoolApplied',
    needsFreshRead: true,
    appliesSpec: true,
    run: unobserved(({ manifest, isNew }, { nodePools }, signal) => nodePools.apply(manifest, isNew, signal)),
  },
  deleteKarpenterObject: {
    subject: ({ object }) => object,
    describe: ({ object, seen }) => `delete ${object} ${seen.name}${object === 'NodePool' ? ', with its nodes' : ''}`,
    onlyStarts: true,
    run: unobserved(({ object, seen }, { nodePools }, signal) => nodePools.delete(object, seen, signal)),
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
