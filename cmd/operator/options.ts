/** The operator's flags and environment: one table, from which --help is printed and the values are read. */

import { parseArgs } from 'node:util';
import { editDistance } from '../../controllers/windowspool/editDistance.ts';
import type { Settings } from '../../controllers/windowspool/model/observedState.ts';
import { type Address, address, duration, isLoopback, oneOf, text, whole, yesNo } from './flagValues.ts';

/** What the operator was started with: the domain's settings, and how the process runs. Durations are milliseconds. */
export interface Options extends Settings {
  readonly kubeconfig: string | undefined;
  readonly serviceAccountDir: string | undefined;
  /** `host:port`, or undefined when switched off. */
  readonly metricsAddress: Address | undefined;
  /** Whether metrics are served over TLS, and only to those who may read them. */
  readonly metricsSecure: boolean;
  /** Where tls.crt and tls.key are; undefined: self-signed. */
  readonly metricsCertDir: string | undefined;
  readonly healthAddress: Address | undefined;
  readonly workers: number;
  readonly retryBaseMs: number;
  readonly retryMaxMs: number;
  readonly reconcileTimeoutMs: number;
  readonly leaderElect: boolean;
  readonly leaderElectionNamespace: string;
  readonly logLevel: string;
  /** Shows what would be done, once, and writes nothing anywhere. */
  readonly dryRun: boolean;
}

/** What to do instead of running. */
export type Command =
  | { readonly kind: 'run'; readonly options: Options }
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'refuse'; readonly errors: readonly string[] };

interface Flag<T> {
  readonly flag: string;
  readonly env: string;
  /** Shown in --help; absent: the flag is required, unless `optional`. */
  readonly fallback?: string;
  readonly optional?: true;
  /** The flag alone means `true`. */
  readonly bare?: true;
  readonly what: string;
  /** Throws an Error whose message ends the sentence "--flag VALUE: ...". */
  readonly parse: (text: string) => T;
}

const table: { readonly [K in keyof Options]: Flag<Exclude<Options[K], undefined>> | Flag<Options[K]> } = {
  clusterName: flag(
    'cluster-name',
    'WINPOOL_CLUSTER_NAME',
    'Name of the EKS cluster that the operator runs in. Required.',
    text,
  ),
  region: flag('region', 'AWS_REGION', 'AWS region of that cluster. Required.', text),
  kubeconfig: {
    ...flag('kubeconfig', 'KUBECONFIG', 'Path of a kubeconfig. Default: the ServiceAccount of the pod.', text),
    optional: true,
  },
  serviceAccountDir: {
    ...flag(
      'service-account-dir',
      'WINPOOL_SERVICE_ACCOUNT_DIR',
      'Where token and ca.crt of the ServiceAccount are mounted. Default: where the kubelet mounts them.',
      text,
    ),
    optional: true,
  },
  metricsAddress: flag(
    'metrics-address',
    'WINPOOL_METRICS_ADDRESS',
    'Where /metrics is served, host:port; 0 switches it off.',
    address,
    '127.0.0.1:8080',
  ),
  metricsSecure: flag(
    'metrics-secure',
    'WINPOOL_METRICS_SECURE',
    'Whether /metrics is served over TLS, to those alone whose token may get it; false: to anybody, on loopback only.',
    yesNo,
    'true',
  ),
  metricsCertDir: {
    ...flag(
      'metrics-cert-dir',
      'WINPOOL_METRICS_CERT_DIR',
      'Where tls.crt and tls.key for /metrics are mounted; followed as they change. Default: a self-signed certificate.',
      text,
    ),
    optional: true,
  },
  healthAddress: flag(
    'health-address',
    'WINPOOL_HEALTH_ADDRESS',
    'Where /healthz and /readyz are served, host:port; 0 switches them off.',
    address,
    '127.0.0.1:8081',
  ),
  workers: flag('workers', 'WINPOOL_WORKERS', 'How many pools are reconciled at the same time.', whole(1, 100), '4'),
  pollMs: flag(
    'poll-interval',
    'WINPOOL_POLL_INTERVAL',
    'Longest interval between two polls while EKS works on a node group: the first comes after 1s, and the interval doubles.',
    duration,
    '20s',
  ),
  resyncMs: flag(
    'resync-interval',
    'WINPOOL_RESYNC_INTERVAL',
    'Between two looks at a settled node group.',
    duration,
    '10m',
  ),
  joinGraceMs: flag(
    'join-grace',
    'WINPOOL_JOIN_GRACE',
    'How long a new instance may take to become a complete node.',
    duration,
    '15m',
  ),
  createRetryMs: flag(
    'create-retry-interval',
    'WINPOOL_CREATE_RETRY_INTERVAL',
    'Between two tries of a creation that failed.',
    duration,
    '15m',
  ),
  deniedRetryMs: flag(
    'denied-retry-interval',
    'WINPOOL_DENIED_RETRY_INTERVAL',
    'Until the next try of a call that AWS denied; longer, up to the resync interval, the longer that lasts.',
    duration,
    '1m',
  ),
  maxPoolsUpdating: flag(
    'max-pools-updating',
    'WINPOOL_MAX_POOLS_UPDATING',
    'How many pools may lose nodes to a rolling update at the same time.',
    whole(1, 1_000),
    '1',
  ),
  enableWindowsIpam: {
    ...flag(
      'enable-windows-ipam',
      'WINPOOL_ENABLE_WINDOWS_IPAM',
      'Enable Windows IPAM for the cluster where a pool needs it: in the vpc-cni add-on, or else in ConfigMap amazon-vpc-cni. Needs config/aws/windows-ipam.json and config/windows-ipam.',
      yesNo,
      'false',
    ),
    bare: true,
  },
  retryBaseMs: flag(
    'retry-base',
    'WINPOOL_RETRY_BASE',
    'First delay after a failed call; it doubles with each failure.',
    duration,
    '1s',
  ),
  retryMaxMs: flag('retry-max', 'WINPOOL_RETRY_MAX', 'Longest delay after a failed call.', duration, '5m'),
  reconcileTimeoutMs: flag(
    'reconcile-timeout',
    'WINPOOL_RECONCILE_TIMEOUT',
    'Longest run for one pool.',
    duration,
    '2m',
  ),
  leaderElect: flag(
    'leader-elect',
    'WINPOOL_LEADER_ELECT',
    'Whether only one replica works at a time: true or false.',
    yesNo,
    'true',
  ),
  leaderElectionNamespace: flag(
    'leader-election-namespace',
    'POD_NAMESPACE',
    'Namespace of the Lease windowspool-operator.',
    text,
    'winpool-system',
  ),
  logLevel: flag(
    'log-level',
    'WINPOOL_LOG_LEVEL',
    'trace, debug, info, warn or error.',
    oneOf('trace', 'debug', 'info', 'warn', 'error'),
    'info',
  ),
  dryRun: {
    ...flag(
      'dry-run',
      'WINPOOL_DRY_RUN',
      'Print what would be done for each pool, write nothing to AWS or the cluster, and end.',
      yesNo,
      'false',
    ),
    bare: true,
  },
};

/** Reads the command line and the environment; a flag wins over its variable. Names every mistake at once. */
export function readCommand(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): Command {
  const flags = Object.values(table) as Flag<unknown>[];
  const known = Object.fromEntries([
    ...flags.map(({ flag, bare }) => [flag, { type: bare ? ('boolean' as const) : ('string' as const) }]),
    ['help', { type: 'boolean' as const, short: 'h' }],
    ['version', { type: 'boolean' as const }],
  ]);
  const { values, tokens } = parseArgs({
    args: [...argv],
    options: known,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  if (values.help) return { kind: 'print', text: help() };
  if (values.version) return { kind: 'print', text: version };
  const errors = tokens.flatMap((token) => strangerIn(token, Object.keys(known)));
  const entries = Object.entries(table).map(([name, entry]) => [
    name,
    readValue(entry as Flag<unknown>, values[entry.flag], env, errors),
  ]);
  const options = Object.fromEntries(entries) as Options;
  if (errors.length === 0) errors.push(...contradictions(options));
  if (errors.length > 0) return { kind: 'refuse', errors: [...errors, 'Run with --help to see every flag.'] };
  return { kind: 'run', options };
}

/** What is wrong with flags that are right one by one. */
function contradictions({ metricsAddress, metricsSecure }: Options): string[] {
  if (metricsSecure || !metricsAddress || isLoopback(metricsAddress.host)) return [];
  return [
    `--metrics-secure=false: metrics without TLS are served on loopback only, and --metrics-address is ${metricsAddress.host}. Leave --metrics-secure out, or write --metrics-address=127.0.0.1:${metricsAddress.port}`,
  ];
}

function readValue(
  entry: Flag<unknown>,
  given: unknown,
  env: Readonly<Record<string, string | undefined>>,
  errors: string[],
): unknown {
  const fromFlag = typeof given === 'string';
  const fromEnv = env[entry.env] || undefined;
  const stated = given === true && entry.bare ? 'true' : given;
  const raw = stated === undefined ? (fromEnv ?? entry.fallback) : stated;
  if (raw === undefined) {
    if (!entry.optional) errors.push(`--${entry.flag} is missing: give it, or set ${entry.env}. ${entry.what}`);
    return undefined;
  }
  if (typeof raw !== 'string' || raw === '') {
    errors.push(`--${entry.flag} has no value: write --${entry.flag}=VALUE. ${entry.what}`);
    return undefined;
  }
  try {
    return entry.parse(raw);
  } catch (error) {
    const name = fromFlag || fromEnv === undefined ? `--${entry.flag} ${raw}` : `${entry.env}=${raw}`;
    errors.push(`${name}: ${(error as Error).message}`);
    return undefined;
  }
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];

function strangerIn(token: Token, known: readonly string[]): string[] {
  if (token.kind === 'positional') return [`${JSON.stringify(token.value)} is no flag: the operator takes flags only.`];
  if (token.kind !== 'option' || known.includes(token.name)) return [];
  const near = known.find(
    (name) => name.startsWith(token.name) || token.name.startsWith(name) || editDistance(name, token.name) <= 2,
  );
  return [`${token.rawName} is unknown.${near ? ` Did you mean --${near}?` : ''}`];
}

/** The text of --help, made from the table. */
export function help(): string {
  const entries = Object.values(table) as Flag<unknown>[];
  const lines = entries.map(({ flag, env, fallback, what }) => {
    const head = `  --${flag}`.padEnd(30);
    return `${head}${what}${fallback === undefined ? '' : ` Default: ${fallback}.`} [${env}]`;
  });
  return [
    'windowspool-operator keeps pools of Windows nodes on EKS.',
    '',
    'Usage: operator --cluster-name=NAME --region=REGION [flags]',
    '',
    'Each flag can be given by the environment variable in brackets. Durations are written 500ms, 20s, 10m, 1h30m.',
    'AWS credentials and endpoints come from the AWS SDK: IRSA, Pod Identity, AWS_PROFILE, AWS_ENDPOINT_URL_EKS, AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL_SSM, AWS_ENDPOINT_URL_AUTO_SCALING, AWS_ENDPOINT_URL_IAM.',
    '',
    ...lines,
    `  ${'--version'.padEnd(28)}Print the version.`,
    `  ${'--help, -h'.padEnd(28)}Print this text.`,
  ].join('\n');
}

function flag<T>(name: string, env: string, what: string, parse: (text: string) => T, fallback?: string): Flag<T> {
  return { flag: name, env, what, parse, ...(fallback !== undefined && { fallback }) };
}
