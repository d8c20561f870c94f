/** The two query protocols of AWS: that of EC2, with flat lists, and the older one of the others, with lists of `member`. */
import { AwsFault } from '../awsFault.ts';
import type { Member, Operation, Shape } from './shapes.ts';

/** The versions of the services with a query protocol, by which requests are routed. */
export const versions = {
  ec2: '2016-11-15',
  autoscaling: '2011-01-01',
  sts: '2011-06-15',
  iam: '2010-05-08',
} as const;

/** A service with a query protocol. */
export type QueryService = keyof typeof versions;

const isEc2 = ({ service }: Pick<Operation, 'service'>): boolean => service === 'ec2';

// IAM's begins with https, and the others' do not.
const namespaceOf = (service: QueryService): string =>
  `${service === 'iam' ? 'https' : 'http'}://${service}.amazonaws.com/doc/${versions[service]}/`;

/** A partially read form: the remaining values, and whether names are EC2's. */
interface Form {
  readonly left: Map<string, string>;
  readonly ec2: boolean;
}

/**
 * The input of an operation from the form of a query: `Filter.1.Value.2=x`. Names on the wire come from the service
 * model. Unknown names are kept for the model check, which rejects them.
 */
export function inputOf(operation: Operation, form: URLSearchParams): Record<string, unknown> {
  const left = new Map(form);
  left.delete('Action');
  left.delete('Version');
  const read = readShape(operation.input, '', { left, ec2: isEc2(operation) });
  const input = (read ?? {}) as Record<string, unknown>;
  return { ...input, ...Object.fromEntries(left) };
}

/** An output in the format of the operation's service. */
export function bodyFor(operation: Operation, output: object, requestId: string): string {
  const { name, service } = operation;
  const members = writeShape(operation.output, output);
  const content = isEc2(operation)
    ? element('requestId', requestId) + members
    : element(`${name}Result`, members) + element('ResponseMetadata', element('RequestId', requestId));
  const namespace = namespaceOf(service === 'eks' || service === 'ssm' ? 'autoscaling' : service);
  return `${prolog}<${name}Response xmlns="${namespace}">${content}</${name}Response>`;
}

/** An error in the format of the service. */
export function errorBodyFor(service: QueryService, fault: AwsFault, requestId: string): string {
  const words = element('Code', escapeXml(codeOf(fault))) + element('Message', escapeXml(fault.message));
  if (service === 'ec2') {
    const errors = element('Errors', element('Error', words));
    return prolog + element('Response', errors + element('RequestID', requestId));
  }
  const error = element('Error', element('Type', fault.httpStatus < 500 ? 'Sender' : 'Receiver') + words);
  return (
    `${prolog}<ErrorResponse xmlns="${namespaceOf(service)}">${error}` +
    `${element('RequestId', requestId)}</ErrorResponse>`
  );
}

const prolog = '<?xml version="1.0" encoding="UTF-8"?>\n';

// Auto Scaling and IAM leave out the end of some errors' names in their codes (awsQueryError in the models), and the SDK restores it.
const codeOf = ({ name }: Pick<AwsFault, 'name'>): string =>
  name === 'NoSuchEntityException' ? 'NoSuchEntity' : name.replace(/Fault$/, '');

// The rules of the ec2Query protocol: ec2QueryName, else xmlName or the member's name with a capital; lists are flat.
// The older protocol uses names unchanged.
function queryName({ name, traits }: Pick<Member, 'name' | 'traits'>, ec2: boolean): string {
  if (!ec2) return xmlName({ traits }, name);
  if (typeof traits.ec2QueryName === 'string') return traits.ec2QueryName;
  const plain = xmlName({ traits }, name);
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

const xmlName = ({ traits }: Pick<Member, 'traits'>, otherwise: string): string =>
  typeof traits.xmlName === 'string' ? traits.xmlName : otherwise;

function readShape(shape: Shape, key: string, form: Form): unknown {
  if (shape.kind === 'structure') return readStructure(shape, key, form);
  const { left } = form;
  if (shape.kind === 'list') {
    const prefix = form.ec2 ? key : `${key}.member`;
    const items: unknown[] = [];
    for (let index = 1; hasKey(left, `${prefix}.${index}`); index += 1) {
      items.push(readShape(shape.element.shape(), `${prefix}.${index}`, form));
    }
    // The older protocol writes an empty list as an empty value.
    const empty = left.get(key) === '' && left.delete(key);
    return items.length > 0 || empty ? items : undefined;
  }
  const text = left.get(key);
  if (text === undefined) return undefined;
  left.delete(key);
  if (shape.kind === 'boolean') return text === 'true';
  if (shape.kind !== 'number') return text;
  const number = Number(text);
  if (Number.isNaN(number)) throw new AwsFault('InvalidParameterValue', `Invalid value '${text}' for ${key}`);
  return number;
}

function readStructure(shape: Shape & { kind: 'structure' }, key: string, form: Form): unknown {
  const value: Record<string, unknown> = {};
  for (const member of shape.members.values()) {
    const name = queryName(member, form.ec2);
    const item = readShape(member.shape(), key === '' ? name : `${key}.${name}`, form);
    if (item !== undefined) value[member.name] = item;
  }
  return Object.keys(value).length > 0 ? value : undefined;
}

const hasKey = (left: Map<string, string>, key: string): boolean =>
  left.has(key) || [...left.keys()].some((name) => name.startsWith(`${key}.`));

function writeShape(shape: Shape, value: unknown): string {
  switch (shape.kind) {
    case 'structure': {
      const members = Object.entries(value as Record<string, unknown>).filter(([, item]) => item !== undefined);
      return members
        .map(([name, item]) => {
          const member = shape.members.get(name);
          return member === undefined ? '' : element(xmlName(member, name), writeShape(member.shape(), item));
        })
        .join('');
    }
    case 'list': {
      const name = xmlName(shape.element, 'member');
      return (value as unknown[]).map((item) => element(name, writeShape(shape.element.shape(), item))).join('');
    }
    case 'timestamp':
      return (value as Date).toISOString();
    default:
      return escapeXml(String(value));
  }
}

const element = (name: string, content: string): string => `<${name}>${content}</${name}>`;

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
