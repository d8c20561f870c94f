/** `kubectl windowspool update`: shows what an update to an AMI release replaces, asks, and sets the release in the spec. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { Option } from 'commander';
import { poolPath } from '../../controllers/kubernetes/pools.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { isNewerRelease } from '../../controllers/windowspool/providers/nodeGroups.ts';
import { isPaused } from '../../controllers/windowspool/rules/poolQueries.ts';
import { compact, count } from '../../controllers/windowspool/util/words.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { type ChangeFlags, makeChange } from './confirm.ts';
import { Failure } from './failure.ts';
import { managedFieldWarning } from './fieldManagers.ts';
import { dryRunOption, parsedBy, yesOption } from './flags.ts';
import { bullet } from './nodeOperation.ts';
import type { PoolChange } from './poolOperation.ts';
import type { Terminal } from './terminal.ts';

export interface UpdateFlags extends ChangeFlags {
  readonly release?: string;
}

const FIELD = 'nodeGroup.releaseVersion';
/** The pattern of the field in the CRD, with the Kubernetes version as its group. */
const RELEASE = /^(1\.\d{2})-\d{4}[.-]\d{2}[.-]\d{2}$/;

/** Shows what the update does, asks, and changes the spec. */
async function update(
  cluster: Cluster,
  terminal: Terminal,
  name: string,
  { release, ...flags }: UpdateFlags,
): Promise<void> {
  const pool = await cluster.pool(name);
  const { patch, notes } = updateOf(pool, release);
  const path = poolPath(name);
  // Pools of a list have no managed fields.
  const { metadata = {} } = await cluster.get<KubernetesObject>(path);
  const warning = patch && managedFieldWarning(metadata, FIELD);
  if (!patch) return terminal.print(notes.join('\n'));
  const lines = updateLines(name, compact([warning && `Warning: ${warning}`, ...notes]), terminal.columns);
  const change = { path, patch, lines, question: `Update pool ${name}?` };
  if (!(await makeChange(cluster, terminal, change, flags))) return;
  terminal.print(`Requested. Follow it: kubectl windowspool status ${name} --watch`);
}

/** The notes as a list. */
export function updateLines(name: string, notes: readonly string[], columns: number): string[] {
  return [`Update pool ${name}`, ...notes.flatMap((note) => bullet(note, columns))];
}

/** What the update changes on this pool, by default to the newest release that the operator knows. Throws a Failure if the pool has no release that can be set. */
export function updateOf(pool: WindowsPool, release?: string): PoolChange {
  const { metadata, spec, status } = pool;
  const { name } = metadata;
  const { nodeGroup } = spec;
  if (!nodeGroup)
    throw new Failure(`Pool ${name} has no node group. Update its nodes with the tool that created them.`);
  if (nodeGroup.ami)
    throw new Failure(`The nodes of pool ${name} run a custom AMI. Change nodeGroup.ami to update them.`);
  if (nodeGroup.kubelet)
    throw new Failure(
      `The operator selects the AMI of pool ${name}, because it has nodeGroup.kubelet. To update it, set nodeGroup.update.policy: Automatic.`,
    );
  const { releaseVersion: running, latestReleaseVersion: newest } = status?.nodeGroup ?? {};
  const target = release ?? newest;
  const minor = RELEASE.exec(target ?? '')?.[1];
  if (target === undefined || minor === undefined)
    throw new Failure(`The newest AMI release for pool ${name} is not known. Name one with --release.`);
  if (nodeGroup.releaseVersion === target)
    return {
      notes: [`The spec of pool ${name} already has ${FIELD}: ${target}. See: kubectl windowspool status ${name}`],
    };
  const other = nodeGroup.kubernetesVersion === undefined || nodeGroup.kubernetesVersion === minor ? undefined : minor;
  const before = nodeGroup.releaseVersion ?? 'not set';
  return {
    patch: { spec: { nodeGroup: { releaseVersion: target, ...(other && { kubernetesVersion: other }) } } },
    notes: compact([
      `${FIELD}: ${before} -> ${target}`,
      other && `nodeGroup.kubernetesVersion: ${nodeGroup.kubernetesVersion} -> ${other}`,
      ...effectsOf(pool, nodeGroup, running, target),
    ]),
  };
}

/** What follows from the new release. */
function effectsOf(
  pool: WindowsPool,
  { update: { canary, policy, maintenanceWindows } }: NonNullable<WindowsPool['spec']['nodeGroup']>,
  running: string | undefined,
  target: string,
): (string | false | undefined)[] {
  const { spec, status } = pool;
  const isOlder = running !== undefined && isNewerRelease(running, target);
  const nodes = status?.nodes?.total;
  const limit = spec.disruption?.maxUnavailable;
  return [
    isPaused(pool) && 'The pool is paused: the update starts when it is resumed.',
    running === target
      ? `The nodes already run ${target}, so no node is replaced.`
      : `Every node is replaced in a rolling update${nodes ? ` (${count(nodes, 'node')})` : ''}, within ${limit === undefined ? 'the limit of the node group' : `disruption.maxUnavailable: ${limit}`}.`,
    isOlder && `The nodes run ${running}, which is newer. EKS may reject the update.`,
    running !== target &&
      canary &&
      `It is tried on a canary first (${count(canary.nodes, 'node')}, ${canary.soakDuration}).`,
    running !== target && maintenanceWindows && 'It does not wait for nodeGroup.update.maintenanceWindows.',
    policy === 'Automatic' &&
      `Automatic updates stop as long as ${FIELD} is set. Remove it after the update to follow the newest release again.`,
    status?.nodeGroup?.update?.status === 'InProgress' && 'EKS works on another update, and starts this one after it.',
  ];
}

/** `kubectl windowspool update`. */
export const updateCommand: PluginCommand<UpdateFlags> = {
  usage: 'update <pool>',
  group: 'Pool and Node Commands',
  summary: 'Update the nodes of a pool to an AMI release.',
  details: `Sets ${FIELD} in the spec; the operator and EKS then replace the nodes. Asks for confirmation.`,
  examples: [
    ['Update to the newest release that the operator knows', 'kubectl windowspool update web'],
    ['Update to a certain release', 'kubectl windowspool update web --release=1.36-2026.03.17'],
    ['Only show what would be replaced', 'kubectl windowspool update web --dry-run=client'],
  ],
  options: [
    new Option(
      '--release <version>',
      'AMI release: a Kubernetes minor version and a date, such as 1.36-2026.03.17. Default: the newest.',
    ).argParser(parsedBy(releaseVersion)),
    yesOption(),
    dryRunOption(),
  ],
  run: async ({ connect, terminal }, [pool = ''], flags) => update(await connect(), terminal, pool, flags),
};

function releaseVersion(text: string): string {
  if (RELEASE.test(text)) return text;
  throw new Error('must be a Kubernetes minor version and a date, such as 1.36-2026.03.17');
}
