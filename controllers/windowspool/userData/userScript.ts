/** The user's PowerShell script for nodes, from a ConfigMap in the namespace of the operator. Pure. Nothing here returns a text with a part of the script. */
import type { ScriptSource } from '../ports/prerequisites.ts';
import { linuxFormatOf, scriptIn } from '../ports/userScript.ts';
import { joined } from '../util/words.ts';
import { type ScriptResult, scriptLines, scriptProblem, userDataSizeProblem } from './scripts.ts';

/** A script that a pool names. */
export interface UserScript {
  readonly configMap: string;
  readonly key: string;
  /** Absent: BeforeBootstrap. */
  readonly phase?: 'BeforeBootstrap' | 'AfterBootstrap';
  /** The field of the spec that names it, such as `nodeGroup.userData`. */
  readonly field: string;
}

/** Whether the node joins the cluster only after the script. */
export function runsFirst({ phase }: Pick<UserScript, 'phase'>): boolean {
  return phase !== 'AfterBootstrap';
}

/** Reads the script: without a byte order mark and the tags of user data, and with the line breaks of Unix. */
export function readScript(userData: UserScript, source: ScriptSource): ScriptResult {
  const { text } = source;
  if (text === undefined) return { problem: absence(userData, source) };
  const where = describeSource(userData, source);
  // Before anything else looks at it: a ConfigMap can have a megabyte.
  const excess = excessOf(where, text);
  if (excess !== undefined) return { problem: excess };
  const { script } = scriptIn(text);
  if (script.trim() === '') return { problem: `${where} is empty. Write the PowerShell commands for nodes to it` };
  const format = linuxFormatOf(text);
  if (format !== undefined)
    return {
      problem: `${where} is ${format} for Linux nodes. Write PowerShell commands to it, without the commands that make the node join`,
    };
  if (/start-eksbootstrap/i.test(script))
    return {
      problem: `${where} names Start-EKSBootstrap.ps1, which the user data of nodes already runs. Remove that command`,
    };
  const exit = runsFirst(userData) ? source.syntax?.exit : undefined;
  if (exit !== undefined)
    return {
      problem: `${where} has exit in line ${exit}, which would end the user data before the node joins the cluster. Use return instead`,
    };
  const problem = scriptProblem(where, script) ?? excessOf(where, mergedUserData(script), MERGED_BYTES);
  return problem === undefined ? { script } : { problem };
}

function excessOf(where: string, userData: string, mostBytes?: number): string | undefined {
  const problem = userDataSizeProblem(userData, mostBytes);
  return problem && `${where} is too long. ${problem}`;
}

/**
 * The user data for a group to which EKS adds its own: it puts these commands first, all within one tag. Source:
 * https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data
 */
export function mergedUserData(script: string): string {
  return ['<powershell>', scriptCommands(script), '</powershell>', ''].join('\n');
}

/**
 * The commands that run the script, without tags, for a tool that puts them before its own. As in the user data of CUSTOM groups: return, an open comment or brace, and a
 * here-string without its end concern only the script.
 */
export function scriptCommands(script: string): string {
  return [...scriptLines(script), '& $before'].join('\n');
}

/** What is left of the limit of EC2 for the user's part: no source has the size of what EKS adds, of which the certificate authority is the largest part. */
const MERGED_BYTES = 12_288;

/** `Key install.ps1 of ConfigMap winpool-system/windows`. */
export function describeSource(
  { configMap, key }: Pick<UserScript, 'configMap' | 'key'>,
  { namespace }: Pick<ScriptSource, 'namespace'>,
): string {
  return `Key ${key} of ConfigMap ${namespace}/${configMap}`;
}

/** Why there is no text. */
function absence(userData: UserScript, source: ScriptSource): string {
  const { configMap, key, field } = userData;
  const { namespace, keys, isBinary } = source;
  const name = `ConfigMap ${namespace}/${configMap}`;
  const file = `--from-file=${key}=FILE.ps1`;
  if (!keys)
    return `${name}, which ${field} names, does not exist. Create it (kubectl -n ${namespace} create configmap ${configMap} ${file})`;
  if (isBinary)
    return `${describeSource(userData, source)} is in binaryData, because the file is not UTF-8 text. Save the script as UTF-8, and create the ConfigMap again`;
  const others = keys.length > 0 ? ` It has ${joined(keys)}.` : '';
  return `${name} has no key ${key}, which ${field} names.${others} Add the key, or correct ${field}.key`;
}

/** What may be a secret, by its kind. Each is found on one line, and names no more of it. */
const SECRETS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['an AWS access key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['a private key', /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/],
  ['a token', /\b(?:gh[pousr]_[0-9A-Za-z]{20}|xox[abpr]-[0-9A-Za-z-]{10}|eyJ[0-9A-Za-z_-]{10,200}\.eyJ)/],
  [
    'a password',
    /(?:password|passwd|pwd|secret|api_?key|token)\w{0,20}["']?\s{0,20}[=:]\s{0,20}(?:"[^"$()]{4}|'[^']{4})/i,
  ],
  ['a password', /ConvertTo-SecureString\s{1,20}(?:-String\s{1,20})?(?:"[^"$()]{1,200}"|'[^']{1,200}')/i],
  ['a password', /\bnet(?:\.exe)?\s{1,20}user\s{1,20}[^\s$]{1,64}\s{1,20}[^\s$/]/i],
];

/** The first lines that look like secrets, such as `line 3 (a password)`. */
export function secretsIn(script: string): readonly string[] {
  return script.split('\n').flatMap((line, index) => {
    // A script has at most as many characters as EC2 accepts.
    const [kind] = SECRETS.find(([, pattern]) => pattern.test(line)) ?? [];
    return kind === undefined ? [] : [`line ${index + 1} (${kind})`];
  });
}
