/** The value of a flag of the AWS CLI: plain text, JSON, or the CLI's shorthand for structures. */
import type { Shape } from '../../test/fakes/sdkModel/schema.ts';
import { isTopLevelBoolean } from './services.ts';

/** Parses the words after a flag according to the shape of its member. Throws an error for what the CLI cannot parse. */
export function readValue(shape: Shape, words: readonly string[]): unknown {
  const [first] = words;
  if (first === undefined) {
    if (shape.kind === 'boolean') return true;
    if (isTopLevelBoolean(shape)) return { Value: true };
    throw new Error('has no value');
  }
  if (shape.kind === 'list')
    return first.startsWith('[') ? JSON.parse(first) : words.map((word) => single(shape.element.shape(), word));
  if (words.length > 1) throw new Error(`has ${words.length} values and takes one`);
  return single(shape, first);
}

function single(shape: Shape, text: string): unknown {
  if (shape.kind === 'list') {
    const [, items = text] = /^\[(.*)\]$/.exec(text) ?? [];
    return items.split(',').map((item) => single(shape.element.shape(), item));
  }
  if (shape.kind === 'structure' || shape.kind === 'map')
    return /^\{\s*("|\})/.test(text) ? JSON.parse(text) : shorthand(shape, text.replace(/^\{(.*)\}$/, '$1'));
  if (shape.kind === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (shape.kind === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return text;
}

/**
 * `Key=value,List=a,b,Items=[{Key=value}]`: text without a key continues the list. What is nested further is written as JSON.
 * Grammar: https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-shorthand.html
 */
function shorthand(shape: Shape, text: string): unknown {
  const pairs = text.split(/,(?=[^,=]+=)/).map((pair) => {
    const [, key, value] = /^([^=,[\]{}]+)=([^[\]{}]*|\[.*\])$/.exec(pair) ?? [];
    if (key === undefined || value === undefined) throw new Error(`is neither JSON nor Key=value,Key=value: '${text}'`);
    const member =
      shape.kind === 'structure' ? shape.members.get(key) : shape.kind === 'map' ? shape.element : undefined;
    return [key, member === undefined ? value : single(member.shape(), value)];
  });
  return Object.fromEntries(pairs);
}
