/** A reader of the PowerShell that the operator writes. It knows only single-quoted strings, and rejects everything else that could hide a value. */

/** A script as its strings, and the text around them with a `?` for each. */
export interface Tokens {
  readonly code: string;
  readonly strings: readonly string[];
}

/** PowerShell treats these as the same quotation mark. */
const QUOTES = "'\u2018\u2019\u201A\u201B";

/** Double-quoted strings (with typographic marks, too), escapes, comments, here-strings and subexpressions: the operator writes none of them. */
const HIDING = /["\u201C-\u201E`#]|@\?|\$\(/;

/**
 * The tokens of a script.
 *
 * @throws {Error} if a string does not end, or the text around the strings has other quotation marks, escapes, comments or subexpressions.
 */
export function tokensOf(script: string): Tokens {
  const strings: string[] = [];
  let code = '';
  let at = 0;
  while (at < script.length) {
    if (QUOTES.includes(script.charAt(at))) {
      const { text, end } = stringFrom(script, at + 1);
      strings.push(text);
      code += '?';
      at = end;
    } else code += script.charAt(at++);
  }
  const hiding = HIDING.exec(code);
  if (hiding) throw new Error(`${JSON.stringify(hiding[0])} outside of a single-quoted string in: ${code}`);
  return { code, strings };
}

/** The string whose content starts there. Two quotation marks are one, the second of them, as in the tokenizer of PowerShell. */
function stringFrom(script: string, start: number): { readonly text: string; readonly end: number } {
  let text = '';
  for (let at = start; at < script.length; at++) {
    if (QUOTES.includes(script.charAt(at))) {
      at++;
      if (at >= script.length || !QUOTES.includes(script.charAt(at))) return { text, end: at };
    }
    text += script.charAt(at);
  }
  throw new Error(`the string that starts at ${start} does not end: ${script}`);
}
