import { AwsFault } from '../awsFault.ts';
import { type Member, type Operation, operationNames, operationOf, type Shape } from './shapes.ts';

interface Route {
  readonly operation: string;
  readonly method: string;
  readonly segments: readonly string[];
}

const routes: readonly Route[] = operationNames('eks')
  .map((name) => ({ name, http: operationOf('eks', name)?.http }))
  .flatMap(({ name, http }) =>
    http === undefined ? [] : [{ operation: name, method: http[0], segments: segmentsOf(http[1]) }],
  )
  // A literal takes precedence over a label.
  .sort((a, b) => literals(b) - literals(a));

/** A request of EKS: the operation and the values in its path. */
export interface EksRequest {
  readonly operation: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The operation of a method and path. The path is split first and percent-decoded then: ARNs travel encoded. */
export function route(method: string, path: string): EksRequest {
  const segments = segmentsOf(path).map((segment) => decode(segment));
  const found = routes.find((candidate) => candidate.method === method && fits(candidate.segments, segments));
  if (found === undefined)
    throw new AwsFault('UnknownOperationException', `EKS has no operation for ${method} ${path}`);
  const labels: Record<string, string> = {};
  found.segments.forEach((segment, index) => {
    if (segment.startsWith('{')) labels[segment.slice(1, -1)] = segments[index] ?? '';
  });
  return { operation: found.operation, labels };
}

/** The input of an operation from path, query and JSON body, with the types of the service model. */
export function inputOf(
  operation: Operation,
  request: EksRequest,
  query: URLSearchParams,
  body: string,
): Record<string, unknown> {
  const input: Record<string, unknown> = { ...bodyOf(body), ...request.labels };
  if (operation.input.kind !== 'structure') return input;
  for (const member of operation.input.members.values()) {
    const name = member.traits.httpQuery;
    if (typeof name !== 'string' || !query.has(name)) continue;
    input[member.name] = queryValue(member, name, query);
  }
  return input;
}

/** An output as JSON: timestamps are numbers of seconds since the epoch. */
export const bodyFor = (output: object): string => JSON.stringify(jsonOf(output));

function queryValue(member: Member, name: string, query: URLSearchParams): unknown {
  const shape: Shape = member.shape();
  if (shape.kind === 'list') return query.getAll(name);
  const text = query.get(name) ?? '';
  if (shape.kind === 'boolean') return text === 'true';
  if (shape.kind !== 'number') return text;
  const number = Number(text);
  if (Number.isNaN(number)) throw new AwsFault('SerializationException', `${name} is '${text}'; a number is expected`);
  return number;
}

/** A JSON body as an object; an empty one has no members. */
export function bodyOf(body: string): Record<string, unknown> {
  if (body === '') return {};
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through to the same response.
  }
  throw new AwsFault('SerializationException', 'the body is not a JSON object');
}

function jsonOf(value: unknown): unknown {
  if (value instanceof Date) return value.getTime() / 1000;
  if (Array.isArray(value)) return value.map((item) => jsonOf(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonOf(item)]));
}

function segmentsOf(path: string): string[] {
  return path.replace(/^\//, '').split('/');
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new AwsFault('SerializationException', `the path segment ${segment} is not percent-encoded properly`);
  }
}

function literals({ segments }: Route): number {
  return segments.filter((segment) => !segment.startsWith('{')).length;
}

const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((part, index) => part.startsWith('{') || part === segments[index]);
