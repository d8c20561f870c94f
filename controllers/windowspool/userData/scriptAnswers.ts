/** What checks find in the user's script for nodes. Pure. */

import { type Answer, met, notMet, warning } from '../checks/check.ts';
import type { ScriptSource } from '../ports/prerequisites.ts';
import { restartIn } from '../ports/userScript.ts';
import { joined } from '../util/words.ts';
import { describeSource, readScript, runsFirst, secretsIn, type UserScript } from './userScript.ts';

/** Whether the script exists. */
export function existsAnswer(script: UserScript, source: ScriptSource): Answer {
  return source.text === undefined ? contentAnswer(script, source) : met;
}

/** Whether nodes can run it: EC2 accepts any text as user data, so a node would run a part of it, or nothing, and not join. */
export function contentAnswer(script: UserScript, source: ScriptSource): Answer {
  const found = readScript(script, source);
  return 'problem' in found ? notMet(found.problem) : met;
}

/** Whether it has a syntax error: then nodes run none of it, and do not join. Only a warning: the grammar that finds it is not that of PowerShell. */
export function syntaxAnswer(script: UserScript, source: ScriptSource): Answer | undefined {
  if (textOf(script, source) === undefined) return undefined;
  const line = source.syntax?.error;
  if (line === undefined) return met;
  return warning(
    `${describeSource(script, source)} may have a syntax error: in line ${line}, a bracket, a string or a comment begins or ends without the other end. Nodes run no part of such a script, and do not join. Test the file with PowerShell, without tags: [scriptblock]::Create((Get-Content -Raw ${script.key})). If it reports no error, ignore this warning`,
  );
}

/**
 * Whether it restarts the node: user data runs once, so the commands after the restart do not run, and those that make the node join come last. Only a warning: the
 * command may be one that a later task runs. @param customAmi the field of a custom AMI
 */
export function restartAnswer(script: UserScript, source: ScriptSource, customAmi: string): Answer | undefined {
  if (textOf(script, source) === undefined) return undefined;
  const line = runsFirst(script) ? restartIn(source.text ?? '') : undefined;
  if (line === undefined) return met;
  return warning(
    `${describeSource(script, source)} seems to restart the node in line ${line}. User data runs once, so the node does not run the commands after it, and does not join. Remove the restart: install what needs it in a custom AMI (${customAmi}), or restart the node when it has joined. If only a later task restarts it, ignore this warning`,
  );
}

/** Whether it has secrets: every program on the node can read user data. Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html */
export function secretsAnswer(script: UserScript, source: ScriptSource): Answer {
  const secrets = secretsIn(textOf(script, source) ?? '');
  if (secrets.length === 0) return met;
  return notMet(
    `${describeSource(script, source)} has what looks like a secret: ${joined(secrets, 3)}. Every program on the node can read user data. Store the secret in AWS Secrets Manager, let the node role read it, and read it in the script (Get-SECSecretValue)`,
  );
}

/** The script if nodes can run it. If they cannot, other checks report that. */
function textOf(script: UserScript, source: ScriptSource): string | undefined {
  const found = readScript(script, source);
  return 'script' in found ? found.script : undefined;
}
