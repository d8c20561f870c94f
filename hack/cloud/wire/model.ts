import { AwsFault, invalidParameter } from '../awsFault.ts';
import { enumOf } from './enums.ts';
import { protocols } from './protocols.ts';
import { type Member, type Operation, packageOf, type Service, type Shape } from './shapes.ts';

/** Where a value departs from the service model. `path` is like `scalingConfig.minSize`. */
type Departure =
  | { readonly kind: 'unknown' | 'missing'; readonly path: string }
  | { readonly kind: 'type'; readonly path: string; readonly expected: string; readonly found: string }
  | { readonly kind: 'enum'; readonly path: string; readonly value: string; readonly allowed: readonly string[] };

/** All departures of a value from a shape, in the order of the value's members. */
function departuresOf(service: Service, shape: Shape, value: unknown, path = ''): Departure[] {
  switch (shape.kind) {
    case 'structure':
      return structureDepartures(service, shape, value, path);
    case 'list':
      if (!Array.isArray(value)) return [typeDeparture(path, 'a list', value)];
      return value.flatMap((item, index) => departuresOf(service, shape.element.shape(), item, `${path}[${index}]`));
    case 'map':
      if (!isRecord(value)) return [typeDeparture(path, 'a map', value)];
      return Object.entries(value).flatMap(([key, item]) =>
        departuresOf(service, shape.element.shape(), item, `${path}.${key}`),
      );
    case 'timestamp':
      return value instanceof Date ? [] : [typeDeparture(path, 'a Date', value)];
    case 'other':
      return [];
    default:
      return typeof value === shape.kind ? [] : [typeDeparture(path, `a ${shape.kind}`, value)];
  }
}

function structureDepartures(
  service: Service,
  shape: Shape & { kind: 'structure' },
  value: unknown,
  path: string,
): Departure[] {
  if (!isRecord(value)) return [typeDeparture(path, 'an object', value)];
  const within = (name: string) => (path === '' ? name : `${path}.${name}`);
  const found: Departure[] = [];
  for (const [name, item] of Object.entries(value)) {
    const member = shape.members.get(name);
    if (item === undefined) continue;
    if (member === undefined) found.push({ kind: 'unknown', path: within(name) });
    else found.push(...memberDepartures(service, shape.name, member, item, within(name)));
  }
  for (const member of shape.members.values()) {
    if (member.required && (value[member.name] === undefined || value[member.name] === null)) {
      found.push({ kind: 'missing', path: within(member.name) });
    }
  }
  return found;
}

function memberDepartures(
  service: Service,
  structure: string,
  member: Member,
  value: unknown,
  path: string,
): Departure[] {
  const departures = departuresOf(service, member.shape(), value, path);
  if (departures.length > 0) return departures;
  const allowed = enumOf(service, structure, member.name);
  if (allowed === undefined) return [];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values
    .filter((item) => typeof item === 'string' && !allowed.includes(item))
    .map((item) => ({ kind: 'enum', path, value: String(item), allowed }));
}

/** Throws the fault for the first departure of an operation's input from the service model. */
export function checkInput(operation: Operation, input: unknown): void {
  const [first] = departuresOf(operation.service, operation.input, input);
  if (first !== undefined) throw faultFor(operation, first);
}

/** Throws when the local AWS itself is about to answer something that the service model does not have: a bug in it. */
export function checkOutput(operation: Operation, output: unknown): void {
  // EC2 writes Platform in lower case, whatever the enum says.
  const departures = departuresOf(operation.service, operation.output, output).filter(
    ({ path }) => !path.endsWith('.Platform'),
  );
  const [first] = departures;
  if (first !== undefined)
    throw new Error(`the answer of ${operation.name} departs from the model: ${JSON.stringify(first)}`);
}

function faultFor(operation: Operation, departure: Departure): AwsFault {
  switch (departure.kind) {
    case 'unknown':
      // AWS would ignore it without a word. The local endpoint is here to find such mistakes.
      return new AwsFault(
        'SerializationException',
        `${operation.name} has no member ${departure.path} in the service model of ${packageOf(operation.service)}`,
      );
    case 'missing':
      return protocols[operation.service].missing(departure.path);
    case 'type':
      return new AwsFault(
        'SerializationException',
        `${departure.path === '' ? 'The input' : departure.path} is ${departure.found}; ${departure.expected} is expected`,
      );
    case 'enum':
      return enumFault(operation, departure);
  }
}

function enumFault(operation: Operation, departure: Departure & { kind: 'enum' }): AwsFault {
  if (operation.service === 'ec2') {
    return departure.path === 'InstanceTypes'
      ? new AwsFault('InvalidInstanceType', `The following supplied instance types do not exist: [${departure.value}]`)
      : new AwsFault('InvalidParameterValue', `Value (${departure.value}) for parameter ${departure.path} is invalid.`);
  }
  if (operation.service !== 'eks')
    return new AwsFault('ValidationError', `Value '${departure.value}' at '${departure.path}' is not valid`);
  if (departure.path.endsWith('.effect')) return invalidParameter(taintEffectMessage(departure.value));
  return invalidParameter(
    `Invalid ${departure.path}: ${departure.value}, must be one of these [${departure.allowed.join(', ')}]`,
  );
}

// The order is that of the message seen in the wild; the enum in the SDK is sorted by the alphabet.
const taintEffectMessage = (effect: string): string =>
  `Invalid taint effect: ${effect}, must be one of these [NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE]`;

const typeDeparture = (path: string, expected: string, value: unknown): Departure => ({
  kind: 'type',
  path,
  expected,
  found: value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`,
});

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
