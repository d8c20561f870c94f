/**
 * The commands of the AWS CLI and their flags. The CLI derives both from the service models, like the clients of the SDK, so they are read
 * from the clients: an operation is a command, a member of its input is a flag.
 */
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

/** A flag of a command. */
export interface Flag {
  /** Its names without the dashes: two for a boolean. */
  readonly names: readonly string[];
  readonly required: boolean;
  /** The member of the operation's input; undefined for a flag that the CLI itself adds. */
  readonly member?: Member;
}

/** A command of a service. */
export interface CliCommand {
  /** The structure that holds the members of its flags. */
  readonly structure: string;
  readonly flags: readonly Flag[];
  /** The output that `--query` reads; undefined if the CLI prints something else. */
  readonly output?: Shape | undefined;
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

/** Commands without an operation, with their required flags. Source: awscli/customizations/ecr.py and eks/. */
const CUSTOM: Readonly<Record<string, readonly string[]>> = {
  'ecr get-login-password': [],
  'eks get-token': ['cluster-name'],
  'eks update-kubeconfig': ['name'],
};

/** Flags whose names are not those of the members. Source: awscli/customizations/argrename.py */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'eks create-cluster': { version: 'kubernetes-version' },
  'eks create-nodegroup': { version: 'kubernetes-version' },
  'eks update-cluster-version': { version: 'kubernetes-version' },
  'eks update-nodegroup-version': { version: 'kubernetes-version' },
};

/** The command with that name, such as `describe-cluster`; undefined if the service does not have it, or if there is no such service. */
export function commandOf(service: string, name: string): CliCommand | undefined {
  const [packageName, exports] = PACKAGES[service] ?? [];
  if (packageName === undefined || exports === undefined) return undefined;
  const enums = (structure: string, member: string) => readEnum(packageName, exports, structure, member);
  const custom = CUSTOM[`${service} ${name}`];
  if (custom) return { structure: '', flags: custom.map((flag) => ({ names: [flag], required: true })), enums };
  const found = readOperationNames(exports).find((operation) => kebab(operation) === name);
  const operation = found && readOperation(exports, found);
  if (!operation) return undefined;
  const { input, output } = operation;
  const renamed = RENAMED[`${service} ${name}`] ?? {};
  const flags = input.kind === 'structure' ? [...input.members.values()].map((member) => flagOf(member, renamed)) : [];
  if (exports[`paginate${found}`] !== undefined) flags.push({ names: ['max-items'], required: false });
  return { structure: input.kind === 'structure' ? input.name : '', flags, output, enums };
}

function flagOf(member: Member, renamed: Readonly<Record<string, string>>): Flag {
  const own = kebab(member.name);
  const name = renamed[own] ?? own;
  const shape = member.shape();
  const isBoolean = shape.kind === 'boolean' || isTopLevelBoolean(shape);
  return { names: isBoolean ? [name, `no-${name}`] : [name], required: member.required, member };
}

/** Whether the shape is a structure of one boolean `Value`, which the CLI also takes as a flag without a value: awscli/customizations/toplevelbool.py */
export function isTopLevelBoolean(shape: Shape): boolean {
  return (
    shape.kind === 'structure' && shape.members.size === 1 && shape.members.get('Value')?.shape().kind === 'boolean'
  );
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
