/** The value of a flag of the AWS CLI: plain text, JSON, or the CLI's shorthand for structures. */
import type { Member, Shape } from '../../test/fakes/sdkModel/schema.ts';
import type { Word } from './shell.ts';

/** The value that the CLI sends for a flag; undefined if it depends on the shell. `problem` if the CLI rejects the text. */
export type FlagValue = { readonly value: unknown } | { readonly problem: string } | undefined;

/** Whether the shape is a structure of one boolean `Value`, which the CLI also takes as a flag without a value: awscli/customizations/toplevelbool.py */
export function isTopLevelBoolean(shape: Shape): boolean {
  return (
    shape.kind === 'structure' && shape.members.size === 1 && shape.members.get('Value')?.shape().kind === 'boolean'
  );
}

/** Parses the words after a flag according to the shape of its member. */
export function readValue(member: Member, words: readonly Word[]): FlagValue {
  const shape = member.shape();
  if (words.some(({ expanded, text }) => expanded || text.startsWith('file://') || text.startsWith('fileb://')))
    return undefined;
  const texts = words.map(({ text }) => text);
  if (shape.kind === 'boolean' && texts.length === 0) return { value: true };
  if (isTopLevelBoolean(shape) && texts.length === 0) return { value: { Value: true } };
  if (texts.length === 0) return { problem: 'has no value' };
  try {
    return { value: wholeValue(shape, texts) };
  } catch (error) {
    if (error instanceof ValueError || error instanceof SyntaxError) return { problem: error.message };
    throw error;
  }
}

/** Words that the CLI cannot parse. */
class ValueError extends Error {}

function wholeValue(shape: Shape, texts: readonly string[]): unknown {
  const [first = ''] = texts;
  if (shape.kind === 'list') {
    if (first.startsWith('[') && texts.length === 1) return JSON.parse(first);
    return texts.map((text) => singleValue(shape.element.shape(), text));
  }
  if (texts.length > 1) throw new ValueError(`has ${texts.length} values and takes one`);
  return singleValue(shape, first);
}

function singleValue(shape: Shape, text: string): unknown {
  if (shape.kind !== 'structure' && shape.kind !== 'map') return coerce(shape, text);
  if (text.startsWith('{')) return JSON.parse(text);
  return coerce(shape, new Shorthand(text).read());
}

/** Shorthand has only strings, and a single item for a list of one. */
function coerce(shape: Shape, value: unknown): unknown {
  if (shape.kind === 'list')
    return (Array.isArray(value) ? value : [value]).map((item) => coerce(shape.element.shape(), item));
  if (typeof value === 'string') return coerceText(shape, value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coerceMember(shape, key, item)]));
}

function coerceMember(shape: Shape, key: string, value: unknown): unknown {
  const member = shape.kind === 'structure' ? shape.members.get(key) : shape.kind === 'map' ? shape.element : undefined;
  return member === undefined ? value : coerce(member.shape(), value);
}

function coerceText(shape: Shape, text: string): unknown {
  if (shape.kind === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (shape.kind === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (shape.kind === 'timestamp' && !Number.isNaN(Date.parse(text))) return new Date(text);
  return text;
}

/**
 * `Key=value,List=a,b,Other={Inner=value},Items=[a,b]`.
 * Grammar: https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-shorthand.html
 */
class Shorthand {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Record<string, unknown> {
    const value = this.#pairs('');
    if (this.#at < this.#text.length) throw new ValueError(`has '${this.#text.slice(this.#at)}' after its end`);
    return value;
  }

  #pairs(end: string): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    do {
      const key = this.#match(/[^=,[\]{}]+(?==)/y);
      if (key === undefined) throw new ValueError(`is neither JSON nor Key=value,Key=value: '${this.#text}'`);
      this.#at += 1;
      found[key] = this.#value(end);
    } while (this.#skip(','));
    return found;
  }

  #value(end: string): unknown {
    if (this.#skip('{')) return this.#closed(this.#pairs('}'), '}');
    if (this.#skip('[')) {
      const items: unknown[] = [];
      do items.push(this.#skip('{') ? this.#closed(this.#pairs('}'), '}') : this.#scalar(']'));
      while (this.#skip(','));
      return this.#closed(items, ']');
    }
    const items = [this.#scalar(end)];
    // `Values=a,b`: text without a key continues the list.
    while (this.#text[this.#at] === ',' && !/^,[^,=[\]{}]+=/.test(this.#text.slice(this.#at))) {
      this.#at += 1;
      items.push(this.#scalar(end));
    }
    return items.length === 1 ? items[0] : items;
  }

  #scalar(end: string): string {
    const quoted = this.#match(/"[^"]*"|'[^']*'/y);
    if (quoted !== undefined) return quoted.slice(1, -1);
    return this.#match(end === '' ? /[^,]*/y : /[^,\]}]*/y) ?? '';
  }

  #closed<T>(value: T, end: string): T {
    if (!this.#skip(end)) throw new ValueError(`lacks ${end}: '${this.#text}'`);
    return value;
  }

  #skip(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}
