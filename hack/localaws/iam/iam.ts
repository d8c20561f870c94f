import { readFileSync } from 'node:fs';
import { AwsFault } from '../awsFault.ts';

/** A check of IAM. `resource` is an ARN, or `*` for actions without resources. */
export interface AccessQuestion {
  readonly action: string;
  readonly resource: string;
  /** Condition keys and their values, such as `aws:RequestTag/team`. */
  readonly context?: Readonly<Record<string, string>>;
  /** The fault of a denial; by default AWS' usual message. */
  readonly denied?: (callerArn: string) => AwsFault;
}

interface Statement {
  readonly Sid?: string;
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

/**
 * Evaluates an identity policy like IAM: an action that no statement allows is denied, and a Deny overrides every Allow.
 * It supports Action, Resource, StringEquals and StringLike, and rejects a policy with anything else.
 */
export class Policy {
  readonly #statements: readonly Statement[];
  readonly #removed = new Set<string>();
  readonly #needed = new Set<string>();
  readonly #refused = new Set<string>();
  readonly #byAction = new Map<string, readonly Statement[]>();

  constructor(document: unknown) {
    this.#statements = statementsOf(document);
  }

  /** The combined policies of files, with their placeholders in capitals (such as `REGION`) replaced by the given values. */
  static fromFiles(paths: readonly string[], words: Readonly<Record<string, string>>): Policy {
    const documents = paths.map((path) => {
      let text = readFileSync(path, 'utf8');
      for (const [word, value] of Object.entries(words)) text = text.replaceAll(word, value);
      return JSON.parse(text) as { readonly Statement: readonly unknown[] };
    });
    return new Policy({ ...documents[0], Statement: documents.flatMap(({ Statement }) => Statement) });
  }

  /** Removes an action until it is restored, as an administrator would. */
  remove(action: string): void {
    this.#removed.add(action);
  }

  /** Restores a removed action, by default all of them. */
  restore(action?: string): void {
    if (action === undefined) this.#removed.clear();
    else this.#removed.delete(action);
  }

  /** Whether the policy allows it. */
  allows(question: AccessQuestion): boolean {
    return !this.#removed.has(question.action) && allowedBy(this.#matching(question));
  }

  /** Throws AWS' error for the first denied check. */
  check(questions: readonly AccessQuestion[], callerArn: string): void {
    const refused = questions.find((question) => !this.#answer(question));
    if (refused !== undefined) throw refused.denied?.(callerArn) ?? accessDenied(refused, callerArn);
  }

  /**
   * The actions, each with the Sid of its statement, that no `check` so far needed: they were never checked, or another statement allowed
   * the same each time.
   */
  unneeded(): string[] {
    return this.#statements
      .filter(({ Effect }) => Effect === 'Allow')
      .flatMap((statement) => listOf(statement.Action).map((action) => `${statement.Sid}: ${action}`))
      .filter((grant) => !this.#needed.has(grant));
  }

  /** Denials of `check` so far for actions that were not removed, each once. */
  refusals(): string[] {
    return [...this.#refused];
  }

  #answer(question: AccessQuestion): boolean {
    const { action, resource } = question;
    if (this.#removed.has(action)) return false;
    const matching = this.#matching(question);
    const [only, another] = matching;
    const pattern = only && listOf(only.Action).find((one) => isAction(one, action));
    if (another === undefined && pattern !== undefined) this.#needed.add(`${only?.Sid}: ${pattern}`);
    const allowed = allowedBy(matching);
    if (!allowed) this.#refused.add(`${action} on ${resource}`);
    return allowed;
  }

  #matching(question: AccessQuestion): readonly Statement[] {
    return this.#about(question.action).filter((statement) => matches(statement, question));
  }

  #about(action: string): readonly Statement[] {
    const known = this.#byAction.get(action);
    if (known !== undefined) return known;
    const about = this.#statements.filter(({ Action }) => listOf(Action).some((pattern) => isAction(pattern, action)));
    this.#byAction.set(action, about);
    return about;
  }
}

const allowedBy = (matching: readonly Statement[]): boolean =>
  matching.some(({ Effect }) => Effect === 'Allow') && matching.every(({ Effect }) => Effect === 'Allow');

function accessDenied({ action, resource }: AccessQuestion, callerArn: string): AwsFault {
  if (action.startsWith('ec2:')) {
    return new AwsFault(
      'UnauthorizedOperation',
      `You are not authorized to perform this operation. ${notAuthorized(callerArn, action)}`,
    );
  }
  const message = notAuthorized(callerArn, action, resource);
  if (action.startsWith('autoscaling:')) return new AwsFault('AccessDenied', message, 403);
  return new AwsFault('AccessDeniedException', message, action.startsWith('ssm:') ? 400 : 403);
}

/** AWS' message for an action that no policy allows. */
export const notAuthorized = (callerArn: string, action: string, resource?: string): string =>
  `User: ${callerArn} is not authorized to perform: ${action}${resource === undefined ? '' : ` on resource: ${resource}`} ` +
  `because no identity-based policy allows the ${action} action`;

const isAction = (pattern: string, action: string): boolean => like(pattern.toLowerCase(), action.toLowerCase());

const matches = (statement: Statement, { resource, context = {} }: AccessQuestion): boolean =>
  listOf(statement.Resource).some((pattern) => like(pattern, resource)) &&
  Object.entries(statement.Condition ?? {}).every(([operator, keys]) =>
    Object.entries(keys).every(([key, values]) => {
      const value = context[key];
      if (value === undefined) return false;
      return listOf(values).some((pattern) => (operator === 'StringEquals' ? pattern === value : like(pattern, value)));
    }),
  );

const compiled = new Map<string, RegExp>();

/** Whether the text matches a pattern with the wildcards `*` and `?` of IAM and EC2's filters. */
export function like(pattern: string, text: string): boolean {
  if (!/[*?]/.test(pattern)) return pattern === text;
  const regex = compiled.get(pattern) ?? compile(pattern);
  compiled.set(pattern, regex);
  return regex.test(text);
}

function compile(pattern: string): RegExp {
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${escaped}$`, 's');
}

const listOf = (value: string | readonly string[]): readonly string[] => (typeof value === 'string' ? [value] : value);

function statementsOf(document: unknown): readonly Statement[] {
  const statements = (document as { Statement?: unknown }).Statement;
  if (!Array.isArray(statements)) throw new TypeError('an IAM policy needs a list of Statement');
  for (const statement of statements) {
    for (const member of Object.keys(statement)) {
      if (!['Sid', 'Effect', 'Action', 'Resource', 'Condition'].includes(member)) {
        throw new TypeError(`statement ${statement.Sid} has ${member}, which this evaluator does not know`);
      }
    }
    for (const operator of Object.keys(statement.Condition ?? {})) {
      if (!['StringEquals', 'StringLike'].includes(operator)) {
        throw new TypeError(
          `statement ${statement.Sid} has the condition ${operator}, which this evaluator does not know`,
        );
      }
    }
  }
  return statements as Statement[];
}
