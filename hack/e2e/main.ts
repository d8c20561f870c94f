/** `make e2e`: the end-to-end test in a real account. Exits with 0 if everything passed and nothing remains, with 2 for invalid settings, otherwise with 1. */
import { createInterface } from 'node:readline/promises';
import { estimate } from './cost.ts';
import { reportOf, writeReport } from './report.ts';
import { longestMs, newRun, type Outcome, type Step, takeSteps } from './run.ts';
import { readCommand, type Settings } from './settings.ts';
import { changeLabel, create, drift, observe, pod, remove, replace, update } from './steps/life.ts';
import { changeMachine, createMachine, readScript } from './steps/machine.ts';
import { install, operator } from './steps/operator.ts';
import { preflight, readGroups } from './steps/preflight.ts';
import { refusals } from './steps/refusals.ts';

const START: readonly Step[] = [preflight, readGroups, install, operator];
const LIFE: readonly Step[] = [create, observe, pod, changeLabel, drift, refusals, update, replace];
const MACHINE: readonly Step[] = [createMachine, observe, readScript, changeMachine];

/** The steps of a run. */
const stepsOf = ({ readOnly, machine }: Settings): readonly Step[] =>
  readOnly ? START.filter((step) => step.readOnly) : [...START, ...(machine ? MACHINE : LIFE), remove];

const say = (line: string) => console.log(line);
const stop = new AbortController();
const giveUp = new AbortController();
let interrupts = 0;
// A closed terminal may send SIGHUP more than once: only a second Ctrl-C aborts the cleanup.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    if (name === 'SIGINT') interrupts += 1;
    if (interrupts > 1) giveUp.abort(new Error('Given up by a second SIGINT.'));
    else if (!stop.signal.aborted)
      say(`\nStopping because of ${name} and removing what was created. Press Ctrl-C again to skip the cleanup.`);
    stop.abort(new Error(`Stopped by ${name}.`));
  });

// The terminal is closed, or nobody reads the pipe: created objects are removed, and the report has the rest.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ message }) => stop.abort(new Error(`Stopped, because nobody reads the output: ${message}.`)));

// A bug; created objects are removed nevertheless.
process.on('uncaughtException', (error) => {
  console.error(error);
  stop.abort(error);
});

const command = readCommand(process.argv.slice(2), process.env);
if (command.kind === 'print') say(command.text);
else if (command.kind === 'refuse') {
  for (const error of command.errors) console.error(error);
  process.exitCode = 2;
} else if (await confirmed(command.settings)) {
  const outcome = await run(command.settings);
  process.exitCode = outcome.state === 'passed' ? 0 : 1;
} else process.exitCode = 2;
process.exit();

async function run(settings: Settings): Promise<Outcome> {
  const startedAt = new Date();
  const state = await newRun(settings, stepsOf(settings), say);
  const outcome = await takeSteps(state, stop.signal, giveUp.signal);
  for (const { what, why, commands } of outcome.kept) say(`\nNot removed: ${what}. ${why}\n  ${commands.join('\n  ')}`);
  for (const { what, why, commands } of outcome.left)
    console.error(`\nLEFT BEHIND: ${what}: ${why}\n  ${commands.join('\n  ')}`);
  await writeReport(settings.report, reportOf(state, outcome, startedAt));
  say(`\n${outcome.state}. The report, without account ids and secrets: ${settings.report}`);
  return outcome;
}

/** Shows the cost, and asks for confirmation on a terminal. */
async function confirmed(settings: Settings): Promise<boolean> {
  if (settings.readOnly) return true;
  say(
    `This creates a Windows node group in cluster ${settings.clusterName}, ${settings.region}, account ${settings.account}, and deletes it again.`,
  );
  const { machine, instanceType } = settings;
  const longestHours = longestMs({ settings, steps: stepsOf(settings) }) / 3_600_000;
  say(estimate(machine ? 'machine' : 'life', instanceType, longestHours));
  if (settings.confirmed) return true;
  if (!process.stdin.isTTY) {
    console.error(
      'Nobody can be asked: standard input is no terminal. Accept the costs with E2E_CONFIRM=yes or --yes.',
    );
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await terminal.question('Type yes to go on: ', { signal: stop.signal })) === 'yes';
  } catch {
    return false;
  } finally {
    terminal.close();
  }
}
