/** The pool of a run with E2E_MACHINE=1, which sets what its nodes are made of, and what is read of it. Pure. */
import type { Nodegroup } from '@aws-sdk/client-eks';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { GATE_TAINT_KEY, PLAIN_GATE_TAINT_KEY } from '../../controllers/windowspool/api/labels.ts';
import type { Registration } from './nodeWatch.ts';
import { LABEL, PART_OF_RUN } from './pool.ts';
import type { Answers } from './questions.ts';
import type { Run } from './run.ts';

/** The taint of the run instead of the one of the operator: the run removes it from nodes that are verified, as a NodeReadinessRule does. */
export const READINESS_TAINT_KEY = 'readiness.k8s.io/winpool-e2e';
/** The label that the pool gets with the change. */
export const LATE_LABEL = `${LABEL}-late`;
/** `maxPods` at the creation, and after the change. */
export const MAX_PODS = [30, 31] as const;

const SCRIPT_KEY = 'user-data.ps1';
const RESULT = String.raw`C:\ProgramData\winpool-e2e.json`;

/**
 * Writes who runs it to a file. Nothing after `return` may run: otherwise the node does not join. The folders of the logs are those of EC2Launch v2 and v1:
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2launch-v2.html
 */
const SCRIPT = String.raw`
$identity = [Security.Principal.WindowsIdentity]::GetCurrent()
$role = [Security.Principal.WindowsBuiltInRole]::Administrator
$folders = 'C:\ProgramData\Amazon\EC2Launch\log', 'C:\ProgramData\Amazon\EC2-Windows\Launch\Log'
$result = @{
  account = ($identity.Name -split '\\')[-1]
  isSystem = $identity.IsSystem
  isAdministrator = (New-Object Security.Principal.WindowsPrincipal($identity)).IsInRole($role)
  powershell = $PSVersionTable.PSVersion.ToString()
  logs = @($folders | Where-Object { Test-Path $_ })
}
$result | ConvertTo-Json -Compress | Set-Content -Encoding Ascii -Path '${RESULT}'
return
throw 'return has not ended the script'
`.trimStart();

/** The ConfigMap with the script. `namespace`: that of the operator. */
export const scriptOf = ({ pool }: Pick<Run, 'pool'>, namespace: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: pool, namespace, labels: PART_OF_RUN },
  data: { [SCRIPT_KEY]: SCRIPT },
});

/** What the spec of the pool has in addition to that of other runs. */
export const machineSpec = ({ pool }: Pick<Run, 'pool'>) => ({
  nodeGroup: {
    kubelet: { maxPods: MAX_PODS[0] },
    userData: { configMap: pool, key: SCRIPT_KEY },
    // EKS cannot tell that an image of a launch template runs Windows: docs/how-to/custom-amis.md.
    accessEntryManagement: 'Operator',
  },
  verification: { policy: 'Gate' },
});

/** The change: one new version of the launch template, and another taint and label of the node group. */
export const MACHINE_CHANGE = {
  nodeGroup: { kubelet: { maxPods: MAX_PODS[1] } },
  labels: { [LATE_LABEL]: 'yes' },
  verification: { readinessTaint: READINESS_TAINT_KEY },
};

/**
 * The spec of a pod that shows the result of the script as the message of its container. It exits with 1, because the kubelet takes the message from the log only if a
 * container fails: https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure/. So nobody needs to reach the kubelet, as kubectl logs
 * does.
 */
export const READER = {
  hostNetwork: true,
  securityContext: { windowsOptions: { hostProcess: true, runAsUserName: String.raw`NT AUTHORITY\SYSTEM` } },
  containers: [
    {
      name: 'reader',
      // For HostProcess containers: https://github.com/microsoft/windows-host-process-containers-base-image
      image: 'mcr.microsoft.com/oss/kubernetes/windows-host-process-containers-base-image:v1.0.0',
      command: ['cmd.exe', '/c', `type ${RESULT} & exit 1`],
      terminationMessagePolicy: 'FallbackToLogsOnError',
    },
  ],
};

/** The account and the log of user data, from the message of the pod that reads them. */
export function answerScript(answers: Answers, message: string): void {
  try {
    const { account, ...result } = JSON.parse(message);
    answers.answer('userDataAccount', { account, ...result });
  } catch {
    answers.unknown('userDataAccount', 'The script has not written its result.', message);
  }
}

/** Which key of the gate the node group has: the operator sets another one if EKS rejects the default. */
export function answerGateTaint(answers: Answers, { taints = [] }: Nodegroup): void {
  const keys = taints.map(({ key }) => key);
  if (keys.includes(GATE_TAINT_KEY)) answers.answer('reservedTaints', { [GATE_TAINT_KEY]: 'accepted' });
  else if (keys.includes(PLAIN_GATE_TAINT_KEY)) answers.answer('reservedTaints', { [GATE_TAINT_KEY]: 'rejected' });
  else answers.unknown('reservedTaints', 'The node group has no taint of the gate.', keys);
}

/** The same with the readiness taint. `rejection`: the message of the pool if EKS rejected it. */
export function answerReadinessTaint(answers: Answers, group: Nodegroup, rejection: string | undefined): void {
  const { answer } = answers.all().reservedTaints;
  const isSet = group.taints?.some(({ key }) => key === READINESS_TAINT_KEY) === true;
  const result = isSet ? 'accepted' : (rejection ?? 'The node group does not have it.');
  answers.answer('reservedTaints', { ...(answer as object | undefined), [READINESS_TAINT_KEY]: result });
}

/** What DescribeNodegroup has for a group with an image in its template. */
export function answerCustomNodeGroup(answers: Answers, group: Nodegroup): void {
  const { amiType, version, releaseVersion } = group;
  answers.answer('customNodeGroup', { amiType, version: version ?? 'absent', releaseVersion });
}

/**
 * What EKS added to nodes after they registered: the label and the taint of the change on those that existed, and on new ones what their kubelets do not set.
 *
 * @param before how the nodes of before the change registered
 */
export function answerLateSettings(
  answers: Answers,
  before: readonly Registration[],
  after: readonly Registration[],
): void {
  const late = [LATE_LABEL, `${READINESS_TAINT_KEY}:NoSchedule`];
  const keysOf = (registrations: readonly Registration[], isMeant: (key: string) => boolean) =>
    Object.fromEntries(registrations.flatMap(({ later }) => Object.entries(later).filter(([key]) => isMeant(key))));
  if (before.length === 0 || after.length === 0) {
    answers.unknown('settingsOfCustomNodes', 'The first watch event of the nodes was missed.');
    return;
  }
  answers.answer('settingsOfCustomNodes', {
    secondsOnExistingNodes: keysOf(before, (key) => late.includes(key)),
    secondsOnNewNodes: keysOf(after, (key) => /^eks\.amazonaws\.com\//.test(key) || late.includes(key)),
  });
}

/** A node group and its scaling group at one time: their desired sizes. */
export interface Sizes {
  readonly nodeGroup: number;
  readonly scalingGroup: number;
}

/** Whether the node group shows that its scaling group grew. `seen` is in the order of time, the first before the change. */
export function answerGrowth(answers: Answers, seen: readonly Sizes[]): void {
  const most = (of: keyof Sizes) => Math.max(...seen.map((sizes) => sizes[of]));
  const [before] = seen;
  const growth = { before, most: { nodeGroup: most('nodeGroup'), scalingGroup: most('scalingGroup') } };
  if (before === undefined || growth.most.scalingGroup <= before.scalingGroup)
    answers.unknown('rolloutGrowth', 'The Auto Scaling group was never seen larger than before.', growth);
  else
    answers.answer('rolloutGrowth', {
      ...growth,
      scalingConfig: growth.most.nodeGroup > before.nodeGroup ? 'shown' : 'hidden',
    });
}

/** The ID of the update that replaces the nodes, as long as the pool shows it. */
export function rolloutIn({ status }: WindowsPool): string | undefined {
  const { id, type } = status?.nodeGroup?.update ?? {};
  return type === 'ConfigUpdate' ? undefined : id;
}
