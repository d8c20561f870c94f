/** Invariants of the record of a second node group, checked at each write of a status. */
import type { NodeGroupState, WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { isDrainPhase, PHASES, type Phase } from '../../../controllers/windowspool/providers/nodeGroups.ts';

/** The phases that follow from what is observed: no step records them first. */
const OBSERVED: readonly Phase[] = ['Creating', 'Verifying', 'Soaking'];

/** What is wrong with the record after a write; undefined: nothing. `isRestored`: the status came from a backup, which may lack a record. */
export function faultInRecord(
  before: WindowsPool | undefined,
  after: WindowsPool | undefined,
  isRestored = false,
): string | undefined {
  const [was, is] = [before?.status?.nodeGroup, after?.status?.nodeGroup];
  if (is?.replacement && is.canary) return 'a replacement and a canary at the same time';
  const next = (is?.replacement ?? is?.canary)?.phase;
  if (!is || next === undefined || nextPhases(was, is, isRestored).includes(next)) return undefined;
  return `phase ${next} after ${(was?.replacement ?? was?.canary)?.phase ?? 'none'}`;
}

function nextPhases(was: NodeGroupState | undefined, is: NodeGroupState, isRestored: boolean): readonly Phase[] {
  if (is.canary) {
    if (!was?.canary) return ['Creating'];
    return isDrainPhase(was.canary.phase) ? [was.canary.phase] : [...OBSERVED, 'Draining'];
  }
  const { phase } = was?.replacement ?? {};
  // A status that was lost, or comes from a backup, does not show whether a replacement had begun.
  if (phase === undefined || phase === 'Soaking') return was && !isRestored ? ['Creating'] : ['Creating', 'Returning'];
  if (was?.name !== is.name) return [PHASES[phase].whenReverted];
  const observed = OBSERVED.includes(phase) ? OBSERVED : [phase];
  return [...observed, PHASES[phase].whenReady];
}
