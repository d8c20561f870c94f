/*
 * The user data of instances whose template names no image. EKS puts the PowerShell commands of the template first, then its own, all within one tag.
 * Source: "Windows user data" on the page about launch templates in the user guide of EKS.
 */
import type { ResponseLaunchTemplateData } from '@aws-sdk/client-ec2';
import type { LocalAwsState } from '../state.ts';

/** The user data, in base64. `own`: that of the template, in base64. */
export function mergedUserData({ cluster }: Pick<LocalAwsState, 'cluster'>, own = ''): string {
  const text = Buffer.from(own, 'base64').toString();
  const [, commands = ''] = /<powershell>\r?\n?(.*)<\/powershell>/is.exec(text) ?? [];
  const lines = [
    ...(commands === '' ? [] : [commands.trimEnd()]),
    '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
    `& $EKSBootstrapScriptFile -EKSClusterName "${cluster.name}" -APIServerEndpoint "${cluster.endpoint}" -Base64ClusterCA "${cluster.caData}" 3>&1 4>&1 5>&1 6>&1`,
  ];
  return Buffer.from(`<powershell>\n${lines.join('\n')}\n</powershell>\n`).toString('base64');
}

/** EKS' message about the user data of a template that it cannot merge; undefined if it can. Seen: aws-ia/terraform-aws-eks-blueprints#1729. */
export function userDataFault({ ImageId, UserData = '' }: ResponseLaunchTemplateData = {}): string | undefined {
  if (ImageId !== undefined || UserData === '' || TAG.test(Buffer.from(UserData, 'base64').toString()))
    return undefined;
  return 'User data was not a valid PowerShell format and could not be processed.';
}

const TAG = /<powershell>.*<\/powershell>/is;
