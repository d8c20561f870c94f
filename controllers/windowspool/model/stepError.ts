/** Errors of steps and of reads, kept in the observed state. */
import type { CallError } from '../ports/callResult.ts';

/** A step or read that failed. */
export interface StepError {
  /** When it failed, in epoch milliseconds: it may be reported again from memory. */
  readonly at: number;
  /** The kind of a Step, or of a read: `describe...` for AWS, `readNode`, `readInstances`, `listNodes`, `listPods` or `watchNodePods`. */
  readonly step: string;
  readonly error: CallError;
  /** For an update: the hash of its desired state. For a termination: the UID of its node. */
  readonly target?: string;
}
