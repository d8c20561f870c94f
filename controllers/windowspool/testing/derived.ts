import { derive as deriveAny } from '../derive.ts';
import type { EksDerived } from '../providers/eks/model/due.ts';
import type { EksState } from '../providers/eks/model/state.ts';

/** The observed state of a pool with a node group, with what is due. */
export function derive(s: EksState): EksDerived {
  return deriveAny(s) as EksDerived;
}
