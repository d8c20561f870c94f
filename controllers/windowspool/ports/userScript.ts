/** The text of a script for nodes, as the adapter that parses it and the domain read it. */

/**
 * What EC2 accepts, in bytes before the encoding in base64. Source:
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html
 */
export const MAX_USER_DATA_BYTES = 16_384;

/** The commands in a text. */
export interface ScriptText {
  /** Without a byte order mark and the tags of user data, and with the line breaks of Unix. */
  readonly script: string;
  /** The line of the text in which it begins, from 1. */
  readonly firstLine: number;
}

/**
 * How user data for Linux begins. A first line for PowerShell on Linux is a comment on Windows, as is `#include` before words; cloud-init reads URLs after it:
 * https://docs.cloud-init.io/en/latest/explanation/format.html
 */
const LINUX: readonly (readonly [format: string, pattern: RegExp])[] = [
  ['a MIME document', /^(?:MIME-Version|Content-Type):/i],
  ['a shell script', /^#!(?!.*(?:pwsh|powershell))/i],
  ['a cloud-init configuration', /^#(?:cloud-config|cloud-boothook|include(?:-once)?[^\S\n]*(?:\n|$|\s\w+:\/\/))/],
  ['a NodeConfig of nodeadm', /^(?:---\s)?\s*(?:apiVersion: node\.eks\.aws|kind: NodeConfig)/],
  ['a configuration of Bottlerocket', /^\[settings[.\]]/],
];

/** A command at the beginning of a line of a shell script without its first line. PowerShell can write such a line to a file. */
const BOOTSTRAP = /^[^\S\n]*(?:sudo )?\/etc\/eks\/bootstrap\.sh/m;
/** The beginning of a block comment or of a here-string, an assignment, or a cmdlet: no shell script has them. */
const POWERSHELL = /<#|@['"][^\S\n]*$|^[^\S\n]*\$[\w:]+[^\S\n]*=|\b[A-Z][a-z]+-[A-Z][A-Za-z]+\b/m;

/**
 * What a text is if it is user data for Linux: `a shell script`. In a launch template, EKS answers "User data was not a valid PowerShell format and could not be
 * processed" (https://github.com/aws-ia/terraform-aws-eks-blueprints/issues/1729). Formats:
 * https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data
 */
export function linuxFormatOf(text: string): string | undefined {
  const script = scriptIn(text).script.trimStart();
  const found = LINUX.find(([, pattern]) => pattern.test(script))?.[0];
  if (found !== undefined || POWERSHELL.test(script) || !BOOTSTRAP.test(script)) return found;
  return 'a script that calls the bootstrap of Linux (/etc/eks/bootstrap.sh)';
}

/** The commands in a text, without the tags of user data, which a script that was written for EC2 has. */
export function scriptIn(text: string): ScriptText {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const [, before = '', inner = lines] = /^(\s*<powershell>\n?)([\s\S]*)<\/powershell>\s*$/i.exec(lines) ?? [];
  return { script: inner.trimEnd(), firstLine: before.split('\n').length };
}

/** Block comments and here-strings, also without an end. https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_quoting_rules */
const BLOCKS = /<#[\s\S]*?(?:#>|$)|@(['"])[^\S\n]*\n[\s\S]*?(?:\n\1@|$)/g;
/** Strings within a line, and the comment at its end. */
const STRINGS = /'[^'\n]*'|"[^"\n]*"|(?<!\S)#.*/g;

/** The lines of a text, with empty lines in place of block comments, and of here-strings unless they are kept. */
function linesOf(text: string, hereStrings: 'kept' | 'blank'): string[] {
  const blanked = text.replace(/\r\n?/g, '\n').replace(BLOCKS, (block) => {
    const isKept = hereStrings === 'kept' && block.startsWith('@');
    return isKept ? block : block.replace(/[^\n]/g, '');
  });
  return blanked.split('\n');
}

/** Commands that restart Windows, also after they changed something. */
const RESTARTS: readonly RegExp[] = [
  /\bRestart-Computer\b/i,
  /\bshutdown(?:\.exe)?["']?\s[^#|;]{0,200}[/-][rg]\b/i,
  /\b(?:Add|Rename|Remove)-Computer\b[^#|;]{0,400}\s-Restart\b(?!:\$false)/i,
  /\b(?:Install|Add|Uninstall|Remove)-WindowsFeature\b[^#|;]{0,400}\s-Restart\b(?!:\$false)/i,
];

/** The first line of a text that restarts the node, from 1; undefined if none seems to. A comment does not, and what is only written to a file may. */
export function restartIn(text: string): number | undefined {
  const found = linesOf(text, 'kept').findIndex((line) => {
    const command = line.replace(/(?:^|\s)#.*/, '');
    return RESTARTS.some((pattern) => pattern.test(command));
  });
  return found < 0 ? undefined : found + 1;
}

/** A command that ends user data before its end, and its line in the text, from 1. */
export interface EarlyEnd {
  readonly command: 'exit' | 'return' | 'a restart';
  readonly line: number;
}

/**
 * The first command that ends the user data of a launch template: EKS puts its own commands after it, within the same script. Only commands at the beginning of a
 * line and outside of braces are found, because others may depend on a condition, or end a function.
 */
export function earlyEndIn(text: string): EarlyEnd | undefined {
  const lines = linesOf(text, 'blank');
  let depth = 0;
  const found = lines.findIndex((line) => {
    if (depth === 0 && /^(?:exit|return)(?![\w-])/i.test(line)) return true;
    for (const brace of line.replace(STRINGS, '').match(/[{}]/g) ?? [])
      depth = Math.max(0, depth + (brace === '{' ? 1 : -1));
    return false;
  });
  const restart = restartIn(text);
  if (restart !== undefined && (found < 0 || restart <= found)) return { command: 'a restart', line: restart };
  if (found < 0) return undefined;
  return { command: /^exit/i.test(lines[found] ?? '') ? 'exit' : 'return', line: found + 1 };
}
