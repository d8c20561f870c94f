/** What the nodes of a pool are verified against. Pure. */
import type { WindowsPool } from '../api/api.gen.ts';
import { RETRY_ANNOTATION } from '../api/labels.ts';
import type { Expectation, GroupExpectation, TaintPolicy } from '../model/poolNodesView.ts';
import { nodeSourceOf } from '../rules/nodeSource.ts';
import { isDeleting } from '../rules/poolQueries.ts';
import { marksOf } from './ownershipRecord.ts';

/** What the pool's nodes are verified against. */
export function expectationOf(
  pool: WindowsPool,
  { hasGateTaint, ...ofGroups }: GroupExpectation,
  serverVersion: string | undefined,
  joinGraceMs: number,
): Expectation {
  const reportedBy = isDeleting(pool) ? undefined : pool.metadata.name;
  const owner = nodeSourceOf(pool).marksNodes ? reportedBy : undefined;
  const retry = pool.metadata.annotations?.[RETRY_ANNOTATION];
  return {
    spec: pool.spec,
    serverVersion,
    joinGraceMs,
    taints: taintPolicyOf(pool, hasGateTaint),
    reportedBy,
    ...(retry && { retry }),
    ...(owner !== undefined && { owner, marks: [...marksOf(pool)].sort() }),
    ...ofGroups,
  };
}

/** The taints that the pool's nodes should have. */
function taintPolicyOf(pool: WindowsPool, hasGateTaint: boolean): TaintPolicy {
  const { policy } = pool.spec.verification;
  const deleting = isDeleting(pool);
  return { gate: hasGateTaint || (policy === 'Gate' && !deleting), quarantine: policy !== 'Report' && !deleting };
}
