/**
 * The commands of the AWS CLI and their flags. The CLI derives both from the service models, like the clients of the SDK, so they are read
 * from the clients: an operation is a command, a member of its input is a flag.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import * as autoscaling from '@aws-sdk/client-auto-scaling';
import * as cloudtrail from '@aws-sdk/client-cloudtrail';
import * as ec2 from '@aws-sdk/client-ec2';
import * as ecr from '@aws-sdk/client-ecr';
import * as eks from '@aws-sdk/client-eks';
import * as iam from '@aws-sdk/client-iam';
import * as ssm from '@aws-sdk/client-ssm';
import * as sts from '@aws-sdk/client-sts';
import type { EnumLookup } from '../../test/fakes/sdkModel/departures.ts';
import { readEnum } from '../../test/fakes/sdkModel/enums.ts';
import {
  type Member,
  readOperation,
  readOperationNames,
  type SdkExports,
  type Shape,
} from '../../test/fakes/sdkModel/schema.ts';

const require = createRequire(import.meta.url);

/** A flag of a command. */
export interface Flag {
  /** Without the dashes. */
  readonly name: string;
  readonly required: boolean;
  /** The member of the operation's input; undefined for a flag that the CLI itself adds. */
  readonly member: Member | undefined;
}

/** A command of a service. */
export interface CliCommand {
  /** The structure that holds the members of its flags. */
  readonly structure: string;
  readonly flags: readonly Flag[];
  /** The output that `--query` reads; undefined if the CLI prints something else. */
  readonly output: Shape | undefined;
}

/** A service of the AWS CLI. */
export interface CliService {
  readonly commands: ReadonlyMap<string, CliCommand>;
  readonly enums: EnumLookup;
}

/** The services in pages and messages, by their names in the CLI. Another one needs its client as a development dependency. */
const PACKAGES: Readonly<Record<string, readonly [packageName: string, exports: SdkExports]>> = {
  autoscaling: ['client-auto-scaling', { ...autoscaling }],
  cloudtrail: ['client-cloudtrail', { ...cloudtrail }],
  ec2: ['client-ec2', { ...ec2 }],
  ecr: ['client-ecr', { ...ecr }],
  eks: ['client-eks', { ...eks }],
  iam: ['client-iam', { ...iam }],
  ssm: ['client-ssm', { ...ssm }],
  sts: ['client-sts', { ...sts }],
};

/** The names of the services. */
export const SERVICES: readonly string[] = Object.keys(PACKAGES);

/** Flags whose name differs from that of their member, because `--version` is a flag of the CLI itself: awscli/customizations/argrename.py. */
const RENAMED: ReadonlyMap<string, string> = new Map(
  ['create-cluster', 'update-cluster-version', 'create-nodegroup', 'update-nodegroup-version'].map((command) => [
    `eks ${command} version`,
    'kubernetes-version',
  ]),
);

/** Commands without an operation, with their flags; `!` marks a required one. Source: awscli/customizations/ecr.py and eks/. */
const CUSTOM: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  ecr: { 'get-login-password': [] },
  eks: {
    'get-token': ['cluster-name', 'role-arn', 'cluster-id'],
    'update-kubeconfig': ['name!', 'kubeconfig', 'role-arn', 'dry-run', 'verbose', 'alias', 'user-alias'],
  },
};

const known = new Map<string, CliService>();

/** The service with that name; undefined if it is not in SERVICES. */
export function serviceOf(name: string): CliService | undefined {
  const seen = known.get(name);
  const found = PACKAGES[name];
  if (seen !== undefined || found === undefined) return seen;
  const [packageName, exports] = found;
  const commands = new Map<string, CliCommand>();
  for (const operation of readOperationNames(exports))
    commands.set(kebab(operation), commandOf(name, exports, operation));
  for (const [command, flags] of Object.entries(CUSTOM[name] ?? {})) commands.set(command, customCommand(flags));
  for (const [waiter, operation] of waitersOf(packageName, exports))
    commands.set(`wait ${waiter}`, { ...commandOf(name, exports, operation), output: undefined });
  const service = {
    commands,
    enums: (structure: string, member: string) => readEnum(packageName, exports, structure, member),
  };
  known.set(name, service);
  return service;
}

function commandOf(service: string, exports: SdkExports, name: string): CliCommand {
  const operation = readOperation(exports, name);
  const members = operation?.input.kind === 'structure' ? [...operation.input.members.values()] : [];
  const paged = exports[`paginate${name}`] !== undefined;
  return {
    structure: operation?.input.kind === 'structure' ? operation.input.name : '',
    flags: [
      ...members.map((member) => ({
        name: RENAMED.get(`${service} ${kebab(name)} ${kebab(member.name)}`) ?? kebab(member.name),
        required: member.required,
        member,
      })),
      ...(paged ? ['max-items', 'page-size', 'starting-token'].map(ownFlag) : []),
    ],
    output: operation?.output,
  };
}

const ownFlag = (name: string): Flag => ({
  name: name.replace('!', ''),
  required: name.endsWith('!'),
  member: undefined,
});

const customCommand = (flags: readonly string[]): CliCommand => ({
  structure: '',
  flags: flags.map(ownFlag),
  output: undefined,
});

/** `[nodegroup-active, DescribeNodegroup]`: the declarations of waiters contain the operation that they poll. */
function waitersOf(packageName: string, exports: SdkExports): [string, string][] {
  const entry = require.resolve(`@aws-sdk/${packageName}`);
  const folder = path.join(path.dirname(entry), '..', 'dist-types', 'waiters');
  return Object.keys(exports)
    .filter((name) => name.startsWith('waitUntil'))
    .map((name) => {
      const waiter = name.slice('waitUntil'.length);
      const text = readFileSync(path.join(folder, `waitFor${waiter}.d.ts`), 'utf8');
      return [kebab(waiter), /(\w+)CommandInput/.exec(text)?.[1] ?? ''];
    });
}

/** The CLI's name for an operation or a member: `xform_name` of botocore/__init__.py. */
export function kebab(name: string): string {
  return name
    .replace(/[A-Z]{2,}s$/, (plural) => `-${plural.toLowerCase()}`)
    .replace(/(.)([A-Z][a-z]+)/g, '$1-$2')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('--', '-')
    .toLowerCase();
}
