/** A real Prometheus on loopback, for tests of rules and of the metrics of the operator. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { runCommand } from '../../hack/controlplane/command.ts';
import { freePort } from '../../hack/controlplane/ports.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { toolPath } from '../../hack/tools/tools.ts';

const say = (line: string) => console.log(`    ${line}`);

/** An alert as Prometheus shows it. */
export interface ActiveAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

export interface ServerOptions {
  /** The text of a rule file. */
  readonly rules: string;
  /** Where the operator serves its metrics, on loopback, over TLS. */
  readonly port: number;
  /** A token that may read them. */
  readonly token: string;
  /** Scrape jobs in addition to the operator's, in the format of Prometheus' configuration. */
  readonly jobs?: readonly object[];
}

/** Relabels a target like the ServiceMonitor of config/prometheus: the job, labels of where it runs, and labels of the operator take precedence. */
function configOf(folder: string, { port, jobs = [] }: ServerOptions): object {
  const where = { namespace: 'winpool-system', pod: 'operator-0', container: 'operator', endpoint: 'metrics' };
  const labels = { ...where, service: 'windowspool-operator-metrics' };
  return {
    global: { scrape_interval: '1500ms', scrape_timeout: '1500ms', evaluation_interval: '500ms' },
    rule_files: [join(folder, 'rules.yaml')],
    scrape_configs: [
      {
        job_name: 'windowspool-operator',
        scheme: 'https',
        honor_labels: true,
        authorization: { credentials_file: join(folder, 'token') },
        tls_config: { insecure_skip_verify: true },
        static_configs: [{ targets: [`127.0.0.1:${port}`], labels }],
      },
      ...jobs,
    ],
  };
}

export class PrometheusServer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #url: string;
  readonly #log: string[] = [];

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.#child = child;
    this.#folder = folder;
    this.#url = url;
    if (child.stderr) createInterface({ input: child.stderr }).on('line', (line) => this.#log.push(line));
  }

  /** Starts one and waits until it is ready. Its configuration must pass `promtool check config`. */
  static async start(options: ServerOptions): Promise<PrometheusServer> {
    const folder = await mkdtemp(join(tmpdir(), 'windowspool-prometheus-'));
    await writeFile(join(folder, 'rules.yaml'), options.rules);
    await writeFile(join(folder, 'token'), options.token, { mode: 0o600 });
    const config = join(folder, 'prometheus.yaml');
    await writeFile(config, stringify(configOf(folder, options)));
    const promtool = await toolPath('promtool', say);
    const checked = await runCommand(promtool, ['check', 'config', config], { timeoutMs: 30_000 });
    if (checked.code !== 0) throw new Error(checked.stdout + checked.stderr);
    const address = `127.0.0.1:${await freePort()}`;
    const args = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ];
    const child = spawn(await toolPath('prometheus', say), args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const server = new PrometheusServer(child, folder, `http://${address}`);
    await waitFor(() => server.#isReady(), { what: 'Prometheus', explain: () => server.tail() });
    return server;
  }

  /** The alerts that are pending or firing. */
  async alerts(): Promise<ActiveAlert[]> {
    const response = await fetch(`${this.#url}/api/v1/alerts`, { signal: AbortSignal.timeout(10_000) });
    return ((await response.json()) as { data: { alerts: ActiveAlert[] } }).data.alerts;
  }

  /** The values of a query by the label `pool`, or '' without it. */
  async query(expression: string): Promise<Record<string, number>> {
    const url = `${this.#url}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    type Answer = { data: { result: { metric: { pool?: string }; value: [number, string] }[] } };
    const { data } = (await response.json()) as Answer;
    return Object.fromEntries(data.result.map(({ metric, value }) => [metric.pool ?? '', Number(value[1])]));
  }

  /** The response of a path of its API: `query`, `label/pool/values`. Throws its errors and its warnings. */
  async ask<T>(path: string, parameters: Readonly<Record<string, string>>): Promise<T> {
    const url = `${this.#url}/api/v1/${path}?${new URLSearchParams(parameters)}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    type Answer = { data: T; error?: string; warnings?: readonly string[]; infos?: readonly string[] };
    const { data, error, warnings = [], infos = [] } = (await response.json()) as Answer;
    const words = [...(error === undefined ? [] : [error]), ...warnings, ...infos];
    if (words.length > 0) throw new Error(`Prometheus, of ${JSON.stringify(parameters)}: ${words.join('; ')}`);
    return data;
  }

  /** Its last log lines, to explain a failure. */
  tail(): string {
    return this.#log.slice(-10).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit', { signal: AbortSignal.timeout(20_000) });
      this.#child.kill('SIGTERM');
      await exited;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #isReady(): Promise<boolean> {
    if (this.#child.exitCode !== null)
      throw new Error(`Prometheus ended with ${this.#child.exitCode}.\n${this.tail()}`);
    const ready = await fetch(`${this.#url}/-/ready`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    return ready?.status === 200;
  }
}
