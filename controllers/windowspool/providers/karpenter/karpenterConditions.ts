/** The conditions of a pool of Karpenter. Pure. */

import { trueCondition } from '../../conditions/condition.ts';
import { describeDenied, missingPermission, type OutsidePermissions } from '../../conditions/missingPermission.ts';
import { nodesVerified, type Verification } from '../../conditions/nodesVerified.ts';
import type { Readiness } from '../../conditions/ready.ts';
import { runtimeClassReady } from '../../conditions/runtimeClassReady.ts';
import { type PartsOf, summarize } from '../../conditions/summary.ts';
import { prerequisitesIn } from '../../membership/clusterChecks.ts';
import { contended } from '../../membership/contended.ts';
import type { KarpenterConditions } from '../../model/conditions.ts';
import type { RunResult } from '../../model/outcome.ts';
import type { CallError } from '../../ports/callResult.ts';
import { count } from '../../util/words.ts';
import { karpenterChecks } from './karpenterChecks.ts';
import type { KarpenterDerived } from './karpenterState.ts';
import { nodePoolReady } from './nodePoolReady.ts';

const REMEDY = 'Narrow existingNodes of that pool.';

type Parts = PartsOf<KarpenterConditions>;

/** The conditions of a pool of Karpenter. */
export function karpenterConditions(result: RunResult<KarpenterDerived>): KarpenterConditions {
  const { after: s } = result;
  const parts: Parts = {
    PrerequisitesMet: missingPermission(s, permissionsFor(s)) ?? prerequisitesIn(s, PERMITTED, karpenterChecks),
    NodePoolReady: contended(s, 'karpenter', REMEDY) ?? nodePoolReady(s, result.decisions),
    RuntimeClassReady: runtimeClassReady(s),
    NodesVerified: nodesVerified(s, { missing }),
  };
  return summarize(result, parts, readiness);
}

const ON_DEMAND = 'Karpenter creates nodes when pods need them.';

function missing(s: KarpenterDerived): Verification | undefined {
  return s.poolNodes.total === 0 ? trueCondition('NoNodes', `The pool has no nodes. ${ON_DEMAND}`) : undefined;
}

/** The permissions for Karpenter have a role of their own. */
function permissionsFor({ karpenter }: KarpenterDerived): OutsidePermissions {
  const { error } = karpenter.kind === 'unknown' ? karpenter : {};
  const roleFor = ({ operation }: CallError) =>
    /nodepools|nodeclaims|nodeclasses/.test(operation) ? 'config/karpenter' : 'config/rbac';
  return {
    denied: () => (error?.kind === 'denied' ? error : undefined),
    describe: (denied) => describeDenied(denied, roleFor(denied)),
    roleFor,
  };
}

const PERMITTED = 'The operator has the permissions that it needs, and all checks of the cluster pass.';

/** A pool without nodes is Ready if Karpenter can create them. So is one whose first nodes are joining: otherwise, each pod that needs one would change that. */
const readiness: Readiness<Parts> = {
  source: 'NodePoolReady',
  stallsDeletion: ['NodePoolReady'],
  empty: ({ poolNodes: { total, verified, failing } }, parts) => {
    if (verified > 0 || failing.length > 0 || parts.NodePoolReady.status !== 'True') return undefined;
    return total === 0
      ? trueCondition('NoNodes', ON_DEMAND)
      : trueCondition('Joining', `${count(total, 'node')} ${total === 1 ? 'is' : 'are'} joining.`);
  },
};
