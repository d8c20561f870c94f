/** Reads paginated results of EC2. */
import type { CallError, CallResult } from '../windowspool/ports/callResult.ts';
import type { Ec2Call, Ec2Operations } from './calls.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';

/** The largest MaxResults: 100 for instance types, 200 for launch templates, 1,000 for others. A node group has a few hundred instances at most. */
const PAGE_SIZE = { DescribeInstanceTypes: 100, DescribeLaunchTemplateVersions: 200 } as Readonly<
  Record<string, number>
>;
const MOST_PAGES = 20;

/** The operations whose results have pages. */
export type PagedOperation = {
  [O in keyof Ec2Operations]: 'NextToken' extends keyof Ec2Operations[O][1] ? O : never;
}[keyof Ec2Operations];

/** Reads every page of a result; more than 20 pages are an error. */
export async function everyPage<O extends PagedOperation>(
  ec2: Ec2Call,
  limiter: AwsRateLimiter,
  operation: O,
  input: Ec2Operations[O][0],
  signal: AbortSignal,
): Promise<CallResult<readonly Ec2Operations[O][1][]>> {
  const pages: Ec2Operations[O][1][] = [];
  let token: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const pageInput = { ...input, MaxResults: PAGE_SIZE[operation] ?? 1_000, ...(token && { NextToken: token }) };
    const result = await limiter.run('ec2', operation, (bounded) => ec2(operation, pageInput, bounded), signal);
    if (!result.ok) return result;
    pages.push(result.value);
    token = result.value.NextToken;
    if (!token) return { ok: true, value: pages };
  }
  return { ok: false, error: tooManyPages(operation, MOST_PAGES) };
}

/** The error of a result with more pages than are read. A part of it would be worse: what is missing would count as absent. */
export function tooManyPages(operation: string, pages: number): CallError {
  const message = `AWS returned more than ${pages} pages. Check the proxies between the operator and AWS.`;
  return { kind: 'unknown', operation, code: 'TooManyPages', message };
}
