/** Errors of steps and of reads, kept in the observed state. */
import type { CallError } from '../ports/callResult.ts';

/** A step, or a look, that did not do its work. */
export interface StepError {
  /** When it happened, epoch milliseconds: it may be told again from memory. */
  readonly at: number;
  /** The kind of a Step, or `describe...` for what AWS is asked, `readNode`, `readInstances`, `listNodes` or `listPods`. */
  readonly step: string;
  readonly error: CallError;
  /** Of a step that sends an update: the hash of what it was to reach. Of one that ends an instance: the UID of its node. */
  readonly target?: string;
}
