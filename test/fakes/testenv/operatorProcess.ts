/** The operator as a separate process, as in a cluster: it is configured only by its flags and its environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { PodCredentials } from '../../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { shipped } from '../../../hack/shipped.ts';
import { contained } from './container.ts';

export interface OperatorOptions {
  /** Its access to the API server: the path of a kubeconfig, or the credentials of a pod. */
  readonly credentials: string | PodCredentials;
  /** Undefined, with the Region: the operator does not use AWS. */
  readonly clusterName?: string | undefined;
  readonly region?: string | undefined;
  /** The URL of the local AWS; undefined: `environment` configures the access to AWS, and the operator has its default intervals. */
  readonly awsUrl?: string;
  /** More environment variables, or other values of those of the image. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Whether it has a process group of its own, so that Ctrl-C in a terminal does not reach it. Default: no. */
  readonly ownGroup?: boolean;
  /** More flags; a later one wins. */
  readonly flags?: readonly string[];
  /** The file that Node runs: see `operatorEntry`. */
  readonly entry: string;
  /** More flags for Node, before the file. */
  readonly nodeFlags?: readonly string[];
  /** For an operator of another version: the flags that it supports, such as `--resync-interval`. Others are not passed. Default: all. */
  readonly knownFlags?: ReadonlySet<string>;
  /** Called with every line of the operator's log. */
  readonly log?: (line: string) => void;
  /** Runs as in the container, as this user (`uid:gid`): see `contained`. Default: as the user of the test, with a writable file system. */
  readonly containerUser?: string | undefined;
}

/** A line of the operator's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Fast enough for an interactive user, and otherwise the defaults. */
const QUICK = ['--poll-interval=300ms', '--retry-base=100ms'];

/** An operator that is stopped by SIGSTOP does not answer. */
const MEASURE_TIMEOUT_MS = 2_000;

/** Several can run side by side. */
const FREE_PORTS = ['--metrics-address=127.0.0.1:0', '--metrics-secure=false', '--health-address=127.0.0.1:0'];

/** The variables with which the SDK finds the local AWS, and the credentials of the operator there. */
export const localAws = (url: string): NodeJS.ProcessEnv => ({
  AWS_ENDPOINT_URL_EKS: url,
  AWS_ENDPOINT_URL_EC2: url,
  AWS_ENDPOINT_URL_SSM: url,
  AWS_ENDPOINT_URL_IAM: url,
  AWS_ENDPOINT_URL_AUTO_SCALING: url,
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
});

/** How long the event loop of an operator was late, in milliseconds, from its start or its last scrape until it was stopped. */
export interface EventLoopDelay {
  readonly p99: number;
  readonly max: number;
}

/** A running operator, with the environment and Node's flags of the image. */
export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly lines: LogLine[] = [];
  /** What it wrote that is no log line, such as a stack trace. */
  readonly otherLines: string[] = [];
  /** Of a process that `stop` ended and that still answered. */
  eventLoopDelay: EventLoopDelay | undefined;

  constructor(options: OperatorOptions) {
    const {
      credentials,
      clusterName,
      region,
      awsUrl,
      environment,
      flags = [],
      entry,
      nodeFlags = [],
      knownFlags,
      log,
    } = options;
    const image = shipped();
    const args = [
      typeof credentials === 'string' ? `--kubeconfig=${credentials}` : `--service-account-dir=${credentials.dir}`,
      ...(clusterName === undefined ? [] : [`--cluster-name=${clusterName}`, `--region=${region}`]),
      ...(awsUrl === undefined ? [] : QUICK),
      ...FREE_PORTS,
      ...flags,
    ].filter((arg) => knownFlags?.has(arg.replace(/=.*/, '')) ?? true);
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...image.env,
      ...environment,
      ...(typeof credentials !== 'string' && credentials.env),
      ...(awsUrl !== undefined && localAws(awsUrl)),
    };
    const command = [process.execPath, ...image.nodeFlags, ...nodeFlags, entry, ...args];
    const [program = '', ...words] = options.containerUser ? contained(command, options.containerUser) : command;
    this.#child = spawn(program, words, {
      env,
      detached: options.ownGroup ?? false,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.#take(line, log));
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Waits until it serves and its caches are synced. Rejects with its last log lines if it exits or takes too long. */
  async ready(): Promise<this> {
    await waitFor(async () => this.#isReady(), {
      what: 'the operator to be ready',
      timeoutMs: 60_000,
      explain: () => this.tail(),
    });
    return this;
  }

  /** The response of one of its paths: /metrics, /healthz, /readyz. */
  async get(path: string, timeoutMs = 20_000): Promise<{ status: number; body: string }> {
    const which = path === '/metrics' ? 'metricsPort' : 'healthPort';
    const port = this.lines.find((line) => line[which] !== undefined)?.[which];
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(timeoutMs) });
    return { status: response.status, body: await response.text() };
  }

  /** Sends SIGTERM, like Kubernetes, and resolves with its exit code. */
  async stop(): Promise<number | null> {
    if (this.running) this.eventLoopDelay = await this.#measureEventLoop().catch(() => undefined);
    return this.#end('SIGTERM');
  }

  /** Kills it. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Its last lines, to explain a failure. */
  tail(count = 25): string {
    const lines = this.lines
      .filter(({ msg }) => msg !== 'reconciled')
      .slice(-count)
      .map((line) => JSON.stringify(line));
    return [...lines, ...this.otherLines.slice(-count)].join('\n');
  }

  /** Undefined if it does not serve metrics, for example because it ends. */
  async #measureEventLoop(): Promise<EventLoopDelay | undefined> {
    const { body } = await this.get('/metrics', MEASURE_TIMEOUT_MS);
    const [p99, max] = ['p99', 'max'].map((name) =>
      Math.round(Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(body)?.[1]) * 1_000),
    );
    return p99 === undefined || max === undefined || Number.isNaN(p99 + max) ? undefined : { p99, max };
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.running) return this.#child.exitCode;
    const exited = once(this.#child, 'exit', { signal: AbortSignal.timeout(40_000) });
    this.#child.kill(signal);
    await exited;
    return this.#child.exitCode;
  }

  async #isReady(): Promise<boolean> {
    if (!this.running)
      throw new Error(`The operator ended with ${this.#child.exitCode ?? this.#child.signalCode}.\n${this.tail()}`);
    if (!this.lines.some((line) => line.healthPort !== undefined)) return false;
    return this.get('/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  }

  #take(line: string, log: ((line: string) => void) | undefined): void {
    log?.(line);
    try {
      this.lines.push(JSON.parse(line));
    } catch {
      this.otherLines.push(line);
    }
  }
}
