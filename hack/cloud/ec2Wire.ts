import { AwsFault } from './awsFault.ts';
import type { Member, Operation, Shape } from './shapes.ts';

const namespace = 'http://ec2.amazonaws.com/doc/2016-11-15/';

/**
 * The input of an operation from the form of a query: `Filter.1.Value.2=x`. Names on the wire come from the service
 * model. What the model does not know is kept under its own name, for the model check to refuse.
 */
export function inputOf(operation: Operation, form: URLSearchParams): Record<string, unknown> {
  const left = new Map(form);
  left.delete('Action');
  left.delete('Version');
  const input = (readShape(operation.input, '', left) ?? {}) as Record<string, unknown>;
  return { ...input, ...Object.fromEntries(left) };
}

/** An output as EC2 writes it. */
export function bodyFor(operation: Operation, output: object, requestId: string): string {
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<${operation.name}Response xmlns="${namespace}">` +
    `<requestId>${requestId}</requestId>${writeShape(operation.output, output)}</${operation.name}Response>`
  );
}

/** An error as EC2 writes it. */
export const errorBodyFor = (fault: AwsFault, requestId: string): string =>
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  `<Response><Errors><Error><Code>${escapeXml(fault.name)}</Code><Message>${escapeXml(fault.message)}</Message></Error></Errors>` +
  `<RequestID>${requestId}</RequestID></Response>`;

// The rules of the ec2Query protocol: ec2QueryName, else xmlName or the member's name with a capital; lists are flat.
function queryName({ name, traits }: Member): string {
  if (typeof traits.ec2QueryName === 'string') return traits.ec2QueryName;
  const plain = xmlName({ name, traits }, name);
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

const xmlName = ({ traits }: Pick<Member, 'name' | 'traits'>, otherwise: string): string =>
  typeof traits.xmlName === 'string' ? traits.xmlName : otherwise;

function readShape(shape: Shape, key: string, left: Map<string, string>): unknown {
  if (shape.kind === 'structure') return readStructure(shape, key, left);
  if (shape.kind === 'list') {
    const items: unknown[] = [];
    for (let index = 1; hasKey(left, `${key}.${index}`); index += 1) {
      items.push(readShape(shape.element.shape(), `${key}.${index}`, left));
    }
    return items.length > 0 ? items : undefined;
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

function readStructure(shape: Shape & { kind: 'structure' }, key: string, left: Map<string, string>): unknown {
  const value: Record<string, unknown> = {};
  for (const member of shape.members.values()) {
    const name = queryName(member);
    const item = readShape(member.shape(), key === '' ? name : `${key}.${name}`, left);
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
