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

/** The commands in a text, without the tags of user data, which a script that was written for EC2 has. */
export function scriptIn(text: string): ScriptText {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const [, before = '', inner = lines] = /^(\s*<powershell>\n?)([\s\S]*)<\/powershell>\s*$/i.exec(lines) ?? [];
  return { script: inner.trimEnd(), firstLine: before.split('\n').length };
}
