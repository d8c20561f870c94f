/** The bundled operator as a process, as shipped: with its ServiceAccount and the default flags. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { CLUSTER_NAME, REGION } from '../../test/fakes/testenv/testEnv.ts';
import { freePort } from '../controlplane/ports.ts';
import { waitFor, withDeadline } from '../controlplane/wait.ts';
import { shipped } from '../shipped.ts';
import type { BenchCluster } from './benchCluster.ts';
import { Metrics } from './metricsText.ts';
import { cpuSecondsOf, type Memory, memoryOf } from './processFigures.ts';
import { profileFlags } from './profiling.ts';

const STOP_MS = 40_000;

export interface OperatorOptions {
  readonly flags?: readonly string[];
  /** Default: none; it finds its ServiceAccount as a pod does. */
  readonly kubeconfig?: string;
}

export class BenchOperator {
  /** When the process was started, in milliseconds of performance.now(). */
  readonly started: number;
  readonly pid: number;
  /** Its log, which it writes to standard output, and its standard error. */
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #metrics: string;
  readonly #health: string;

  private constructor(child: ChildProcess, started: number, metrics: string, health: string) {
    this.#child = child;
    this.started = started;
    this.pid = child.pid ?? 0;
    this.#metrics = metrics;
    this.#health = health;
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => this.lines.push(String(text)));
  }

  /** Starts it and waits until its caches are synced. */
  static async start({ world }: BenchCluster, options: OperatorOptions = {}): Promise<BenchOperator> {
    const [metrics, health] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const image = shipped();
    const pod = await world.podCredentials();
    const args = [
      ...image.nodeFlags,
      ...profileFlags(),
      world.entry,
      options.kubeconfig ? `--kubeconfig=${options.kubeconfig}` : `--service-account-dir=${pod.dir}`,
      `--cluster-name=${CLUSTER_NAME}`,
      `--region=${REGION}`,
      `--metrics-address=${metrics}`,
      '--metrics-secure=false',
      `--health-address=${health}`,
      ...(options.flags ?? []),
    ];
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...image.env,
      ...pod.env,
      AWS_ENDPOINT_URL_EKS: world.cloud.url,
      AWS_ENDPOINT_URL_EC2: world.cloud.url,
      AWS_ENDPOINT_URL_SSM: world.cloud.url,
      AWS_ENDPOINT_URL_AUTO_SCALING: world.cloud.url,
      AWS_ENDPOINT_URL_IAM: world.cloud.url,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    };
    const started = performance.now();
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const operator = new BenchOperator(child, started, metrics, health);
    try {
      await waitFor(() => operator.#isReady(), {
        what: 'the operator to be ready',
        timeoutMs: 120_000,
        intervalMs: 10,
        explain: () => operator.tail(),
      });
      return operator;
    } catch (error) {
      await operator[Symbol.asyncDispose]();
      throw error;
    }
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get cpuSeconds(): number {
    return cpuSecondsOf(this.pid);
  }

  get memory(): Memory {
    return memoryOf(this.pid);
  }

  async metrics(): Promise<Metrics> {
    const response = await fetch(`http://${this.#metrics}/metrics`, { signal: AbortSignal.timeout(5_000) });
    return new Metrics(await response.text());
  }

  /** The end of its output. */
  tail(): string {
    return this.lines.join('').split('\n').slice(-15).join('\n');
  }

  /** Sends SIGTERM and waits until it has exited. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.running) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await withDeadline(exited, 'the operator to exit', STOP_MS).catch((error: unknown) => {
      this.#child.kill('SIGKILL');
      throw error;
    });
  }

  async #isReady(): Promise<boolean> {
    if (!this.running) throw new Error(`The operator ended with ${this.#child.exitCode}.\n${this.tail()}`);
    return fetch(`http://${this.#health}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
      ({ status }) => status === 200,
      () => false,
    );
  }
}
