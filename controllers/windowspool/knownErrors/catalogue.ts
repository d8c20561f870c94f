/**
 * What errors of Windows nodes and pods mean, as data. The conditions of pools, the kubectl plugin and docs/reference/errors.md read it. To add an error, add an entry to the
 * file of its subject: its name, what writes the message, the words by which it is recognized, the cause, the remedy, and a public source. Add its name to a symptom in
 * hack/generate/symptomTable.ts. The first entry that fits explains a message, so specific ones come before those that quote other errors.
 */
import { CONTAINER_ERRORS } from './containerErrors.ts';
import type { KnownError } from './knownError.ts';
import { NETWORK_ERRORS } from './networkErrors.ts';
import { NODE_ERRORS } from './nodeErrors.ts';
import { PROBE_ERRORS } from './probeErrors.ts';
import { PULL_ERRORS } from './pullErrors.ts';
import { SCHEDULING_ERRORS } from './schedulingErrors.ts';
import { VOLUME_ERRORS } from './volumeErrors.ts';

export const KNOWN_ERRORS: readonly KnownError[] = [
  ...PROBE_ERRORS,
  ...VOLUME_ERRORS,
  ...CONTAINER_ERRORS,
  ...NETWORK_ERRORS,
  ...NODE_ERRORS,
  ...SCHEDULING_ERRORS,
  ...PULL_ERRORS,
];
