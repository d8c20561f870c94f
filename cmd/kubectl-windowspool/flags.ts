/** The flags that all or several commands have, with the names and meanings of kubectl's. */
import { InvalidArgumentError, Option } from 'commander';
import { duration, whole } from '../operator/flagValues.ts';
import { OUTPUT_FORMATS } from './output.ts';

const LONGEST_TIMEOUT_MS = 24 * 3_600_000;
const MOST_VERBOSE = 10;

/** The flags of every command: https://kubernetes.io/docs/reference/kubectl/kubectl/ */
export const globalOptions = (): Option[] => [
  new Option('--as <username>', 'Username to impersonate for the operation.'),
  new Option(
    '--as-group <group>',
    'Group to impersonate for the operation. Repeat the flag for several groups.',
  ).argParser((value: string, previous: readonly string[] = []) => [...previous, value]),
  new Option('--as-uid <uid>', 'UID to impersonate for the operation.'),
  new Option('--certificate-authority <file>', 'Path to a certificate file of the certificate authority.'),
  new Option('--client-certificate <file>', 'Path to a client certificate file for TLS.'),
  new Option('--client-key <file>', 'Path to a client key file for TLS.'),
  new Option('--cluster <name>', 'Name of the kubeconfig cluster to use.'),
  new Option('--context <name>', 'Name of the kubeconfig context to use.'),
  new Option(
    '--insecure-skip-tls-verify',
    'Do not verify the certificate of the API server. This makes your connection insecure.',
  ),
  new Option('--kubeconfig <file>', 'Path to the kubeconfig file. Default: the same as kubectl.'),
  new Option(
    '-n, --namespace <name>',
    'Namespace of pods: for diagnose and lint --live. Pools and nodes have no namespace.',
  ),
  new Option('--request-timeout <duration>', 'Timeout of each request, such as 500ms, 20s or 1m. 0: no timeout.')
    .argParser(parsedBy(timeout))
    .default(15_000, '15s'),
  new Option('-s, --server <url>', 'Address and port of the API server.'),
  new Option('--tls-server-name <name>', 'Server name to validate the certificate of the API server with.'),
  new Option('--token <token>', 'Bearer token, instead of the credentials of the kubeconfig.'),
  new Option('--user <name>', 'Name of the kubeconfig user to use.'),
  new Option('-v, --v <level>', 'Log level verbosity. From 6 on, each request is printed.')
    .argParser(parsedBy(whole(0, MOST_VERBOSE)))
    .default(0),
];

/** -o, --output */
export const outputOption = (): Option => new Option('-o, --output <format>', 'Output format.').choices(OUTPUT_FORMATS);

/** -y, --yes */
export const yesOption = (): Option => new Option('-y, --yes', 'Do not ask for confirmation.');

/** What `--dry-run` says: client sends no change, server lets the API server check the change without storing it. */
export type DryRun = 'none' | 'server' | 'client';

/** --dry-run */
export const dryRunOption = (): Option =>
  new Option(
    '--dry-run <strategy>',
    'client: only show what would be changed. server: also let the API server check the change, without storing it.',
  )
    .choices(['none', 'server', 'client'] satisfies DryRun[])
    .default('none');

/** The parser of a flag. Its errors complete `It …`. */
export function parsedBy<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      throw new InvalidArgumentError(`It ${(error as Error).message}.`);
    }
  };
}

/** As kubectl: a number without a unit is in seconds, and 0 is no timeout. Timers of Node.js end at once if they are longer than 24 days. */
function timeout(value: string): number {
  if (Number(value) === 0) return LONGEST_TIMEOUT_MS;
  const ms = duration(/^\d+$/.test(value) ? `${value}s` : value);
  if (ms > LONGEST_TIMEOUT_MS) throw new Error('must be at most 24h');
  return ms;
}
