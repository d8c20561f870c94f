/** A run: its steps one after another, each within its time-out; then everything is removed, and the report is written. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '@aws-sdk/client-eks';
import type { OperatorProcess } from '../../test/fakes/testenv/operatorProcess.ts';
import { Aws } from './aws.ts';
import { Cleanup, type Left } from './cleanup.ts';
import { Kubectl } from './kubectl.ts';
import { NodeWatch } from './nodeWatch.ts';
import { Answers } from './questions.ts';
import type { Settings } from './settings.ts';

/** Shared by the steps. Later steps can rely on the results of earlier ones. */
export interface Run {
  readonly settings: Settings;
  readonly steps: readonly Step[];
  /** The ID of this run: the value of the tag on everything that it creates, and a part of its names. */
  readonly id: string;
  /** The name of the pool, of its node group, and of its RuntimeClass. */
  readonly pool: string;
  /** A folder that only the caller can read, for kubeconfigs. It is removed at the end, also of a run whose cleanup is skipped. */
  readonly folder: string;
  readonly aws: Aws;
  /** The same with the operator's credentials. */
  readonly operatorAws: Aws;
  readonly kubectl: Kubectl;
  readonly answers: Answers;
  readonly cleanup: Cleanup;
  readonly watch: NodeWatch;
  /** Names that the report must not contain, with their replacements. */
  readonly names: Map<string, string>;
  readonly say: (line: string) => void;
  /** Found by the first step. */
  facts: Facts | undefined;
  operator: OperatorProcess | undefined;
}

/** The results of the first step. */
export interface Facts {
  readonly cluster: Cluster;
  /** `1.36`. */
  readonly kubernetesVersion: string;
  /** Empty in a read-only run without a role. */
  readonly roleArn: string;
  /** Releases of the AMI that can be launched, oldest first. */
  readonly releases: readonly string[];
  /** The one that SSM names as the newest. */
  readonly newest: string | undefined;
}

/** One step of a run. */
export interface Step {
  /** A sentence without a full stop, in the imperative. */
  readonly name: string;
  /** For a real account; E2E_TIMEOUT_FACTOR multiplies it. */
  readonly timeoutMs: number;
  /** The time-out of the cleanup of what the step creates, for a real account. Default: it creates nothing. */
  readonly cleanupMs?: number;
  /** Whether a read-only run also takes it. */
  readonly readOnly?: true;
  /** Throws if the step fails. Resolves with the reason if it was skipped. */
  readonly run: (run: Run, signal: AbortSignal) => Promise<unknown>;
}

/** How a step ended. */
export interface StepResult {
  readonly name: string;
  readonly state: 'passed' | 'skipped' | 'failed' | 'stopped';
  readonly seconds: number;
  readonly message?: string;
}

/** How a run ended. */
export interface Outcome {
  readonly state: 'passed' | 'failed' | 'stopped';
  readonly steps: readonly StepResult[];
  readonly left: readonly Left[];
  /** Objects that are kept on purpose. */
  readonly kept: readonly Left[];
}

/** A new run, which has not called anything yet. */
export async function newRun(settings: Settings, steps: readonly Step[], say: (line: string) => void): Promise<Run> {
  const id = randomBytes(3).toString('hex');
  const kubectl = new Kubectl(settings.kubectl);
  const aws = new Aws(settings.region);
  return {
    settings,
    steps,
    id,
    pool: `e2e-${id}`,
    folder: await mkdtemp(join(tmpdir(), 'winpool-e2e-')),
    aws,
    operatorAws:
      settings.operatorProfile === undefined ? aws : new Aws(settings.region, settings.operatorProfile, aws.calls),
    kubectl,
    answers: new Answers(),
    cleanup: new Cleanup(),
    watch: new NodeWatch(kubectl),
    names: new Map(),
    say,
    facts: undefined,
    operator: undefined,
  };
}

/**
 * Takes the steps until one fails or `stop` is raised, then removes everything that they created; `giveUp` aborts that. In any case no
 * process and no credentials remain on this machine. Never rejects.
 */
export async function takeSteps(run: Run, stop: AbortSignal, giveUp: AbortSignal): Promise<Outcome> {
  // A running operator would recreate objects that the caller deletes manually.
  giveUp.addEventListener('abort', () => void killOperator(run), { once: true });
  const results: StepResult[] = [];
  for (const step of run.steps) {
    const result = await takeStep(run, step, stop);
    results.push(result);
    run.say(
      `${result.state.padEnd(8)} ${step.name} (${result.seconds} s)${result.message ? `: ${result.message}` : ''}`,
    );
    if (result.state === 'failed' || result.state === 'stopped') break;
  }
  const left = await run.cleanup.run(run.say, giveUp);
  await close(run);
  const last = results.at(-1)?.state;
  const state = last === 'stopped' ? 'stopped' : last === 'failed' || left.length > 0 ? 'failed' : 'passed';
  return { state, steps: results, left, kept: run.cleanup.kept };
}

async function close(run: Run): Promise<void> {
  run.watch.stop();
  await stopOperator(run);
  run.aws.close();
  run.operatorAws.close();
  await rm(run.folder, { recursive: true, force: true });
}

/** Stops the operator of the run if there is one; kills it if it does not stop. Succeeds if it has already stopped. */
export async function stopOperator(run: Run): Promise<void> {
  await run.operator?.stop().catch(() => killOperator(run));
}

const killOperator = ({ operator }: Run): Promise<void> | undefined => operator?.kill().catch(() => undefined);

/** The minimum time-out of a step, however fast AWS is, because kubectl and the operator run on this machine. */
const SHORTEST_MS = 30_000;

/** The time-out of a step or of a cleanup in this run, in milliseconds, from that for a real account. */
export const timeoutOf = ({ settings }: Pick<Run, 'settings'>, ms: number): number =>
  Math.max(SHORTEST_MS, ms * settings.timeoutFactor);

/** How long a run can take, in milliseconds: all time-outs of its steps and of their cleanup. */
export const longestMs = (run: Pick<Run, 'settings' | 'steps'>): number =>
  run.steps.reduce(
    (sum, { timeoutMs, cleanupMs }) =>
      sum + timeoutOf(run, timeoutMs) + (cleanupMs === undefined ? 0 : timeoutOf(run, cleanupMs)),
    0,
  );

async function takeStep(run: Run, step: Step, stop: AbortSignal): Promise<StepResult> {
  const start = performance.now();
  const timeoutMs = timeoutOf(run, step.timeoutMs);
  const late = AbortSignal.timeout(timeoutMs);
  const ended = (state: StepResult['state'], message?: string): StepResult => ({
    name: step.name,
    state,
    seconds: Math.round((performance.now() - start) / 100) / 10,
    ...(message && { message }),
  });
  if (stop.aborted) return ended('stopped', wordsOf(stop.reason));
  run.say(`\n${step.name} (at most ${Math.ceil(timeoutMs / 60_000)} min)`);
  try {
    const skipped = await step.run(run, AbortSignal.any([stop, late]));
    return typeof skipped === 'string' ? ended('skipped', skipped) : ended('passed');
  } catch (error) {
    if (stop.aborted) return ended('stopped', wordsOf(stop.reason));
    const why =
      late.aborted && isAbort(error)
        ? `not done within ${Math.ceil(timeoutMs / 1_000)} s. ${waits.get(run) ?? ''}`
        : wordsOf(error);
    return ended('failed', why.trim());
  }
}

const isAbort = (error: unknown): boolean =>
  error instanceof Error && ['AbortError', 'TimeoutError', 'ABORT_ERR'].includes(error.name);

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What each run waits for, for the message at the time-out. */
const waits = new WeakMap<Run, string>();

/** Polls until the result is defined, and returns it. `explain` describes what is missing in the error of a time-out. */
export async function until<T>(
  run: Run,
  signal: AbortSignal,
  probe: () => Promise<T | undefined | false>,
  explain: () => string,
): Promise<T> {
  const interval = Math.min(5_000, Math.max(250, 5_000 * run.settings.timeoutFactor));
  for (;;) {
    signal.throwIfAborted();
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    waits.set(run, explain());
    await sleep(interval, undefined, { signal });
  }
}

/** The results of the first step; throws if a step runs without them, which is a bug. */
export function factsOf({ facts }: Run): Facts {
  if (facts === undefined) throw new Error('the step that reads the cluster has not run');
  return facts;
}
