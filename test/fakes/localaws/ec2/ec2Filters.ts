/** Shared by the Describe operations of EC2: filters, page sizes, and the messages for unknown IDs. */
import type { Filter, Tag } from '@aws-sdk/client-ec2';
import { AwsFault } from '../awsFault.ts';
import { like } from '../iam/conditions.ts';
import { pageOf } from '../wire/paging.ts';

/** How each filter reads its value from an object. */
export type Filters<T> = Readonly<Record<string, (object: T) => string>>;

interface Request {
  readonly Filters?: readonly Filter[] | undefined;
  readonly MaxResults?: number | undefined;
  readonly NextToken?: string | undefined;
}

type Listed<K extends string, T> = { [key in K]: T[] } & { NextToken?: string };

/** Whether an object matches all filters. It matches a filter if it matches one of its patterns. Tags need no entry in `known`. */
function fits<T>(
  object: T,
  filters: readonly Filter[] | undefined,
  known: Filters<T>,
  tags: readonly Tag[] = [],
): boolean {
  return (filters ?? []).every(({ Name: name = '', Values: patterns = [] }) => {
    const found = valuesOf(object, name, known, tags);
    return patterns.some((pattern) => found.some((value) => like(pattern, value)));
  });
}

function valuesOf<T>(object: T, filter: string, known: Filters<T>, tags: readonly Tag[]): string[] {
  if (filter === 'tag-key') return tags.map(({ Key }) => Key ?? '');
  if (filter.startsWith('tag:'))
    return tags.filter(({ Key }) => `tag:${Key}` === filter).map(({ Value }) => Value ?? '');
  const read = known[filter];
  if (read === undefined) throw new AwsFault('InvalidParameterValue', `The filter '${filter}' is invalid`);
  return [read(object)];
}

/** A page of the objects that match the filters of a request, by the name of its list. */
export function listOf<K extends string, T extends { readonly Tags?: readonly Tag[] | undefined } | object>(
  key: K,
  all: readonly T[],
  request: Request,
  { filters = {}, most = 1000 }: { readonly filters?: Filters<T>; readonly most?: number } = {},
): Listed<K, T> {
  const found = all.filter((one) => fits(one, request.Filters, filters, 'Tags' in one ? one.Tags : undefined));
  const { items, nextToken } = pageOf(found, request.NextToken, pageSize(request.MaxResults, most), 'InvalidNextToken');
  return { [key]: items, ...(nextToken !== undefined && { NextToken: nextToken }) } as Listed<K, T>;
}

/** The size of a page: the requested one, from 5 to `most`, or `most`. */
function pageSize(asked: number | undefined, most: number): number {
  if (asked === undefined) return most;
  if (Number.isInteger(asked) && asked >= 5 && asked <= most) return asked;
  throw new AwsFault(
    'InvalidParameterValue',
    `Value ( ${asked} ) for parameter maxResults is invalid. Expecting a value between 5 and ${most}.`,
  );
}

/** EC2's message for unknown ids. */
export const doNotExist = (what: string, ids: readonly string[]): string =>
  ids.length === 1 ? `The ${what} '${ids[0]}' does not exist` : `The ${what}s '${ids.join(', ')}' do not exist`;
