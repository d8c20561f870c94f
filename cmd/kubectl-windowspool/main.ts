/** The process of the kubectl plugin: kubectl finds it on PATH as kubectl-windowspool. */
import manifest from '../../package.json' with { type: 'json' };
import { EXIT } from './failure.ts';
import { runPlugin } from './program.ts';
import { processTerminal } from './terminal.ts';

const ending = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const)
  process.once(name, () => ending.abort(new DOMException(`stopped by ${name}`, 'AbortError')));
process.stdout.on('error', stop);
process.stderr.on('error', stop);
process.exitCode = await runPlugin(process.argv.slice(2), {
  terminal: processTerminal(),
  version: manifest.version,
  signal: ending.signal,
});
// The reader of a pipe, such as less, may never read the rest.
ending.signal.onabort = () => process.exit(EXIT.interrupted);
await Promise.all([process.stdout, process.stderr].map(flushed));
// A connection that is still open must not keep the process alive.
process.exit();

/** Ends the process when its output cannot be written. The reader of a pipe, such as head, may stop early, which is not an error. */
function stop(error: NodeJS.ErrnoException): never {
  process.exit(error.code === 'EPIPE' ? undefined : EXIT.failed);
}

/** Resolves when everything is written: process.exit() discards what a pipe has not accepted yet. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}
