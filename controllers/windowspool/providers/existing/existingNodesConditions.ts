/** The conditions of a pool of existing nodes, and when it is Ready. Pure. */

import { missingPermission } from '../../conditions/missingPermission.ts';
import { nodesVerified } from '../../conditions/nodesVerified.ts';
import type { Readiness } from '../../conditions/ready.ts';
import { runtimeClassReady } from '../../conditions/runtimeClassReady.ts';
import { type PartsOf, summarize } from '../../conditions/summary.ts';
import { prerequisitesIn } from '../../membership/clusterChecks.ts';
import type { ConditionState, ExistingNodesConditions } from '../../model/conditions.ts';
import type { Derived } from '../../model/due.ts';
import type { RunResult } from '../../model/outcome.ts';
import { nodesFound, noneFound } from './nodesFound.ts';

type Parts = PartsOf<ExistingNodesConditions>;

/** The conditions of a pool of existing nodes. */
export function existingNodesConditions(result: RunResult): ExistingNodesConditions {
  const { after: s } = result;
  const parts: Parts = {
    PrerequisitesMet: missingPermission(s) ?? prerequisitesIn(s, PERMITTED),
    NodesFound: nodesFound(s),
    RuntimeClassReady: runtimeClassReady(s),
    NodesVerified: nodesVerified(s, { missing }),
  };
  return summarize(result, parts, readiness);
}

function missing(s: Derived): ConditionState | undefined {
  return s.poolNodes.total === 0 ? noneFound(s) : undefined;
}

const PERMITTED = 'The operator has the permissions that it needs. Existing nodes have no prerequisites in EKS.';

const readiness: Readiness<Parts> = { source: 'NodesFound', stallsDeletion: [] };
