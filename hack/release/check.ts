/**
 * `make release-check`: builds a release from two fresh clones, which must give the same files, and installs it from a registry on a real node. Changes nothing in
 * this checkout: a clone gets the section of CHANGELOG.md that a release has.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { runOrThrow } from '../controlplane/command.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { version } = manifest;
const GIT_TIMEOUT_MS = 120_000;
const AUTHOR = ['-c', 'user.name=release-check', '-c', 'user.email=release-check@example.com'];
const SUITE = 'test/pods/release.test.ts';

const started = performance.now();
const folder = await mkdtemp(join(tmpdir(), 'release-check-'));
try {
  await check();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}

async function check(): Promise<void> {
  const [first, second] = [join(folder, 'a'), join(folder, 'another-clone')];
  await git(ROOT, 'clone', '--quiet', ROOT, first);
  await prepare(first);
  const release = `exec make release VERSION=${version}`;
  step(`make release VERSION=${version}`);
  await run('/bin/sh', ['-c', release], first);
  step('The same in a folder with another name and with another umask');
  await run('/bin/sh', ['-c', `umask 077; git clone --quiet ${first} ${second}; cd ${second}; ${release}`], folder);
  const [one, other] = [await checksums(first), await checksums(second)];
  if (one !== other) throw new Error(`The two releases differ:\n${one}\n${other}`);
  step('Both have the same files. The chart of the first is installed from a registry on a real node');
  await run(process.execPath, ['hack/suites/main.ts', SUITE], first, { RELEASE: join(first, 'build/release') });
  step('Done');
}

/** Commits the section of the version, if it is not there yet. */
async function prepare(clone: string): Promise<void> {
  const path = join(clone, 'CHANGELOG.md');
  const changelog = await readFile(path, 'utf8');
  if (changelog.includes(`## [${version}]`)) return;
  await writeFile(path, changelog.replace('## [Unreleased]', `## [Unreleased]\n\n## [${version}]`));
  await git(clone, ...AUTHOR, 'commit', '--quiet', '--all', '--message', `Release ${version}`);
}

function git(cwd: string, ...args: readonly string[]): Promise<string> {
  return runOrThrow('git', args, GIT_TIMEOUT_MS, { cwd });
}

function checksums(clone: string): Promise<string> {
  return readFile(join(clone, 'build/release/checksums.txt'), 'utf8');
}

function step(title: string): void {
  console.log(`\n${title} (${Math.round((performance.now() - started) / 1000)} s)`);
}

/** Runs a program that shows its progress. Throws if it fails. */
async function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } });
  const [code, signal] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${signal ?? `status ${code}`}.`);
}
