/**
 * The grammar of PowerShell that editors use (tree-sitter). A separate module, so that it is loaded lazily: only pools with a script need it.
 *
 * It is not the grammar of PowerShell itself. It rejects 64 of the 248 scripts up to 16 KiB in actions/runner-images and kubernetes-sigs/sig-windows-tools
 * (November 2026). Therefore `readable` changes what it cannot read, and `isUnbalanced` ignores errors within a command. 17 scripts remain. At least 6 of
 * them are no Windows PowerShell: 5 have operators of PowerShell 7, and one has an `else` without `if`.
 *
 * Known blind spots:
 * - It rejects `switch ($a) { 1 { b } default { c } }` on one line, `continue` with a label, a `$` before the end of a string, a path after a variable
 *   (`$a/b`), a method of `@(…)`, and `param` after `using`. Most of these errors are ignored, and some are reported.
 * - It accepts `&&` and `||`, which Windows PowerShell rejects.
 */
import v8 from 'node:v8';
import { Language, Parser, type Tree, type TreeCursor } from 'web-tree-sitter';
import type { ScriptSyntax } from '../windowspool/ports/prerequisites.ts';
import { grammar, treeSitter } from './wasm.ts';

// V8 would compile the lexer of the grammar a second time, optimized, after a few scripts. This needs more than 1 GB, and the operator has 512 MB. The
// flags concern what is compiled from now on. Nothing else in the process is WebAssembly.
v8.setFlagsFromString('--no-wasm-dynamic-tiering');
v8.setFlagsFromString('--no-wasm-tier-up');

/** How long a script may delay everything else. The slowest of the largest size takes about 50 ms on an idle machine. */
const PARSE_MS = 500;

/** A parser of PowerShell. */
export async function createParser(): Promise<Parser> {
  await Parser.init({ wasmBinary: treeSitter });
  const parser = new Parser().setLanguage(await Language.load(grammar));
  // V8 compiles a function of WebAssembly when it is first called: on a busy machine, that could use up the time of the first script.
  parser.parse('if ($a) { exit 1 }')?.delete();
  return parser;
}

/** What the grammar finds in a script, by line from 1; undefined if that would take too long. */
export function syntaxOf(parser: Parser, script: string, withinMs: number = PARSE_MS): ScriptSyntax | undefined {
  const until = performance.now() + withinMs;
  const isLate = () => performance.now() > until;
  const tree = parser.parse(readable(script), null, { progressCallback: isLate });
  // Otherwise, it would continue with this script.
  parser.reset();
  if (!tree) return undefined;
  try {
    return !tree.rootNode.hasError && !/exit/i.test(script) ? {} : found(tree, isLate);
  } finally {
    tree.delete();
  }
}

function found(tree: Tree, isLate: () => boolean): ScriptSyntax | undefined {
  const cursor = tree.walk();
  let error: number | undefined;
  let exit: number | undefined;
  // In what it could not parse, it may take the text of a string for commands.
  let unknownUntil = 0;
  do {
    if (isLate()) break;
    if (error === undefined) error = unbalancedLine(cursor);
    if (cursor.nodeType === 'ERROR') unknownUntil = Math.max(unknownUntil, cursor.endIndex);
    else if (exit === undefined && cursor.startIndex >= unknownUntil && isExit(cursor))
      exit = cursor.startPosition.row + 1;
  } while (gotoNext(cursor));
  cursor.delete();
  if (isLate()) return undefined;
  return { ...(error !== undefined && { error }), ...(exit !== undefined && { exit }) };
}

/** Goes to the next node: children come after their parent. False at the end. */
function gotoNext(cursor: TreeCursor): boolean {
  if (cursor.gotoFirstChild()) return true;
  while (!cursor.gotoNextSibling()) if (!cursor.gotoParent()) return false;
  return true;
}

function isExit(cursor: TreeCursor): boolean {
  return cursor.nodeType === 'flow_control_statement' && /^exit/i.test(cursor.nodeText);
}

/** The line of a bracket, a string or a comment that does not end, or that ends without a beginning; undefined if this node is none. */
function unbalancedLine(cursor: TreeCursor): number | undefined {
  if (cursor.nodeIsMissing) {
    if (cursor.nodeType !== '}' && cursor.nodeType !== ')') return undefined;
    // It is missing at the end of the script. The statement that begins with the other one helps more.
    const { parent } = cursor.currentNode;
    return (parent ?? cursor).startPosition.row + 1;
  }
  if (cursor.nodeType !== 'ERROR' || !isUnbalanced(cursor.nodeText)) return undefined;
  const [space = ''] = /^\s*/.exec(cursor.nodeText) ?? [];
  return cursor.startPosition.row + space.split('\n').length;
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Whether the text has a bracket without the other one, or the beginning of a string or comment that does not end. */
function isUnbalanced(text: string): boolean {
  if (/@['"]/.test(text)) return true;
  const code = text
    .replace(/`[\s\S]/g, '')
    .replace(/'[^']*'|"[^"]*"/g, '')
    .replace(/<#[\s\S]*?#>/g, '')
    .replace(/(^|\s)#.*/g, '');
  if (/['"]|<#/.test(code)) return true;
  const expected: string[] = [];
  for (const character of code.replace(/[^()[\]{}]/g, '')) {
    const closing = CLOSING[character];
    if (closing !== undefined) expected.push(closing);
    else if (expected.pop() !== character) return true;
  }
  return expected.length > 0;
}

/**
 * The script as the grammar can read it, with the same number of characters in each line. PowerShell treats typographic quotation marks, dashes
 * and spaces as normal ones, which the grammar does not know. Nor does it know digits in names of parameters and features, options of other programs, and
 * units in capitals: they become letters, small letters or digits. No change begins or ends a string, a comment or a command.
 * Source: https://github.com/PowerShell/PowerShell/blob/master/src/System.Management.Automation/engine/parser/CharTraits.cs
 */
function readable(script: string): string {
  return script
    .replace(/[\u2018-\u201B]/g, "'")
    .replace(/[\u201C-\u201E]/g, '"')
    .replace(/[\u2013-\u2015]/g, '-')
    .replace(/[\u00A0\u0085]/g, ' ')
    .replace(/\b[a-z_]\w*/gi, (word) => word.replace(/\d/g, 'x'))
    .replace(/(?<=[a-z])-\d{1,9}(?=-)/gi, (digits) => 'x'.repeat(digits.length))
    .replace(/\b\d{1,20}[kmgtp]b\b/gi, (size) => size.toLowerCase())
    .replace(/(?<=\s)--(?=[a-z])/gi, 'xx');
}
