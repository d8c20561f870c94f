import assert from 'node:assert/strict';
import fc from 'fast-check';
import { assess } from '../assess.ts';
import { planFor } from '../plan.ts';
import { known } from '../testing/answers.ts';
import { NOW, sampleCluster, sampleSituation, sampleTrouble } from '../testing/fixtures.ts';
import { randomFacts, sampleFacts, unasked } from '../testing/prerequisites.ts';
import { absent, check, group, NO_NODES_YET, NOT_CREATED, pool, stalled, working } from '../testing/truthTable.ts';

const LINUX = sampleFacts({ linuxNode: known(false) });
const NO_LINUX =
  'NoLinuxNode: The cluster has no Linux node that takes pods, and CoreDNS runs nowhere else. Add a Linux node group or a Fargate profile for kube-system, or uncordon a node. See docs/prerequisites.md#a-linux-node.';
const WAITS = 'False Pending: Node group web is created when its prerequisites are met: see PrerequisitesMet.';
const upgrading = { kind: 'seen' as const, cluster: sampleCluster({ status: 'UPDATING' }) };
const denied = (step: string) => ({ at: NOW, step, trouble: sampleTrouble('denied', { operation: 'TheCall' }) });
const DENIED =
  "AWS denied TheCall: the call was denied. Grant the right to the operator's role; config/aws/iam-policy.json has all of them.";
const DENIED_AND_MISSING = `AccessDenied: ${DENIED} ${NO_LINUX.replace('NoLinuxNode: ', '')}`;
const right =
  'Grant the rights: config/aws/iam-policy.json and config/rbac have all of them. See docs/prerequisites.md#what-could-not-be-checked.';

describe('PrerequisitesMet', () => {
  check([
    [
      'is False and stops a pool without a node group',
      sampleSituation({ ...absent, prerequisites: LINUX }),
      { ...stalled('PrerequisitesMet', `False ${NO_LINUX}`), NodeGroupReady: WAITS, NodesVerified: NO_NODES_YET },
    ],
    [
      'is False and lets a node group live',
      sampleSituation({ prerequisites: LINUX }),
      { PrerequisitesMet: `False ${NO_LINUX}` },
    ],
    [
      'numbers what is missing, the most important first',
      sampleSituation({ prerequisites: { ...LINUX, legacyController: known(true) } }),
      {
        PrerequisitesMet:
          'False NoLinuxNode: 2 prerequisites are not met. (1) The cluster has no Linux node that takes pods, and CoreDNS runs nowhere else. Add a Linux node group or a Fargate profile for kube-system, or uncordon a node. See docs/prerequisites.md#a-linux-node. (2) Deployment kube-system/vpc-resource-controller is there: it is the old way to Windows addresses and disables the one in EKS. Delete it, and the Deployment vpc-admission-webhook with it. See docs/prerequisites.md#legacy-controllers.',
      },
    ],
    [
      'waits for what passes by itself',
      sampleSituation({ ...absent, cluster: upgrading, prerequisites: sampleFacts() }),
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
      sampleSituation({ ...absent, prerequisites: sampleFacts({ subnets: unasked(), legacyController: unasked() }) }),
      {
        ...working('NodeGroupReady', NOT_CREATED),
        PrerequisitesMet: `Unknown AccessDenied: 4 prerequisites could not be checked: the old VPC resource controller (it needs get deployments.apps kube-system/vpc-resource-controller), the subnets (it needs ec2:DescribeSubnets), the zones of the instance types (it needs ec2:DescribeSubnets), free addresses (it needs ec2:DescribeSubnets). Nothing waits for it. ${right}`,
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'names a right that is wanting beside what is missing',
      sampleSituation({
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
      sampleSituation({ prerequisites: sampleFacts({ linuxNode: known(false), subnets: unasked('throttled') }) }),
      { PrerequisitesMet: `False ${NO_LINUX}` },
    ],
    [
      'says what is missing also where a look was denied',
      sampleSituation({ prerequisites: LINUX, troubles: [denied('describeScalingGroups')] }),
      { PrerequisitesMet: `False ${NO_LINUX} ${DENIED}` },
    ],
    [
      'says what is missing also where a change was denied',
      sampleSituation({ prerequisites: LINUX, troubles: [denied('correctScalingTags')] }),
      {
        PrerequisitesMet: `False ${DENIED_AND_MISSING}`,
        Reconciling: `True ${DENIED_AND_MISSING}`,
      },
    ],
    [
      'is Unknown while AWS fails',
      sampleSituation({ prerequisites: sampleFacts({ accessEntry: unasked('throttled') }) }),
      {
        PrerequisitesMet:
          'Unknown NotChecked: 1 prerequisite could not be checked: the access of the node role (DescribeAddon failed: the call was throttled). Nothing waits for it. It is tried again.',
      },
    ],
    [
      'says nothing of the group of another',
      sampleSituation({ ...group({ tags: {} }), prerequisites: LINUX }),
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

describe('a pool without a node group', () => {
  const steps = (prerequisites: typeof LINUX) =>
    planFor(sampleSituation({ pool, ...absent, prerequisites })).steps.map(({ kind }) => kind);

  it('gets none while a prerequisite fails', () => assert.deepEqual(steps(LINUX), []));

  it('gets one whatever could not be checked, and never where a prerequisite fails', () => {
    fc.assert(
      fc.property(randomFacts, (facts) => {
        const { status } = assess(sampleSituation({ pool, ...absent, prerequisites: facts })).PrerequisitesMet;
        return steps(facts).includes('createNodeGroup') === (status !== 'False');
      }),
    );
  });
});
