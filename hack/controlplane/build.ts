import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './command.ts';
import type { Program } from './versions.ts';

/** The folder of go.mod and go.sum, which pin every line of what is built. */
export const moduleDir = fileURLToPath(new URL('.', import.meta.url));

const buildTimeoutMs = 30 * 60_000;

/** Without this stamp Kubernetes calls itself v0.0.0-master and refuses to compare versions. */
export function ldflags(kubernetesVersion: string): string {
  const [major, minor] = kubernetesVersion.slice(1).split('.');
  const stamps = [
    `k8s.io/component-base/version.gitVersion=${kubernetesVersion}`,
    `k8s.io/component-base/version.gitMajor=${major}`,
    `k8s.io/component-base/version.gitMinor=${minor}`,
    `k8s.io/client-go/pkg/version.gitVersion=${kubernetesVersion}`,
  ];
  return ['-s', '-w', ...stamps.map((stamp) => `-X ${stamp}`)].join(' ');
}

/** What go.mod says about the Go version it needs (`1.26.0`) and the Kubernetes version it builds (`v1.36.3`). */
export function parseGoMod(text: string): { go: string; kubernetes: string } {
  const go = /^go (\S+)$/m.exec(text)?.[1];
  const kubernetes = /^\s*(?:require )?k8s\.io\/kubernetes (v\S+)/m.exec(text)?.[1];
  if (!go || !kubernetes)
    throw new Error('hack/controlplane/go.mod names no Go version or no k8s.io/kubernetes version.');
  return { go, kubernetes };
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

/** Rejects with one sentence that says what to install when Go is missing or too old. */
export async function checkGo(need: string, signal?: AbortSignal): Promise<void> {
  const remedy = `Install Go ${need} or newer from https://go.dev/dl/, or put ready-made binaries into a folder named by KUBEBUILDER_ASSETS.`;
  let have: string;
  try {
    const env = { ...process.env, GOTOOLCHAIN: 'local' };
    have = (await runCommand('go', ['env', 'GOVERSION'], { cwd: '/', env, timeoutMs: 30_000, signal })).stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`Go is not installed, and the local Kubernetes is built with it. ${remedy}`);
  }
  if (!goIsEnough(have, need))
    throw new Error(`Go is ${have.replace('go', '')}, too old to build the local Kubernetes. ${remedy}`);
}

/** Builds one program to `folder`/`name`. The file appears only when it is complete. */
export async function buildProgram(
  program: Program,
  folder: string,
  kubernetesVersion: string,
  signal?: AbortSignal,
): Promise<void> {
  const partial = join(folder, `.${program.name}.${process.pid}.partial`);
  const args = [
    'build',
    '-mod=readonly',
    '-trimpath',
    '-ldflags',
    ldflags(kubernetesVersion),
    '-o',
    partial,
    program.package,
  ];
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
      cwd: moduleDir,
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

/** Reads go.mod. */
export async function readGoMod(): Promise<{ go: string; kubernetes: string }> {
  return parseGoMod(await readFile(join(moduleDir, 'go.mod'), 'utf8'));
}
