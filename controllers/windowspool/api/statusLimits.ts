/** Limits of the schema: the API server rejects a status that exceeds one. */

/** Lists in status are cut to this length; the counts beside them include all. */
export const LIST_LENGTH = 20;

/** The maximum length of the text of a step or an update, in characters. */
export const STEP_LENGTH = 1_024;
/** The maximum length of a message of AWS, in characters. */
export const AWS_MESSAGE_LENGTH = 4_096;
/** The maximum length of the message about what a node failed, in characters. */
export const FINDING_LENGTH = 1_024;
