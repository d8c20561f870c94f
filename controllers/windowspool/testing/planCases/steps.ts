/** Descriptions of steps for the sample pool that several tables use. */
import { CLUSTER_ARN, NEXT } from '../fixtures.ts';

export const CREATE =
  'createNodeGroup web WINDOWS_CORE_2022_x86_64 m5.large 3 of 3-5 +winpool.dev/created-from +winpool.dev/pool';
/** The pool records all desired fields. */
/** What is recorded before the group is created. */
export const SEND_ALL = `record web of ${CLUSTER_ARN}: sending all 5 fields`;

export const REMEMBER = `record web of ${CLUSTER_ARN}: 5 fields, desired open`;

/** The record before fields are sent. */
export const sending = (...fields: string[]) => `record web of ${CLUSTER_ARN}: sending ${fields.join(', ')}`;
/** The same, together with the reservation of a share of the budget. */
export const reserving = (...fields: string[]) => `reserve web of ${CLUSTER_ARN}: sending ${fields.join(', ')}`;

/** To a maxSize of 9. */
export const GROW_STEPS = [sending('scaling'), 'updateConfig web maxSize=9'];
/** To the next release, because the spec pins it. */
export const TO_NEXT_STEPS = [reserving('release'), `updateNodeGroupVersion web ${NEXT}`];
/** The same because of update.policy. */
export const AUTOMATIC_STEPS = [reserving(), `updateNodeGroupVersion web ${NEXT}`];

export const DELETE = 'deleteNodeGroup web';

/** The record of the terminations that follow. */
export const RECORD = 'recordTerminations';
