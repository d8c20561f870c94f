/** The operator's process: reads its flags, runs, and is the only place that exits. */
import { homedir } from 'node:os';
import { pino, stdTimeFunctions } from 'pino';
import manifest from '../../package.json' with { type: 'json' };
import { runOperator } from './compose.ts';
import { type Options, readCommand } from './options.ts';

/** Longer than every bounded shutdown; after that the process exits whatever still runs. */
const STOP_WITHIN_MS = 25_000;

withHomeFolder();
const command = readCommand(process.argv.slice(2), manifest.version);
if (command.kind === 'print') console.log(command.text);
else if (command.kind === 'refuse') {
  for (const error of command.errors) console.error(error);
  process.exitCode = 2;
} else await run(command.options);

async function run(options: Options): Promise<void> {
  const settings = {
    level: options.logLevel,
    base: { version: manifest.version },
    // Names of levels, which both people and log pipelines can read.
    formatters: { level: (level: string) => ({ level }) },
    timestamp: stdTimeFunctions.isoTime,
  };
  const log = pino(settings);
  const ending = new AbortController();
  const stop = (name: string) => {
    log.info({ signal: name }, 'stopping');
    ending.abort(new DOMException(`stopped by ${name}`, 'AbortError'));
    setTimeout(() => {
      log.fatal({ seconds: STOP_WITHIN_MS / 1_000 }, 'did not stop in time');
      process.exit(1);
    }, STOP_WITHIN_MS).unref();
  };
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, stop);
  // A bug: continuing in an unknown state would be worse than a restart.
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'unhandled rejection');
    process.exit(1);
  });
  try {
    await runOperator(options, manifest.version, log, ending.signal);
    log.info({}, 'stopped');
  } catch (error) {
    log.fatal({ err: error }, 'the operator cannot continue');
    process.exitCode = 1;
  }
  // Anything left, such as an open connection, must not keep the process alive.
  process.exit();
}

/** Sets HOME for a user ID without an entry in /etc/passwd, such as OpenShift assigns: the AWS SDK looks for its configuration there, and fails without. */
function withHomeFolder(): void {
  try {
    homedir();
  } catch {
    process.env.HOME = '/';
  }
}
