/** Deletes what the operator created from machines.template. The object is read uncached: one that was created just before is not in the cache yet. */
import type { Outcome } from '../../model/outcome.ts';
import type { Writers } from '../../model/writers.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { changed, type StepResult, when } from '../../steps/stepKind.ts';
import { DELETED, isCreatedFor, type MachinesState } from './machinesState.ts';

/** Deletes the object of the pool; once it is gone, deletes the infrastructure templates, and records that nothing is left. */
export async function deleteMachineSet(
  outcome: Outcome<MachinesState>,
  { machineSets, ownMachineSets }: Pick<Writers, 'machineSets' | 'ownMachineSets'>,
  signal: AbortSignal,
): Promise<StepResult> {
  const { pool } = outcome.after;
  const { metadata, spec } = pool;
  const { ref, template } = machinesIn(spec);
  const seen = await machineSets.read(ref, signal);
  if (!seen.ok) return { error: seen.error };
  const set = seen.value?.set;
  if (set && isCreatedFor(pool, set)) return when(await ownMachineSets.delete(ref, set, signal), () => outcome);
  const { infrastructureTemplate } = template ?? {};
  const pruned = infrastructureTemplate
    ? await ownMachineSets.pruneTemplates(ref, infrastructureTemplate, metadata.name, signal)
    : ({ ok: true, value: undefined } as const);
  return when(pruned, () => changed(outcome, { usedTemplate: DELETED }));
}
