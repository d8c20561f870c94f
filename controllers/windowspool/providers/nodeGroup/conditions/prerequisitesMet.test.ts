import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import type { PrerequisitesRecord } from '../../../api/api.gen.ts';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../../../api/labels.ts';
import type { StepError } from '../../../model/stepError.ts';
import { planFor } from '../../../plan.ts';
import { known } from '../../../testing/answers.ts';
import {
  knownStatus,
  NOW,
  outcomeOf,
  type SpecChange,
  sampleCluster,
  sampleError,
  samplePool,
  sampleState,
  sampleTemplate,
  settings,
} from '../../../testing/fixtures.ts';
import { BY_TAGS } from '../../../testing/launchSettingsScenes.ts';
import { randomFacts, sampleFacts, unasked } from '../../../testing/prerequisites.ts';
import { randomObservedState } from '../../../testing/randomObservedState.ts';
import { unseen } from '../../../testing/sights.ts';
import {
  absent,
  group,
  NO_NODES_YET,
  NOT_CREATED,
  pool,
  stalled,
  stalledAndReady,
  truthTable,
  working,
} from '../../../testing/truthTable.ts';
import { factTable } from '../checks/factTable.ts';
import { nodeGroupConditions } from './nodeGroupConditions.ts';

const check = truthTable('conditions/PrerequisitesMet');

const CORDONED = known({ acceptsPods: false, cordoned: 'linux-1' });
const LINUX = sampleFacts({ linuxNode: CORDONED });
const A_LINUX_NODE = ['kubectl uncordon linux-1', 'checks.md#a-linux-node'];
const upgrading = { kind: 'seen' as const, cluster: sampleCluster({ status: 'UPDATING' }) };
const denied = (step: StepError['step']): StepError => ({
  at: NOW,
  step,
  error: sampleError('denied', { operation: 'TheCall' }),
});
const GRANTS = ['config/aws/iam-policy.json', 'config/rbac', 'checks.md#what-could-not-be-checked'];

const CLUSTER = 'arn:aws:eks:eu-west-1:111122223333:cluster/prod';
const OF_ROLE = [
  `on ${CLUSTER}`,
  'no policy of IAM role operator allows it',
  'config/aws/iam-policy.json',
  'security.md#in-aws',
] as const;
const ROLE = 'arn:aws:iam::111122223333:role/windows-nodes';
const GROUPS = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];
/** A node role that Linux nodes use too, which aws-auth maps for both operating systems. */
const WARNED = sampleFacts({
  accessEntry: known(undefined),
  roleMappings: known([{ roleArn: ROLE, groups: GROUPS }]),
  linuxRoles: known([{ group: 'linux', nodeRoleArn: ROLE }]),
});
const ignoring = (value: string) => ({
  ...pool,
  metadata: { ...pool.metadata, annotations: { [IGNORE_PREREQUISITES_ANNOTATION]: value } },
});

describe('PrerequisitesMet', () => {
  check([
    [
      'is False and stalls a pool without a node group',
      sampleState({ ...absent, prerequisites: LINUX }),
      {
        ...stalled('PrerequisitesMet', ['False NoLinuxNode', ...A_LINUX_NODE]),
        NodeGroupReady: ['False Pending', 'web', 'PrerequisitesMet'],
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'is False and does not stall a pool with a node group',
      sampleState({ prerequisites: LINUX }),
      { PrerequisitesMet: ['False NoLinuxNode', ...A_LINUX_NODE] },
    ],
    [
      'names the unmet prerequisites, the most important first',
      sampleState({ prerequisites: { ...LINUX, legacyController: known(true) } }),
      {
        PrerequisitesMet: ['False NoLinuxNode', 'NoLinuxNode', 'LegacyResourceController', 'status.checks'],
      },
    ],
    [
      'is Reconciling while an unmet prerequisite is transient',
      sampleState({ ...absent, cluster: upgrading, prerequisites: sampleFacts() }),
      {
        ...working('PrerequisitesMet', [
          'False ClusterNotActive',
          'prod',
          'UPDATING',
          'ACTIVE',
          'checks.md#cluster-status',
        ]),
        NodeGroupReady: ['False Pending', 'web', 'PrerequisitesMet'],
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'is Unknown when a permission to read is missing, which blocks nothing',
      sampleState({ ...absent, prerequisites: sampleFacts({ subnets: unasked(), legacyController: unasked() }) }),
      {
        ...working('NodeGroupReady', NOT_CREATED),
        PrerequisitesMet: [
          'Unknown AccessDenied',
          'deployments.apps',
          'kube-system/vpc-resource-controller',
          'ec2:DescribeSubnets',
          ...GRANTS,
        ],
        NodesVerified: NO_NODES_YET,
      },
    ],
    ...(
      [
        ['subnets', { subnets: [{ tags: { tier: 'windows' } }] }, 'ec2:DescribeSubnets'],
        ['securityGroups', { diskSizeGiB: undefined, ...BY_TAGS }, 'ec2:DescribeSecurityGroups'],
      ] as const
    ).map(
      ([fact, nodeGroup, right]) =>
        [
          `is Unknown when a permission to read ${fact} is missing, which blocks the creation if the spec selects them by tags`,
          sampleState({
            ...absent,
            pool: samplePool({ nodeGroup } as SpecChange),
            ownTemplate: { kind: 'absent' },
            prerequisites: sampleFacts({ [fact]: unasked() }),
          }),
          {
            ...working('NodeGroupReady', NOT_CREATED),
            PrerequisitesMet: ['Unknown AccessDenied', right, ...GRANTS],
            NodesVerified: NO_NODES_YET,
          },
        ] as const,
    ),
    [
      'names a missing permission together with an unmet prerequisite',
      sampleState({
        prerequisites: sampleFacts({
          linuxNode: CORDONED,
          subnets: unasked(),
          legacyController: unasked('throttled'),
        }),
      }),
      {
        PrerequisitesMet: [
          'False NoLinuxNode',
          ...A_LINUX_NODE,
          'DescribeAddon',
          'the call was throttled',
          'ec2:DescribeSubnets',
          'config/aws/iam-policy.json',
        ],
      },
    ],
    [
      'does not name a transient error together with an unmet prerequisite',
      sampleState({
        prerequisites: sampleFacts({ linuxNode: CORDONED, subnets: unasked('throttled') }),
      }),
      { PrerequisitesMet: ['False NoLinuxNode', ...A_LINUX_NODE] },
    ],
    [
      'names an unmet prerequisite before a denied read',
      sampleState({ prerequisites: LINUX, errors: [denied('describeScalingGroups')] }),
      {
        PrerequisitesMet: [
          'False NoLinuxNode',
          ...A_LINUX_NODE,
          'TheCall',
          'the call was denied',
          'config/aws/iam-policy.json',
        ],
      },
    ],
    [
      'names an unmet prerequisite after a denied write',
      sampleState({ prerequisites: LINUX, errors: [denied('correctScalingTags')] }),
      {
        PrerequisitesMet: [
          'False AccessDenied',
          'TheCall',
          'the call was denied',
          'config/aws/iam-policy.json',
          ...A_LINUX_NODE,
        ],
        Reconciling: [
          'True AccessDenied',
          'TheCall',
          'the call was denied',
          'config/aws/iam-policy.json',
          ...A_LINUX_NODE,
        ],
      },
    ],
    [
      'asks for the spelling of a node role that the operator may not pass, before its policy is widened',
      sampleState({
        errors: [
          {
            at: NOW,
            step: 'createNodeGroup',
            error: sampleError('denied', { operation: 'CreateNodegroup', action: 'iam:PassRole' }),
          },
        ],
      }),
      {
        NodeGroupReady: ['Unknown AccessDenied', 'CreateNodegroup', 'web', 'See PrerequisitesMet.'],
        PrerequisitesMet: ['False AccessDenied', 'nodeGroup.nodeRole is the role that you meant', 'PassNodeRole'],
        Reconciling: ['True AccessDenied', 'nodeGroup.nodeRole is the role that you meant', 'PassNodeRole'],
      },
    ],
    ...(
      [
        ['a policy', { resource: CLUSTER, policy: 'identity-based policy' }, OF_ROLE],
        ['a policy that no message names', { resource: '*' }, OF_ROLE.slice(1)],
        [
          'a statement that denies it',
          { policy: 'identity-based policy', isExplicit: true },
          ['a policy denies it to IAM role operator', 'Change that policy'],
        ],
        [
          'a boundary',
          { resource: CLUSTER, policy: 'permissions boundary' },
          ['no permissions boundary allows it to IAM role operator', 'Change that policy'],
        ],
        [
          'a policy of the organization',
          { policy: 'service control policy', isExplicit: true },
          ['a service control policy denies it to IAM role operator', 'Change that policy'],
        ],
      ] as const
    ).map(
      ([what, denial, args]) =>
        [
          `says in few words what IAM denies: ${what}`,
          sampleState({
            errors: [
              {
                at: NOW,
                step: 'describeScalingGroups',
                error: sampleError('denied', {
                  operation: 'CreateNodegroup',
                  action: 'eks:CreateNodegroup',
                  denial: { principal: 'role operator', ...denial },
                }),
              },
            ],
          }),
          { PrerequisitesMet: ['Unknown AccessDenied', 'AWS denied eks:CreateNodegroup', ...args] },
        ] as const,
    ),
    [
      'is named by Ready while a node group is created, if it can keep nodes from being verified',
      sampleState({
        ...group({ status: 'CREATING' }),
        nodes: [],
        prerequisites: sampleFacts({
          accessEntry: known(undefined),
          roleMappings: known([{ roleArn: ROLE, groups: GROUPS.slice(0, 2) }]),
        }),
      }),
      {
        ...working('NodeGroupReady', ['False Creating', 'web', '1 warning', 'See PrerequisitesMet.']),
        PrerequisitesMet: ['True MetWithWarnings', 'prod', 'run no pods', 'aws eks create-access-entry'],
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'names the permissions for default tags, if a call that sets them is denied',
      sampleState({
        settings: { ...settings, defaultTags: { team: 'shop' } },
        errors: [
          {
            at: NOW,
            step: 'createLaunchTemplate',
            error: sampleError('denied', { operation: 'CreateLaunchTemplate', action: 'ec2:CreateTags' }),
          },
        ],
      }),
      {
        PrerequisitesMet: [
          'False AccessDenied',
          'ec2:CreateTags',
          '--default-tags',
          'launch-templates.md#default-tags',
        ],
        Reconciling: ['True AccessDenied', 'ec2:CreateTags', '--default-tags', 'launch-templates.md#default-tags'],
      },
    ],
    [
      'is Unknown while AWS calls fail',
      sampleState({ prerequisites: sampleFacts({ accessEntry: unasked('throttled') }) }),
      {
        PrerequisitesMet: ['Unknown NotChecked', 'DescribeAddon', 'the call was throttled'],
      },
    ],
    [
      'is True with a warning, which blocks nothing',
      sampleState({ ...absent, prerequisites: WARNED }),
      {
        ...working('NodeGroupReady', NOT_CREATED),
        PrerequisitesMet: [
          'True MetWithWarnings',
          'prod',
          'NodeRoleShared',
          'arn:aws:iam::111122223333:role/windows-nodes',
          'linux',
          'kube-system/aws-auth',
          'system:bootstrappers',
        ],
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'includes a warning together with an unmet prerequisite',
      sampleState({ prerequisites: { ...WARNED, linuxNode: CORDONED } }),
      {
        PrerequisitesMet: ['False NoLinuxNode', ...A_LINUX_NODE, '1 warning: NodeRoleShared', 'status.checks'],
      },
    ],
    [
      'includes a warning together with a prerequisite that could not be checked',
      sampleState({ prerequisites: { ...WARNED, legacyController: unasked('throttled') } }),
      {
        PrerequisitesMet: [
          'Unknown NotChecked',
          'DescribeAddon',
          'the call was throttled',
          'NodeRoleShared',
          'arn:aws:iam::111122223333:role/windows-nodes',
          'linux',
          'kube-system/aws-auth',
        ],
      },
    ],
    [
      'is True when the only unmet prerequisite is ignored, and names it',
      sampleState({ ...absent, pool: ignoring('NoLinuxNode'), prerequisites: LINUX }),
      {
        ...working('NodeGroupReady', NOT_CREATED),
        PrerequisitesMet: [
          'True PrerequisitesIgnored',
          'prod',
          'winpool.dev/ignore-prerequisites',
          'NoLinuxNode',
          ...A_LINUX_NODE,
        ],
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'is False for an unmet prerequisite that is not ignored, and names the ignored one',
      sampleState({
        pool: ignoring(' NoLinuxNode ,WindowsIPAMDisabled'),
        prerequisites: { ...LINUX, legacyController: known(true) },
      }),
      {
        PrerequisitesMet: [
          'False LegacyResourceController',
          'kube-system/vpc-resource-controller',
          'kubectl -n kube-system',
          'checks.md#legacy-controllers',
          'winpool.dev/ignore-prerequisites',
          'NoLinuxNode',
          'status.checks',
        ],
      },
    ],
    [
      'lists an ignored warning as ignored',
      sampleState({ pool: ignoring('NodeRoleShared'), prerequisites: WARNED }),
      {
        PrerequisitesMet: [
          'True PrerequisitesIgnored',
          'prod',
          'winpool.dev/ignore-prerequisites',
          'NodeRoleShared',
          'arn:aws:iam::111122223333:role/windows-nodes',
          'linux',
          'kube-system/aws-auth',
        ],
      },
    ],
    [
      'does not report an annotation that ignores nothing',
      sampleState({ pool: ignoring('NodeRoleShared'), prerequisites: sampleFacts() }),
      {},
    ],
    [
      'names a misspelt reason together with the unmet prerequisite',
      sampleState({ pool: ignoring('NoLinuxNodes'), prerequisites: LINUX }),
      {
        PrerequisitesMet: ['False NoLinuxNode', ...A_LINUX_NODE, 'winpool.dev/ignore-prerequisites', 'NoLinuxNodes'],
      },
    ],
    [
      'warns about an annotation that names a reason that cannot be ignored',
      sampleState({ pool: ignoring('ClusterMismatch'), prerequisites: sampleFacts() }),
      {
        PrerequisitesMet: ['True MetWithWarnings', 'prod', 'winpool.dev/ignore-prerequisites', 'ClusterMismatch'],
      },
    ],
    [
      'does not report prerequisites when another owner has the node group',
      sampleState({ ...group({ tags: {} }), prerequisites: LINUX }),
      {
        ...stalledAndReady('NodeGroupReady', [
          'False NotOwned',
          'web',
          'winpool.dev/pool',
          'nodeGroup.name',
          'winpool.dev/adoptable-by=web',
        ]),
        NodesVerified: ['False Pending', 'web'],
      },
    ],
  ]);
});

describe('the record of PrerequisitesMet', () => {
  const RESULTS: Readonly<Record<string, PrerequisitesRecord['result']>> = {
    'False AccessDenied': 'Denied',
    'Unknown AccessDenied': 'ReadDenied',
    'Unknown AWSUnavailable': 'Unavailable',
    'True MetWithWarnings': 'Remarked',
    'True PrerequisitesIgnored': 'Remarked',
    'True Met': undefined,
    'False ClusterMismatch': undefined,
    'False ClusterNotFound': undefined,
  };

  it('is that of its status and reason: all others are of a prerequisite that is not met or not checked', () => {
    const stated = randomObservedState.map((s) => nodeGroupConditions(outcomeOf(s)).PrerequisitesMet);
    fc.assert(
      fc.property(stated, ({ status, reason, result, isEarlier }) => {
        const known = `${status} ${reason}`;
        if (!isEarlier) assert.equal(result, known in RESULTS ? RESULTS[known] : 'NotMet', known);
      }),
    );
  });
});

describe('a denied DescribeNodegroup', () => {
  const message = (of: typeof pool) =>
    nodeGroupConditions(outcomeOf(sampleState({ pool: of, group: unseen('denied') }))).PrerequisitesMet.message;
  const hint = /EKS may also deny this for a node group that does not exist yet\. The statement \w+ covers both\.$/;

  it('names the policy statement for missing node groups, until the group was read once', () => {
    assert.match(message(samplePool()), hint);
    assert.doesNotMatch(message(pool), hint);
  });

  it('names a statement of the IAM policy in config', async () => {
    const [, sid = 'none'] = /The statement (\w+) /.exec(message(samplePool())) ?? [];
    const policy = await readFile(new URL('../../../../../config/aws/iam-policy.json', import.meta.url), 'utf8');
    assert.ok(policy.includes(`"Sid": "${sid}"`), sid);
  });
});

describe('a pool without a node group', () => {
  const steps = (prerequisites: typeof LINUX) =>
    planFor(sampleState({ pool, ...absent, prerequisites })).steps.map(({ kind }) => kind);

  it('gets no group while a prerequisite is not met', () => assert.deepEqual(steps(LINUX), []));

  it('gets a group when the unmet prerequisite is ignored', () => {
    const { steps } = planFor(sampleState({ pool: ignoring('NoLinuxNode'), ...absent, prerequisites: LINUX }));
    assert.ok(steps.some(({ kind }) => kind === 'createNodeGroup'));
  });

  it('gets a group when any single fact cannot be read, whatever the error', () => {
    for (const fact of Object.keys(factTable))
      for (const kind of ['denied', 'throttled', 'unavailable', 'gone', 'busy', 'conflict', 'unknown'] as const) {
        const prerequisites = { ...sampleFacts(), launchTemplate: known(sampleTemplate('7')), [fact]: unasked(kind) };
        const withTemplate = samplePool(
          { nodeGroup: { diskSizeGiB: undefined, launchTemplate: { name: 'windows', version: '$Latest' } } } as never,
          { status: knownStatus() },
        );
        for (const each of [pool, withTemplate]) {
          const { steps } = planFor(sampleState({ pool: each, ...absent, prerequisites }));
          assert.ok(
            steps.some(({ kind }) => kind === 'createNodeGroup'),
            `${fact} ${kind}`,
          );
        }
      }
  });

  it('gets a group if and only if no prerequisite is known to be unmet', () => {
    fc.assert(
      fc.property(randomFacts, (facts) => {
        const { status } = nodeGroupConditions(
          outcomeOf(sampleState({ pool, ...absent, prerequisites: facts })),
        ).PrerequisitesMet;
        return steps(facts).includes('createNodeGroup') === (status !== 'False');
      }),
    );
  });
});
