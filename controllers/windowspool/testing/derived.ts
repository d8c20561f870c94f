import { derive as deriveAny } from '../derive.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../providers/nodeGroup/model/groupState.ts';

/** The observed state of a pool with a node group, with what is due. */
export function derive(s: EksState): EksDerived {
  return deriveAny(s) as EksDerived;
}
