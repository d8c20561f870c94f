/** Reads paginated results. */
import type { CallError, CallResult } from '../windowspool/ports/callResult.ts';
import type { Ec2Call, Ec2Operations } from './calls.ts';
import { mapped } from './results.ts';

/** The largest MaxResults: 100 for instance types, 200 for launch templates, 1,000 for others. A node group has a few hundred instances at most. */
const PAGE_SIZE = { DescribeInstanceTypes: 100, DescribeLaunchTemplateVersions: 200 } as Readonly<
  Record<string, number>
>;
const MOST_PAGES = 20;

/** The operations whose results have pages. */
type PagedOperation = {
  [O in keyof Ec2Operations]: 'NextToken' extends keyof Ec2Operations[O][1] ? O : never;
}[keyof Ec2Operations];

/** Reads every page of a result. `read` gets the token of the page, and `nextOf` returns that of the next one. More than `most` pages are an error. */
export async function readPages<Page>(
  operation: string,
  most: number,
  read: (token: string | undefined) => Promise<CallResult<Page>>,
  nextOf: (page: Page) => string | undefined,
): Promise<CallResult<readonly Page[]>> {
  const pages: Page[] = [];
  let token: string | undefined;
  for (let page = 0; page < most; page++) {
    const result = await read(token);
    if (!result.ok) return result;
    pages.push(result.value);
    token = nextOf(result.value);
    if (!token) return { ok: true, value: pages };
  }
  return { ok: false, error: tooManyPages(operation, most) };
}

/** What `itemsOf` returns for each page of a result of EC2, of which more than 20 are an error. */
export async function everyItem<O extends PagedOperation, T>(
  ec2: Ec2Call,
  operation: O,
  input: Ec2Operations[O][0],
  signal: AbortSignal,
  itemsOf: (page: Ec2Operations[O][1]) => readonly T[],
): Promise<CallResult<readonly T[]>> {
  const read = (token: string | undefined) =>
    ec2(operation, { ...input, MaxResults: PAGE_SIZE[operation] ?? 1_000, ...(token && { NextToken: token }) }, signal);
  const pages = await readPages(operation, MOST_PAGES, read, ({ NextToken }) => NextToken);
  return mapped(pages, (all) => all.flatMap(itemsOf));
}

/** The error of a result with more pages than are read. A part of it would be worse: what is missing would count as absent. */
function tooManyPages(operation: string, pages: number): CallError {
  const message = `AWS returned more than ${pages} pages. Check the proxies between the operator and AWS.`;
  return { kind: 'unknown', operation, code: 'TooManyPages', message };
}
