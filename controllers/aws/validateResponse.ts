/**
 * What a response must be before the operator reads it. The SDK passes on what a response has, of any type and length, so that a broken proxy or endpoint
 * could crash the operator, or fill its status with what the API server rejects. The types are those of the SDK's own schemas.
 */
import { NormalizedSchema } from '@smithy/core/schema';
import { foreignText } from '../windowspool/ports/foreignText.ts';
import { isWritable } from '../windowspool/ports/foreignTime.ts';
import { MalformedResponse } from './errors.ts';

/** Configuration values, parameters of updates, and tokens have some kilobytes. */
const DOCUMENT = 256 * 1024;
/** The most characters of a text, or items of a list, where status accepts fewer than {@link TEXT} and {@link ITEMS}, or where a text is longer. */
const MOST: Readonly<Record<string, number>> = {
  'nodegroup.nodegroupName': 63,
  'nodegroup.status': 64,
  'nodegroup.amiType': 64,
  'nodegroup.subnets': 50,
  'nodegroup.subnets[]': 64,
  'nodegroup.launchTemplate.id': 64,
  'nodegroup.launchTemplate.name': 128,
  'nodegroup.launchTemplate.version': 32,
  'nodegroup.version': 32,
  'nodegroup.releaseVersion': 64,
  'nodegroup.health.issues[].code': 128,
  'nodegroup.resources.autoScalingGroups': 10,
  'nodegroup.resources.autoScalingGroups[].name': 256,
  'update.id': 128,
  'update.type': 64,
  'update.status': 64,
  'update.errors[].errorCode': 128,
  'update.params[].value': DOCUMENT,
  'cluster.name': 100,
  'cluster.version': 32,
  'cluster.certificateAuthority.data': 16_384,
  'addon.configurationValues': DOCUMENT,
  'Reservations[].Instances[].InstanceId': 64,
  'Reservations[].Instances[].PrivateDnsName': 253,
  'AutoScalingGroups[].Instances[].InstanceId': 64,
  'Images[].Name': 256,
  // https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html
  'Parameter.Value': 8_192,
  // EC2 accepts 16 KiB, and returns them in base64.
  'LaunchTemplateVersions[].LaunchTemplateData.UserData': 24_000,
  nextToken: DOCUMENT,
  NextToken: DOCUMENT,
  Marker: DOCUMENT,
};
/** Longer than the ARN of a role with the longest path. */
const TEXT = 2_048;
/** A page of EC2 has at most 1,000 items, and a scaling group at most the 10,000 instances of a pool and as many in a warm pool. */
const ITEMS = 20_000;
/** AWS accepts 50 labels and 50 tags. */
const ENTRIES = 1_000;
/** Of messages, which are cut: `scrub` cuts them further, after it removed request IDs. Other texts could then name another object. */
const MESSAGE = 4_096;
/** These texts are not cleaned: they are compared with those of the spec, or written again. */
const KEPT = /(?:Tags\[\]\.(?:Key|Value)|configurationValues)$/;

/**
 * The response of a command, with clean texts. Null counts as absent, and members that the SDK does not know are left out. Throws MalformedResponse for a
 * value of another type or beyond its bounds, because less than the whole response would be worse: what is missing would count as deleted.
 */
export function checkedAnswer<T extends object>(command: object, response: T): T {
  const { schema } = command as { readonly schema: readonly [...unknown[], input: unknown, output: Schema] };
  const output = NormalizedSchema.of(schema.at(-1) as Schema);
  const { $metadata } = (response ?? {}) as { readonly $metadata?: unknown };
  const read = output.isUnitSchema() ? undefined : value(output, response, '');
  return { ...(read as T), $metadata };
}

type Schema = Parameters<typeof NormalizedSchema.of>[0];

function value(schema: NormalizedSchema, found: unknown, path: string): unknown {
  if (found === undefined || found === null) return undefined;
  if (schema.isStructSchema()) return members(schema, found, path);
  if (schema.isListSchema()) return list(schema, found, path);
  if (schema.isMapSchema()) return schema.getValueSchema().isStringSchema() ? texts(found, path) : found;
  if (schema.isStringSchema()) return text(found, path);
  if (schema.isBooleanSchema()) return typed(found, 'boolean', path);
  if (schema.isTimestampSchema()) return time(found, path);
  if (schema.isNumericSchema() && !Number.isFinite(found)) fail(path, `a ${typeof found} instead of a number`);
  return found;
}

function members(schema: NormalizedSchema, found: unknown, path: string): unknown {
  const object = typed(found, 'object', path);
  const read: Record<string, unknown> = {};
  for (const [name, inner] of schema.structIterator()) {
    const member = value(inner, object[name], path === '' ? name : `${path}.${name}`);
    if (member !== undefined) read[name] = member;
  }
  return read;
}

function list(schema: NormalizedSchema, found: unknown, path: string): unknown {
  if (!Array.isArray(found)) return fail(path, `a ${typeof found} instead of a list`);
  const most = MOST[path] ?? ITEMS;
  if (found.length > most) fail(path, `${found.length} items, more than ${most}`);
  const inner = schema.getValueSchema();
  return found.map((item) => value(inner, item, `${path}[]`) ?? fail(path, 'an item that is null'));
}

/** Labels or tags. They are not cleaned: they are compared with those of the spec. */
function texts(found: unknown, path: string): unknown {
  const entries = Object.entries(typed(found, 'object', path));
  if (entries.length > ENTRIES) fail(path, `${entries.length} entries, more than ${ENTRIES}`);
  for (const entry of entries) for (const each of entry) bounded(typed(each, 'string', path), TEXT, path);
  return Object.fromEntries(entries);
}

function text(found: unknown, path: string): string {
  const whole = typed(found, 'string', path);
  if (/message$/i.test(path)) return foreignText(whole, MESSAGE);
  const short = bounded(whole, MOST[path] ?? TEXT, path);
  return KEPT.test(path) ? short : foreignText(short, short.length);
}

function time(found: unknown, path: string): Date {
  if (!(found instanceof Date)) return fail(path, `a ${typeof found} instead of a time`);
  return isWritable(found.getTime()) ? found : fail(path, 'a time outside the years 0 to 9999');
}

interface Types {
  readonly string: string;
  readonly boolean: boolean;
  readonly object: Readonly<Record<string, unknown>>;
}

function typed<T extends keyof Types>(found: unknown, type: T, path: string): Types[T] {
  const foundType = Array.isArray(found) ? 'list' : typeof found;
  if (foundType !== type) fail(path, `a ${foundType} instead of a${type === 'object' ? 'n' : ''} ${type}`);
  return found as Types[T];
}

function bounded(found: string, most: number, path: string): string {
  return found.length > most ? fail(path, `${found.length} characters, more than ${most}`) : found;
}

/** Such as `nodegroup.taints: a string instead of a list`. */
function fail(path: string, what: string): never {
  throw new MalformedResponse(`with ${path === '' ? what : `${path}: ${what}`}`);
}
