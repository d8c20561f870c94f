/** Steps that change the NodePool and the EC2NodeClass of a pool, and its NodeClaims. */

import type { KarpenterKind, KarpenterManifest, KarpenterObject, NodeClaim } from '../../../ports/karpenter.ts';
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
      /** Another tool created it, and its owner lets the pool take it over. */
      adopts?: true;
      /** A deleted pool does not wait for it if it can never succeed. */
      retain?: true;
    };
    /** Deletes the NodePool, and with it its nodes, or the EC2NodeClass. */
    deleteKarpenterObject: { object: KarpenterKind; seen: KarpenterObject };
    /** Deletes a NodeClaim whose node would keep the gate when its pool is gone. */
    deleteGatedClaim: { claim: NodeClaim; retain: true };
    /** Deletes the NodeClaim of a node after a last check of all conditions. */
    deleteNodeClaim: ClaimDeletion;
  }
}

export const karpenterSteps: StepKinds<
  'applyKarpenterObject' | 'deleteKarpenterObject' | 'deleteGatedClaim' | 'deleteNodeClaim'
> = {
  applyKarpenterObject: {
    subject: ({ manifest }) => manifest.kind,
    describe: ({ manifest: { kind, metadata }, isNew, changes, replacesNodes, adopts }) => {
      if (isNew) return `create ${kind} ${metadata.name}`;
      const what = changes.length > 0 ? `${joined(changes)} of ` : '';
      return `${adopts ? 'adopt, with changes of ' : 'change '}${what}${kind} ${metadata.name}${replacedNodes(changes, replacesNodes)}`;
    },
    reason: 'NodePoolApplied',
    needsFreshRead: true,
    appliesSpec: true,
    describeLeftover: () => 'keeps the gate and the budgets of the pool in its NodePool',
    run: unobserved(({ manifest, isNew }, { nodePools }, signal) => nodePools.apply(manifest, isNew, signal)),
  },
  deleteKarpenterObject: {
    subject: ({ object }) => object,
    describe: ({ object, seen }) => `delete ${object} ${seen.name}${object === 'NodePool' ? ', with its nodes' : ''}`,
    onlyStarts: true,
    run: unobserved(({ object, seen }, { nodePools }, signal) => nodePools.delete(object, seen, signal)),
  },
  deleteGatedClaim: {
    subject: ({ claim }) => `NodeClaim ${claim.name}`,
    describe: ({ claim }) => `delete NodeClaim ${claim.name}, whose node would keep the gate`,
    describeLeftover: () => 'has NodeClaims whose nodes keep the gate',
    run: unobserved(({ claim }, { nodePools }, signal) => nodePools.deleteClaim(claim, signal)),
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

/** Which nodes Karpenter replaces after the change; empty if none. */
function replacedNodes(changes: readonly string[], isEach: boolean): string {
  if (isEach) return ' (replaces every node)';
  const isPartial = changes.includes('requirements') || changes.includes('subnetSelectorTerms');
  return isPartial ? ' (replaces nodes that do not match)' : '';
}
