/** Simulates the container of the Deployment without a container engine: user, capabilities and a read-only file system. */
import { runCommand } from '../../../hack/controlplane/command.ts';

/**
 * A separate mount namespace in which every file system is read-only (required only for `/`); then the user without groups, capabilities
 * and ways to regain them. Each step replaces the process, so that its ID and its signals are those of the program.
 */
const SCRIPT = `
for path in $(cut -d ' ' -f 5 /proc/self/mountinfo); do mount -o remount,bind,ro "$path" 2>/dev/null; done
awk '$5 == "/" { options = $6 } END { exit options !~ /^ro/ }' /proc/self/mountinfo || { echo 'the root file system could not be made read-only' >&2; exit 1; }
user=$1; shift
exec setpriv --reuid "\${user%:*}" --regid "\${user#*:}" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs -- "$@"`;

/**
 * The command that runs `command` like the operator's container in config/manager: as `user` (`uid:gid`), with no capability, no new
 * privileges and a read-only root file system. Needs Linux, root, and unshare, mount and setpriv of util-linux.
 */
export function contained(command: readonly string[], user: string): readonly string[] {
  return ['unshare', '--mount', '--propagation', 'private', '--', 'sh', '-c', SCRIPT, 'sh', user, ...command];
}

/** Why this machine does not support that for a program with these files; undefined if it does. */
export async function containerObstacle(user: string, files: readonly string[]): Promise<string | undefined> {
  const script = 'for file in "$@"; do cat -- "$file" >/dev/null || exit 1; done';
  const [program = '', ...args] = contained(['sh', '-c', script, 'sh', ...files], user);
  const outcome = await runCommand(program, args, { timeoutMs: 30_000 }).catch((error: Error) => error.message);
  if (typeof outcome === 'string') return outcome;
  return outcome.code === 0 ? undefined : outcome.stderr.trim() || `exit status ${outcome.code}`;
}
