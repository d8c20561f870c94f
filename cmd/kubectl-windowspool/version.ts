/** `kubectl windowspool version`: the versions of the plugin, of the operator and the CRD in the cluster, and of Kubernetes. */
import type { V1Deployment } from '@kubernetes/client-node';
import { Option } from 'commander';
import { crdMismatch, readCrdVersion } from '../../controllers/kubernetes/crdVersion.ts';
import { ignoreNotFound } from '../../controllers/kubernetes/errors.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { compact } from '../../controllers/windowspool/util/words.ts';
import type { Cluster } from './cluster.ts';
import type { CommandContext, PluginCommand } from './command.ts';
import { unlessForbidden } from './failure.ts';
import { findOperator, OPERATOR_CONTAINER, type OperatorFlags, operatorNamespaceOption } from './operator.ts';
import { type OutputFormat, printResult } from './output.ts';

export interface VersionFlags extends OperatorFlags {
  readonly client?: boolean;
  readonly output?: OutputFormat;
}

/** What is known of the versions. */
export interface Versions {
  readonly client: string;
  /** null: the cluster has no operator. */
  readonly operator?: { readonly version: string; readonly image: string; readonly deployment: string } | null;
  /** null: the CRD is not installed, or has no version. Undefined: the user may not read it. */
  readonly crd?: string | null;
  readonly kubernetes?: string;
}

/** Prints the versions. If the cluster cannot be read, prints that of the plugin, and fails. */
async function version(
  { connect, terminal, version: client, signal }: CommandContext,
  flags: VersionFlags,
): Promise<void> {
  const print = (versions: Versions) => printResult(terminal, flags.output, versions, () => versionLines(versions));
  if (flags.client) return print({ client });
  let known: Versions = { client };
  try {
    const cluster = await connect();
    known = { ...known, kubernetes: await cluster.client.serverVersion(signal) };
    known = { ...known, operator: operatorVersionOf(await findOperator(cluster, flags)) };
    known = { ...known, ...(await crdVersionIn(cluster)) };
  } finally {
    print(known);
  }
}

/** The version of the CRD; nothing if the user may not read it. */
export async function crdVersionIn({ client, signal }: Cluster): Promise<Pick<Versions, 'crd'>> {
  const read = ignoreNotFound(readCrdVersion(client, signal)).then((version) => ({ crd: version ?? null }));
  return unlessForbidden(read, {}, 'The CRD', []);
}

/** The version of a Deployment of the operator: its label, or else the tag of its image. */
export function operatorVersionOf(
  deployment: Wire<V1Deployment> | undefined,
): NonNullable<Versions['operator']> | null {
  if (!deployment) return null;
  const { metadata, spec } = deployment;
  const containers = spec?.template?.spec?.containers ?? [];
  const { image = 'unknown' } = containers.find(({ name }) => name === OPERATOR_CONTAINER) ?? containers[0] ?? {};
  const tag = /:([\w.-]+)$/.exec(image.replace(/@.*/, ''))?.[1];
  return {
    version: tag ?? metadata?.labels?.['app.kubernetes.io/version'] ?? 'unknown',
    image,
    deployment: `${metadata?.namespace}/${metadata?.name}`,
  };
}

/** The lines, in the words of `kubectl version`. */
function versionLines({ client, operator, crd, kubernetes }: Versions): string[] {
  const isOther = operator && minorOf(operator.version) !== minorOf(client);
  const mismatch = operator ? crdMismatch(crd ?? undefined, operator.version) : undefined;
  return compact([
    `Client Version: ${client}`,
    operator === null && 'Operator Version: not installed',
    operator ? `Operator Version: ${operator.version} (${operator.deployment})` : undefined,
    crd !== undefined && `CRD Version: ${crd ?? 'not installed, or without a version'}`,
    kubernetes !== undefined && `Kubernetes Version: ${kubernetes}`,
    isOther ? 'Warning: the plugin and the operator have different versions. Use those of one release.' : undefined,
    mismatch !== undefined && `Warning: ${mismatch}`,
  ]);
}

/** `0.1` of `v0.1.3`. */
function minorOf(text: string): string {
  return /^v?(\d+\.\d+)/.exec(text)?.[1] ?? text;
}

/** `kubectl windowspool version`. */
export const versionCommand: PluginCommand<VersionFlags> = {
  usage: 'version',
  group: 'Other Commands',
  summary: 'Print the versions of the plugin, of the operator, of the CRD and of Kubernetes.',
  examples: [
    ['Print the versions of the plugin and of the operator in the cluster', 'kubectl windowspool version'],
    ['Print only the version of the plugin', 'kubectl windowspool version --client'],
    ['As JSON, for scripts', 'kubectl windowspool version -o json'],
  ],
  options: [
    new Option('--client', 'Only print the version of the plugin, without a cluster.'),
    new Option('-o, --output <format>', 'Output format.').choices(['json', 'yaml']),
    operatorNamespaceOption(),
  ],
  run: (context, _, flags) => version(context, flags),
};
