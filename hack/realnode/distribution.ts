/** Programs that are in the distribution's packages, and in no Go module: those of a real node, and those of other tests. */
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { runCommand } from '../controlplane/command.ts';
import { withLock } from '../controlplane/lock.ts';

/** The folder of the CNI plugins. */
export const CNI_FOLDER = '/usr/lib/cni';

/** Debian packages, each with a file of it: a program on PATH, or an absolute path. */
export type DebianPackages = Readonly<Record<string, string>>;

export const NODE_PACKAGES: DebianPackages = {
  conntrack: 'conntrack',
  'containernetworking-plugins': `${CNI_FOLDER}/bridge`,
  iproute2: 'ip',
  iptables: 'iptables',
  runc: 'runc',
  tini: 'tini',
};
const INSTALL_TIMEOUT_MS = 10 * 60_000;

/** Installs the missing packages with apt. Throws with the names of all if that fails. */
export async function ensurePackages(packages: DebianPackages, log: (line: string) => void): Promise<void> {
  if ((await missingOf(packages)).length === 0) return;
  const lock = {
    onWait: () => log('Waiting for another process, which installs packages.'),
    timeoutMs: INSTALL_TIMEOUT_MS,
  };
  await withLock('/var/lib', lock, async () => {
    const missing = await missingOf(packages);
    if (missing.length === 0) return;
    log(`Installing ${missing.join(', ')} with apt.`);
    for (const args of [['update'], ['install', '--no-install-recommends', '--yes', ...missing]])
      await apt(args, Object.keys(packages));
  });
}

async function missingOf(packages: DebianPackages): Promise<string[]> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const has = async (file: string) => {
    const paths = isAbsolute(file) ? [file] : folders.map((folder) => join(folder, file));
    const found = await Promise.all(
      paths.map((path) =>
        access(path).then(
          () => true,
          () => false,
        ),
      ),
    );
    return found.includes(true);
  };
  const there = await Promise.all(Object.values(packages).map(has));
  return Object.keys(packages).filter((_, index) => !there[index]);
}

async function apt(args: readonly string[], names: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const failure = await runCommand('apt-get', ['--quiet', ...args], { env, timeoutMs: INSTALL_TIMEOUT_MS }).then(
    ({ code, stderr }) => (code === 0 ? undefined : stderr.trim()),
    (error: Error) => error.message,
  );
  if (failure !== undefined)
    throw new Error(
      `apt-get ${args[0]} failed: ${failure}. These packages of Debian are needed, or their like: ${names.join(', ')}.`,
    );
}
