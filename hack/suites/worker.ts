/**
 * One of the processes that run the cluster suites: it starts a test environment and runs the files that the parent sends, one after the other. Its last line for
 * a file is END, because its output and its messages use different channels.
 */
import { once } from 'node:events';
import Mocha from 'mocha';
import { messageOf } from '../../controllers/runtime/failure.ts';
import { endWorld, mochaHooks, startedWorld } from '../../test/sharedWorld.ts';
import type { Report, Task } from './protocol.ts';
import { END } from './protocol.ts';
import { usageOf, writeUsage } from './usage.ts';

const { USAGE_FILE } = process.env;

async function run(file: string): Promise<Report> {
  const mocha = new Mocha({
    timeout: 120_000,
    slow: 20_000,
    forbidOnly: true,
    forbidPending: true,
    rootHooks: { afterEach: mochaHooks.afterEach },
  });
  mocha.addFile(file);
  await mocha.loadFilesAsync();
  const tests: Report['tests'][number][] = [];
  const failures: string[] = [];
  const before = (await startedWorld())?.operators.length ?? 0;
  await new Promise<number>((resolve) => {
    const runner = mocha.run(resolve);
    runner.on('fail', (test, error: unknown) => failures.push(`${test.fullTitle()}: ${messageOf(error)}`));
    runner.on('test end', (test) => tests.push({ title: test.fullTitle(), ms: test.duration ?? 0 }));
  });
  const operators = (await startedWorld())?.operators.slice(before) ?? [];
  return { file, failures, tests, eventLoopDelays: operators.flatMap(({ eventLoopDelay }) => eventLoopDelay ?? []) };
}

function send(message: Report | 'ready'): void {
  process.send?.(message);
}

/** Without its parent, its results reach nobody. */
const onOrphaned = () => process.exit(1);
process.once('disconnect', onOrphaned);

send('ready');
for (;;) {
  const [task]: Task[] = await once(process, 'message');
  if (task?.file === undefined) break;
  const report = await run(task.file).catch((error: Error): Report => {
    console.log(`\n  0 passing\n  1 failing\n\n  1) ${task.file} could not be loaded:\n${error.stack}\n`);
    return {
      file: task.file ?? '',
      failures: [`could not be loaded: ${messageOf(error)}`],
      tests: [],
      eventLoopDelays: [],
    };
  });
  console.log(END);
  send(report);
}
const world = await startedWorld();
if (world && USAGE_FILE) await writeUsage(USAGE_FILE, await usageOf(world));
await endWorld();
process.off('disconnect', onOrphaned);
process.disconnect?.();
