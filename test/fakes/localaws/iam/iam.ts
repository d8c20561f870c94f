import { readFileSync } from 'node:fs';
import { AwsFault } from '../awsFault.ts';
import { type Conditions, type Context, conditionsHold, isKnown, like, listOf } from './conditions.ts';

/** A check of IAM. `resource` is an ARN, or `*` for actions without resources. */
export interface AccessQuestion {
  readonly action: string;
  readonly resource: string;
  readonly context?: Context;
  /** The fault of a denial; by default AWS' usual message. */
  readonly denied?: (callerArn: string) => AwsFault;
}

interface Statement {
  readonly Sid?: string;
  readonly Effect: 'Allow';
  readonly Action: string | readonly string[];
  readonly Resource?: string | readonly string[];
  readonly NotResource?: string | readonly string[];
  readonly Condition?: Conditions;
}

const MEMBERS = ['Sid', 'Effect', 'Action', 'Resource', 'NotResource', 'Condition'];

/**
 * Evaluates an identity policy like IAM: an action that no statement allows is denied. It supports what the shipped policies use, Allow with
 * Action, Resource, NotResource and the operators of conditions.ts, and rejects a policy with anything else.
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

  /** Removes an action, or a statement by its Sid, until it is restored, as an administrator would. */
  remove(actionOrSid: string): void {
    this.#removed.add(actionOrSid);
  }

  /** Restores what was removed, by default everything. */
  restore(actionOrSid?: string): void {
    if (actionOrSid === undefined) this.#removed.clear();
    else this.#removed.delete(actionOrSid);
  }

  /** Whether the policy allows it. */
  allows(question: AccessQuestion): boolean {
    return !this.#removed.has(question.action) && this.#remaining(this.#matching(question)).length > 0;
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
      .flatMap((statement) => listOf(statement.Action).map((action) => `${statement.Sid}: ${action}`))
      .filter((grant) => !this.#needed.has(grant));
  }

  /** Denials of `check` so far that are not the effect of `remove`, each once. */
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
    if (matching.length === 0) this.#refused.add(`${action} on ${resource}`);
    return this.#remaining(matching).length > 0;
  }

  #remaining(statements: readonly Statement[]): readonly Statement[] {
    return statements.filter(({ Sid = '' }) => !this.#removed.has(Sid));
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

function matches({ Resource, NotResource, Condition = {} }: Statement, question: AccessQuestion): boolean {
  const isOneOf = (patterns: string | readonly string[]) =>
    listOf(patterns).some((pattern) => like(pattern, question.resource));
  const isAbout = NotResource === undefined ? isOneOf(Resource ?? []) : !isOneOf(NotResource);
  return isAbout && conditionsHold(Condition, question.context ?? {});
}

function statementsOf(document: unknown): readonly Statement[] {
  const statements = (document as { Statement?: unknown }).Statement;
  if (!Array.isArray(statements)) throw new TypeError('an IAM policy needs a list of Statement');
  for (const statement of statements) {
    const unknown = [
      ...Object.keys(statement).filter((member) => !MEMBERS.includes(member)),
      ...Object.keys(statement.Condition ?? {}).filter((operator) => !isKnown(operator)),
      ...[statement.Effect].filter((effect) => effect !== 'Allow'),
    ];
    if (unknown.length > 0)
      throw new TypeError(`statement ${statement.Sid} has ${unknown}, which this evaluator does not know`);
  }
  return statements as Statement[];
}
