/** What the schema takes in status: the API server would refuse all of it otherwise. */

/** Lists in status are cut here; the counts beside them are of all. */
export const LIST_LENGTH = 20;

/** The longest text of a step or an update. */
export const STEP_LENGTH = 1_024;
