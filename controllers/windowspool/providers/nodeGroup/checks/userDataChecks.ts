/** Checks on the script for nodes. */

import { type Answer, advises, met, notMet, required, warning, warns } from '../../../checks/check.ts';
import type { ScriptSource } from '../../../ports/prerequisites.ts';
import { restartIn } from '../../../ports/userScript.ts';
import { joined } from '../../../util/words.ts';
import { describeSource, readScript, secretsIn, userDataIn, userScriptOf } from '../launchTemplate/userScript.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/** Ensures that the script for nodes exists. */
export const userData: NodeGroupCheck = {
  ...required('UserDataNotFound', 'user-data', 'the script of nodeGroup.userData'),
  needs: ['userData'],
  evaluate: ({ spec, facts }) =>
    given(facts, 'userData', (source) => (source.text === undefined ? resultOf(spec, source) : met)),
};

/** Ensures that nodes can run the script: EC2 accepts any text as user data, so a node would run a part of it, or nothing, and not join. */
export const userDataScript: NodeGroupCheck = {
  ...required('UserDataInvalid', 'user-data-script', 'the content of that script'),
  needs: ['userData'],
  evaluate({ spec, facts: { userData: source } }) {
    // Otherwise, it is reported by the check before.
    if (!source?.ok || source.value.text === undefined) return undefined;
    return resultOf(spec, source.value);
  },
};

function resultOf(spec: CheckInput['spec'], source: ScriptSource): Answer {
  const userData = userDataIn(spec);
  const found = userData && readScript(userData, source);
  return found && 'problem' in found ? notMet(found.problem) : met;
}

/**
 * The script should have no syntax error: then nodes run none of it, and do not join. A warning, because the grammar that finds it is not that of PowerShell.
 */
export const userDataSyntax: NodeGroupCheck = {
  ...warns('UserDataSyntaxError', 'user-data-syntax', 'the syntax of that script'),
  explains: ['NodesMissing', 'NodeCreationFailure'],
  needs: ['userData'],
  evaluate({ spec, facts }) {
    const [userData, source] = [userDataIn(spec), facts.userData];
    // A script that is not used, or cannot be read, is reported by the checks before.
    if (!userData || !source?.ok || userScriptOf(spec, facts) === undefined) return undefined;
    const line = source.value.syntax?.error;
    if (line === undefined) return met;
    return warning(
      `${describeSource(userData, source.value)} may have a syntax error: in line ${line}, a bracket, a string or a comment begins or ends without the other end. Nodes run no part of such a script, and do not join. Test the file with PowerShell, without tags: [scriptblock]::Create((Get-Content -Raw ${userData.key})). If it reports no error, ignore this warning`,
    );
  },
};

/**
 * The script should not restart the node: user data runs once, so the commands after the restart do not run, and those that make the node join come last. EKS
 * waits 15 minutes for a node (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html). A warning, because the command may be one that
 * only a later task runs.
 */
export const userDataRestart: NodeGroupCheck = {
  ...warns('UserDataRestarts', 'user-data-restart', 'restarts in that script'),
  explains: ['NodesMissing', 'NodeCreationFailure'],
  needs: ['userData'],
  evaluate({ spec, facts }) {
    const [userData, source] = [userDataIn(spec), facts.userData];
    if (!userData || !source?.ok || userScriptOf(spec, facts) === undefined) return undefined;
    const line = userData.phase === 'BeforeBootstrap' ? restartIn(source.value.text ?? '') : undefined;
    if (line === undefined) return met;
    return warning(
      `${describeSource(userData, source.value)} seems to restart the node in line ${line}. User data runs once, so the node does not run the commands after it, and does not join. Remove the restart: install what needs it in a custom AMI (nodeGroup.ami), or restart the node when it has joined. If only a later task restarts it, ignore this warning`,
    );
  },
};

/**
 * The script should contain no secrets: every program on the node can read the user data of the instance, and so can everybody with
 * ec2:DescribeLaunchTemplateVersions. Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html
 */
export const userDataSecrets: NodeGroupCheck = {
  ...advises('SecretInUserData', 'secrets-in-user-data'),
  needs: ['userData'],
  evaluate({ spec, facts }) {
    const userData = userDataIn(spec);
    if (!userData) return met;
    return given(facts, 'userData', (source) => {
      const secrets = secretsIn(userScriptOf(spec, facts) ?? '');
      if (secrets.length === 0) return met;
      return notMet(
        `${describeSource(userData, source)} has what looks like a secret: ${joined(secrets, 3)}. Every program on the node can read user data. Store the secret in AWS Secrets Manager, let the node role read it, and read it in the script (Get-SECSecretValue)`,
      );
    });
  },
};
