import { OWN_CONDITIONS, OWN_PREFIX, VERIFIED_CONDITION } from '../api/labels.ts';
import type { NodeRecord, NodeReport } from '../ports/nodes.ts';

type Reported = Pick<NodeRecord, 'verified' | 'conditions'>;

/** The conditions of a node after the operator wrote `report`. Those of others stay. */
export function withReport({ conditions }: Pick<NodeRecord, 'conditions'>, report: NodeReport): Reported {
  const { [VERIFIED_CONDITION]: verified, ...rest } = report;
  const others = conditions.filter((state) => !state.startsWith(OWN_PREFIX));
  const own = OWN_CONDITIONS.flatMap((type) => (type in rest ? [`${type}=${report[type]?.status}`] : []));
  return { verified, conditions: [...others, ...own] };
}
