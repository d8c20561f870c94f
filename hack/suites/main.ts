/**
 * Runs cluster suites in parallel processes, each with a test environment of its own, because suites mostly wait. Without arguments those of `make test`, with
 * `--all` those of `make test-all` and then the last suite, which checks all the others, and with files only these.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { downloadImageFiles } from '../../test/fakes/testenv/operatorPods.ts';
import { ensurePackages } from '../realnode/distribution.ts';
import { isolationObstacle, spawnIsolated } from '../realnode/isolation.ts';
import { needsRealNodes, suitesOf } from './promises.ts';
import { END, type Report, type Task } from './protocol.ts';
import { checkDuration, eventLoopTable, failedTests, longestFirst, processCount, slowestTests } from './queue.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));
const DURATIONS = fileURLToPath(new URL('durations.json', import.meta.url));
/** The operator's permissions that each process needed; the last suite reads it. */
const USAGE = join(ROOT, 'build/usage');
const LAST = 'test/packaging/rights.last.ts';

/** The program with which suites push images: nothing can be installed in the namespaces. */
const PUBLISHING = { skopeo: 'skopeo' };

const reports: (Report & { readonly ms: number })[] = [];

/**
 * Runs files of the queue in one process until it is empty. If a process exits unexpectedly, its file fails and another process continues;
 * if it exits without a file, for example because it cannot load the environment, it is not restarted.
 */
async function work(queue: string[], usage: string, start = forkWorker): Promise<void> {
  while (queue.length > 0) {
    const child = await start({ ...process.env, USAGE_FILE: usage, USAGE_FOLDER: USAGE });
    const current = serve(child, queue);
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
      child.once('close', (...how) => resolve(how));
      child.once('error', ({ message }) => resolve([null, message]));
    });
    const { file, output, started } = current();
    if (code === 0 && file === undefined) return;
    const failed = file ?? 'a process without a suite';
    const failure = `its process ended with ${signal ?? code}`;
    process.stdout.write(`${output}\n  1 failing\n\n  1) ${failed}: ${failure}\n`);
    reports.push({
      file: failed,
      failures: [failure],
      tests: [],
      eventLoopDelays: [],
      ms: performance.now() - started,
    });
    if (file === undefined) return;
  }
}

function forkWorker(env: NodeJS.ProcessEnv): ChildProcess | Promise<ChildProcess> {
  return fork(WORKER, { cwd: ROOT, silent: true, env });
}

/** The suites with real nodes run one after the other in a process in namespaces of its own. Where the machine does not allow that, they are not run. */
async function workWithRealNodes(queue: string[], usage: string): Promise<void> {
  if (queue.length === 0) return;
  const obstacle = await isolationObstacle();
  if (obstacle) {
    console.log(`Not run, because ${obstacle}: ${queue.splice(0).join(', ')}`);
    return;
  }
  await ensurePackages(PUBLISHING, console.log);
  await downloadImageFiles();
  const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const;
  await work(queue, usage, (env) => spawnIsolated([WORKER], { env, stdio, log: (line) => console.log(line) }));
}

interface Current {
  readonly file: string | undefined;
  readonly output: string;
  readonly started: number;
}

/** Sends files to a process until there are none, and prints its output for each when it is done. Returns a function with the current state. */
function serve(child: ChildProcess, queue: string[]): () => Current {
  let file: string | undefined;
  let output = '';
  let started = performance.now();
  const next = () => {
    file = queue.shift();
    started = performance.now();
    child.send((file === undefined ? {} : { file }) satisfies Task);
  };
  const take = (text: string) => {
    output += text;
    const at = output.indexOf(`${END}\n`);
    if (at < 0) return;
    process.stdout.write(`\n${output.slice(0, at)}`);
    output = output.slice(at + END.length + 1);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', take);
  child.on('message', (message: Report | 'ready') => {
    if (message !== 'ready') reports.push({ ...message, ms: performance.now() - started });
    next();
  });
  return () => ({ file, output, started });
}

async function main(args: readonly string[]): Promise<boolean> {
  const started = performance.now();
  const durations = JSON.parse(await readFile(DURATIONS, 'utf8'));
  const all = args.includes('--all');
  const chosen = args.filter((arg) => arg !== '--all');
  const found = chosen.length > 0 ? chosen : suitesOf(all ? 'test-all' : 'test');
  const queue = longestFirst(found, durations);
  const withRealNodes = queue.filter(needsRealNodes);
  const others = queue.filter((file) => !needsRealNodes(file));
  await rm(USAGE, { recursive: true, force: true });
  await mkdir(USAGE, { recursive: true });
  const processes = Math.min(processCount(process.env.SUITE_PROCESSES), others.length);
  await Promise.all([
    workWithRealNodes(withRealNodes, join(USAGE, 'pods.json')),
    ...Array.from({ length: processes }, (_, index) => work(others, join(USAGE, `${index}.json`))),
  ]);
  if (all) await work([LAST], '');
  const tests = reports.flatMap(({ file, tests: ran }) => ran.map((test) => ({ file, ...test })));
  console.log(`\n${slowestTests(tests)}`);
  console.log(eventLoopTable(reports));
  const result = checkDuration(performance.now() - started, all ? 'test-all' : 'test');
  console.log(result.text);
  if (process.env.UPDATE_DURATIONS) await update(durations);
  const left = [...withRealNodes, ...others];
  if (left.length > 0) console.log(`Not run: ${left.join(', ')}`);
  const failed = failedTests(reports);
  if (failed) console.log(failed);
  return failed === '' && tests.length > 0 && result.ok;
}

/** Records the durations of the suites that ran, in seconds. */
async function update(durations: Readonly<Record<string, number>>): Promise<void> {
  const ran = reports.filter(({ file }) => file !== LAST).map(({ file, ms }) => [file, Math.round(ms / 1000)]);
  const all = Object.entries({ ...durations, ...Object.fromEntries(ran) }).sort(([a], [b]) => a.localeCompare(b));
  await writeFile(DURATIONS, `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`);
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
