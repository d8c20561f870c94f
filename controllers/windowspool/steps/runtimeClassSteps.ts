/** Steps about RuntimeClasses. Their effects are observed through the watch. */

import { type StepKinds, unobserved } from './stepKind.ts';

export const runtimeClassSteps: StepKinds<
  'createRuntimeClass' | 'applyRuntimeClass' | 'shareRuntimeClass' | 'releaseRuntimeClass' | 'deleteRuntimeClass'
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
    run: unobserved(({ desired, seen }, { runtimeClasses }, signal) => runtimeClasses.apply(desired, seen, signal)),
  },
  // Without an event: nothing changes for the pods of any pool.
  shareRuntimeClass: {
    subject: ({ seen }) => `RuntimeClass ${seen.name}`,
    describe: ({ seen }) => `share RuntimeClass ${seen.name}`,
    blocks: 'runtimeClass',
    run: unobserved(({ seen }, { runtimeClasses }, signal, s) => runtimeClasses.addOwner(seen, s.pool, signal)),
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
