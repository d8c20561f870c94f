/** The operator's flags. Commander provides environment variables, wrapped and grouped help, and suggestions. */
import { Command, CommanderError, Option } from 'commander';
import {
  address,
  clusterName,
  duration,
  httpUrl,
  isLoopback,
  names,
  oneOf,
  region,
  tags,
  text,
  whole,
  yesNo,
} from './flagValues.ts';

/** A flag whose value is parsed by `read`, which throws if it is invalid: commander's own `argParser` would stop at the first error. */
class Flag<T> extends Option {
  readonly read: (text: string) => T;

  constructor(flags: string, read: (text: string) => T, description: string) {
    super(flags, description);
    this.read = read;
    this.env(`WINPOOL_${this.name().toUpperCase().replaceAll('-', '_')}`);
  }
}

const flags = {
  ...group('Amazon EKS:', {
    clusterName: new Flag<string | undefined>(
      '--cluster-name <name>',
      clusterName,
      'Name of the EKS cluster that the operator runs in. Required by pools with nodeGroup; pools of existingNodes do not need it.',
    ),
    region: new Flag<string | undefined>(
      '--region <name>',
      region,
      'AWS Region of the cluster. Required with --cluster-name.',
    ).env('AWS_REGION'),
    defaultTags: new Flag<Readonly<Record<string, string>> | undefined>(
      '--default-tags <tags>',
      tags,
      'Tags of all AWS resources that the operator creates, as KEY=VALUE,KEY=VALUE. Tags in the spec of a pool take precedence. A change replaces the nodes of pools with a launch template of the operator.',
    ),
  }),
  ...group('Kubernetes API:', {
    kubeconfig: new Flag<string | undefined>(
      '--kubeconfig <file>',
      text,
      'Path to a kubeconfig file. Default: the ServiceAccount of the pod.',
    ).env('KUBECONFIG'),
    machinesKubeconfig: new Flag<string | undefined>(
      '--machines-kubeconfig <file>',
      text,
      'Path to a kubeconfig file of the cluster that has the objects in machines.ref, such as the management cluster of Cluster API. Default: the cluster of the pools.',
    ),
    serviceAccountDir: new Flag<string | undefined>(
      '--service-account-dir <path>',
      text,
      'Directory with the token and ca.crt of the ServiceAccount. Default: the path where the kubelet mounts them.',
    ),
  }),
  ...group('Reconciliation:', {
    workers: new Flag(
      '--workers <number>',
      whole(1, 100),
      'Maximum number of pools that are reconciled concurrently.',
    ).default('4'),
    pollMs: new Flag(
      '--poll-interval <duration>',
      duration,
      'Polling interval during an EKS operation. The first poll is after 1s, and the interval doubles up to this value.',
    ).default('20s'),
    resyncMs: new Flag(
      '--resync-interval <duration>',
      duration,
      'Polling interval of a node group while no EKS operation is in progress.',
    ).default('10m'),
    joinGraceMs: new Flag(
      '--join-grace <duration>',
      duration,
      'How long a new instance may take to join as a node that is Ready and has pod addresses.',
    ).default('15m'),
    createRetryMs: new Flag(
      '--create-retry-interval <duration>',
      duration,
      'Interval between attempts to create or delete a node group after a failure.',
    ).default('15m'),
    deniedRetryMs: new Flag(
      '--denied-retry-interval <duration>',
      duration,
      'Delay before a call that AWS denied is retried. It increases up to --resync-interval while the call is denied.',
    ).default('1m'),
    retryBaseMs: new Flag(
      '--retry-base <duration>',
      duration,
      'Initial delay after a failed call. It doubles with each failure.',
    ).default('1s'),
    retryMaxMs: new Flag('--retry-max <duration>', duration, 'Maximum delay after a failed call.').default('5m'),
    reconcileTimeoutMs: new Flag('--reconcile-timeout <duration>', duration, 'Timeout of one reconciliation.').default(
      '2m',
    ),
    maxPoolsUpdating: new Flag(
      '--max-pools-updating <number>',
      whole(1, 1_000),
      'Maximum number of pools that disrupt nodes at the same time, by a rolling update or by replacing nodes.',
    ).default('1'),
    enableWindowsIpam: new Flag(
      '--enable-windows-ipam [boolean]',
      yesNo,
      'Enable Windows IPAM for the cluster if a pool needs it: in the vpc-cni add-on or, if it is not installed, in ConfigMap amazon-vpc-cni. Requires the permissions in config/aws/windows-ipam.json and config/windows-ipam.',
    ).default('false'),
    enableNodeGroupAdoption: new Flag(
      '--enable-node-group-adoption [boolean]',
      yesNo,
      'Let pools with nodeGroup.adoption: IfUnowned adopt node groups that have the tag winpool.dev/adoptable-by with the name of the pool.',
    ).default('false'),
    podNamespace: new Flag(
      '--pod-namespace <name>',
      text,
      'Namespace of the operator, which contains the ConfigMaps with user data (nodeGroup.userData). config/rbac grants access to ConfigMaps only there.',
    )
      .env('POD_NAMESPACE')
      .default('winpool-system'),
    docsUrl: new Flag(
      '--docs-url <url>',
      httpUrl,
      'URL of the documentation that messages link to. Change it for a fork or a mirror.',
    ).default('https://github.com/windowspool-operator/windowspool-operator/blob/main/docs'),
  }),
  ...group('Pods on nodes:', {
    nodePodNamespace: new Flag(
      '--node-pod-namespace <name>',
      text,
      'Namespace of the pods that the operator runs on new nodes (verification.imagePrePull and smokeTest), and of their image pull Secrets. Keep nothing else in it. If you change it, change config/rbac and config/admission as well.',
    ).default('winpool-node-pods'),
    allowedImagePullSecrets: new Flag<readonly string[] | undefined>(
      '--allowed-image-pull-secrets <names>',
      names,
      'Secrets in --node-pod-namespace that pools may name in imagePullSecrets, separated by commas. The kubelet reads them, so list no others. Default: none.',
    ),
  }),
  ...group('Leader election:', {
    leaderElect: new Flag(
      '--leader-elect <boolean>',
      yesNo,
      'Use leader election, so that only one replica is active.',
    ).default('true'),
    leaderElectionNamespace: new Flag(
      '--leader-election-namespace <name>',
      text,
      'Namespace of the Lease windowspool-operator. Operators in other namespaces of the cluster compete for the same one, so that only one is active.',
    ).default('kube-system'),
  }),
  ...group('Metrics, health and logs:', {
    metricsAddress: new Flag(
      '--metrics-address <address>',
      address,
      'Address of /metrics as host:port; 0 disables it.',
    ).default('127.0.0.1:8080'),
    metricsSecure: new Flag(
      '--metrics-secure <boolean>',
      yesNo,
      'Serve /metrics over TLS, and only to authorized clients. If false, every client can read it, and it is served only on a loopback address.',
    ).default('true'),
    metricsCertDir: new Flag<string | undefined>(
      '--metrics-cert-dir <path>',
      text,
      'Directory with tls.crt and tls.key for /metrics, which are reloaded when they change. Default: a self-signed certificate.',
    ),
    healthAddress: new Flag(
      '--health-address <address>',
      address,
      'Address of /healthz and /readyz as host:port; 0 disables them.',
    ).default('127.0.0.1:8081'),
    logLevel: new Flag(
      '--log-level <level>',
      oneOf('trace', 'debug', 'info', 'warn', 'error'),
      'Log level: trace, debug, info, warn or error.',
    ).default('info'),
  }),
};

const DESCRIPTION = `Manages pools of Windows nodes, on EKS and in other clusters.

Each flag can also be set by its environment variable. Examples of durations: 500ms, 20s, 10m, 1h30m.

AWS credentials and endpoints come from the default sources of the AWS SDK, such as IRSA, EKS Pod Identity, AWS_PROFILE, AWS_ENDPOINT_URL_EKS, AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL_SSM, AWS_ENDPOINT_URL_AUTO_SCALING, AWS_ENDPOINT_URL_IAM and AWS_ENDPOINT_URL_STS.`;

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
  const unknown = program.args.filter((arg) => arg !== MISSING);
  const errors: string[] = [];
  const entries = Object.entries(flags).map(([name, flag]) => [name, readValue(program, flag, errors)]);
  const options = Object.fromEntries(entries) as Options;
  // One at a time, because commander reports only the first; without their values, which it would treat as a part of the name.
  errors.push(...unknown.map((arg) => refusalOf(arg, version)));
  if (errors.length === 0) errors.push(...refused, ...contradictions(options));
  if (errors.length > 0) return { kind: 'refuse', errors: [...errors, 'Run with --help to see all flags.'] };
  return { kind: 'run', options };
}

/** The value of a last flag without one. No argument of a process can contain it. */
const MISSING = '\0';

/**
 * A switch takes no value from the next argument: `--enable-windows-ipam false` must not enable it. Commander would stop at a last flag without a value, so
 * it gets one. After `--`, or as the value of another flag, that argument is not a flag, and commander does not parse the value.
 */
function complete({ options }: Command, args: readonly string[]): string[] {
  const isCut = options.some((option) => option.required && option.long === args.at(-1));
  const switches = options.filter((option) => option.optional).map((option) => option.long);
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const flags = args.slice(0, end).map((arg) => (switches.includes(arg) ? `${arg}=true` : arg));
  return [...flags, ...args.slice(end), ...(isCut ? [MISSING] : [])];
}

/** The error for an argument that commander did not parse. */
function refusalOf(arg: string, version: string): string {
  const program = createProgram(version).configureOutput({ writeOut: () => {}, outputError: () => {} });
  const [error] = /^--./.test(arg) ? [arg.replace(/=.*/s, ''), arg].flatMap((tried) => parse(program, [tried])) : [];
  return error?.startsWith('unknown option') ? error : `unexpected argument '${arg}': the operator accepts only flags`;
}

function createProgram(version: string): Command {
  const program = new Command('operator')
    .usage('[--cluster-name=<name> --region=<name>] [options]')
    .description(DESCRIPTION)
    .helpOption('-h, --help', 'Print this help.')
    .allowExcessArguments()
    .exitOverride();
  for (const flag of Object.values(flags)) program.addOption(flag);
  return program.version(version, '--version', 'Print the version.');
}

/** Returns commander's first error, after it has parsed all flags. Help and version are not errors. */
function parse(program: Command, args: readonly string[]): string[] {
  try {
    program.parse(args, { from: 'user' });
    return [];
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? [] : [error.message.replace(/^error: /, '').replace('\n', ' ')];
  }
}

function readValue(program: Command, flag: Flag<unknown>, errors: string[]): unknown {
  const { long, envVar, description } = flag;
  const given = program.getOptionValue(flag.attributeName());
  const isFromEnv = program.getOptionValueSource(flag.attributeName()) === 'env';
  // An empty variable counts as unset.
  const raw = isFromEnv && given === '' ? flag.defaultValue : given;
  if (raw === undefined) return undefined;
  if (raw === '' || raw === MISSING) {
    errors.push(`${long} has no value. Set it as ${long}=VALUE. ${description}`);
    return undefined;
  }
  try {
    // true: a boolean flag without a value.
    return flag.read(String(raw));
  } catch (error) {
    errors.push(`${isFromEnv ? envVar : long}=${raw}: ${(error as Error).message}`);
    return undefined;
  }
}

/** Errors in the combination of valid flags. */
function contradictions(options: Options): string[] {
  return [...incompleteCluster(options), ...openMetrics(options)];
}

/** A cluster without its Region. A Region alone is none: the webhooks of IRSA and Pod Identity set AWS_REGION in every pod with a role. */
function incompleteCluster({ clusterName, region }: Options): string[] {
  if (clusterName === undefined || region !== undefined) return [];
  return [
    `--region is missing, and --cluster-name is ${clusterName}. Set --region or the environment variable AWS_REGION (the value region of the Helm chart, or the literal region in your overlay of config/default).`,
  ];
}

function openMetrics({ metricsAddress, metricsSecure }: Options): string[] {
  if (metricsSecure || !metricsAddress || isLoopback(metricsAddress.host)) return [];
  return [
    `--metrics-secure=false: without TLS, metrics are served only on a loopback address, and --metrics-address is ${metricsAddress.host}. Remove --metrics-secure, or set --metrics-address=127.0.0.1:${metricsAddress.port}`,
  ];
}

function group<T extends Readonly<Record<string, Option>>>(heading: string, members: T): T {
  for (const flag of Object.values(members)) flag.helpGroup(heading);
  return members;
}
