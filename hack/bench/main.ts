/**
 * `make bench`: measures, prints tables and writes build/bench.json. Ratios come from interleaved runs in one call, so that a machine
 * whose speed drifts slows all sides alike.
 */
import { parseArgs } from 'node:util';
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

/** In the order in which they run: those on the same nodes follow each other. */
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

const help = `Usage: node hack/bench/main.ts [--large] [section...]

Measures the sections, by default all, and writes build/bench.json. A section that is not measured now stays in the file with its date.

${sections.map(({ name, what }) => `  ${name.padEnd(12)}${what}`).join('\n')}

  --large     also the sizes that take minutes: 50,000 nodes
  --help      this text
`;

async function main(signal: AbortSignal): Promise<void> {
  const options = { large: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) {
    console.log(help);
    return;
  }
  const unknown = positionals.filter((wanted) => !sections.some(({ name }) => name === wanted));
  if (unknown.length > 0)
    throw new Error(
      `There is no section ${unknown.join(', ')}. There are: ${sections.map(({ name }) => name).join(', ')}.`,
    );
  const bench = new Bench((line) => console.log(line), signal, values.large);
  try {
    for (const section of sections) {
      if (positionals.length > 0 && !positionals.includes(section.name)) continue;
      const result = await section.run(bench);
      print(section.name, result);
      await keep(section.name, result);
    }
  } finally {
    await bench.stop();
  }
}

const ending = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => ending.abort(new Error(`Stopped by ${name}.`)));
}
try {
  await main(ending.signal);
} catch (error) {
  // What fails because of a stop is no news.
  const cause = ending.signal.aborted ? ending.signal.reason : error;
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
}
