import { type Departure, departuresOf, type EnumLookup } from '../../sdkModel/departures.ts';
import { AwsFault, invalidParameter } from '../awsFault.ts';
import { enumOf } from './enums.ts';
import { protocols } from './protocols.ts';
import { type Operation, packageOf, type Service } from './shapes.ts';

const enumsOf =
  (service: Service): EnumLookup =>
  (structure, member) =>
    enumOf(service, structure, member);

/** Throws the fault for the first difference between an operation's input and the service model. */
export function checkInput(operation: Operation, input: unknown): void {
  const [first] = departuresOf(enumsOf(operation.service), operation.input, input);
  if (first !== undefined) throw faultFor(operation, first);
}

/** Throws if the output is not in the service model, which is a bug of the local AWS. */
export function checkOutput(operation: Operation, output: unknown): void {
  // EC2 writes Platform in lower case, whatever the enum says.
  const departures = departuresOf(enumsOf(operation.service), operation.output, output).filter(
    ({ path }) => !path.endsWith('.Platform'),
  );
  const [first] = departures;
  if (first !== undefined)
    throw new Error(`the answer of ${operation.name} departs from the model: ${JSON.stringify(first)}`);
}

function faultFor(operation: Operation, departure: Departure): AwsFault {
  switch (departure.kind) {
    case 'unknown':
      // AWS silently ignores it. The local endpoint detects such mistakes.
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

// The order is that of a message of AWS; the enum in the SDK is sorted alphabetically.
const taintEffectMessage = (effect: string): string =>
  `Invalid taint effect: ${effect}, must be one of these [NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE]`;
