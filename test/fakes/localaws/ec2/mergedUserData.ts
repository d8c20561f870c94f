/*
 * The user data of instances whose template names no image. EKS puts the PowerShell commands of the template first, then its own, all within one tag.
 * Source: "Windows user data" on the page about launch templates in the user guide of EKS.
 */
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
