/** The user data of a node of a CUSTOM group, to which EKS adds nothing: it must join the node to the cluster. Pure. */
import type { Taint } from '../../../ports/nodes.ts';
import { quoted } from '../../../userData/powershell.ts';
import { type ScriptResult, scriptLines, scriptProblem, userDataSizeProblem } from '../../../userData/scripts.ts';
import { cut } from '../../../util/words.ts';

/** What the user data of a node of a CUSTOM group contains. */
export interface Bootstrap {
  readonly cluster: {
    readonly name: string;
    readonly endpoint: string;
    /** In base64, as EKS returns it. */
    readonly certificateAuthority: string;
    /** The IPv4 range of Services. Without it, the bootstrap of the AMI derives it from the VPC. */
    readonly serviceCidr?: string;
  };
  /** All labels of the node, those of EKS included. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Arguments of the kubelet, without the leading dashes: `{'max-pods': '30'}`. */
  readonly kubeletArguments: Readonly<Record<string, string>>;
  /** The user's script that runs before the node joins. If it throws an error, the node does not join. */
  readonly before?: string;
  /** The user's script that runs after the node has joined, if the bootstrap did not fail. */
  readonly after?: string;
}

/**
 * The user data, not encoded: `<powershell>…</powershell>`. Each value and each script in it is a single-quoted string. The parameters are those of the
 * bootstrap script in EKS-optimized AMIs: https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-windows-ami.html#bootstrap-script-configuration-parameters
 *
 * An error stops the script, as it does in the user data of EKS: the node does not join. EKS does not read exit codes of user data.
 */
export function bootstrapUserData(bootstrap: Bootstrap): ScriptResult {
  const wrong = partProblem(bootstrap);
  if (wrong !== undefined) return { problem: wrong };
  const script = render(bootstrap);
  const problem = userDataSizeProblem(script);
  return problem === undefined ? { script } : { problem };
}

/** Why a part of the user data cannot be passed to nodes; undefined if all can. */
function partProblem(bootstrap: Bootstrap): string | undefined {
  const { cluster, labels, taints, kubeletArguments } = bootstrap;
  return (
    unlike('The name of the cluster', CLUSTER_NAME, [cluster.name]) ??
    unlike('The API server endpoint of the cluster', ENDPOINT, [cluster.endpoint]) ??
    unlike('The certificate authority of the cluster', BASE64, [cluster.certificateAuthority]) ??
    unlike('The Service CIDR of the cluster', CIDR, cluster.serviceCidr === undefined ? [] : [cluster.serviceCidr]) ??
    unlike('The key of a label', KEY, Object.keys(labels)) ??
    unlike('The value of a label', VALUE, Object.values(labels)) ??
    unlike(
      'The key of a taint',
      KEY,
      taints.map(({ key }) => key),
    ) ??
    unlike(
      'The value of a taint',
      VALUE,
      taints.map(({ value = '' }) => value),
    ) ??
    unlike(
      'The effect of a taint',
      EFFECT,
      taints.map(({ effect }) => effect),
    ) ??
    unlike('The name of a kubelet argument', ARGUMENT_NAME, Object.keys(kubeletArguments)) ??
    unlike('The value of a kubelet argument', ARGUMENT_VALUE, Object.values(kubeletArguments)) ??
    scriptProblem('The script before the bootstrap', bootstrap.before) ??
    scriptProblem('The script after the bootstrap', bootstrap.after)
  );
}

/** Names and values that differ from these are not quoted, but refused: they would not reach the kubelet as one argument. */
export const CLUSTER_NAME = /^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/;
const ENDPOINT = /^https:\/\/[0-9A-Za-z.-]{1,253}(?::[0-9]{1,5})?\/?$/;
const BASE64 = /^[0-9A-Za-z+/]{4,8192}={0,2}$/;
const CIDR = /^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\/[0-9]{1,2}$/;
const KEY = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const EFFECT = /^(?:NoSchedule|NoExecute|PreferNoSchedule)$/;
const ARGUMENT_NAME = /^(?!node-labels$|register-with-taints$)[a-z][0-9a-z-]{0,62}$/;
/** Without spaces and quotation marks, which separate arguments in the command line of the kubelet's service, and what a shell would expand. */
const ARGUMENT_VALUE = /^[-0-9A-Za-z._:/\\=,%<+@~]{1,1024}$/;

function unlike(what: string, pattern: RegExp, values: readonly string[]): string | undefined {
  const wrong = values.find((value) => !pattern.test(value));
  if (wrong === undefined) return undefined;
  return `${what} is ${JSON.stringify(cut(wrong, 100))}, which cannot be passed to nodes. Change it, or remove the field that needs user data`;
}

function render({ cluster, labels, taints, kubeletArguments, before, after }: Bootstrap): string {
  const { serviceCidr } = cluster;
  const parameters: Record<string, string> = {
    EKSClusterName: cluster.name,
    APIServerEndpoint: cluster.endpoint,
    Base64ClusterCA: cluster.certificateAuthority,
    ...(serviceCidr !== undefined && { ServiceCIDR: serviceCidr, DNSClusterIP: dnsAddressIn(serviceCidr) }),
    [KUBELET_ARGUMENTS]: kubeletText(labels, taints, kubeletArguments),
  };
  return [
    '<powershell>',
    ...scriptLines(before, after),
    '$parameters = @{',
    ...Object.entries(parameters).map(([name, value]) => `  ${name} = ${quoted(value)}`),
    '}',
    ...(before === undefined ? [] : ['& $before']),
    `& (Join-Path $env:ProgramFiles ${quoted('Amazon\\EKS\\Start-EKSBootstrap.ps1')}) @parameters 3>&1 4>&1 5>&1 6>&1`,
    ...(after === undefined ? [] : ['& $after']),
    '</powershell>',
    '',
  ].join('\n');
}

function kubeletText(
  labels: Bootstrap['labels'],
  taints: Bootstrap['taints'],
  kubeletArguments: Bootstrap['kubeletArguments'],
): string {
  const all: Record<string, string> = {
    'node-labels': sorted(Object.entries(labels).map(([key, value]) => `${key}=${value}`)),
    'register-with-taints': sorted(taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`)),
    ...kubeletArguments,
  };
  return Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `--${name}=${value}`)
    .sort()
    .join(' ');
}

/** The arguments of the kubelet by name, without leading dashes, in user data that `bootstrapUserData` returned; none in other user data. */
export function kubeletArgumentsIn(userData: string): ReadonlyMap<string, string> {
  // Scripts of the user come before it.
  const line = [...userData.matchAll(new RegExp(`^  ${KUBELET_ARGUMENTS} = '(.*)'$`, 'gm'))].at(-1)?.[1] ?? '';
  return new Map([...line.matchAll(/--([a-z][0-9a-z-]*)=(\S*)/g)].map(([, name = '', value = '']) => [name, value]));
}

/** The parameter of the bootstrap script with the arguments of the kubelet. */
const KUBELET_ARGUMENTS = 'KubeletExtraArgs';

function sorted(parts: readonly string[]): string {
  return parts.toSorted().join(',');
}

/** 10.100.0.0/16 -> 10.100.0.10: EKS gives the cluster's DNS the tenth address. Source: the section about Windows of the page on launch templates. */
function dnsAddressIn(cidr: string): string {
  const [address = ''] = cidr.split('/');
  return `${address.split('.').slice(0, 3).join('.')}.10`;
}
