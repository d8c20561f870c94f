/**
 * `make bench`: measures, prints tables and writes build/bench.json. Ratios come from interleaved runs in one call, so that a machine
 * whose speed drifts slows all sides alike.
 */
import { Argument, Command } from 'commander';
import { withDeadline } from '../controlplane/wait.ts';
import { isolationObstacle } from '../realnode/isolation.ts';
import { isAsFast, keep, loadNow, print, recordedSections, referenceMs, regressions } from './report.ts';
import { Bench } from './section.ts';
import { sections } from './sections.ts';

/** Every wait of a section has a deadline with a message; this one is for what nobody thought of. */
const SECTION_MS = 10 * 60_000;

const ending = new AbortController();
const program = new Command('node hack/bench/main.ts')
  .description(
    'Measures and writes build/bench.json. A section that is not measured now stays in the file with its date.',
  )
  .addArgument(
    new Argument(
      '[section...]',
      `default: all\n${sections.map(({ name, what }) => `${name}: ${what}`).join('\n')}`,
    ).choices(sections.map(({ name }) => name)),
  )
  .option('--large', 'also the sizes that take minutes: 50,000 nodes', false)
  .action(main);

async function main(names: readonly string[], { large }: { large: boolean }): Promise<void> {
  const recorded = await recordedSections();
  const worse: string[] = [];
  const bench = new Bench((line) => console.log(line), ending.signal, large ? 'large' : 'full');
  try {
    for (const section of sections) {
      if (names.length > 0 && !names.includes(section.name)) continue;
      const obstacle = section.needsRealNode && (await isolationObstacle());
      if (obstacle) {
        console.log(`\n${section.name} is not measured, because ${obstacle}.`);
        continue;
      }
      await section.prepare?.(bench);
      const [loadBefore, reference] = [loadNow(), referenceMs()];
      const result = await withDeadline(
        section.run(bench),
        `the section ${section.name}`,
        section.limitMs ?? SECTION_MS,
      );
      print(section.name, result);
      const before = recorded[section.name];
      worse.push(...regressions(result, before, reference));
      if (before && !isAsFast(before, reference))
        console.log(
          `  Times are not compared with the record: the loop took ${before.referenceMs} ms then, ${reference} ms now.`,
        );
      await keep(section.name, result, { loadBefore, referenceMs: reference });
    }
  } finally {
    await bench.stop();
  }
  if (worse.length === 0) return;
  console.error(`\nWorse than in hack/bench/record.json by more than both spreads:\n  ${worse.join('\n  ')}`);
  process.exitCode = 1;
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => ending.abort(new Error(`Stopped by ${name}.`)));
}
try {
  await program.parseAsync();
} catch (error) {
  // Errors after an abort are not reported.
  const cause = ending.signal.aborted ? ending.signal.reason : error;
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
}
