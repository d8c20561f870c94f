/** Shows whether this version of the operator does what another one does: see README.md. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { type Expected, expectedFor } from './expected.ts';
import { listingOf } from './listing.ts';
import { run, withTree } from './otherTree.ts';
import { type Extent, linesOf } from './record.ts';
import { compareRecordings } from './recordings.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EXPECTED = fileURLToPath(new URL('expected.json', import.meta.url));
/** More than a slow machine needs. */
const RECORD_MS = 30 * 60_000;

const ending = new AbortController();
const program = new Command('node hack/recorder/main.ts').description('Records what the operator does in many cases.');

withExtent(program.command('record').description('Write a recording of this version, as JSON lines.'))
  .option('--out <file>', 'default: standard output')
  .action(record);

withExtent(program.command('compare', { isDefault: true }))
  .description('List the differences between another version and this one. Fails if there are any.')
  .requiredOption('--against <commit>', 'the other version')
  .option(
    '--overlay <paths...>',
    'files of this version that the other one gets, too: a generator that has changed',
    [],
  )
  .option('--texts', 'also list texts for users, and fail if they differ', false)
  .action(compare);

function withExtent(command: Command): Command {
  return command
    .option('--seed <number>', 'of the random cases', Number, 1)
    .option('--states <number>', 'how many random observed states', Number, 2_000)
    .option('--lives <number>', 'how many random lives, with one operator and again with two replicas', Number, 60);
}

async function record({ out, ...extent }: Extent & { readonly out?: string }): Promise<void> {
  await pipeline(Readable.from(linesOf(extent)), out === undefined ? process.stdout : createWriteStream(out));
}

interface Options extends Extent {
  readonly against: string;
  readonly overlay: readonly string[];
  readonly texts: boolean;
}

async function compare(options: Options): Promise<void> {
  const { against, overlay, texts } = options;
  const expected = JSON.parse(await readFile(EXPECTED, 'utf8')) as readonly Expected[];
  const [before = '', after = ''] = await withTree(ROOT, against, overlay, ending.signal, (tree) =>
    recordings([tree, ROOT], options),
  );
  const { cases, cut, differences } = compareRecordings(
    before,
    after,
    (each) => expectedFor(expected, each) !== undefined,
  );
  const { lines, fails } = listingOf(differences, expected, texts);
  for (const line of lines) console.log(line);
  if (cut > 0) console.log(`lives that were compared only up to the run with their first difference: ${cut}`);
  const result = fails ? 'they differ' : lines.length > 0 ? 'no other difference' : 'no difference';
  console.log(`${cases} cases compared with ${against}: ${result}.`);
  if (fails) process.exitCode = 1;
}

/** Records both versions at the same time. If one fails, the other is stopped. */
async function recordings(trees: readonly string[], { seed, states, lives }: Extent): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'recordings-'));
  const extent = ['--seed', seed, '--states', states, '--lives', lives].map(String);
  const recording = async (tree: string, index: number): Promise<string> => {
    const out = join(folder, String(index));
    const node = join(tree, 'node_modules/.bin/node');
    await run(tree, node, ['hack/recorder/main.ts', 'record', '--out', out, ...extent], RECORD_MS, ending.signal);
    return readFile(out, 'utf8');
  };
  try {
    const all = trees.map(recording);
    for (const each of all) each.catch((error: unknown) => ending.abort(error));
    await Promise.allSettled(all);
    return await Promise.all(all);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(name, () => ending.abort(new Error(`Stopped by ${name}.`)));
try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
