/** The operator's flags. Commander provides environment variables, wrapped and grouped help, and suggestions. */
import { Command, CommanderError, Option } from 'commander';
import { address, duration, isLoopback, oneOf, text, whole, yesNo } from './flagValues.ts';

/** A flag whose text `read` turns into a value, or throws: commander's own `argParser` would stop at the first error. */
class Flag<T> extends Option {
  readonly read: (text: string) => T;

  constructor(flags: string, read: (text: string) => T, description: string) {
    super(flags, description);
    this.read = read;
    this.env(`WINPOOL_${this.name().toUpperCase().replaceAll('-', '_')}`);
  }
}

const required = group('Required:', {
  clusterName: new Flag('--cluster-name <name>', text, 'Name of the EKS cluster that the operator runs in.'),
  region: new Flag('--region <name>', text, 'AWS region of that cluster.').env('AWS_REGION'),
});

const flags = {
  ...required,
  ...group('Kubernetes API:', {
    kubeconfig: new Flag<string | undefined>(
      '--kubeconfig <file>',
      text,
      'Path of a kubeconfig. Default: the ServiceAccount of the pod.',
    ).env('KUBECONFIG'),
    serviceAccountDir: new Flag<string | undefined>(
      '--service-account-dir <path>',
      text,
      'Where token and ca.crt of the ServiceAccount are mounted. Default: where the kubelet mounts them.',
    ),
  }),
  ...group('Reconciliation:', {
    workers: new Flag('--workers <number>', whole(1, 100), 'How many pools are reconciled concurrently.').default('4'),
    pollMs: new Flag(
      '--poll-interval <duration>',
      duration,
      'Longest interval between two polls during an EKS operation: the first poll comes after 1s, and the interval doubles.',
    ).default('20s'),
    resyncMs: new Flag('--resync-interval <duration>', duration, 'Polling interval of a settled group.').default('10m'),
    joinGraceMs: new Flag(
      '--join-grace <duration>',
      duration,
      'How long a new instance may take to become a complete node.',
    ).default('15m'),
    createRetryMs: new Flag(
      '--create-retry-interval <duration>',
      duration,
      'Interval between two attempts of a creation that failed.',
    ).default('15m'),
    deniedRetryMs: new Flag(
      '--denied-retry-interval <duration>',
      duration,
      'Until the next attempt of a call that AWS denied; it grows up to the resync interval while the call is denied.',
    ).default('1m'),
    retryBaseMs: new Flag(
      '--retry-base <duration>',
      duration,
      'First delay after a failed call; it doubles with each failure.',
    ).default('1s'),
    retryMaxMs: new Flag('--retry-max <duration>', duration, 'Longest delay after a failed call.').default('5m'),
    reconcileTimeoutMs: new Flag('--reconcile-timeout <duration>', duration, 'Timeout of a reconciliation.').default(
      '2m',
    ),
    maxPoolsUpdating: new Flag(
      '--max-pools-updating <number>',
      whole(1, 1_000),
      'How many pools may lose nodes to a rolling update at the same time.',
    ).default('1'),
    enableWindowsIpam: new Flag(
      '--enable-windows-ipam [boolean]',
      yesNo,
      'Enable Windows IPAM for the cluster where a pool needs it: in the vpc-cni add-on, or else in ConfigMap amazon-vpc-cni. Needs config/aws/windows-ipam.json and config/windows-ipam.',
    ).default('false'),
  }),
  ...group('Leader election:', {
    leaderElect: new Flag('--leader-elect <boolean>', yesNo, 'Let only one replica work at a time.').default('true'),
    leaderElectionNamespace: new Flag(
      '--leader-election-namespace <name>',
      text,
      'Namespace of the Lease windowspool-operator.',
    )
      .env('POD_NAMESPACE')
      .default('winpool-system'),
  }),
  ...group('Metrics, health and logs:', {
    metricsAddress: new Flag(
      '--metrics-address <address>',
      address,
      'Where /metrics is served, host:port; 0 disables it.',
    ).default('127.0.0.1:8080'),
    metricsSecure: new Flag(
      '--metrics-secure <boolean>',
      yesNo,
      'Whether /metrics is served over TLS, and only to clients whose token may get it; false: to every client, on loopback only.',
    ).default('true'),
    metricsCertDir: new Flag<string | undefined>(
      '--metrics-cert-dir <path>',
      text,
      'Where tls.crt and tls.key for /metrics are mounted; changes are followed. Default: a self-signed certificate.',
    ),
    healthAddress: new Flag(
      '--health-address <address>',
      address,
      'Where /healthz and /readyz are served, host:port; 0 disables them.',
    ).default('127.0.0.1:8081'),
    logLevel: new Flag(
      '--log-level <level>',
      oneOf('trace', 'debug', 'info', 'warn', 'error'),
      'trace, debug, info, warn or error.',
    ).default('info'),
  }),
  dryRun: new Flag(
    '--dry-run [boolean]',
    yesNo,
    'Print what would be done for each pool, write nothing to AWS or the cluster, and exit.',
  ).default('false'),
};

const DESCRIPTION = `Keeps pools of Windows nodes on EKS.

Each flag can also be set by its environment variable. Durations are written 500ms, 20s, 10m, 1h30m.

AWS credentials and endpoints come from the AWS SDK: IRSA, Pod Identity, AWS_PROFILE, AWS_ENDPOINT_URL_EKS, AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL_SSM, AWS_ENDPOINT_URL_AUTO_SCALING, AWS_ENDPOINT_URL_IAM.`;

/** The parsed flags. Durations are in milliseconds. */
export type Options = { readonly [K in keyof typeof flags]: ReturnType<(typeof flags)[K]['read']> };

/** What the command line asks for. */
export type Invocation =
  | { readonly kind: 'run'; readonly options: Options }
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'refuse'; readonly errors: readonly string[] };

/** Parses the command line and the environment; a flag overrides its variable. Reports all errors at once. */
export function readCommand(args: readonly string[], version: string): Invocation {
  let printed = '';
  const writeOut = (text: string) => {
    printed += text;
  };
  const program = createProgram(version).configureOutput({ writeOut, outputError: () => {} });
  const refused = parse(program, complete(program, args));
  if (printed) return { kind: 'print', text: printed.trimEnd() };
  const unknown = program.args.filter((arg) => arg !== '');
  const errors: string[] = [];
  const entries = Object.entries(flags).map(([name, flag]) => [name, readValue(program, name, flag, errors)]);
  const options = Object.fromEntries(entries) as Options;
  // One at a time, because commander reports only the first; without their values, which it would take for a part of the name.
  errors.push(...unknown.map((arg) => refusalOf(arg, version)));
  if (errors.length === 0) errors.push(...refused, ...contradictions(options));
  if (errors.length > 0) return { kind: 'refuse', errors: [...errors, 'Run with --help to see every flag.'] };
  return { kind: 'run', options };
}

/** A switch takes no value from the next argument: `--dry-run false` must not start the operator. Commander would stop at a last flag without a value. */
function complete({ options }: Command, args: readonly string[]): string[] {
  const isCut = options.some((option) => option.required && option.long === args.at(-1));
  const switches = options.filter((option) => option.optional).map((option) => option.long);
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const flags = args.slice(0, end).map((arg) => (switches.includes(arg) ? `${arg}=true` : arg));
  return [...flags, ...args.slice(end), ...(isCut ? [''] : [])];
}

/** What is wrong with an argument that commander left over. */
function refusalOf(arg: string, version: string): string {
  const program = createProgram(version).configureOutput({ writeOut: () => {}, outputError: () => {} });
  const [error] = /^--./.test(arg) ? [arg.replace(/=.*/s, ''), arg].flatMap((tried) => parse(program, [tried])) : [];
  return error?.startsWith('unknown option') ? error : `unexpected argument '${arg}': the operator takes flags only`;
}

function createProgram(version: string): Command {
  const program = new Command('operator')
    .usage('--cluster-name=<name> --region=<name> [options]')
    .description(DESCRIPTION)
    .helpOption('-h, --help', 'Print this text.')
    .allowExcessArguments()
    .exitOverride();
  for (const flag of Object.values(flags)) program.addOption(flag);
  return program.version(version, '--version', 'Print the version.');
}

/** Returns commander's first error, after it has parsed all flags. Help and version are no errors. */
function parse(program: Command, args: readonly string[]): string[] {
  try {
    program.parse(args, { from: 'user' });
    return [];
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? [] : [error.message.replace(/^error: /, '').replace('\n', ' ')];
  }
}

function readValue(program: Command, name: string, flag: Flag<unknown>, errors: string[]): unknown {
  const { long, envVar, description } = flag;
  const given = program.getOptionValue(flag.attributeName());
  const isFromEnv = program.getOptionValueSource(flag.attributeName()) === 'env';
  // An empty variable counts as unset.
  const raw = isFromEnv && given === '' ? flag.defaultValue : given;
  if (raw === undefined) {
    if (name in required) errors.push(`${long} is missing: give it, or set ${envVar}. ${description}`);
    return undefined;
  }
  if (raw === '') {
    errors.push(`${long} has no value: write ${long}=VALUE. ${description}`);
    return undefined;
  }
  try {
    // true: a boolean flag without a value.
    return flag.read(String(raw));
  } catch (error) {
    errors.push(`${isFromEnv ? `${envVar}=` : `${long} `}${raw}: ${(error as Error).message}`);
    return undefined;
  }
}

/** Errors of flags that are valid one by one. */
function contradictions({ metricsAddress, metricsSecure }: Options): string[] {
  if (metricsSecure || !metricsAddress || isLoopback(metricsAddress.host)) return [];
  return [
    `--metrics-secure=false: metrics without TLS are served on loopback only, and --metrics-address is ${metricsAddress.host}. Leave --metrics-secure out, or write --metrics-address=127.0.0.1:${metricsAddress.port}`,
  ];
}

function group<T extends Readonly<Record<string, Option>>>(heading: string, members: T): T {
  for (const flag of Object.values(members)) flag.helpGroup(heading);
  return members;
}
