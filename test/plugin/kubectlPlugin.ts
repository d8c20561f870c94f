/** Runs `kubectl windowspool` as a user does: kubectl finds the plugin on PATH, and the output goes to a terminal of 80 columns. */
import { spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { COMPLETION_NAME, COMPLETION_SCRIPT } from '../../cmd/kubectl-windowspool/completion.ts';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import { type Outcome, runCommand } from '../../hack/controlplane/command.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { pluginBundle } from '../../hack/operatorBundle.ts';
import { ptyPath } from '../../hack/pty/program.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';

const TIMEOUT_MS = 60_000;
const log = (line: string): void => console.log(`    ${line}`);

/** A command that runs in a terminal. */
export interface TerminalSession {
  /** What the terminal has shown so far, without colors. */
  shown(): string;
  /** The same, with colors and other control sequences. */
  raw(): string;
  /** Waits until the terminal shows the text. */
  shows(text: string): Promise<void>;
  /** Types text; `\x03` is Ctrl-C. */
  type(text: string): void;
  /** The exit code, when the command ends. */
  readonly ended: Promise<number | null>;
}

/** The plugin, installed in a folder of its own. */
export class KubectlPlugin {
  readonly folder: string;
  readonly #kubectl: string;
  readonly #pty: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(folder: string, kubectl: string, pty: string, env: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.#kubectl = kubectl;
    this.#pty = pty;
    this.#env = env;
  }

  /** Installs the plugin: its program alone, outside of the sources. The default is the bundle. */
  static async install(world: TestEnv, program?: string): Promise<KubectlPlugin> {
    const { kubectl } = await ensureBinaries(log);
    const folder = await mkdtemp(join(tmpdir(), 'windowspool-plugin-'));
    await copyFile(program ?? (await pluginBundle()), join(folder, 'kubectl-windowspool'));
    await writeFile(join(folder, COMPLETION_NAME), COMPLETION_SCRIPT, { mode: 0o755 });
    const { NO_COLOR: _, ...env } = process.env;
    return new KubectlPlugin(folder, kubectl, await ptyPath(log), {
      ...env,
      TERM: 'xterm',
      PATH: [folder, dirname(kubectl), process.env.PATH].join(delimiter),
      KUBECONFIG: world.controlPlane.adminKubeconfig,
      KUBECACHEDIR: join(world.controlPlane.dir, 'kubectl-cache'),
    });
  }

  /** Runs a command without a terminal. */
  run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
    return this.kubectl(['windowspool', ...args], env);
  }

  /** Runs kubectl without a terminal. */
  kubectl(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
    return runCommand(this.#kubectl, args, {
      env: { ...this.#env, ...env },
      timeoutMs: TIMEOUT_MS,
    });
  }

  /** What a command prints in a terminal. Throws if it fails. */
  async shows(...args: readonly string[]): Promise<string> {
    const session = this.start(args);
    const code = await session.ended;
    if (code !== 0) throw new Error(`kubectl windowspool ${args.join(' ')} ended with ${code}:\n${session.shown()}`);
    return session.shown();
  }

  /** Starts a command in a terminal. */
  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): TerminalSession {
    const child = spawn(this.#pty, [this.#kubectl, 'windowspool', ...args], {
      env: { ...this.#env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let raw = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      raw += text;
    });
    child.stdin.on('error', () => undefined);
    const timer = setTimeout(() => child.kill(), TIMEOUT_MS);
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    void ended.then(() => clearTimeout(timer));
    const shown = () => stripVTControlCharacters(raw).replaceAll('\r', '');
    return {
      shown,
      raw: () => raw,
      shows: async (text) => {
        const what = `${args.join(' ')} to show ${JSON.stringify(text)}`;
        await waitFor(() => shown().includes(text), { what, timeoutMs: 30_000, explain: shown });
      },
      type: (text) => void child.stdin.write(text),
      ended,
    };
  }

  /** Removes the installed plugin. */
  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}
