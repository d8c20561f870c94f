/** Descriptions of steps for the sample pool that several tables use. */
import { CLUSTER_ARN, NEXT } from '../fixtures.ts';

export const CREATE =
  'create node group web (WINDOWS_CORE_2022_x86_64, m5.large, 3 nodes, 3 to 5), tags winpool.dev/created-from, winpool.dev/pool';
/** The pool records all desired fields. */
export const REMEMBER = `remember web of ${CLUSTER_ARN}: 5 fields, desired open`;

/** The record before fields are sent. */
export const sending = (...fields: string[]) => `remember web of ${CLUSTER_ARN}: sending ${fields.join(', ')}`;
/** The same, together with the reservation of a share of the budget. */
export const reserving = (...fields: string[]) => `reserve web of ${CLUSTER_ARN}: sending ${fields.join(', ')}`;

/** To a maxSize of 9. */
export const GROW_STEPS = [sending('scaling'), 'update node group web: scaling maxSize 9'];
/** To the next release, because the spec pins it. */
export const TO_NEXT_STEPS = [reserving('release'), `update node group web: release ${NEXT} (replaces every node)`];
/** The same because of update.policy. */
export const AUTOMATIC_STEPS = [reserving(), `update node group web: release ${NEXT} (replaces every node)`];

export const DELETE = 'delete node group web: the pool is deleted';

/** The record of the terminations that follow. */
export const RECORD = 'recordTerminations';
