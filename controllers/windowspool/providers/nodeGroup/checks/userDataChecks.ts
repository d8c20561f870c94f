/** Checks on the script for nodes. */

import { type Answer, advises, met, required, warns } from '../../../checks/check.ts';
import type { ScriptSource } from '../../../ports/prerequisites.ts';
import {
  contentAnswer,
  existsAnswer,
  restartAnswer,
  secretsAnswer,
  syntaxAnswer,
} from '../../../userData/scriptAnswers.ts';
import type { UserScript } from '../../../userData/userScript.ts';
import { userDataIn } from '../launchTemplate/groupScript.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/** Ensures that the script for nodes exists. */
export const userData: NodeGroupCheck = {
  ...required('UserDataNotFound', 'user-data', 'the script of nodeGroup.userData'),
  needs: ['userData'],
  evaluate: ({ spec, facts }) =>
    given(facts, 'userData', (source) => {
      const script = userDataIn(spec);
      return script ? existsAnswer(script, source) : met;
    }),
};

/** Ensures that nodes can run the script. */
export const userDataScript: NodeGroupCheck = {
  ...required('UserDataInvalid', 'user-data-script', 'the content of that script'),
  needs: ['userData'],
  // Without a text, it is reported by the check before.
  evaluate: (input) =>
    ofScript(input, (script, source) => (source.text === undefined ? undefined : contentAnswer(script, source))),
};

/** The script should have no syntax error. */
export const userDataSyntax: NodeGroupCheck = {
  ...warns('UserDataSyntaxError', 'user-data-syntax', 'the syntax of that script'),
  explains: ['NodesMissing', 'NodeCreationFailure'],
  needs: ['userData'],
  evaluate: (input) => ofScript(input, syntaxAnswer),
};

/**
 * The script should not restart the node. EKS waits 15 minutes for a node
 * (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html).
 */
export const userDataRestart: NodeGroupCheck = {
  ...warns('UserDataRestarts', 'user-data-restart', 'restarts in that script'),
  explains: ['NodesMissing', 'NodeCreationFailure'],
  needs: ['userData'],
  evaluate: (input) => ofScript(input, (script, source) => restartAnswer(script, source, 'nodeGroup.ami')),
};

/** The script should contain no secrets: everybody with ec2:DescribeLaunchTemplateVersions can read it as well. */
export const userDataSecrets: NodeGroupCheck = {
  ...advises('SecretInUserData', 'secrets-in-user-data'),
  needs: ['userData'],
  evaluate({ spec, facts }) {
    const script = userDataIn(spec);
    return script ? given(facts, 'userData', (source) => secretsAnswer(script, source)) : met;
  },
};

/** Undefined if there is no script, or it was not read. */
function ofScript(
  { spec, facts: { userData: source } }: CheckInput,
  evaluate: (script: UserScript, source: ScriptSource) => Answer | undefined,
): Answer | undefined {
  const script = userDataIn(spec);
  return script && source?.ok ? evaluate(script, source.value) : undefined;
}
