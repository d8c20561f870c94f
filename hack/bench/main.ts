/**
 * `make bench`: measures, prints tables and writes build/bench.json. Ratios come from interleaved runs in one call, so that a machine
 * whose speed drifts slows all sides alike.
 */
import { Argument, Command } from 'commander';
import { coldSync } from './coldSync.ts';
import { decision } from './decision.ts';
import { gate } from './gate.ts';
import { idle } from './idle.ts';
import { noise } from './noise.ts';
import { provision } from './provision.ts';
import { reaction } from './reaction.ts';
import { keep, print } from './report.ts';
import { scale } from './scale.ts';
import { Bench, type Section } from './section.ts';
import { settled } from './settled.ts';
import { storm } from './storm.ts';

/** In the order in which they run, so that sections with the same nodes follow each other. */
const sections: readonly Section[] = [
  decision,
  idle,
  coldSync,
  noise,
  reaction,
  gate,
  storm,
  scale,
  provision,
  settled,
];

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
  const bench = new Bench((line) => console.log(line), ending.signal, large);
  try {
    for (const section of sections) {
      if (names.length > 0 && !names.includes(section.name)) continue;
      const result = await section.run(bench);
      print(section.name, result);
      await keep(section.name, result);
    }
  } finally {
    await bench.stop();
  }
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
