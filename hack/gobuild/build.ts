import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../controlplane/command.ts';
import type { GoModule, Program } from './program.ts';

const buildTimeoutMs = 30 * 60_000;

/** The Go version that a go.mod needs (`1.26.0`), and the versions that it pins (`v1.36.3`). */
export interface GoMod {
  readonly go: string;
  /** Throws if go.mod does not have the module. */
  versionOf(module: string): string;
}

/** Reads the text of a go.mod; `where` is its name in messages. */
export function parseGoMod(text: string, where: string): GoMod {
  const go = /^go (\S+)$/m.exec(text)?.[1];
  if (!go) throw new Error(`${where} names no Go version.`);
  const versions = new Map([...text.matchAll(/^\s*(?:require )?(\S+) (v\S+)/gm)].map(([, module, at]) => [module, at]));
  const versionOf = (module: string): string => {
    const version = versions.get(module);
    if (!version) throw new Error(`${where} names no version of ${module}.`);
    return version;
  };
  return { go, versionOf };
}

/** Reads the go.mod of a module. */
export async function readGoMod({ dir }: Pick<GoModule, 'dir'>): Promise<GoMod> {
  const path = join(dir, 'go.mod');
  return parseGoMod(await readFile(path, 'utf8'), path);
}

/** The linker's flags: nothing for debuggers, and the program's stamps. */
export function ldflags({ stamps }: Pick<Program, 'stamps'>, goMod: GoMod): string {
  return ['-s', '-w', ...(stamps?.(goMod.versionOf) ?? []).map((stamp) => `-X ${stamp}`)].join(' ');
}

/** Whether Go's version `have` (`go1.26.8`) is at least `need` (`1.26.0`). */
export function goIsEnough(have: string, need: string): boolean {
  const parts = (version: string) => (/(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? '0').split('.').map(Number);
  const [a, b] = [parts(have), parts(need)];
  for (const index of [0, 1, 2]) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Rejects with the version to install if Go is missing or too old. */
export async function checkGo(need: string, what: string, signal?: AbortSignal): Promise<void> {
  const remedy = `Install Go ${need} or newer from https://go.dev/dl/, or put ready-made binaries into a folder named by KUBEBUILDER_ASSETS.`;
  let have: string;
  try {
    const env = { ...process.env, GOTOOLCHAIN: 'local' };
    have = (await runCommand('go', ['env', 'GOVERSION'], { cwd: '/', env, timeoutMs: 30_000, signal })).stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`Go is not installed, and it builds ${what}. ${remedy}`);
  }
  if (!goIsEnough(have, need)) throw new Error(`Go is ${have.replace('go', '')}, too old to build ${what}. ${remedy}`);
}

/** Builds one program of a module to `folder`/`name`. The file is created atomically. */
export async function buildProgram(
  { dir }: Pick<GoModule, 'dir'>,
  program: Program,
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  const partial = join(folder, `.${program.name}.${process.pid}.partial`);
  const flags = ldflags(program, await readGoMod({ dir }));
  const tags = program.tags ? ['-tags', program.tags.join(',')] : [];
  const args = ['build', '-mod=readonly', '-trimpath', ...tags, '-ldflags', flags, '-o', partial, program.package];
  const env = {
    ...process.env,
    CGO_ENABLED: '0',
    GOWORK: 'off',
    GOFLAGS: '',
    GOTOOLCHAIN: 'local',
    GOOS: '',
    GOARCH: '',
  };
  try {
    const { code, stdout, stderr } = await runCommand('go', args, {
      cwd: dir,
      env,
      timeoutMs: buildTimeoutMs,
      signal,
    });
    if (code !== 0) throw new Error(`go ${args.join(' ')}\nended with status ${code}:\n${stdout}${stderr}`);
    await rename(partial, join(folder, program.name));
  } finally {
    await rm(partial, { force: true });
  }
}
