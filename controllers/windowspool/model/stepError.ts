/** Errors of steps and of reads, kept in the observed state. */
import type { CallError } from '../ports/callResult.ts';
import type { Step } from './steps.ts';

/** A step or read that failed. */
export interface StepError {
  /** When it failed, in epoch milliseconds: it may be reported again from memory. */
  readonly at: number;
  readonly step: Step['kind'] | Read;
  readonly error: CallError;
  /** Of an earlier run: it was not tried again in this one. */
  readonly isRemembered?: true;
  /** For an update: the hash of its desired state. For a termination: the UID of its node. */
  readonly target?: string;
}

/** A read whose error is kept. `describe...` is one of AWS, the others are reads of the API server. */
export type Read =
  | 'describeInstances'
  | 'describeLaunchTemplate'
  | 'describeScalingGroups'
  | 'describeUpdate'
  | 'listNodes'
  | 'listPods'
  | 'readInstances'
  | 'readNode'
  | 'watchNodePods';
