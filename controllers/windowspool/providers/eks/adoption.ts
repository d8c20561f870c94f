/** Whether a node group that somebody else made becomes the pool's (`nodeGroup.adoption`). */

import type { WindowsPool } from '../../api.gen.ts';
import { POOL_KEY } from '../../labels.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Step } from '../../model/steps.ts';
import { nodeGroupIn } from '../../nodeSource.ts';
import { amiTypeOf } from '../../nodes/windows.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import { remembering } from './applied.ts';

/** `refused` says why, as the rest of a sentence about the group. */
export type Adoption =
  | { readonly kind: 'take' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'refused'; readonly why: string };

/** The answer for a group that is not the pool's. Nothing but its tag is needed to take it: it must be whole and at rest. */
export function adoptionOf({ spec }: WindowsPool, { tags, status, amiType }: NodeGroup): Adoption {
  if (nodeGroupIn(spec).adoption !== 'IfUnowned' || tags[POOL_KEY] !== undefined) return { kind: 'forbidden' };
  const fitting = (['Core', 'Full'] as const).map((edition) => amiTypeOf(spec.windowsVersion, edition));
  if (!fitting.includes(amiType)) {
    const why = `its AMI type is ${amiType || 'unknown'} and windowsVersion ${spec.windowsVersion} needs ${fitting.join(' or ')}`;
    return { kind: 'refused', why };
  }
  // A failed creation is deleted and repeated; that is for whoever made it to decide.
  if (status.endsWith('_FAILED')) return { kind: 'refused', why: `it is ${status}` };
  return { kind: status === 'ACTIVE' || status === 'DEGRADED' ? 'take' : 'wait' };
}

/**
 * Which pools take groups at this moment. Pools are reconciled beside each other: of two that saw the same group without an owner, the
 * tag of the second would take it from the first.
 */
export class Adoptions {
  readonly #takers = new Map<string, { readonly pool: string; readonly until: number }>();

  /** Whether the pool, which looked at the group at `lookedAt`, may take it. When not, its look is out of date. */
  begin(arn: string, pool: string, lookedAt: number): boolean {
    const taker = this.#takers.get(arn);
    if (taker && taker.pool !== pool && lookedAt <= taker.until) return false;
    this.#takers.set(arn, { pool, until: Number.POSITIVE_INFINITY });
    return true;
  }

  /** The tag is written, or is not: who looks from now on sees which. */
  end(arn: string, pool: string, now: number): void {
    this.#takers.set(arn, { pool, until: now });
  }
}

/** The tag that makes a group the pool's. */
export function ownershipTag({ metadata }: WindowsPool): Readonly<Record<typeof POOL_KEY, string>> {
  return { [POOL_KEY]: metadata.name };
}

/** The situation once these steps, an adoption among them, are taken: what they leave to do is shown before. */
export function afterAdoption(s: ObservedState, steps: readonly Step[]): ObservedState {
  const memory = steps.find((step) => step.kind === 'remember')?.memory;
  const status = memory ? remembering(s.pool.status, memory) : s.pool.status;
  const pool = status ? { ...s.pool, status } : s.pool;
  if (s.group.kind !== 'seen') return s;
  const { group } = s.group;
  return { ...s, pool, group: { kind: 'seen', group: { ...group, tags: { ...group.tags, ...ownershipTag(pool) } } } };
}
