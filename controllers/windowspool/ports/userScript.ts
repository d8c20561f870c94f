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

/** How user data for Linux begins, or what only it names. A first line for PowerShell on Linux is a comment on Windows. */
const LINUX: readonly (readonly [format: string, pattern: RegExp])[] = [
  ['a MIME document', /^(?:MIME-Version|Content-Type):/i],
  ['a shell script', /^#!(?!.*(?:pwsh|powershell))/i],
  ['a cloud-init configuration', /^#(?:cloud-config|cloud-boothook|include\b)/],
  ['a NodeConfig of nodeadm', /^(?:---\s)?\s*(?:apiVersion: node\.eks\.aws|kind: NodeConfig)/],
  ['a configuration of Bottlerocket', /^\[settings[.\]]/],
  ['a script that calls the bootstrap of Linux (/etc/eks/bootstrap.sh)', /^\s*(?:sudo )?\/etc\/eks\/bootstrap\.sh/m],
];

/**
 * What a text is if it is user data for Linux: `a shell script`. In a launch template, EKS answers "User data was not a valid PowerShell format and could not be
 * processed" (https://github.com/aws-ia/terraform-aws-eks-blueprints/issues/1729). Formats:
 * https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data
 */
export function linuxFormatOf(text: string): string | undefined {
  const script = scriptIn(text).script.trimStart();
  return LINUX.find(([, pattern]) => pattern.test(script))?.[0];
}

/** The commands in a text, without the tags of user data, which a script that was written for EC2 has. */
export function scriptIn(text: string): ScriptText {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const [, before = '', inner = lines] = /^(\s*<powershell>\n?)([\s\S]*)<\/powershell>\s*$/i.exec(lines) ?? [];
  return { script: inner.trimEnd(), firstLine: before.split('\n').length };
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
  const found = text.split(/\r\n?|\n/).findIndex((line) => {
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
 * line are found, because others may depend on a condition.
 */
export function earlyEndIn(text: string): EarlyEnd | undefined {
  const lines = text.split(/\r\n?|\n/);
  const found = lines.findIndex((line) => /^(?:exit|return)\b/i.test(line));
  const restart = restartIn(text);
  if (restart !== undefined && (found < 0 || restart <= found)) return { command: 'a restart', line: restart };
  if (found < 0) return undefined;
  return { command: /^exit/i.test(lines[found] ?? '') ? 'exit' : 'return', line: found + 1 };
}
