/** The facts about reads whose errors are kept. */

import type { Read } from '../model/stepError.ts';
import type { ReadFacts } from './stepKind.ts';

/** A read without a record here does not compile. */
export const reads: Readonly<Record<Read, ReadFacts>> = {
  describeInstances: { readsAws: true },
  describeLaunchTemplate: { readsAws: true, blocks: 'launchTemplate' },
  describeScalingGroups: { readsAws: true },
  describeUpdate: { readsAws: true },
  listNodes: {},
  listPods: { blocks: 'drain' },
  readInstances: { blocks: 'drain' },
  readNode: { blocks: 'drain' },
  watchNodePods: {},
};
