/** PowerShell source text of values. Pure. */

/**
 * The characters that end a single-quoted string: PowerShell treats typographic quotation marks as normal ones. Source:
 * https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_quoting_rules
 */
const SINGLE_QUOTES = /['\u2018-\u201B]/g;

/** The text as a single-quoted string, in which PowerShell expands nothing. A quotation mark in it is doubled. */
export function quoted(text: string): string {
  return `'${text.replace(SINGLE_QUOTES, '$&$&')}'`;
}

/**
 * An expression for the script block with this source text, which is no part of the surrounding script: it cannot end a string or a block of that script.
 * A script with characters that are not ASCII is encoded: Windows PowerShell reads files without a BOM in the ANSI code page of the system, where bytes of
 * such characters may be quotation marks. Source: https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_character_encoding
 */
export function scriptBlock(source: string): string {
  return `[scriptblock]::Create(${isAscii(source) ? quoted(source) : decoded(source)})`;
}

function decoded(source: string): string {
  const encoded = Buffer.from(source, 'utf8').toString('base64');
  return `[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String(${quoted(encoded)}))`;
}

/** Whether all characters are ASCII. */
function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}
