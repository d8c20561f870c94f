/** Steps about RuntimeClasses. What they change comes back through the watch. */

import { type StepKinds, when } from './stepKind.ts';

export const runtimeClassSteps: StepKinds<
  'createRuntimeClass' | 'applyRuntimeClass' | 'releaseRuntimeClass' | 'deleteRuntimeClass'
> = {
  createRuntimeClass: {
    subject: ({ desired }) => `RuntimeClass ${desired.name}`,
    describe: ({ desired }) => `create RuntimeClass ${desired.name}`,
    reason: 'RuntimeClassCreated',
    run: async ({ desired }, soFar, { runtimeClasses }, signal) =>
      when(await runtimeClasses.create(desired, soFar.after.pool, signal), () => soFar),
  },
  applyRuntimeClass: {
    subject: ({ desired }) => `RuntimeClass ${desired.name}`,
    describe: ({ desired }) => `apply RuntimeClass ${desired.name}`,
    reason: 'RuntimeClassApplied',
    run: async ({ desired, seen, differs, lacksOwner }, soFar, { runtimeClasses }, signal) => {
      const applied = differs
        ? await runtimeClasses.apply(desired, seen, signal)
        : { ok: true as const, value: undefined };
      if (!applied.ok || !lacksOwner) return when(applied, () => soFar);
      return when(await runtimeClasses.addOwner(seen, soFar.after.pool, signal), () => soFar);
    },
  },
  releaseRuntimeClass: {
    subject: ({ seen }) => `RuntimeClass ${seen.name}`,
    describe: ({ seen }) => `give up ownership of RuntimeClass ${seen.name}`,
    reason: 'RuntimeClassReleased',
    run: async ({ seen }, soFar, { runtimeClasses }, signal) =>
      when(await runtimeClasses.removeOwner(seen, soFar.after.pool, signal), () => soFar),
  },
  deleteRuntimeClass: {
    subject: ({ seen }) => `RuntimeClass ${seen.name}`,
    describe: ({ seen }) => `delete RuntimeClass ${seen.name}`,
    reason: 'RuntimeClassDeleted',
    run: async ({ seen }, soFar, { runtimeClasses }, signal) =>
      when(await runtimeClasses.delete(seen, signal), () => soFar),
  },
};
