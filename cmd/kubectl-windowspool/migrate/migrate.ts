/** `kubectl windowspool migrate`: which workloads still use a pool, what each must change to run in another, and the drain of the old nodes. */
import { Option } from 'commander';
import { joined } from '../../../controllers/windowspool/util/words.ts';
import type { Cluster } from '../cluster.ts';
import type { PluginCommand } from '../command.ts';
import { type ChangeFlags, confirm, DRY_RUN_ENDS } from '../confirm.ts';
import { EXIT, Failure } from '../failure.ts';
import { dryRunOption, outputOption, yesOption } from '../flags.ts';
import { type OutputFormat, printResult, printSkipped } from '../output.ts';
import { missingPermissions } from '../permissions.ts';
import { type ImageFlags, imageOptions, registriesFor } from '../registry/imageFlags.ts';
import { type Registries, unknownImages } from '../registry/registries.ts';
import { runtimeClassesOf } from '../runtimeClasses.ts';
import type { Terminal } from '../terminal.ts';
import {
  type DrainPlan,
  drainLines,
  drainPermissions,
  drainRefusal,
  finishedLines,
  isDrained,
  stoppedLines,
} from './drainPlan.ts';
import { type Inventory, readInventory } from './inventory.ts';
import { imagesToAsk, withAnswers } from './placement.ts';
import { cordonOf, PoolDrain } from './poolDrain.ts';
import { isDone, progressLines, progressScreen } from './progress.ts';
import { isReady, migrationReport } from './report.ts';
import { findingLines, reportLines } from './reportLines.ts';
import { type Move, moveOf } from './side.ts';

export interface MigrateFlags extends ChangeFlags, ImageFlags {
  readonly drain?: boolean;
  readonly allowPending?: boolean;
  readonly output?: OutputFormat;
}

/** Time between two reads of the drained nodes, in milliseconds. */
const INTERVAL_MS = 2_000;

/** Throws if the arguments exclude each other. */
function checkMigrateArguments(
  [from, to]: readonly string[],
  { drain, allowPending, yes, dryRun = 'none', output }: MigrateFlags,
): void {
  if (from === to) throw new Failure(`Name two different pools: ${from} is both the old and the new one.`, EXIT.usage);
  if (!drain && (allowPending || yes || dryRun !== 'none'))
    throw new Failure('--allow-pending, --yes and --dry-run require --drain.', EXIT.usage);
  if (drain && output) throw new Failure('--drain and --output exclude each other.', EXIT.usage);
}

/**
 * Prints what the migration requires. Fails if a workload must change, or if something blocks the move. With --drain, drains the old nodes.
 * @param registries to be asked about images; without them, tags decide
 */
export async function migrate(
  cluster: Cluster,
  terminal: Terminal,
  [from, to]: readonly [from: string, to: string],
  { drain, allowPending = false, output, ...flags }: MigrateFlags,
  registries?: Registries,
): Promise<void> {
  const plan = await readPlan(cluster, terminal, [from, to], allowPending, registries);
  if (drain) return drainNodes(cluster, terminal, plan, flags);
  const { report } = plan;
  printResult(terminal, output, report, (columns) => reportLines(report, columns, terminal.paint));
  // The lines say what to do first.
  if (!isReady(report)) throw new Failure('', EXIT.failed);
}

/** Reads the pools and their workloads. Prints what the user may not read. */
export async function readPlan(
  cluster: Cluster,
  terminal: Terminal,
  [from, to]: readonly [from: string, to: string],
  allowsPending: boolean,
  registries?: Registries,
): Promise<DrainPlan> {
  const move = await readMove(cluster, from, to);
  const skipped: string[] = [];
  const found = await readInventory(cluster, move, skipped);
  const inventory = registries ? await withRegistries(found, move, registries, skipped) : found;
  printSkipped(terminal, skipped);
  return { move, inventory, report: migrationReport(move, inventory), allowsPending };
}

/** The inventory with what the registries say of images. `skipped` gets what they do not say. */
async function withRegistries(
  { workloads, used }: Inventory,
  move: Move,
  registries: Registries,
  skipped: string[],
): Promise<Inventory> {
  const answers = await registries.ask(workloads.flatMap(({ placement }) => imagesToAsk(placement, move)));
  skipped.push(...unknownImages(answers));
  const placed = workloads.map((each) => ({ ...each, placement: withAnswers(each.placement, move, answers) }));
  return { workloads: placed, used };
}

/** Shows what the drain disrupts, asks, and drains all nodes of the old pool. */
export async function drainNodes(
  cluster: Cluster,
  terminal: Terminal,
  plan: DrainPlan,
  { yes, dryRun = 'none' }: ChangeFlags,
  intervalMs = INTERVAL_MS,
): Promise<void> {
  const { columns, paint, isScreen } = terminal;
  const { from } = plan.move;
  terminal.print(findingLines(plan.report, columns, paint).join('\n'));
  const finish = (nodes: number) => terminal.print(['', ...finishedLines(plan, nodes, columns)].join('\n'));
  const refusal = drainRefusal(plan, cluster.client.now());
  if (refusal !== undefined) throw new Failure(refusal);
  if (isDrained(plan)) return finish(from.nodes.length);
  const missing = await missingPermissions(cluster, drainPermissions(plan));
  if (missing.length > 0)
    throw new Failure(
      `Permission denied: you may not ${joined(missing)}, which --drain requires. Ask a cluster administrator for ${missing.length === 1 ? 'this permission' : 'these permissions'}.`,
    );
  terminal.print(['', ...drainLines(plan, columns)].join('\n'));
  if (dryRun !== 'none') {
    if (dryRun === 'server') for (const node of from.nodes) await cluster.patch(...cordonOf(node), true);
    return terminal.print(DRY_RUN_ENDS[dryRun]);
  }
  await confirm(terminal, `\nDrain pool ${from.name}?`, yes, cluster.signal);
  const run = new PoolDrain(cluster, plan, intervalMs);
  let shown: readonly string[] = [];
  try {
    await run.run((progress) => {
      if (isScreen) return terminal.redraw(progressScreen(progress, columns, paint).join('\n'));
      const lines = progressLines(progress);
      for (const line of lines) if (!shown.includes(line)) terminal.print(line);
      shown = lines;
    });
  } catch (error) {
    const { nodes } = run.progress();
    const lines = stoppedLines(plan, nodes.filter(isDone).length, nodes.length);
    if (!(error instanceof Failure)) {
      terminal.printError(['', ...lines].join('\n'));
      throw error;
    }
    throw new Failure([error.message, ...lines].join('\n'));
  }
  finish(run.progress().nodes.length);
}

/** Reads both pools with their nodes, and the RuntimeClasses. */
async function readMove(cluster: Cluster, from: string, to: string): Promise<Move> {
  const [old, target] = [await cluster.pool(from), await cluster.pool(to)];
  const [oldNodes, nodes, runtimeClasses] = await Promise.all([
    cluster.nodes(from),
    cluster.nodes(to),
    runtimeClassesOf(cluster),
  ]);
  return moveOf([old, oldNodes], [target, nodes], runtimeClasses);
}

/** `kubectl windowspool migrate`. */
export const migrateCommand: PluginCommand<MigrateFlags> = {
  usage: 'migrate <from> <to>',
  group: 'Workload Commands',
  summary: 'Show which workloads still use a pool, and what each must change to run in another.',
  details: 'With --drain, it cordons the nodes of the old pool and evicts their pods.',
  examples: [
    ['Show what keeps workloads in the pool old', 'kubectl windowspool migrate old new'],
    ['Show what the drain would disrupt', 'kubectl windowspool migrate old new --drain --dry-run=client'],
    ['Move the pods', 'kubectl windowspool migrate old new --drain'],
  ],
  options: [
    new Option('--drain', 'Cordon the nodes of the old pool, and evict their pods. Asks for confirmation.'),
    new Option(
      '--allow-pending',
      'With --drain: drain even if workloads cannot run in the new pool, so that their pods stay Pending.',
    ),
    ...imageOptions(),
    yesOption(),
    dryRunOption(),
    outputOption(),
  ],
  check: checkMigrateArguments,
  run: async ({ connect, terminal, signal }, [from = '', to = ''], flags) =>
    migrate(await connect(), terminal, [from, to], flags, registriesFor(flags, signal)),
};
