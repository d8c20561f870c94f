/** What status records of a pool's prerequisites. They are examined in derive/checkResults.ts. Pure. */

import type { PrerequisitesRecord, WindowsPool } from '../../../api/api.gen.ts';
import type { EksState } from '../model/groupState.ts';

/** What status records of PrerequisitesMet. */
export function prerequisitesRecordOf({ status }: WindowsPool): PrerequisitesRecord {
  return status?.tracking?.prerequisites ?? {};
}

/** Whether a prerequisite was reported as not met or not checked: then all are checked until they are met. */
export function wasUnmet({ pool }: EksState): boolean {
  return hadResult(pool, 'NotMet', 'ReadDenied');
}

/** Whether a failed call hid the former results. */
export function wasHidden({ pool }: EksState): boolean {
  return hadResult(pool, 'ReadDenied', 'Denied', 'Unavailable');
}

/** Whether PrerequisitesMet is a result of the checks that can be repeated while they cannot run. */
export function wasOfChecks({ pool }: EksState): boolean {
  return hadResult(pool, 'NotMet', 'Remarked');
}

function hadResult(pool: WindowsPool, ...results: readonly PrerequisitesRecord['result'][]): boolean {
  return results.includes(prerequisitesRecordOf(pool).result);
}
