import { AwsFault } from './awsFault.ts';
import { launchConfigOf } from './ec2/launchConfig.ts';
import type { Faults } from './faults.ts';
import type { CallFaults } from './wire/callFaults.ts';
import type { Front } from './wire/front.ts';
import type { Admin } from './wire/http.ts';

type Body = Readonly<Record<string, unknown>>;

const TARGET = 'count:number operation group';
const DEFECT =
  'kernelVersion build revision:number neverJoins:boolean noPodAddresses:boolean controllerWarning notReady:boolean reservedMiB:number operatingSystem';

/** The fields of each fault, `!` if it is required, and their types other than string. Each has the name of a method, which checks the values. */
const faultFields = {
  throttle: `${TARGET} retryAfterSeconds:number`,
  quota: 'perSecond!:number',
  serverError: `${TARGET} status:number`,
  error: `${TARGET} name! message! status:number`,
  reset: `${TARGET} after:boolean`,
  hang: `${TARGET} after:boolean`,
  html: `${TARGET} status:number`,
  empty: `${TARGET} status:number`,
  clear: '',
  staleReads: 'seconds!:number',
  createFailure: 'group issues!:list afterSeconds:number',
  updateFailure: 'group errors!:list degraded:boolean status',
  deleteFailure: 'group issues!:list',
  healthIssue: 'group! issues!:list',
  nextNode: `group ${DEFECT}`,
  patchKernel: `node! ${DEFECT}`,
  restartNode: 'node!',
  nodeReady: 'node! ready!:boolean',
  terminateInstance: 'node!',
  warmPool: 'group! size!:number',
  blockDrain: 'group',
  release: 'date! public:boolean containerd revisions:object minors:list amiTypes:list',
  image:
    'id! name owner amiType releaseVersion platform architecture state rootVolumeGiB:number createdAt deprecatedAt exists:boolean',
  parameter: 'name! value',
  launchTemplate: 'name! data:object tags:object defaultVersion:number deleteVersion:number exists:boolean',
  upgradeCluster: 'version!',
  rollbackCluster: 'force:boolean',
  removeAction: 'action!',
  restoreAction: 'action',
  edit: 'group! labels:object taints:list scalingConfig:object tags:object',
  consoleCreate:
    'nodegroupName! subnets!:list nodeRole! amiType instanceTypes:list scalingConfig:object labels:object taints:list tags:object',
  consoleDelete: 'group!',
  cluster:
    'exists:boolean status version caData ipFamily authenticationMode autoMode:boolean runningUpdate:string|null',
  addon: 'name! exists:boolean status addonVersion configurationValues serviceAccountRoleArn',
  addonFailure: 'code! message!',
  clusterRolePolicy: 'name attached!:boolean',
  recreateRole: 'name',
  accessEntry: 'principalArn type exists:boolean',
  subnet: 'id! freeAddresses:number tags:object',
  offering: 'instanceType! zones:list',
  securityGroup: 'id! inbound:list outbound:list tags:object exists:boolean',
  volumeEncryption: 'enabled!:boolean',
  speed: 'speed!:number',
} as const satisfies Readonly<Record<Exclude<keyof Faults, 'calls'> | Exclude<keyof CallFaults, 'next'>, string>>;

/** The paths below /_admin/: POST a fault's name with its fields as JSON, GET calls, GET state, POST reset-calls. */
export function adminOf(front: Front, faults: Faults): Admin {
  return (method, path, body) => {
    front.state.timeline.settle();
    try {
      if (method === 'GET' && path === 'calls') return { status: 200, value: front.log.entries() };
      if (method === 'GET' && path === 'state') return { status: 200, value: stateOf(front) };
      if (method !== 'POST') throw new RangeError(`no GET ${path}; there are calls and state`);
      if (path !== 'reset-calls') {
        return { status: 200, value: runCommand(faults, path, body === '' ? {} : JSON.parse(body)) ?? {} };
      }
      front.log.reset();
      return { status: 200, value: {} };
    } catch (error) {
      if (error instanceof RangeError || error instanceof SyntaxError || error instanceof AwsFault) {
        return { status: 400, value: { message: error.message } };
      }
      throw error;
    }
  };
}

function runCommand(faults: Faults, name: string, body: Body): unknown {
  if (!Object.hasOwn(faultFields, name))
    throw new RangeError(`no fault ${name}; there are ${Object.keys(faultFields).join(', ')}`);
  const fields = fieldsOf(faultFields[name as keyof typeof faultFields]);
  const missing = fields.find((field) => field.isRequired && body[field.name] === undefined);
  if (missing !== undefined) throw new RangeError(`${name} needs the field ${missing.name}`);
  for (const [key, value] of Object.entries(body)) {
    const field = fields.find((one) => one.name === key);
    if (field === undefined)
      throw new RangeError(`${name} has no field ${key}; it has ${fields.map((one) => one.name).join(', ')}`);
    if (!field.types.split('|').includes(typeOf(value)))
      throw new RangeError(`${name}.${key} is a ${typeOf(value)}; it must be a ${field.types}`);
  }
  const owner = name in faults.calls ? faults.calls : faults;
  return (Reflect.get(owner, name) as (given: Body) => unknown).call(owner, body);
}

const fieldsOf = (text: string) =>
  [...text.matchAll(/(\w+)(!?)(?::(\S+))?/g)].map(([, name = '', required, types = 'string']) => ({
    name,
    isRequired: required === '!',
    types,
  }));

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

const stateOf = ({ state }: Front): unknown => ({
  cluster: state.clusterState,
  nodegroups: [...state.groups.values()].map((group) => {
    return { ...group.nodegroup, imageId: launchConfigOf(state, group).imageId };
  }),
  updates: [...state.updates.values()],
  instances: [...state.instances.values()],
  subnets: state.subnets,
  securityGroups: Object.fromEntries(state.securityGroups),
  releases: state.releases,
  launchTemplates: [...state.launchTemplates.values()],
  addons: [...state.addons.values()],
  accessEntries: [...state.accessEntries.values()],
});
