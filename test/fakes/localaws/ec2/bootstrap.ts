/*
 * The bootstrap of an instance from an image in a launch template: EKS adds nothing to its user data, so the node joins only if the user data calls the
 * bootstrap script of the image. Source: "Specifying an AMI" on the page about launch templates in the user guide of EKS; the parameters of the script
 * are on its page about Windows images.
 */
import type { Taint } from '@aws-sdk/client-eks';
import type { LocalAwsState } from '../state.ts';

/** What the kubelet of such an instance starts with. */
export interface KubeletArguments {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** The values of all arguments, by their names without dashes. */
  readonly values: Readonly<Record<string, string>>;
}

/** What the user data (base64) starts the kubelet with; undefined: it does not join the cluster. */
export function kubeletArgumentsIn(
  { cluster, clusterState }: LocalAwsState,
  userData: string | undefined,
): KubeletArguments | undefined {
  const [, script = ''] = /<powershell>(.*)<\/powershell>/is.exec(decoded(userData)) ?? [];
  if (!script.includes('Start-EKSBootstrap.ps1')) return undefined;
  const endpoint = parameterIn(script, 'APIServerEndpoint') ?? cluster.endpoint;
  const authority = parameterIn(script, 'Base64ClusterCA') ?? clusterState.caData;
  const isOurs = parameterIn(script, 'EKSClusterName') === cluster.name;
  if (!isOurs || endpoint !== cluster.endpoint || authority !== clusterState.caData) return undefined;
  const kubelet = parameterIn(script, 'KubeletExtraArgs') ?? '';
  return {
    labels: Object.fromEntries(listOf(kubelet, 'node-labels').map((label) => cutAt(label, '='))),
    taints: listOf(kubelet, 'register-with-taints').map(taintFrom),
    values: Object.fromEntries(
      kubelet.split(' ').flatMap((argument) => (argument.startsWith('--') ? [cutAt(argument.slice(2), '=')] : [])),
    ),
  };
}

/**
 * Whether user data (base64) ends before its last command, which makes the instance join: with a restart, because user data runs once, or with exit or return,
 * unless they are in the text of a script block. A script block `$after` is one that the bootstrap comes before. Sources: awsdocs/amazon-eks-user-guide#842,
 * and the user guide on merged user data.
 */
export function endsFirst(userData: string | undefined): boolean {
  const text = decoded(userData);
  const lines = text.split(/\r?\n/).filter((line) => !line.startsWith('$after = '));
  const ends = text.includes('[scriptblock]::Create(') ? [RESTART] : [RESTART, /^(?:exit|return)\b/i];
  return lines.some((line) => ends.some((end) => end.test(line)));
}

const RESTART = /\bRestart-Computer\b|\bshutdown(?:\.exe)?\s.*[/-]r\b/i;

const decoded = (userData = ''): string => Buffer.from(userData, 'base64').toString();

/** The value of a parameter: `-Name "value"` of a call, or `Name = 'value'` of a table of parameters. */
function parameterIn(script: string, name: string): string | undefined {
  const [, , value] = new RegExp(`\\b${name}\\s*=?\\s*(["'])(.*?)\\1`, 'is').exec(script) ?? [];
  return value;
}

function listOf(kubelet: string, name: string): string[] {
  const [, list = ''] = new RegExp(`--${name}=(\\S+)`).exec(kubelet) ?? [];
  return list.split(',').filter((item) => item !== '');
}

function cutAt(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** `os=windows:NoSchedule` */
function taintFrom(text: string): Taint {
  const [pair, word] = cutAt(text, ':');
  const [key, value] = cutAt(pair, '=');
  const effects = {
    NoSchedule: 'NO_SCHEDULE',
    NoExecute: 'NO_EXECUTE',
    PreferNoSchedule: 'PREFER_NO_SCHEDULE',
  } as const;
  return { key, value, effect: effects[word as keyof typeof effects] };
}
