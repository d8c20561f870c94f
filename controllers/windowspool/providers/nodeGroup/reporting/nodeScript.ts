/** What to look at first when nodes do not join: a script of the user that they run before. Pure. */
import { describeSource } from '../../../userData/userScript.ts';
import { userDataIn } from '../launchTemplate/groupScript.ts';
import type { EksState } from '../model/groupState.ts';
import { resolvedTemplate } from '../versions/userLaunchTemplate.ts';

/**
 * Where the agent of EC2 writes the log of user data: EC2Launch v2, and v1 on Windows Server 2019. Source:
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2launch-v2-install.html
 */
const LOG = 'C:\\ProgramData\\Amazon\\EC2Launch\\log';
const LOG_2019 = 'C:\\ProgramData\\Amazon\\EC2-Windows\\Launch\\Log';

/**
 * ` First check the script …`, if nodes run one before they join; otherwise empty. EKS waits 15 minutes for a node:
 * https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
 */
export function scriptFirst(s: Pick<EksState, 'pool' | 'prerequisites'>): string {
  const script = scriptOf(s);
  if (script === undefined) return '';
  const log = s.pool.spec.windowsVersion === 'Windows2019' ? LOG_2019 : LOG;
  return ` First check ${script}. Nodes run it before they join: they must join within 15 minutes, and a restart ends it. Its log is on the instance, in ${log}.`;
}

/** The script, in words; undefined if there is none, or it is not known. */
function scriptOf({
  pool,
  prerequisites = { complete: false },
}: Pick<EksState, 'pool' | 'prerequisites'>): string | undefined {
  const userData = userDataIn(pool.spec);
  const source = prerequisites.userData;
  if (userData?.phase === 'BeforeBootstrap')
    return source?.ok
      ? `the script, ${describeSource(userData, source.value).replace('Key', 'key')}`
      : `the script of nodeGroup.userData, key ${userData.key} of ConfigMap ${userData.configMap}`;
  const template = userData ? undefined : resolvedTemplate(prerequisites);
  return template?.hasUserData
    ? `the user data in version ${template.version} of launch template ${template.name}`
    : undefined;
}
