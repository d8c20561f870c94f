/** The prose of a TypeScript file: its comments and, on request, its strings. */
import { SyntaxKind } from 'typescript/unstable/ast';
import { createScanner } from 'typescript/unstable/ast/scanner';
import { type Block, linesOf, type ProseLine } from './block.ts';

/** A slash after one of these divides; after any other token it starts a regular expression. */
const ENDS_OPERAND = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.PrivateIdentifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateTail,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken,
  SyntaxKind.ThisKeyword,
]);

/** The literal text of a template with substitutions is in its head, middles and tail. */
const STRINGS = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
]);

interface Token {
  readonly kind: SyntaxKind;
  readonly text: string;
  /** Line and column where it starts, both from 1. */
  readonly line: number;
  readonly column: number;
}

/** A block for each comment, with line comments below one another as one, and with `strings` for each string that has a space in it. */
export function proseOfTypeScript(source: string, strings: boolean): Block[] {
  const blocks: ProseLine[][] = [];
  let previous: Token | undefined;
  for (const token of tokensOf(source)) {
    const { kind, text, line, column } = token;
    if (kind === SyntaxKind.SingleLineCommentTrivia) {
      const lines = linesOf(text, line, column, /^\/+ ?/);
      if (previous?.line === line - 1 && previous.column === column) blocks.at(-1)?.push(...lines);
      else blocks.push(lines);
      previous = token;
    } else if (kind === SyntaxKind.MultiLineCommentTrivia) {
      blocks.push(linesOf(text.slice(0, -'*/'.length), line, column, /^(\/\*+|\s*\*?) ?/));
    } else if (strings && STRINGS.has(kind)) {
      const literal = withoutEscapes(text.replace(/(\$\{|[`'"])$/, ''));
      if (/\S\s+\S/.test(literal)) blocks.push(linesOf(literal, line, column, /^[`'"}]?\s*/));
    }
  }
  return blocks;
}

/** Escape sequences as spaces, so that columns stay. An escaped quote or backtick remains: it is punctuation, or Markdown. */
const withoutEscapes = (literal: string): string =>
  literal.replace(/\\(u[\da-f]{4}|u\{[\da-f]+\}|x[\da-f]{2}|.)/gi, (whole, code: string) =>
    /^[`'"]$/.test(code) ? ` ${code}` : ' '.repeat(whole.length),
  );

/** All tokens, comments included. TypeScript's scanner leaves templates and regular expressions to the parser, which is here. */
export function* tokensOf(source: string): Generator<Token> {
  const scanner = createScanner(false, undefined, source);
  /** For each template that is open: how many braces are open in its substitution. */
  const templates: number[] = [];
  let last = SyntaxKind.Unknown;
  let [line, column] = [1, 1];
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFile; kind = scanner.scan()) {
    const braces = templates.at(-1);
    if ((kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken) && !ENDS_OPERAND.has(last)) {
      kind = scanner.reScanSlashToken();
    } else if (kind === SyntaxKind.CloseBraceToken && braces === 0) {
      kind = scanner.reScanTemplateToken(false);
    } else if (braces !== undefined && kind === SyntaxKind.OpenBraceToken) {
      templates[templates.length - 1] = braces + 1;
    } else if (braces !== undefined && kind === SyntaxKind.CloseBraceToken) {
      templates[templates.length - 1] = braces - 1;
    }
    if (kind === SyntaxKind.TemplateHead) templates.push(0);
    if (kind === SyntaxKind.TemplateTail) templates.pop();
    // A property may have the name of a keyword.
    if (kind > SyntaxKind.LastTriviaToken) last = last === SyntaxKind.DotToken ? SyntaxKind.Identifier : kind;
    const text = scanner.getTokenText();
    yield { kind, text, line, column };
    const lines = text.split('\n');
    line += lines.length - 1;
    column = (lines.length === 1 ? column : 1) + (lines.at(-1)?.length ?? 0);
  }
}
