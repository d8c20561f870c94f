/** The conditions of a pool of existing nodes, and when it is Ready. Pure. */

import { nodesFound } from '../../conditions/nodesFound.ts';
import { nodesVerified, noneFound } from '../../conditions/nodesVerified.ts';
import { prerequisitesMet } from '../../conditions/prerequisitesMet.ts';
import type { Readiness } from '../../conditions/ready.ts';
import { runtimeClassReady } from '../../conditions/runtimeClassReady.ts';
import { type PartsOf, summarize } from '../../conditions/summary.ts';
import type { ExistingNodesConditions } from '../../model/conditions.ts';
import type { RunResult } from '../../model/outcome.ts';

type Parts = PartsOf<ExistingNodesConditions>;

/** The conditions of a pool of existing nodes. */
export function existingNodesConditions(result: RunResult): ExistingNodesConditions {
  const { after: s } = result;
  const parts: Parts = {
    PrerequisitesMet: prerequisitesMet(s),
    NodesFound: nodesFound(s),
    RuntimeClassReady: runtimeClassReady(s),
    NodesVerified: nodesVerified(s, (seen) => (seen.poolNodes.total === 0 ? noneFound(seen) : undefined)),
  };
  return summarize(result, parts, readiness);
}

const readiness: Readiness<Parts> = { source: 'NodesFound', stallsDeletion: [] };
