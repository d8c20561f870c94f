import { copyOf } from '../copy.ts';
import type { Caller, OperationName } from './operations.ts';

/** One call in the list. `n` counts from 1; `result` stays `pending` for a call without a response. */
export interface CallEntry {
  readonly n: number;
  readonly at: string;
  readonly operation: OperationName | string;
  readonly input: unknown;
  readonly userAgent: string;
  result: string;
  message?: string;
  /** Whether it took effect, even if its response was lost. */
  isDone: boolean;
}

/** The node group that a call of EKS is about, by its name or ARN; undefined for one about the cluster, and for other services. */
export function nodeGroupIn({ input }: Pick<CallEntry, 'input'>): string | undefined {
  const { nodegroupName, resourceArn } = input as { readonly nodegroupName?: string; readonly resourceArn?: string };
  return nodegroupName ?? /:nodegroup\/[^/]+\/([^/]+)/.exec(resourceArn ?? '')?.[1];
}

/** Every call in the order of arrival. */
export class CallLog {
  #entries: CallEntry[] = [];
  #counted = 0;

  /** Records a new call. */
  add(operation: string, input: unknown, caller: Caller, at: Date): CallEntry {
    this.#counted += 1;
    const entry: CallEntry = {
      n: this.#counted,
      at: at.toISOString(),
      operation,
      input: copyOf(input),
      userAgent: caller.userAgent,
      result: 'pending',
      isDone: false,
    };
    this.#entries.push(entry);
    return entry;
  }

  /** A copy of the list. */
  entries(): CallEntry[] {
    return structuredClone(this.#entries);
  }

  /** Empties the list and restarts counting at 1. */
  reset(): void {
    this.#entries = [];
    this.#counted = 0;
  }
}
