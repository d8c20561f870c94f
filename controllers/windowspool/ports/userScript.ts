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
