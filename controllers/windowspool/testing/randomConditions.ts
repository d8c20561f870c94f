/** What an earlier run left in status: conditions, and what status.tracking records of them. Independent of each other. */
import fc from 'fast-check';
import type { Condition, Tracking } from '../api/api.gen.ts';
import { MINUTE, NOW } from './fixtures.ts';

const timeAgo = fc.integer({ min: 0, max: 120 * MINUTE }).map((ms) => new Date(NOW - ms).toISOString());

/** What the conditions of an earlier run left in status.tracking. */
export const randomRecords: fc.Arbitrary<Tracking> = fc.record(
  {
    ready: fc.constant(true),
    joiningSince: timeAgo,
    nodesMissing: fc.constant(true),
    prerequisites: fc.record(
      {
        result: fc.constantFrom('NotMet', 'Remarked', 'ReadDenied', 'Denied', 'Unavailable'),
        since: timeAgo,
        remarks: fc.constant('0123456789abcdef'),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

/** Conditions as the operator could have written them. */
export const randomConditions: fc.Arbitrary<Condition[]> = fc.uniqueArray(
  fc.record({
    type: fc.constantFrom(
      'Ready',
      'PrerequisitesMet',
      'NodeGroupReady',
      'RuntimeClassReady',
      'NodesVerified',
      'UpToDate',
    ),
    status: fc.constantFrom('True', 'False', 'Unknown'),
    reason: fc.constantFrom(
      'Joining',
      'NodesMissing',
      'AccessDenied',
      'AWSUnavailable',
      'NoLinuxNode',
      'MetWithWarnings',
    ),
    message: fc.constantFrom('All is well.', 'Annotation winpool.dev/ignore-prerequisites: unknown prerequisite A.'),
    lastTransitionTime: timeAgo,
  }),
  { selector: ({ type }) => type },
);
