/** The rules for an object that the operator creates from machines.template. */
import type { RuleResult } from '../../model/decisions.ts';
import type { Step } from '../../model/steps.ts';
import { waitFor } from '../../rules/ruleChains.ts';
import { describeFailure } from '../../util/words.ts';
import { hashOfTemplate, manifestsFor, templateFault, templateIn } from './machineSetManifest.ts';
import { DELETED, isOwned, type MachinesDerived, notOwned, objectName, setOf } from './machinesState.ts';

/** Ensures that the object has the current template, and that infrastructure templates which it no longer needs are deleted. */
export function keepMachineSet(s: MachinesDerived): RuleResult | Step[] | undefined {
  const template = templateIn(s.pool);
  if (!template || s.machines.kind === 'unknown') return undefined;
  const fault = templateFault(template);
  if (fault) return waitFor('InvalidTemplate', 'watch', { message: fault });
  const set = setOf(s);
  if (set?.deleting) return undefined;
  if (set && !isOwned(s)) {
    const { reason, why, remedy } = notOwned(s);
    return waitFor(reason, 'watch', { message: `${why}. ${remedy}.` });
  }
  const hash = hashOfTemplate(template);
  if (set?.templateHash !== hash)
    return [{ kind: 'applyMachineSet', seen: set, manifests: manifestsFor(s.pool, template, set) }];
  const isUsed = set.isObserved && set.outdated === 0;
  const { infrastructureTemplate } = template;
  // Each change of the spec can leave one, and so can a MachineSet that its controller keeps: that one is deleted when the MachineSet is.
  const sets = s.machines.kind === 'seen' ? s.machines.sets : 0;
  const used = `${s.pool.metadata.generation}/${sets}`;
  if (!infrastructureTemplate || !isUsed || s.usedTemplate === used) return undefined;
  return [{ kind: 'pruneMachineTemplates', used, template: infrastructureTemplate }];
}

/** Ensures that the object of a deleted pool is deleted with its Machines, and then its infrastructure templates, unless they are to stay. */
export function deleteOwnMachineSet(s: MachinesDerived): RuleResult | Step[] | undefined {
  if (!templateIn(s.pool) || s.pool.spec.deletionPolicy === 'Retain' || s.usedTemplate === DELETED) return undefined;
  if (s.machines.kind === 'unknown') {
    const { error } = s.machines;
    const why = error ? `: ${describeFailure(error)}` : '.';
    const message = `${objectName(s)} cannot be read, so it is not deleted${why} To delete the pool without it, set deletionPolicy: Retain.`;
    return waitFor('MachinesUnknown', 'watch', { message });
  }
  const set = setOf(s);
  if (set?.deleting && isOwned(s)) {
    const left = s.machines.kind === 'seen' ? s.machines.machines.length : 0;
    const message = `${objectName(s)} is being deleted, and its controller drains and deletes its Machines: ${left} left.`;
    return waitFor('MachineSetDeleting', 'watch', { message, progress: true });
  }
  return [{ kind: 'deleteMachineSet' }];
}
