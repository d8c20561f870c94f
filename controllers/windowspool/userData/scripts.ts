/** Scripts of the user as parts of user data. Pure. */

import { MAX_USER_DATA_BYTES } from '../ports/userScript.ts';
import { quoted, scriptBlock } from './powershell.ts';

/** A text for nodes to run, or why they cannot run it, with the next step, without a full stop. */
export type ScriptResult = { readonly script: string } | { readonly problem: string };

/** Why EC2 would reject user data of this size, with the next step, without a full stop; undefined if it accepts it. */
export function userDataSizeProblem(userData: string, mostBytes = MAX_USER_DATA_BYTES): string | undefined {
  const bytes = Buffer.byteLength(userData);
  if (bytes <= mostBytes) return undefined;
  return (
    `The user data of the nodes has ${bytes} bytes, and at most ${mostBytes} fit into the ${MAX_USER_DATA_BYTES} that EC2 accepts. ` +
    'Shorten the script: download its larger part from Amazon S3 with the role of the instance'
  );
}

/**
 * The tags that the launch agents of EC2 look for in user data. Source:
 * https://docs.aws.amazon.com/AWSEC2/latest/WindowsGuide/ec2-windows-user-data.html
 */
const TAGS = /<\/?(?:powershell|script|persist|powershellarguments|runaslocalsystem|detach)>/i;

/** Why a script of the user cannot be a part of user data, with the next step, without a full stop. `what` names the script. */
export function scriptProblem(what: string, script: string | undefined): string | undefined {
  if (script === undefined) return undefined;
  const [tag] = TAGS.exec(script) ?? [];
  if (tag !== undefined) {
    return `${what} contains the tag ${tag}, which would end or change the user data. Remove it: only commands belong there`;
  }
  return script.includes('\0') ? `${what} contains a NUL character. Save it as UTF-8 text` : undefined;
}

/** Both scripts are parsed before anything runs: a script with a syntax error stops the bootstrap. Their errors have the default consequences. */
export function scriptLines(before: string | undefined, after?: string): string[] {
  const lines = [
    ...(before === undefined ? [] : [`$before = ${scriptBlock(before)}`]),
    ...(after === undefined ? [] : [`$after = ${scriptBlock(after)}`]),
  ];
  return lines.length === 0
    ? []
    : [`$ErrorActionPreference = ${quoted('Stop')}`, ...lines, `$ErrorActionPreference = ${quoted('Continue')}`];
}
