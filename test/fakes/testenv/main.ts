/** The commands behind `make demo`, `make up` and `make down`. */
import { fileURLToPath } from 'node:url';
import { demo } from './demo.ts';
import { down, serveWorld, up } from './up.ts';

const main = fileURLToPath(import.meta.url);
const say = (line: string) => console.log(line);
const ending = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => ending.abort(new Error(`Stopped by ${name}.`)));
}

// In namespaces of its own, this process ends with the one that started it.
process.once('disconnect', () => ending.abort(new Error('Stopped.')));
process.channel?.unref();

const commands: Readonly<Record<string, () => Promise<void>>> = {
  demo: () => demo(main, say, ending.signal),
  up: () => up(main, say),
  down: () => down(say),
  serve: () => serveWorld(main, say, ending.signal),
};

try {
  const command = commands[process.argv[2] ?? ''];
  if (!command) throw new Error(`Say one of: ${Object.keys(commands).join(', ')}.`);
  await command();
} catch (error) {
  // Errors after an abort are not reported.
  const cause = ending.signal.aborted ? ending.signal.reason : error;
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
}
