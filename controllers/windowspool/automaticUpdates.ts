/** When an update begins that nobody asked for by name. Pure. */
import { hasFailed } from './failedTarget.ts';
import type { VersionChange } from './ports.ts';
import type { Situation } from './situation.ts';
import { versionChangeFor, versionTargetOf } from './versionChanges.ts';

/** The update of the version that may begin now: it did not fail before. */
export function nextVersionChange(s: Situation): VersionChange | undefined {
  const change = versionChangeFor(s);
  return change && !hasFailed(s, versionTargetOf(s.pool, change)) ? change : undefined;
}
