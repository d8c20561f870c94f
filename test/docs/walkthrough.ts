/** A reader who follows the pages: a copy of the checkout, and one shell whose variables last from block to block. */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GitRepository } from '../../hack/gitops/gitRepository.ts';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LEFT_OUT = ['node_modules', 'build', '.git'];

/** Not every machine has curl. */
const CURL = `#!/usr/bin/env node
const args = process.argv.slice(2);
const body = args[0] === '--data' ? args[1] : undefined;
const response = await fetch(args.at(-1), body === undefined ? {} : { method: 'POST', body });
console.log(await response.text());
process.exitCode = response.ok ? 0 : 22;
`;

/**
 * Records its arguments, one per line, in one write, and reads its input. Prints nothing, so that a grep after it finds nothing, except
 * where a variable is set from it.
 */
const STAND_IN = `#!/usr/bin/env bash
case " $* " in *" --output text "* | *" --output jsonpath="*) echo arn:aws:iam::111122223333:role/stand-in ;; esac
printf '%s\\n' "== $(basename "$0")" "\${@//$'\\n'/ }" >> "$CALLS"
if [ -p /dev/stdin ]; then cat > /dev/null; fi
`;

export class Walkthrough {
  readonly folder: string;
  readonly #tools: string;
  readonly #variables: string;
  /** In place of the project's repository, to which the pages refer. */
  #repository: GitRepository | undefined;

  private constructor(folder: string) {
    this.folder = join(folder, 'windowspool-operator');
    this.#tools = join(folder, 'tools');
    this.#variables = join(folder, 'variables');
  }

  /** Copies the checkout, as it is on the disk. */
  static async start(): Promise<Walkthrough> {
    const reader = new Walkthrough(await mkdtemp(join(tmpdir(), 'windowspool-docs-')));
    const filter = (path: string) => path === ROOT || !LEFT_OUT.includes(basename(path));
    // With their times: make must find the packages newer than the lock file.
    await cp(ROOT, reader.folder, { recursive: true, preserveTimestamps: true, filter });
    await symlink(join(ROOT, 'node_modules'), join(reader.folder, 'node_modules'));
    await mkdir(reader.#tools);
    await reader.#tool('curl.mjs', CURL);
    await reader.#tool('curl', `#!/usr/bin/env bash\nexec node "$(dirname "$0")/curl.mjs" "$@"\n`);
    reader.#repository = await GitRepository.create();
    const variables = {
      PATH: `${reader.#tools}:${join(ROOT, 'node_modules/.bin')}:$PATH`,
      ...(await reader.#repository.asPublished(`v${manifest.version}`)),
    };
    const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${value}\n`);
    await writeFile(reader.#variables, exports.join(''));
    return reader;
  }

  /** Runs a script as if it were typed into the shell; rejects with what it printed when a command fails or a variable is not set. */
  async run(script: string, timeoutMs = 60_000): Promise<string> {
    const whole = `set -euo pipefail\n. ${this.#variables}\n${script}\nexport -p > ${this.#variables}`;
    const options = { cwd: this.folder, maxBuffer: 64 * 1024 * 1024 };
    // Ends everything that the script started, not only bash.
    const limit = ['--kill-after=10', `${timeoutMs / 1000}`];
    return new Promise((resolve, reject) => {
      execFile('timeout', [...limit, 'bash', '-c', whole], options, (error, stdout, stderr) => {
        if (error) reject(new Error(`${script}\nended with ${error.code ?? error.signal}:\n${stdout}${stderr}`));
        else resolve(stdout);
      });
    });
  }

  /** Runs a script with stand-ins for the programs, and returns their calls: the program's name and its arguments. */
  async recordCalls(script: string, programs: readonly string[]): Promise<string[][]> {
    const folder = await mkdtemp(join(this.#tools, 'stand-ins-'));
    for (const program of programs) await writeExecutable(join(folder, program), STAND_IN);
    const calls = join(folder, 'calls');
    // A grep that finds nothing does not end the shell; a variable that is not set does.
    await this.run(`(\nset +e\nPATH=${folder}:$PATH\nexport CALLS=${calls}\n${script}\ntrue\n)`);
    const text = await readFile(calls, 'utf8');
    return text
      .split(/^== /m)
      .slice(1)
      .map((call) => call.trimEnd().split('\n'));
  }

  async end(): Promise<void> {
    await rm(join(this.folder, '..'), { recursive: true, force: true });
    await this.#repository?.remove();
  }

  async #tool(name: string, text: string): Promise<void> {
    await writeExecutable(join(this.#tools, name), text);
  }
}

async function writeExecutable(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o755);
}
