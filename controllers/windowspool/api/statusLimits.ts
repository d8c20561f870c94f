/** Limits of the schema: the API server rejects the whole status otherwise. */

/** Lists in status are cut to this length; the counts beside them include all. */
export const LIST_LENGTH = 20;

/** The longest text of a step or an update, in characters. */
export const STEP_LENGTH = 1_024;
/** The maximum length of a message of AWS. */
export const AWS_MESSAGE_LENGTH = 4_096;
/** The longest text about the check that a node failed. */
export const FINDING_LENGTH = 1_024;
