import { AwsFault } from '../awsFault.ts';

/** A page of a list. `nextToken` is absent on the last one. */
export interface Page<T> {
  readonly items: T[];
  readonly nextToken?: string;
}

/** Returns a page of a list. The token is opaque to clients, as in AWS; an unknown one is rejected. */
export function pageOf<T>(
  all: readonly T[],
  nextToken: string | undefined,
  maxResults: number,
  badTokenName: string,
): Page<T> {
  const start = nextToken === undefined ? 0 : offsetOf(nextToken, badTokenName);
  const items = all.slice(start, start + maxResults);
  const end = start + items.length;
  return end < all.length ? { items, nextToken: Buffer.from(`page:${end}`).toString('base64url') } : { items };
}

function offsetOf(token: string, badTokenName: string): number {
  const match = /^page:(\d+)$/.exec(Buffer.from(token, 'base64url').toString());
  if (match === null) throw new AwsFault(badTokenName, `Invalid nextToken: ${token}`);
  return Number(match[1]);
}
