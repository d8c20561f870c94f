/** The process of the kubectl plugin: kubectl finds it on PATH as kubectl-windowspool. */
import manifest from '../../package.json' with { type: 'json' };
import { runPlugin } from './program.ts';
import { processTerminal } from './terminal.ts';

const ending = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const)
  process.once(name, () => ending.abort(new DOMException(`stopped by ${name}`, 'AbortError')));
// The reader of a pipe, such as head, may stop early.
process.stdout.on('error', () => process.exit());
process.exitCode = await runPlugin(process.argv.slice(2), {
  terminal: processTerminal(),
  version: manifest.version,
  signal: ending.signal,
});
// A connection that is still open must not keep the process alive.
process.exit();
