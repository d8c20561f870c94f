import { AwsFault } from './awsFault.ts';
import { launchConfigOf } from './ec2/launchConfig.ts';
import type { Faults } from './faults.ts';
import type { Front } from './wire/front.ts';
import type { Admin } from './wire/http.ts';

type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'list' | 'null';
type Fields = Readonly<Record<string, FieldType | readonly FieldType[]>>;
type Body = Readonly<Record<string, unknown>>;

interface Command {
  readonly fields: Fields;
  readonly required?: readonly string[];
  // The fields are checked before; what the method expects of them is said by its own type.
  readonly run: (faults: Faults, body: never) => unknown;
}

const target: Fields = { count: 'number', operation: 'string', group: 'string' };
const defect: Fields = {
  kernelVersion: 'string',
  build: 'string',
  revision: 'number',
  neverJoins: 'boolean',
  noPodAddresses: 'boolean',
  controllerWarning: 'string',
  notReady: 'boolean',
  reservedMiB: 'number',
  operatingSystem: 'string',
};
const commands: Readonly<Record<string, Command>> = {
  throttle: { fields: { ...target, retryAfterSeconds: 'number' }, run: (faults, body) => faults.calls.throttle(body) },
  quota: { fields: { perSecond: 'number' }, required: ['perSecond'], run: (faults, body) => faults.calls.quota(body) },
  serverError: { fields: { ...target, status: 'number' }, run: (faults, body) => faults.calls.serverError(body) },
  error: {
    fields: { ...target, name: 'string', message: 'string', status: 'number' },
    required: ['name', 'message'],
    run: (faults, body) => faults.calls.error(body),
  },
  reset: { fields: { ...target, after: 'boolean' }, run: (faults, body) => faults.calls.reset(body) },
  hang: { fields: { ...target, after: 'boolean' }, run: (faults, body) => faults.calls.hang(body) },
  html: { fields: { ...target, status: 'number' }, run: (faults, body) => faults.calls.html(body) },
  empty: { fields: { ...target, status: 'number' }, run: (faults, body) => faults.calls.empty(body) },
  staleReads: { fields: { seconds: 'number' }, required: ['seconds'], run: (faults, body) => faults.staleReads(body) },
  clear: { fields: {}, run: (faults) => faults.calls.clear() },
  createFailure: {
    fields: { group: 'string', issues: 'list', afterSeconds: 'number' },
    required: ['issues'],
    run: (faults, body) => faults.createFailure(body),
  },
  updateFailure: {
    fields: { group: 'string', errors: 'list', degraded: 'boolean', status: 'string' },
    required: ['errors'],
    run: (faults, body) => faults.updateFailure(body),
  },
  deleteFailure: {
    fields: { group: 'string', issues: 'list' },
    required: ['issues'],
    run: (faults, body) => faults.deleteFailure(body),
  },
  healthIssue: {
    fields: { group: 'string', issues: 'list' },
    required: ['group', 'issues'],
    run: (faults, body) => faults.healthIssue(body),
  },
  nextNode: { fields: { group: 'string', ...defect }, run: (faults, body) => faults.nextNode(body) },
  patchKernel: {
    fields: { node: 'string', ...defect },
    required: ['node'],
    run: (faults, body) => faults.patchKernel(body),
  },
  restartNode: { fields: { node: 'string' }, required: ['node'], run: (faults, body) => faults.restartNode(body) },
  nodeReady: {
    fields: { node: 'string', ready: 'boolean' },
    required: ['node', 'ready'],
    run: (faults, body) => faults.nodeReady(body),
  },
  terminateInstance: {
    fields: { node: 'string' },
    required: ['node'],
    run: (faults, body) => faults.terminateInstance(body),
  },
  warmPool: {
    fields: { group: 'string', size: 'number' },
    required: ['group', 'size'],
    run: (faults, body) => faults.warmPool(body),
  },
  blockDrain: { fields: { group: 'string' }, run: (faults, body) => faults.blockDrain(body) },
  release: {
    fields: {
      date: 'string',
      public: 'boolean',
      containerd: 'string',
      revisions: 'object',
      minors: 'list',
      amiTypes: 'list',
    },
    required: ['date'],
    run: (faults, body) => faults.release(body),
  },
  image: {
    fields: {
      id: 'string',
      name: 'string',
      owner: 'string',
      amiType: 'string',
      releaseVersion: 'string',
      platform: 'string',
      architecture: 'string',
      state: 'string',
      createdAt: 'string',
      deprecatedAt: 'string',
      exists: 'boolean',
    },
    required: ['id'],
    run: (faults, body) => faults.image(body),
  },
  parameter: {
    fields: { name: 'string', value: 'string' },
    required: ['name'],
    run: (faults, body) => faults.parameter(body),
  },
  launchTemplate: {
    fields: {
      name: 'string',
      data: 'object',
      tags: 'object',
      defaultVersion: 'number',
      deleteVersion: 'number',
      exists: 'boolean',
    },
    required: ['name'],
    run: (faults, body) => faults.launchTemplate(body),
  },
  upgradeCluster: {
    fields: { version: 'string' },
    required: ['version'],
    run: (faults, body) => faults.upgradeCluster(body),
  },
  removeAction: {
    fields: { action: 'string' },
    required: ['action'],
    run: (faults, body) => faults.removeAction(body),
  },
  restoreAction: { fields: { action: 'string' }, run: (faults, body) => faults.restoreAction(body) },
  edit: {
    fields: { group: 'string', labels: 'object', taints: 'list', scalingConfig: 'object', tags: 'object' },
    required: ['group'],
    run: (faults, body) => faults.edit(body),
  },
  consoleCreate: {
    fields: {
      nodegroupName: 'string',
      subnets: 'list',
      nodeRole: 'string',
      amiType: 'string',
      instanceTypes: 'list',
      scalingConfig: 'object',
      labels: 'object',
      taints: 'list',
      tags: 'object',
    },
    required: ['nodegroupName', 'subnets', 'nodeRole'],
    run: (faults, body) => faults.consoleCreate(body),
  },
  consoleDelete: {
    fields: { group: 'string' },
    required: ['group'],
    run: (faults, body) => faults.consoleDelete(body),
  },
  cluster: {
    fields: {
      exists: 'boolean',
      status: 'string',
      version: 'string',
      caData: 'string',
      ipFamily: 'string',
      authenticationMode: 'string',
      autoMode: 'boolean',
      runningUpdate: ['string', 'null'],
    },
    run: (faults, body) => faults.cluster(body),
  },
  addon: {
    fields: {
      name: 'string',
      exists: 'boolean',
      status: 'string',
      addonVersion: 'string',
      configurationValues: 'string',
      serviceAccountRoleArn: 'string',
    },
    required: ['name'],
    run: (faults, body) => faults.addon(body),
  },
  addonFailure: {
    fields: { code: 'string', message: 'string' },
    required: ['code', 'message'],
    run: (faults, body) => faults.addonFailure(body),
  },
  clusterRolePolicy: {
    fields: { name: 'string', attached: 'boolean' },
    required: ['attached'],
    run: (faults, body) => faults.clusterRolePolicy(body),
  },
  accessEntry: {
    fields: { principalArn: 'string', type: 'string', exists: 'boolean' },
    run: (faults, body) => faults.accessEntry(body),
  },
  subnet: {
    fields: { id: 'string', freeAddresses: 'number', tags: 'object' },
    required: ['id'],
    run: (faults, body) => faults.subnet(body),
  },
  offering: {
    fields: { instanceType: 'string', zones: 'list' },
    required: ['instanceType'],
    run: (faults, body) => faults.offering(body),
  },
  securityGroup: {
    fields: { id: 'string', inbound: 'list', outbound: 'list', tags: 'object', exists: 'boolean' },
    required: ['id'],
    run: (faults, body) => faults.securityGroup(body),
  },
  volumeEncryption: {
    fields: { enabled: 'boolean' },
    required: ['enabled'],
    run: (faults, body) => faults.volumeEncryption(body),
  },
  speed: { fields: { speed: 'number' }, required: ['speed'], run: (faults, body) => faults.speed(body) },
};

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
  const command = commands[name];
  if (command === undefined) throw new RangeError(`no fault ${name}; there are ${Object.keys(commands).join(', ')}`);
  const missing = command.required?.find((field) => body[field] === undefined);
  if (missing !== undefined) throw new RangeError(`${name} needs the field ${missing}`);
  for (const [field, value] of Object.entries(body)) {
    const types = command.fields[field];
    if (types === undefined)
      throw new RangeError(`${name} has no field ${field}; it has ${Object.keys(command.fields).join(', ')}`);
    const found = typeOf(value);
    if (![types].flat().includes(found as FieldType))
      throw new RangeError(`${name}.${field} is a ${found}; it must be a ${String(types)}`);
  }
  return command.run(faults, body as never);
}

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
