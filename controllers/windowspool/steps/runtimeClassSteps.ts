/** Steps about RuntimeClasses. Their effects are observed through the watch. */

import { type StepKinds, unobserved, when } from './stepKind.ts';

export const runtimeClassSteps: StepKinds<
  'createRuntimeClass' | 'applyRuntimeClass' | 'releaseRuntimeClass' | 'deleteRuntimeClass'
> = {
  createRuntimeClass: {
    subject: ({ desired }) => `RuntimeClass ${desired.name}`,
    describe: ({ desired }) => `create RuntimeClass ${desired.name}`,
    reason: 'RuntimeClassCreated',
    blocks: 'runtimeClass',
    run: unobserved(({ desired }, { runtimeClasses }, signal, s) => runtimeClasses.create(desired, s.pool, signal)),
  },
  applyRuntimeClass: {
    subject: ({ desired }) => `RuntimeClass ${desired.name}`,
    describe: ({ desired }) => `apply RuntimeClass ${desired.name}`,
    reason: 'RuntimeClassApplied',
    blocks: 'runtimeClass',
    run: async ({ desired, seen, differs, lacksOwner }, outcome, { runtimeClasses }, signal) => {
      const applied = differs
        ? await runtimeClasses.apply(desired, seen, signal)
        : { ok: true as const, value: undefined };
      if (!applied.ok || !lacksOwner) return when(applied, () => outcome);
      return when(await runtimeClasses.addOwner(seen, outcome.after.pool, signal), () => outcome);
    },
  },
  releaseRuntimeClass: {
    subject: ({ seen }) => `RuntimeClass ${seen.name}`,
    describe: ({ seen }) => `give up ownership of RuntimeClass ${seen.name}`,
    reason: 'RuntimeClassReleased',
    blocks: 'runtimeClass',
    run: unobserved(({ seen }, { runtimeClasses }, signal, s) => runtimeClasses.removeOwner(seen, s.pool, signal)),
  },
  deleteRuntimeClass: {
    subject: ({ seen }) => `RuntimeClass ${seen.name}`,
    describe: ({ seen }) => `delete RuntimeClass ${seen.name}`,
    reason: 'RuntimeClassDeleted',
    blocks: 'runtimeClass',
    run: unobserved(({ seen }, { runtimeClasses }, signal) => runtimeClasses.delete(seen, signal)),
  },
};
