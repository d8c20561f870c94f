/** Whether a pool adopts a node group that it did not create (`nodeGroup.adoption`). */

import type { WindowsPool } from '../../api.gen.ts';
import { POOL_KEY } from '../../labels.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Step } from '../../model/steps.ts';
import { nodeGroupIn } from '../../nodeSource.ts';
import { amiTypeOf } from '../../nodes/windows.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import { remembering } from './applied.ts';

/** Whether a group can be adopted. `refused`: `why` is the rest of a sentence about the group. */
export type Adoption =
  | { readonly kind: 'take' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'refused'; readonly why: string };

/** Decides whether a group that the pool does not own is adopted. Adoption only sets a tag, but the group must be complete and idle. */
export function adoptionOf({ spec }: WindowsPool, { tags, status, amiType }: NodeGroup): Adoption {
  if (nodeGroupIn(spec).adoption !== 'IfUnowned' || tags[POOL_KEY] !== undefined) return { kind: 'forbidden' };
  const fitting = (['Core', 'Full'] as const).map((edition) => amiTypeOf(spec.windowsVersion, edition));
  if (!fitting.includes(amiType)) {
    const why = `its AMI type is ${amiType || 'unknown'}, but windowsVersion ${spec.windowsVersion} requires ${fitting.join(' or ')}`;
    return { kind: 'refused', why };
  }
  // A group that failed to create is deleted and recreated, which is for its owner to decide.
  if (status.endsWith('_FAILED')) return { kind: 'refused', why: `it is ${status}` };
  return { kind: status === 'ACTIVE' || status === 'DEGRADED' ? 'take' : 'wait' };
}

/**
 * Pools that are adopting a group now. Pools are reconciled concurrently: of two that read the same group as unowned, the tag of the second
 * would override that of the first.
 */
export class Adoptions {
  readonly #takers = new Map<string, { readonly pool: string; readonly until: number }>();

  /** Whether the pool, which read the group at `readAt` (epoch milliseconds), may adopt it. When not, what it read is out of date. */
  begin(arn: string, pool: string, readAt: number): boolean {
    const taker = this.#takers.get(arn);
    if (taker && taker.pool !== pool && readAt <= taker.until) return false;
    this.#takers.set(arn, { pool, until: Number.POSITIVE_INFINITY });
    return true;
  }

  /** The adoption is over, whether the tag was written or not: reads after `now` (epoch milliseconds) show the result. */
  end(arn: string, pool: string, now: number): void {
    this.#takers.set(arn, { pool, until: now });
  }
}

/** The tag that marks a group as owned by the pool. */
export function ownershipTag({ metadata }: WindowsPool): Readonly<Record<typeof POOL_KEY, string>> {
  return { [POOL_KEY]: metadata.name };
}

/** The observed state after these steps, an adoption among them: it shows which steps follow. */
export function afterAdoption(s: ObservedState, steps: readonly Step[]): ObservedState {
  const memory = steps.find((step) => step.kind === 'remember')?.memory;
  const status = memory ? remembering(s.pool.status, memory) : s.pool.status;
  const pool = status ? { ...s.pool, status } : s.pool;
  if (s.group.kind !== 'seen') return s;
  const { group } = s.group;
  return { ...s, pool, group: { kind: 'seen', group: { ...group, tags: { ...group.tags, ...ownershipTag(pool) } } } };
}
