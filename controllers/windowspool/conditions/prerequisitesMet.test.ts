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
  sampleCluster,
  sampleError,
  samplePool,
  sampleState,
  sampleTemplate,
} from '../testing/fixtures.ts';
import { randomFacts, sampleFacts, unasked } from '../testing/prerequisites.ts';
import { unseen } from '../testing/sights.ts';
import { absent, check, group, NO_NODES_YET, NOT_CREATED, pool, stalled, working } from '../testing/truthTable.ts';

const LINUX = sampleFacts({ linuxNode: known(false) });
const NO_LINUX =
  'NoLinuxNode: The cluster has no Linux node that takes pods, and CoreDNS runs nowhere else. Add a Linux node group or a Fargate profile for kube-system, or uncordon a node. See docs/prerequisites.md#a-linux-node.';
const WAITS = 'False Pending: Node group web is created when its prerequisites are met: see PrerequisitesMet.';
const upgrading = { kind: 'seen' as const, cluster: sampleCluster({ status: 'UPDATING' }) };
const denied = (step: string) => ({ at: NOW, step, error: sampleError('denied', { operation: 'TheCall' }) });
const DENIED =
  "AWS denied TheCall: the call was denied. Grant the right to the operator's role; config/aws/iam-policy.json has all of them.";
const DENIED_AND_MISSING = `AccessDenied: ${DENIED} ${NO_LINUX.replace('NoLinuxNode: ', '')}`;
const right =
  'Grant the rights: config/aws/iam-policy.json and config/rbac have all of them. See docs/prerequisites.md#what-could-not-be-checked.';

const MET = 'The operator runs in EKS cluster prod and may do what the pool needs.';
const ROLE = 'arn:aws:iam::111122223333:role/windows-nodes';
const GROUPS = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];
/** A node role that Linux nodes have, too, which aws-auth lets in as both. */
const WARNED = sampleFacts({
  accessEntry: known(undefined),
  roleMappings: known([{ roleArn: ROLE, groups: GROUPS }]),
  linuxRoles: known([{ group: 'linux', nodeRoleArn: ROLE }]),
});
const SHARED = `NodeRoleShared: Node role ${ROLE} is also the role of Linux node group linux. This works while ConfigMap kube-system/aws-auth gives the role the groups of both (system:bootstrappers, system:nodes and eks:kube-proxy-windows) and the role has no access entry. Prefer an IAM role for Windows nodes only. See docs/prerequisites.md#node-role.`;
const ignoring = (value: string) => ({
  ...pool,
  metadata: { ...pool.metadata, annotations: { [IGNORE_PREREQUISITES_ANNOTATION]: value } },
});

describe('PrerequisitesMet', () => {
  check([
    [
      'is False and stops a pool without a node group',
      sampleState({ ...absent, prerequisites: LINUX }),
      { ...stalled('PrerequisitesMet', `False ${NO_LINUX}`), NodeGroupReady: WAITS, NodesVerified: NO_NODES_YET },
    ],
    [
      'is False and lets a node group live',
      sampleState({ prerequisites: LINUX }),
      { PrerequisitesMet: `False ${NO_LINUX}` },
    ],
    [
      'numbers what is missing, the most important first',
      sampleState({ prerequisites: { ...LINUX, legacyController: known(true) } }),
      {
        PrerequisitesMet:
          'False NoLinuxNode: 2 prerequisites are not met. (1) The cluster has no Linux node that takes pods, and CoreDNS runs nowhere else. Add a Linux node group or a Fargate profile for kube-system, or uncordon a node. See docs/prerequisites.md#a-linux-node. (2) Deployment kube-system/vpc-resource-controller is there: it is the old way to Windows addresses and disables the one in EKS. Delete it, and the Deployment vpc-admission-webhook with it. See docs/prerequisites.md#legacy-controllers.',
      },
    ],
    [
      'waits for what passes by itself',
      sampleState({ ...absent, cluster: upgrading, prerequisites: sampleFacts() }),
      {
        ...working(
          'PrerequisitesMet',
          'False ClusterNotActive: EKS cluster prod is UPDATING, and EKS makes no node group before it is ACTIVE. Wait. See docs/prerequisites.md#cluster-status.',
        ),
        NodeGroupReady: WAITS,
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'is Unknown for want of a right, which keeps nothing back',
      sampleState({ ...absent, prerequisites: sampleFacts({ subnets: unasked(), legacyController: unasked() }) }),
      {
        ...working('NodeGroupReady', NOT_CREATED),
        PrerequisitesMet: `Unknown AccessDenied: 4 prerequisites could not be checked: the old VPC resource controller (it needs get deployments.apps kube-system/vpc-resource-controller), the subnets (it needs ec2:DescribeSubnets), the zones of the instance types (it needs ec2:DescribeSubnets), free addresses (it needs ec2:DescribeSubnets). Nothing waits for it. ${right}`,
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'names a right that is wanting beside what is missing',
      sampleState({
        prerequisites: sampleFacts({
          linuxNode: known(false),
          subnets: unasked(),
          legacyController: unasked('throttled'),
        }),
      }),
      {
        PrerequisitesMet: `False ${NO_LINUX} 4 prerequisites could not be checked: the old VPC resource controller (DescribeAddon failed: the call was throttled), the subnets (it needs ec2:DescribeSubnets), the zones of the instance types (it needs ec2:DescribeSubnets), free addresses (it needs ec2:DescribeSubnets). Nothing waits for it. ${right}`,
      },
    ],
    [
      'is quiet about passing trouble beside what is missing',
      sampleState({ prerequisites: sampleFacts({ linuxNode: known(false), subnets: unasked('throttled') }) }),
      { PrerequisitesMet: `False ${NO_LINUX}` },
    ],
    [
      'says what is missing also where a look was denied',
      sampleState({ prerequisites: LINUX, errors: [denied('describeScalingGroups')] }),
      { PrerequisitesMet: `False ${NO_LINUX} ${DENIED}` },
    ],
    [
      'says what is missing also where a change was denied',
      sampleState({ prerequisites: LINUX, errors: [denied('correctScalingTags')] }),
      {
        PrerequisitesMet: `False ${DENIED_AND_MISSING}`,
        Reconciling: `True ${DENIED_AND_MISSING}`,
      },
    ],
    [
      'is Unknown while AWS fails',
      sampleState({ prerequisites: sampleFacts({ accessEntry: unasked('throttled') }) }),
      {
        PrerequisitesMet:
          'Unknown NotChecked: 1 prerequisite could not be checked: the access of the node role (DescribeAddon failed: the call was throttled). Nothing waits for it. It is tried again.',
      },
    ],
    [
      'is True with a warning, which holds nothing back',
      sampleState({ ...absent, prerequisites: WARNED }),
      {
        ...working('NodeGroupReady', NOT_CREATED),
        PrerequisitesMet: `True MetWithWarnings: ${MET} 1 warning, blocking nothing: ${SHARED}`,
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'names a warning by its reason beside what is missing',
      sampleState({ prerequisites: { ...WARNED, linuxNode: known(false) } }),
      { PrerequisitesMet: `False ${NO_LINUX} 1 warning, blocking nothing: NodeRoleShared.` },
    ],
    [
      'has a warning also while something could not be checked',
      sampleState({ prerequisites: { ...WARNED, legacyController: unasked('throttled') } }),
      {
        PrerequisitesMet: `Unknown NotChecked: 1 prerequisite could not be checked: the old VPC resource controller (DescribeAddon failed: the call was throttled). Nothing waits for it. It is tried again. 1 warning, blocking nothing: ${SHARED}`,
      },
    ],
    [
      'is True where the only failure is ignored, and says which and why',
      sampleState({ ...absent, pool: ignoring('NoLinuxNode'), prerequisites: LINUX }),
      {
        ...working('NodeGroupReady', NOT_CREATED),
        PrerequisitesMet: `True PrerequisitesIgnored: ${MET} 1 prerequisite ignored by annotation winpool.dev/ignore-prerequisites: ${NO_LINUX}`,
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'is False for the failure that is not ignored, and names the other',
      sampleState({
        pool: ignoring(' NoLinuxNode ,WindowsIPAMDisabled'),
        prerequisites: { ...LINUX, legacyController: known(true) },
      }),
      {
        PrerequisitesMet:
          'False LegacyResourceController: Deployment kube-system/vpc-resource-controller is there: it is the old way to Windows addresses and disables the one in EKS. Delete it, and the Deployment vpc-admission-webhook with it. See docs/prerequisites.md#legacy-controllers. Ignored by annotation winpool.dev/ignore-prerequisites: NoLinuxNode.',
      },
    ],
    [
      'lists a warning that is ignored as such',
      sampleState({ pool: ignoring('NodeRoleShared'), prerequisites: WARNED }),
      {
        PrerequisitesMet: `True PrerequisitesIgnored: ${MET} 1 prerequisite ignored by annotation winpool.dev/ignore-prerequisites: ${SHARED}`,
      },
    ],
    [
      'is silent about an annotation that has nothing to ignore',
      sampleState({ pool: ignoring('NodeRoleShared'), prerequisites: sampleFacts() }),
      {},
    ],
    [
      'names a misspelt reason beside the failure that it was meant for',
      sampleState({ pool: ignoring('NoLinuxNodes'), prerequisites: LINUX }),
      {
        PrerequisitesMet: `False ${NO_LINUX} Annotation winpool.dev/ignore-prerequisites: unknown prerequisite NoLinuxNodes (did you mean NoLinuxNode?), see docs/prerequisites.md for their names.`,
      },
    ],
    [
      'warns of an annotation that names what cannot be ignored',
      sampleState({ pool: ignoring('ClusterMismatch'), prerequisites: sampleFacts() }),
      {
        PrerequisitesMet: `True MetWithWarnings: ${MET} Annotation winpool.dev/ignore-prerequisites: ClusterMismatch cannot be ignored.`,
      },
    ],
    [
      'says nothing of the group of another',
      sampleState({ ...group({ tags: {} }), prerequisites: LINUX }),
      {
        ...stalled(
          'NodeGroupReady',
          'False NotOwned: A node group web exists that has no tag winpool.dev/pool=web. It is never changed. Set spec.nodeGroup.adoption: IfUnowned to take it over, or spec.nodeGroup.name to a name that is free, or delete that group.',
        ),
        NodesVerified: "False Pending: The nodes of node group web are not counted: it is not the pool's.",
      },
    ],
  ]);
});

describe('DescribeNodegroup that is denied', () => {
  const message = (of: typeof pool) =>
    nodeGroupConditions(sampleState({ pool: of, group: unseen('denied') })).PrerequisitesMet.message;
  const hint = /EKS may also deny this for a node group that does not exist yet: the statement \w+ covers both\.$/;

  it('names the statement that covers a node group which does not exist yet, until the group was seen once', () => {
    assert.match(message(samplePool()), hint);
    assert.doesNotMatch(message(pool), hint);
  });

  it('names a statement of the shipped policy', async () => {
    const [, sid = 'none'] = /the statement (\w+) /.exec(message(samplePool())) ?? [];
    const policy = await readFile(new URL('../../../config/aws/iam-policy.json', import.meta.url), 'utf8');
    assert.ok(policy.includes(`"Sid": "${sid}"`), sid);
  });
});

describe('a pool without a node group', () => {
  const steps = (prerequisites: typeof LINUX) =>
    planFor(sampleState({ pool, ...absent, prerequisites })).steps.map(({ kind }) => kind);

  it('gets none while a prerequisite fails', () => assert.deepEqual(steps(LINUX), []));

  it('gets one where the failure is ignored', () => {
    const { steps } = planFor(sampleState({ pool: ignoring('NoLinuxNode'), ...absent, prerequisites: LINUX }));
    assert.ok(steps.some(({ kind }) => kind === 'createNodeGroup'));
  });

  it('gets one whichever single fact cannot be found out, for whatever cause', () => {
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

  it('gets one whatever could not be checked, and never where a prerequisite fails', () => {
    fc.assert(
      fc.property(randomFacts, (facts) => {
        const { status } = nodeGroupConditions(sampleState({ pool, ...absent, prerequisites: facts })).PrerequisitesMet;
        return steps(facts).includes('createNodeGroup') === (status !== 'False');
      }),
    );
  });
});
