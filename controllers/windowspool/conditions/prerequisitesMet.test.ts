import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { IGNORE_PREREQUISITES_ANNOTATION } from '../labels.ts';
import { planFor } from '../plan.ts';
import { nodeGroupConditions } from '../providers/eks/conditions.ts';
import { PERMISSIONS } from '../providers/eks/prerequisites/facts.ts';
import { known } from '../testing/answers.ts';
import {
  knownStatus,
  NOW,
  type SpecChange,
  sampleCluster,
  sampleError,
  samplePool,
  sampleState,
  sampleTemplate,
} from '../testing/fixtures.ts';
import { BY_TAGS } from '../testing/machineScenes.ts';
import { randomFacts, sampleFacts, unasked } from '../testing/prerequisites.ts';
import { unseen } from '../testing/sights.ts';
import {
  absent,
  check,
  group,
  NO_NODES_YET,
  NOT_CREATED,
  pool,
  stalled,
  stalledAndReady,
  working,
} from '../testing/truthTable.ts';

const LINUX = sampleFacts({ linuxNode: known(false) });
const NO_LINUX =
  'NoLinuxNode: The cluster has no Linux node that accepts pods, and CoreDNS runs only on Linux. Add a Linux node group or a Fargate profile for kube-system, or uncordon a node (kubectl uncordon NODE). See https://docs.example/prerequisites.md#a-linux-node.';
const WAITS = 'False Pending: Node group web is created when its prerequisites are met. See PrerequisitesMet.';
const upgrading = { kind: 'seen' as const, cluster: sampleCluster({ status: 'UPDATING' }) };
const denied = (step: string) => ({ at: NOW, step, error: sampleError('denied', { operation: 'TheCall' }) });
const DENIED =
  "AWS denied TheCall: the call was denied. Grant this permission to the operator's IAM role. config/aws/iam-policy.json lists all permissions that it needs.";
const DENIED_AND_MISSING = `AccessDenied: ${DENIED} ${NO_LINUX.replace('NoLinuxNode: ', '')}`;
const GRANT =
  'Grant the permissions in config/aws/iam-policy.json and config/rbac. See https://docs.example/prerequisites.md#what-could-not-be-checked.';
const NOT_BLOCKING = 'This does not block the pool.';
const NO_SUBNETS =
  'the subnets (missing permission ec2:DescribeSubnets), the zones of the instance types (missing permission ec2:DescribeSubnets), free addresses (missing permission ec2:DescribeSubnets)';

const MET = 'All prerequisites in EKS cluster prod are met.';
const ROLE = 'arn:aws:iam::111122223333:role/windows-nodes';
const GROUPS = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];
/** A node role that Linux nodes use too, which aws-auth maps for both operating systems. */
const WARNED = sampleFacts({
  accessEntry: known(undefined),
  roleMappings: known([{ roleArn: ROLE, groups: GROUPS }]),
  linuxRoles: known([{ group: 'linux', nodeRoleArn: ROLE }]),
});
const SHARED = `NodeRoleShared: Node role ${ROLE} is also the role of Linux node group linux. This works while ConfigMap kube-system/aws-auth maps the role to the groups of both operating systems (system:bootstrappers, system:nodes and eks:kube-proxy-windows) and the role has no access entry. Prefer a role for Windows nodes only. See https://docs.example/prerequisites.md#node-role.`;
const ignoring = (value: string) => ({
  ...pool,
  metadata: { ...pool.metadata, annotations: { [IGNORE_PREREQUISITES_ANNOTATION]: value } },
});

describe('PrerequisitesMet', () => {
  check([
    [
      'is False and stalls a pool without a node group',
      sampleState({ ...absent, prerequisites: LINUX }),
      { ...stalled('PrerequisitesMet', `False ${NO_LINUX}`), NodeGroupReady: WAITS, NodesVerified: NO_NODES_YET },
    ],
    [
      'is False and does not stall a pool with a node group',
      sampleState({ prerequisites: LINUX }),
      { PrerequisitesMet: `False ${NO_LINUX}` },
    ],
    [
      'names the unmet prerequisites, the most important first',
      sampleState({ prerequisites: { ...LINUX, legacyController: known(true) } }),
      {
        PrerequisitesMet:
          'False NoLinuxNode: 2 prerequisites not met: NoLinuxNode and LegacyResourceController. See status.prerequisites.',
      },
    ],
    [
      'is Reconciling while an unmet prerequisite is transient',
      sampleState({ ...absent, cluster: upgrading, prerequisites: sampleFacts() }),
      {
        ...working(
          'PrerequisitesMet',
          'False ClusterNotActive: EKS cluster prod is UPDATING. EKS creates node groups only in an ACTIVE cluster. The operator waits. See https://docs.example/prerequisites.md#cluster-status.',
        ),
        NodeGroupReady: WAITS,
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'is Unknown when a permission to read is missing, which blocks nothing',
      sampleState({ ...absent, prerequisites: sampleFacts({ subnets: unasked(), legacyController: unasked() }) }),
      {
        ...working('NodeGroupReady', NOT_CREATED),
        PrerequisitesMet: `Unknown AccessDenied: 4 prerequisites could not be checked: the legacy VPC resource controller (missing permission get deployments.apps kube-system/vpc-resource-controller), ${NO_SUBNETS}. ${NOT_BLOCKING} ${GRANT}`,
        NodesVerified: NO_NODES_YET,
      },
    ],
    ...(
      [
        [
          'subnets',
          { subnets: [{ tags: { tier: 'windows' } }] },
          `3 prerequisites could not be checked: ${NO_SUBNETS}`,
        ],
        [
          'securityGroups',
          { diskSizeGiB: undefined, ...BY_TAGS },
          '1 prerequisite could not be checked: the security groups (missing permission ec2:DescribeSecurityGroups)',
        ],
      ] as const
    ).map(
      ([fact, nodeGroup, unknown]) =>
        [
          `is Unknown when a permission to read ${fact} is missing, which blocks the creation if the spec selects them by tags`,
          sampleState({
            ...absent,
            pool: samplePool({ nodeGroup } as SpecChange),
            machineTemplate: { kind: 'absent' },
            prerequisites: sampleFacts({ [fact]: unasked() }),
          }),
          {
            ...working('NodeGroupReady', NOT_CREATED),
            PrerequisitesMet: `Unknown AccessDenied: ${unknown}. The node group is created when EC2 shows what has the tags in the spec. ${GRANT}`,
            NodesVerified: NO_NODES_YET,
          },
        ] as const,
    ),
    [
      'names a missing permission together with an unmet prerequisite',
      sampleState({
        prerequisites: sampleFacts({
          linuxNode: known(false),
          subnets: unasked(),
          legacyController: unasked('throttled'),
        }),
      }),
      {
        PrerequisitesMet: `False ${NO_LINUX} 5 prerequisites could not be checked: the legacy VPC resource controller (DescribeAddon failed: the call was throttled), ${NO_SUBNETS}, unused subnets (missing permission ec2:DescribeSubnets). ${NOT_BLOCKING} ${GRANT}`,
      },
    ],
    [
      'does not name a transient error together with an unmet prerequisite',
      sampleState({ prerequisites: sampleFacts({ linuxNode: known(false), subnets: unasked('throttled') }) }),
      { PrerequisitesMet: `False ${NO_LINUX}` },
    ],
    [
      'names an unmet prerequisite before a denied read',
      sampleState({ prerequisites: LINUX, errors: [denied('describeScalingGroups')] }),
      { PrerequisitesMet: `False ${NO_LINUX} ${DENIED}` },
    ],
    [
      'names an unmet prerequisite after a denied write',
      sampleState({ prerequisites: LINUX, errors: [denied('correctScalingTags')] }),
      {
        PrerequisitesMet: `False ${DENIED_AND_MISSING}`,
        Reconciling: `True ${DENIED_AND_MISSING}`,
      },
    ],
    [
      'is Unknown while AWS calls fail',
      sampleState({ prerequisites: sampleFacts({ accessEntry: unasked('throttled') }) }),
      {
        PrerequisitesMet:
          'Unknown NotChecked: 1 prerequisite could not be checked: the access of the node role (DescribeAddon failed: the call was throttled). This does not block the pool. The operator retries.',
      },
    ],
    [
      'is True with a warning, which blocks nothing',
      sampleState({ ...absent, prerequisites: WARNED }),
      {
        ...working('NodeGroupReady', NOT_CREATED),
        PrerequisitesMet: `True MetWithWarnings: ${MET} 1 warning: ${SHARED}`,
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'includes a warning together with an unmet prerequisite',
      sampleState({ prerequisites: { ...WARNED, linuxNode: known(false) } }),
      { PrerequisitesMet: `False ${NO_LINUX} 1 warning: ${SHARED}` },
    ],
    [
      'includes a warning together with a prerequisite that could not be checked',
      sampleState({ prerequisites: { ...WARNED, legacyController: unasked('throttled') } }),
      {
        PrerequisitesMet: `Unknown NotChecked: 1 prerequisite could not be checked: the legacy VPC resource controller (DescribeAddon failed: the call was throttled). ${NOT_BLOCKING} The operator retries. 1 warning: ${SHARED}`,
      },
    ],
    [
      'is True when the only unmet prerequisite is ignored, and names it',
      sampleState({ ...absent, pool: ignoring('NoLinuxNode'), prerequisites: LINUX }),
      {
        ...working('NodeGroupReady', NOT_CREATED),
        PrerequisitesMet: `True PrerequisitesIgnored: ${MET} 1 prerequisite ignored by annotation winpool.dev/ignore-prerequisites: ${NO_LINUX}`,
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
        PrerequisitesMet: `False LegacyResourceController: Deployment kube-system/vpc-resource-controller exists. It is obsolete, and disables the VPC resource controller in the control plane. Delete it (kubectl -n kube-system delete deployment vpc-resource-controller vpc-admission-webhook --ignore-not-found). See https://docs.example/prerequisites.md#legacy-controllers. 1 prerequisite ignored by annotation winpool.dev/ignore-prerequisites: ${NO_LINUX}`,
      },
    ],
    [
      'lists an ignored warning as ignored',
      sampleState({ pool: ignoring('NodeRoleShared'), prerequisites: WARNED }),
      {
        PrerequisitesMet: `True PrerequisitesIgnored: ${MET} 1 prerequisite ignored by annotation winpool.dev/ignore-prerequisites: ${SHARED}`,
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
        PrerequisitesMet: `False ${NO_LINUX} Annotation winpool.dev/ignore-prerequisites: unknown prerequisite NoLinuxNodes (did you mean NoLinuxNode?). See https://docs.example/prerequisites.md for valid names.`,
      },
    ],
    [
      'warns about an annotation that names a reason that cannot be ignored',
      sampleState({ pool: ignoring('ClusterMismatch'), prerequisites: sampleFacts() }),
      {
        PrerequisitesMet: `True MetWithWarnings: ${MET} Annotation winpool.dev/ignore-prerequisites: ClusterMismatch cannot be ignored.`,
      },
    ],
    [
      'does not report prerequisites when another owner has the node group',
      sampleState({ ...group({ tags: {} }), prerequisites: LINUX }),
      {
        ...stalledAndReady(
          'NodeGroupReady',
          'False NotOwned: Node group web exists but is not managed by this pool (tag winpool.dev/pool missing), so the operator does not change it. Set nodeGroup.name to another name, or let this pool adopt the node group: https://docs.example/adoption.md.',
        ),
        NodesVerified:
          'False Pending: The nodes of node group web are not counted, because it is not managed by this pool.',
      },
    ],
  ]);
});

describe('a denied DescribeNodegroup', () => {
  const message = (of: typeof pool) =>
    nodeGroupConditions(sampleState({ pool: of, group: unseen('denied') })).PrerequisitesMet.message;
  const hint = /EKS may also deny this for a node group that does not exist yet\. The statement \w+ covers both\.$/;

  it('names the policy statement for missing node groups, until the group was read once', () => {
    assert.match(message(samplePool()), hint);
    assert.doesNotMatch(message(pool), hint);
  });

  it('names a statement of the IAM policy in config', async () => {
    const [, sid = 'none'] = /The statement (\w+) /.exec(message(samplePool())) ?? [];
    const policy = await readFile(new URL('../../../config/aws/iam-policy.json', import.meta.url), 'utf8');
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
    for (const fact of Object.keys(PERMISSIONS))
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
        const { status } = nodeGroupConditions(sampleState({ pool, ...absent, prerequisites: facts })).PrerequisitesMet;
        return steps(facts).includes('createNodeGroup') === (status !== 'False');
      }),
    );
  });
});
