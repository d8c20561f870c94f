/** The settings of `make e2e`: flags and environment variables, read from one table, which --help prints. */
import { parseArgs } from 'node:util';
import { INSTANCE_PRICES } from './cost.ts';

/** The settings of a run. */
export interface Settings {
  /** The only account in which objects are created. */
  readonly account: string;
  readonly clusterName: string;
  readonly region: string;
  /** Name or ARN. Empty in a read-only run that reads no role. */
  readonly nodeRole: string;
  readonly subnets: readonly string[];
  readonly windowsVersion: 'Windows2019' | 'Windows2022' | 'Windows2025';
  readonly instanceType: string;
  /** The AWS profile of the operator; undefined: the caller's own credentials. */
  readonly operatorProfile: string | undefined;
  readonly operatorFlags: readonly string[];
  /** Multiplies every time-out. */
  readonly timeoutFactor: number;
  /** The kubectl to run, with the caller's kubeconfig. */
  readonly kubectl: string;
  /** Where the report is written. */
  readonly report: string;
  readonly readOnly: boolean;
  /** The pool has settings of the machine: kubelet, user data, Gate. */
  readonly machine: boolean;
  /** The caller accepts the costs without a confirmation. */
  readonly confirmed: boolean;
}

/** The text to print instead of a run, or the settings. */
export type Command =
  | { readonly kind: 'run'; readonly settings: Settings }
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'refuse'; readonly errors: readonly string[] };

interface Variable<T> {
  readonly env: string;
  readonly what: string;
  readonly fallback?: string;
  /** Not required for a read-only run. */
  readonly unlessReadOnly?: true;
  /** Throws an Error with the expected value. */
  readonly parse: (text: string) => T;
}

const variables = {
  account: {
    env: 'E2E_ACCOUNT',
    what: 'The id of the AWS account, 12 digits. The run is refused when your credentials belong to another account.',
    parse: matching(/^\d{12}$/, '12 digits, such as 111122223333'),
  },
  clusterName: {
    env: 'CLUSTER_NAME',
    what: 'Name of the EKS cluster that your kubeconfig points to.',
    parse: matching(/^[0-9A-Za-z][\w-]{0,99}$/, 'the name of an EKS cluster'),
  },
  region: {
    env: 'AWS_REGION',
    what: 'AWS region of the cluster.',
    parse: matching(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a region, such as eu-west-1'),
  },
  nodeRole: {
    env: 'NODE_ROLE_NAME',
    what: 'Name or ARN of the IAM role of the nodes (docs/tutorials/first-pool.md, step 3).',
    unlessReadOnly: true,
    parse: matching(/^(arn:[\w-]+:iam::\d{12}:role\/)?[\w+=,.@/-]+$/, 'the name or the ARN of an IAM role'),
  },
  subnets: {
    env: 'SUBNETS',
    what: 'IDs of the subnets for the nodes, separated by commas.',
    unlessReadOnly: true,
    parse: (text: string) =>
      text.split(',').map(matching(/^subnet-[0-9a-f]+$/, 'subnet IDs, such as subnet-0a1,subnet-0b2')),
  },
  windowsVersion: {
    env: 'WINDOWS_VERSION',
    what: 'Windows version of the pool.',
    fallback: 'Windows2022',
    parse: oneOf('Windows2019', 'Windows2022', 'Windows2025'),
  },
  instanceType: {
    env: 'INSTANCE_TYPE',
    what: `Instance type of the nodes. The price of ${Object.keys(INSTANCE_PRICES).join(', ')} is known.`,
    fallback: 'm5.large',
    parse: matching(/^[a-z0-9-]+\.[a-z0-9-]+$/, 'an instance type, such as m5.large'),
  },
  operatorProfile: {
    env: 'E2E_OPERATOR_PROFILE',
    what: 'AWS profile with the role of the operator, so that its IAM policy is tested, too. Default: your own credentials.',
    fallback: '',
    parse: (text: string) => (text === '' ? undefined : text),
  },
  operatorFlags: {
    env: 'E2E_OPERATOR_FLAGS',
    what: 'More flags of the operator, separated by spaces.',
    fallback: '',
    parse: (text: string) => text.split(' ').filter((flag) => flag !== ''),
  },
  timeoutFactor: {
    env: 'E2E_TIMEOUT_FACTOR',
    what: 'Multiplies the time-out of each step: 2 where EKS is slow. At most 3.',
    fallback: '1',
    parse: factor,
  },
  kubectl: { env: 'KUBECTL', what: 'The kubectl to run.', fallback: 'kubectl', parse: (text: string) => text },
  report: {
    env: 'E2E_REPORT',
    what: 'Where the report is written.',
    fallback: 'build/e2e.json',
    parse: (text: string) => text,
  },
  readOnly: {
    env: 'E2E_READ_ONLY',
    what: '1: make nothing; answer what can be read. Like --read-only.',
    fallback: '',
    parse: yes,
  },
  machine: {
    env: 'E2E_MACHINE',
    what: '1: a pool with kubelet settings, user data, gate and launch template, instead of the life of a pool. Like --machine.',
    fallback: '',
    parse: yes,
  },
  confirmed: {
    env: 'E2E_CONFIRM',
    what: 'yes: accept the costs without being asked. Like --yes.',
    fallback: '',
    parse: yes,
  },
} satisfies { readonly [K in keyof Settings]: Variable<Settings[K]> };

const HELP = `Usage: make e2e, or node hack/e2e/main.ts [--read-only | --machine] [--yes] [--help]

Lives the life of one pool on a real EKS cluster, removes what it made, and writes what EKS answered to build/e2e.json.
It costs money: it prints an estimate and asks before it makes anything. See hack/e2e/README.md.

${Object.values(variables as Record<string, Variable<unknown>>)
  .map(({ env, what, fallback, unlessReadOnly }) => {
    const need = fallback === undefined ? (unlessReadOnly ? 'Required, but not with --read-only.' : 'Required.') : '';
    return `  ${env.padEnd(21)} ${what} ${need || (fallback ? `Default: ${fallback}.` : '')}`.trimEnd();
  })
  .join('\n')}
`;

const FLAG = { type: 'boolean' } as const;
const OPTIONS = { help: FLAG, 'read-only': FLAG, machine: FLAG, yes: FLAG };

/** Reads the arguments and the environment. Every error has the variable, its value, and the expected value. */
export function readCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  let flags: { help?: boolean; 'read-only'?: boolean; machine?: boolean; yes?: boolean };
  try {
    flags = parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    return { kind: 'refuse', errors: [`${error instanceof Error ? error.message : error} See --help.`] };
  }
  if (flags.help) return { kind: 'print', text: HELP };
  const given: NodeJS.ProcessEnv = {
    ...env,
    ...(flags['read-only'] && { E2E_READ_ONLY: '1' }),
    ...(flags.machine && { E2E_MACHINE: '1' }),
    ...(flags.yes && { E2E_CONFIRM: 'yes' }),
    // NODE_ROLE is an alternative name.
    ...(env.NODE_ROLE_NAME === undefined && env.NODE_ROLE !== undefined && { NODE_ROLE_NAME: env.NODE_ROLE }),
  };
  const errors: string[] = [];
  const isYes = (text = '') => /^(1|yes|true)$/.test(text);
  const readOnly = isYes(given.E2E_READ_ONLY);
  if (readOnly && isYes(given.E2E_MACHINE))
    errors.push('E2E_READ_ONLY and E2E_MACHINE are both set, and a read-only run creates no pool. Unset one of them.');
  const entries = Object.entries(variables as Record<string, Variable<unknown>>).map(([key, variable]) => [
    key,
    settingOf(variable, given[variable.env] ?? '', readOnly, errors),
  ]);
  if (errors.length > 0) return { kind: 'refuse', errors };
  // Each value has the type of its parser.
  return { kind: 'run', settings: Object.fromEntries(entries) as Settings };
}

function settingOf(
  { env, what, fallback, unlessReadOnly, parse }: Variable<unknown>,
  text: string,
  readOnly: boolean,
  errors: string[],
): unknown {
  if (text === '' && fallback === undefined) {
    if (!(readOnly && unlessReadOnly)) errors.push(`${env} is not set. ${what} Set it: export ${env}=...`);
    return env === 'SUBNETS' ? [] : '';
  }
  try {
    return parse(text === '' ? (fallback ?? '') : text);
  } catch (error) {
    errors.push(`${env} is '${text}': must be ${error instanceof Error ? error.message : error}.`);
    return undefined;
  }
}

function matching(pattern: RegExp, form: string): (text: string) => string {
  return (text) => {
    const trimmed = text.trim();
    if (!pattern.test(trimmed)) throw new Error(form);
    return trimmed;
  };
}

function oneOf<T extends string>(...values: readonly T[]): (text: string) => T {
  return (text) => {
    const found = values.find((value) => value === text);
    if (found === undefined) throw new Error(values.join(', or '));
    return found;
  };
}

/** With a greater factor a run could outlast the token of its operator: MAX_TOKEN_SECONDS in steps/operator.ts. */
function factor(text: string): number {
  const number = Number(text);
  if (!(number > 0 && number <= 3)) throw new Error('a number greater than 0, and at most 3');
  return number;
}

function yes(text: string): boolean {
  if (!/^(|0|1|yes|no|true|false)$/.test(text)) throw new Error('1 or yes, or unset');
  return /^(1|yes|true)$/.test(text);
}
