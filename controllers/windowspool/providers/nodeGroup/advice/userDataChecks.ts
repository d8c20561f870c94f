/** Advice about the script for nodes. */

import { joined } from '../../../util/words.ts';
import { describeSource, secretsIn, userDataIn, userScriptOf } from '../launchTemplate/userScript.ts';
import type { AdviceCheck, AdviceResult } from '../model/advice.ts';
import type { CheckInput } from '../model/prerequisiteFacts.ts';
import { advise, given, none } from './result.ts';

/**
 * The script should contain no secrets: every program on the node can read the user data of the instance, and so can everybody with
 * ec2:DescribeLaunchTemplateVersions. Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html
 */
function hasNoSecrets({ spec, facts }: CheckInput): AdviceResult | undefined {
  const userData = userDataIn(spec);
  if (!userData) return none;
  return given(facts.userData, (source) => {
    const secrets = secretsIn(userScriptOf(spec, facts) ?? '');
    if (secrets.length === 0) return none;
    return advise(
      `${describeSource(userData, source)} has what looks like a secret: ${joined(secrets, 3)}. Every program on the node can read user data. Store the secret in AWS Secrets Manager, let the node role read it, and read it in the script (Get-SECSecretValue)`,
    );
  });
}

/** By importance. */
export const userDataChecks: readonly AdviceCheck[] = [
  { reason: 'SecretInUserData', section: 'secrets-in-user-data', needs: [], look: hasNoSecrets },
];
