/** The annotation winpool.dev/retry, with which a user requests another attempt. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { RETRY_ANNOTATION } from '../../../api/labels.ts';

/** A record with the value that the annotation had when it was written. */
interface Recorded {
  readonly retry?: string;
}

/** The maximum length in the schema. */
const RETRY_LENGTH = 256;

/** The current value of the annotation, for a record. */
export function retryOf({ metadata }: Pick<WindowsPool, 'metadata'>): Recorded {
  const retry = metadata.annotations?.[RETRY_ANNOTATION]?.slice(0, RETRY_LENGTH);
  return retry === undefined ? {} : { retry };
}

/** Whether the user has set the annotation to another value since the record was written. To remove it requests nothing. */
export function isRetried(pool: Pick<WindowsPool, 'metadata'>, recorded: Recorded): boolean {
  const { retry } = retryOf(pool);
  return retry !== undefined && retry !== recorded.retry;
}
