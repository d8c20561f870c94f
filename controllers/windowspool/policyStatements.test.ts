/** The statements of the IAM policies, one by one: what the operator reports when an administrator leaves one out, and what still works. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { POOL_KEY, REPLACE_ANNOTATION } from './api/labels.ts';
import type { Deps } from './reconcile.ts';
import { FakeWorld } from './testing/fakeWorld.ts';
import { type SpecChange, sampleGroup, samplePool, settings } from './testing/fixtures.ts';
import { AMI_1 } from './testing/launchSettingsScenes.ts';
import { conditionOf, fresh, ready, readyWorld, until } from './testing/life.ts';
import { annotate, populated } from './testing/nodeLife.ts';

const POLICIES = ['iam-policy', 'launch-templates', 'own-launch-templates', 'custom-amis', 'windows-ipam'];
const { nodeGroup } = fresh().spec;

/** What an operator does in a world, and how it shows that it is done. */
interface Task {
  readonly world: FakeWorld;
  readonly deps: Deps;
  readonly isDone: () => boolean;
}

function creation(world: FakeWorld, spec: SpecChange = {}, deps = world.start()): Task {
  world.apply(fresh(spec));
  return { world, deps, isDone: () => ready(world) === 'True' };
}

const LAUNCH_SETTINGS = { instanceTags: { team: 'web' }, securityGroups: [{ tags: { tier: 'windows' } }] };

function launchSettingsCreation(): Task {
  const world = new FakeWorld();
  world.cloud.faults.securityGroup({ id: 'sg-0a000000', tags: { tier: 'windows' } });
  return creation(world, { nodeGroup: { ...nodeGroup, diskSizeGiB: undefined, ...LAUNCH_SETTINGS } as never });
}

const tasks = {
  creation: async () => creation(new FakeWorld()),

  firstCreation: async () => creation(new FakeWorld({ switches: { nodegroupServiceRole: 'missing' } })),

  change: async () => {
    const { world, deps } = await readyWorld();
    const pool = world.pools.get('web') ?? assert.fail();
    world.apply({ ...pool, spec: { ...pool.spec, labels: { tier: 'db' } } });
    return { world, deps, isDone: () => world.groups.get('web')?.labels.tier === 'db' };
  },

  replacement: async () => {
    const { world, deps } = await populated();
    world.pods = [];
    annotate(world, 'a', { [REPLACE_ANNOTATION]: 'true' });
    return { world, deps, isDone: () => world.ended.includes('i-a') };
  },

  adoption: async () => {
    const world = new FakeWorld();
    world.makeGroup(sampleGroup(samplePool(), { tags: { 'winpool.dev/adoptable-by': 'web' } }));
    world.apply(fresh({ nodeGroup: { ...nodeGroup, adoption: 'IfUnowned' } as never }));
    return { world, deps: world.start(), isDone: () => world.groups.get('web')?.tags[POOL_KEY] === 'web' };
  },

  accessEntry: async () => {
    const world = new FakeWorld({ switches: { accessEntryPassRole: 'ec2.amazonaws.com' } });
    world.cloud.faults.accessEntry({ exists: false });
    return creation(world, { nodeGroup: { ...nodeGroup, accessEntryManagement: 'Operator' } as never });
  },

  launchTemplate: async () => {
    const world = new FakeWorld();
    const TagSpecifications = ['instance', 'volume', 'network-interface', 'spot-instances-request'].map(
      (ResourceType) => ({ ResourceType, Tags: [{ Key: 'team', Value: 'web' }] }),
    );
    const SecurityGroupIds = [...world.cloud.state.securityGroups.keys()];
    const data = { TagSpecifications, KeyName: 'support', SecurityGroupIds };
    world.cloud.faults.launchTemplate({ name: 'windows', data });
    const launchTemplate = { name: 'windows', version: '$Latest' };
    return creation(world, { nodeGroup: { ...nodeGroup, diskSizeGiB: undefined, launchTemplate } as never });
  },

  launchSettings: async () => launchSettingsCreation(),

  launchSettingsChange: async () => {
    const { world, deps, isDone } = launchSettingsCreation();
    await until(world, deps, isDone, 'a pool that is Ready');
    const pool = world.pools.get('web') ?? assert.fail();
    const disk = { sizeGiB: 100, type: 'gp3', encrypted: true } as const;
    world.apply({
      ...pool,
      spec: { ...pool.spec, nodeGroup: { ...nodeGroup, diskSizeGiB: undefined, ...LAUNCH_SETTINGS, disk } } as never,
    });
    return { world, deps, isDone: () => world.groups.get('web')?.launchTemplate?.version === '2' };
  },

  customAmi: async () => {
    const world = new FakeWorld();
    world.cloud.faults.image({ id: AMI_1.ami.id });
    return creation(world, { nodeGroup: { ...nodeGroup, diskSizeGiB: undefined, ...AMI_1 } as never });
  },

  imageParameter: async () => {
    const world = new FakeWorld();
    const ssmParameter = '/windowspool/golden';
    world.cloud.faults.image({ id: AMI_1.ami.id });
    world.cloud.faults.parameter({ name: ssmParameter, value: AMI_1.ami.id });
    return creation(world, { nodeGroup: { ...nodeGroup, diskSizeGiB: undefined, ami: { ssmParameter } } as never });
  },

  windowsIpam: async () => {
    const world = new FakeWorld();
    world.kubeSystem.cniConfig = { 'enable-windows-ipam': 'false' };
    const serviceAccountRoleArn = 'arn:aws:iam::111122223333:role/vpc-cni';
    world.cloud.faults.addon({ name: 'vpc-cni', serviceAccountRoleArn });
    return creation(world, {}, { ...world.start(), settings: { ...settings, enableWindowsIpam: true } });
  },
} satisfies Record<string, () => Promise<Task>>;
type TaskName = keyof typeof tasks;

const DENIED = 'PrerequisitesMet False AccessDenied';
const UNKNOWN = 'PrerequisitesMet Unknown AccessDenied';

/** For each statement: a task that needs it, the condition that reports that it is missing, and a call that is denied. */
const statements: Readonly<Record<string, readonly [task: TaskName, condition: string, operation: string]>> = {
  ReadCluster: ['creation', DENIED, 'DescribeCluster'],
  ReadNodeGroupsAndTheirUpdates: ['creation', DENIED, 'DescribeNodegroup'],
  ReadEc2: ['creation', DENIED, 'CreateNodegroup'],
  ReadForAdvice: ['creation', 'PrerequisitesMet True Met', 'GetEbsEncryptionByDefault'],
  ReadScalingGroups: ['creation', UNKNOWN, 'DescribeAutoScalingGroups'],
  CreateNodeGroups: ['creation', DENIED, 'CreateNodegroup'],
  TagNewNodeGroups: ['creation', DENIED, 'CreateNodegroup'],
  ChangeOwnNodeGroups: ['change', DENIED, 'UpdateNodegroupConfig'],
  PassNodeRole: ['creation', DENIED, 'CreateNodegroup'],
  CheckNodeRole: ['creation', DENIED, 'CreateNodegroup'],
  FindServiceRole: ['creation', DENIED, 'CreateNodegroup'],
  CreateServiceRole: ['firstCreation', DENIED, 'CreateNodegroup'],
  ReadVpcCniAddOn: ['windowsIpam', 'PrerequisitesMet False WindowsIPAMDisabled', 'DescribeAddon'],
  ReadClusterRolePolicies: ['creation', UNKNOWN, 'ListAttachedRolePolicies'],
  FindNewestRelease: ['creation', 'UpToDate True MatchesSpec', 'GetParameter'],
  TerminateInstances: ['replacement', DENIED, 'TerminateInstanceInAutoScalingGroup'],
  TagScalingGroups: ['creation', DENIED, 'CreateOrUpdateTags'],
  AdoptNodeGroups: ['adoption', DENIED, 'TagResource'],
  ReadAccessEntries: ['creation', UNKNOWN, 'DescribeAccessEntry'],
  CreateAccessEntries: ['accessEntry', DENIED, 'CreateAccessEntry'],
  PassNodeRoleToAccessEntries: ['accessEntry', DENIED, 'CreateAccessEntry'],
  LaunchFromTaggedTemplates: ['launchTemplate', DENIED, 'CreateNodegroup'],
  LaunchWhatTemplatesName: ['launchTemplate', DENIED, 'CreateNodegroup'],
  LaunchWhatEksNames: ['launchTemplate', DENIED, 'CreateNodegroup'],
  LaunchImagesOfAmazon: ['launchTemplate', DENIED, 'CreateNodegroup'],
  TagWhatTemplatesTag: ['launchTemplate', DENIED, 'CreateNodegroup'],
  ReadOwnTemplates: ['launchSettings', DENIED, 'DescribeLaunchTemplates'],
  CreateOwnTemplates: ['launchSettings', DENIED, 'CreateLaunchTemplate'],
  TagNewTemplates: ['launchSettings', DENIED, 'CreateLaunchTemplate'],
  ChangeOwnTemplates: ['launchSettingsChange', DENIED, 'CreateLaunchTemplateVersion'],
  LaunchOwnImages: ['customAmi', DENIED, 'CreateNodegroup'],
  ReadImageParameters: ['imageParameter', UNKNOWN, 'GetParameter'],
  EnableWindowsIpamInTheVpcCniAddOn: ['windowsIpam', DENIED, 'UpdateAddon'],
  PassRoleOfVpcCniAddOn: ['windowsIpam', DENIED, 'UpdateAddon'],
};

/** Each call that was denied, once. */
const denied = ({ cloud }: FakeWorld): string[] => [
  ...new Set(
    cloud.front.log
      .entries()
      .filter(
        ({ result, message = '' }) =>
          /AccessDenied|Unauthorized/.test(result) || /not authorized|missing permissions/i.test(message),
      )
      .map(({ operation }) => operation),
  ),
];

const shows = (world: FakeWorld, condition: string) => {
  const [type = '', ...state] = condition.split(' ');
  return conditionOf(world, type)?.startsWith(`${state.join(' ')}: `);
};
const isDenied = (world: FakeWorld) => /^\w+ AccessDenied/.test(conditionOf(world, 'PrerequisitesMet') ?? '');

/** The condition that a row of the page names, or the one that it names for all other statements. */
function reportedIn(row: string): string {
  const [, type = 'PrerequisitesMet', status, reason] =
    /(?:Reported as|Not reported:) (?:`(\w+)` )?(\w+), `(\w+)`/.exec(row) ?? [];
  return status === undefined ? DENIED : `${type} ${status} ${reason}`;
}

/** The pools with a custom AMI tag no instances. */
const NOT_FOR_CUSTOM_AMIS = ['LaunchImagesOfAmazon', 'TagWhatTemplatesTag'];
const CUSTOM_AMI = ['customAmi', 'imageParameter'] as const;

describe('a statement of the IAM policies', () => {
  it('is in this table, and in that of docs/concepts/security.md with the same condition', async () => {
    const texts = await Promise.all(
      POLICIES.map((name) => readFile(new URL(`../../config/aws/${name}.json`, import.meta.url), 'utf8')),
    );
    const sids = texts.flatMap((text) => JSON.parse(text).Statement.map(({ Sid }: { Sid: string }) => Sid));
    assert.deepEqual(Object.keys(statements), sids);
    const page = await readFile(new URL('../../docs/concepts/security.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `([A-Z]\w+)` \|(.*)$/gm)];
    assert.deepEqual(
      rows.map(([, sid, row = '']) => [sid, reportedIn(row)]),
      Object.entries(statements).map(([sid, [, condition]]) => [sid, condition]),
    );
  });

  for (const [sid, [name, condition, operation]] of Object.entries(statements)) {
    it(`${sid} is reported when it is left out, and the operator continues when it is back`, async () => {
      const { world, deps, isDone } = await tasks[name]();
      const { policy } = world.cloud.front;
      policy.remove(sid);
      const isReported = () => denied(world).includes(operation) && shows(world, condition) === true;
      await until(world, deps, isReported, `${condition} without ${sid}`);
      policy.restore();
      await until(world, deps, () => isDone() && !isDenied(world), `the end of the task with ${sid}`);
      assert.deepEqual(policy.refusals(), []);
    });
  }

  const all = Object.keys(tasks) as TaskName[];
  /** The statements of features that not every pool uses, the tasks of the feature, and all calls that are denied without it. */
  const optional: readonly (readonly [sid: string, of: readonly TaskName[], denials: readonly string[]])[] = [
    ['TagScalingGroups', all, ['CreateOrUpdateTags', 'DeleteTags']],
    ['AdoptNodeGroups', ['adoption'], ['TagResource']],
    ['CreateAccessEntries', ['accessEntry'], ['CreateAccessEntry']],
    ['PassNodeRoleToAccessEntries', ['accessEntry'], ['CreateAccessEntry']],
    ['ReadForAdvice', all, ['GetEbsEncryptionByDefault']],
    ['ReadAccessEntries', all, ['DescribeAccessEntry']],
    ['ReadClusterRolePolicies', all, ['ListAttachedRolePolicies']],
    ...Object.keys(statements)
      .filter((sid) => statements[sid]?.[0] === 'launchTemplate')
      .map(
        (sid) =>
          [
            sid,
            [
              'launchTemplate',
              'launchSettings',
              'launchSettingsChange',
              ...(NOT_FOR_CUSTOM_AMIS.includes(sid) ? [] : CUSTOM_AMI),
            ],
            ['CreateNodegroup', 'UpdateNodegroupVersion'],
          ] as const,
      ),
    ['ReadOwnTemplates', ['launchSettings', 'launchSettingsChange', ...CUSTOM_AMI], ['DescribeLaunchTemplates']],
    ['CreateOwnTemplates', ['launchSettings', ...CUSTOM_AMI], ['CreateLaunchTemplate']],
    ['TagNewTemplates', ['launchSettings', ...CUSTOM_AMI], ['CreateLaunchTemplate']],
    ['ChangeOwnTemplates', ['launchSettingsChange'], ['CreateLaunchTemplateVersion']],
    ['LaunchOwnImages', CUSTOM_AMI, ['CreateNodegroup']],
    ['ReadImageParameters', ['imageParameter'], ['GetParameter']],
    ['EnableWindowsIpamInTheVpcCniAddOn', ['windowsIpam'], ['UpdateAddon']],
    ['PassRoleOfVpcCniAddOn', ['windowsIpam'], ['UpdateAddon']],
  ];
  for (const [sid, of, denials] of optional) {
    it(`${sid} is needed for its feature only`, async () => {
      for (const name of all) {
        const { world, deps, isDone } = await tasks[name]();
        world.cloud.front.policy.remove(sid);
        const isOfFeature = of.includes(name) && !(of === all);
        await until(world, deps, () => (isOfFeature ? isDenied(world) : isDone()), `the result of ${name}`);
        const others = denied(world).filter((operation) => !(of.includes(name) && denials.includes(operation)));
        assert.deepEqual(others, [], name);
      }
    });
  }

  it('LaunchFromTaggedTemplates excludes a template until its owner tags it for this cluster', async () => {
    const { world, deps, isDone } = await tasks.launchTemplate();
    world.cloud.faults.launchTemplate({ name: 'windows', tags: { 'winpool.dev/usable-by': 'other' } });
    await until(world, deps, () => shows(world, DENIED) === true, 'the denial');
    assert.match(
      conditionOf(world, 'PrerequisitesMet') ?? '',
      /Grant ec2:RunInstances to the operator's IAM role\. config\/aws\/launch-templates\.json lists all permissions that it needs\. It allows only launch templates with the tag winpool\.dev\/usable-by=prod\. See /,
    );
    world.cloud.faults.launchTemplate({ name: 'windows', tags: { 'winpool.dev/usable-by': 'prod' } });
    await until(world, deps, isDone, 'a pool that is Ready');
  });
});
