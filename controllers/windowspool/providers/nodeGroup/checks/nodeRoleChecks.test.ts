import assert from 'node:assert/strict';
import { known } from '../../../testing/answers.ts';
import { type CheckRow, checkTable } from '../../../testing/checkTable.ts';
import { NOW, sampleCluster, sampleError, samplePool } from '../../../testing/fixtures.ts';
import { AMI_1, launchSettingsPool } from '../../../testing/launchSettingsScenes.ts';
import { sampleFacts, sampleInput, unasked } from '../../../testing/prerequisites.ts';
import type { CheckInput, FactName } from '../model/checkFacts.ts';
import { missingAccessEntry } from './nodeRoleChecks.ts';

const testChecks = checkTable('checks/nodeRoleChecks');

const ROLE = 'arn:aws:iam::111122223333:role/windows-nodes';

const windows = { roleArn: ROLE, groups: ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'] };

const facts = sampleFacts();

const without = (...names: readonly FactName[]) =>
  Object.fromEntries(Object.entries(facts).filter(([name]) => !names.includes(name as never))) as typeof facts;

const CUSTOM_SPEC = launchSettingsPool(AMI_1).spec;

const linux = { ...windows, groups: windows.groups.slice(0, 2) };

const ONLY_AWS_AUTH = sampleCluster({ authenticationMode: 'CONFIG_MAP' });

const NO_ENTRY = sampleFacts({ accessEntry: known(undefined) });

const SHARED = known([{ group: 'linux', nodeRoleArn: ROLE }]);

/** A role that was created now, and its access entry at this time. */
const recreated = (createdAt: number) =>
  sampleFacts({ accessEntry: known({ type: 'EC2_WINDOWS', createdAt }), roleCreatedAt: known(NOW) });

describe('the checks of the node role', () => {
  testChecks([
    [
      'a role whose access entry is for Linux nodes',
      sampleInput({ facts: sampleFacts({ accessEntry: known({ type: 'EC2_LINUX' }) }) }),
      [
        [
          'NodeAccessInvalid',
          ROLE,
          'prod',
          'EC2_LINUX',
          'aws eks delete-access-entry',
          'aws eks create-access-entry',
          'nodeGroup.nodeRole',
        ],
      ],
    ],
    [
      'such an entry, if the operator creates a missing one',
      sampleInput({ managesAccessEntry: true, facts: sampleFacts({ accessEntry: known({ type: 'EC2_LINUX' }) }) }),
      [['NodeAccessInvalid', ROLE, 'aws eks delete-access-entry', 'nodeGroup.nodeRole']],
    ],
    [
      'such an entry, if Linux nodes use the role',
      sampleInput({ facts: sampleFacts({ accessEntry: known({ type: 'EC2_LINUX' }), linuxRoles: SHARED }) }),
      [
        ['NodeAccessInvalid', 'node role windows-nodes', 'EC2_LINUX', 'nodeGroup.nodeRole'],
        ['NodeRoleShared', ROLE, 'linux', 'nodeGroup.nodeRole'],
      ],
    ],
    [
      'a role that was deleted and created again',
      sampleInput({ facts: recreated(NOW - 1_000) }),
      [['NodeAccessInvalid', ROLE, 'prod', '2026-03-01', 'aws eks delete-access-entry', 'aws eks create-access-entry']],
    ],
    ['a role that is as old as its access entry', sampleInput({ facts: recreated(NOW) }), []],
    ['a role that was created before its access entry', sampleInput({ facts: recreated(NOW + 1_000) }), []],
    ['a role that does not exist', sampleInput({ facts: { ...recreated(NOW), roleCreatedAt: known(undefined) } }), []],
    [
      'a role that the operator may not read',
      sampleInput({ facts: { ...recreated(NOW), roleCreatedAt: unasked() } }),
      [],
    ],
    [
      'a role whose access entry is not for nodes, although aws-auth maps it correctly',
      sampleInput({
        facts: sampleFacts({ accessEntry: known({ type: 'STANDARD' }), roleMappings: known([windows]) }),
        creating: false,
      }),
      [['NodeAccessInvalid', ROLE, 'prod', 'nodeGroup.immutableChangePolicy: Replace', 'nodeGroup.nodeRole']],
    ],
    [
      'a role without access, before the node group is created',
      sampleInput({ facts: NO_ENTRY }),
      [['note', ROLE, 'prod', 'EC2_WINDOWS']],
    ],
    [
      'a role without access, while the node group is created',
      sampleInput({ facts: NO_ENTRY, creating: false, groupStatus: 'CREATING' }),
      [['note', ROLE, 'prod', 'EC2_WINDOWS']],
    ],
    ...['ACTIVE', 'DEGRADED', 'UPDATING', 'CREATE_FAILED'].map(
      (groupStatus): CheckRow => [
        `a role without access, if the node group is ${groupStatus}`,
        sampleInput({ facts: NO_ENTRY, creating: groupStatus === 'CREATE_FAILED', groupStatus }),
        [
          [
            'NodeAccessInvalid',
            ROLE,
            'prod',
            'aws eks create-access-entry',
            'nodeGroup.accessEntryManagement: Operator',
          ],
        ],
      ],
    ),
    [
      'a role without access, in a cluster that has only access entries',
      sampleInput({ cluster: sampleCluster({ authenticationMode: 'API' }), facts: NO_ENTRY }),
      [['note', ROLE, 'prod', 'EC2_WINDOWS']],
    ],
    [
      'a role that aws-auth maps as a Linux role, before the node group is created',
      sampleInput({ facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([linux]) }) }),
      [['NodeAccessInvalid (warning)', 'prod', ROLE, 'run no pods', 'EC2_WINDOWS', 'aws eks create-access-entry']],
    ],
    [
      'a role that aws-auth maps as a Linux role, if the node group exists',
      sampleInput({
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([linux]) }),
        groupStatus: 'ACTIVE',
      }),
      [['NodeAccessInvalid', 'kube-system/aws-auth', 'prod', ROLE, 'eks:kube-proxy-windows', 'mapRoles']],
    ],
    [
      'a role whose access entry the operator creates',
      sampleInput({ managesAccessEntry: true, facts: sampleFacts({ accessEntry: known(undefined) }) }),
      [],
    ],
    [
      'a role that aws-auth maps',
      sampleInput({ facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]) }) }),
      [],
    ],
    [
      'a role that aws-auth maps without its path',
      sampleInput({
        spec: samplePool({ nodeGroup: { nodeRole: 'arn:aws:iam::111122223333:role/eks/windows-nodes' } }).spec,
        facts: { ...without('accessEntry'), roleMappings: known([windows]) },
      }),
      [],
    ],
    [
      'a role that aws-auth maps as a Linux role, in a cluster without access entries',
      sampleInput({ cluster: ONLY_AWS_AUTH, facts: { ...without('accessEntry'), roleMappings: known([linux]) } }),
      [['NodeAccessInvalid', 'kube-system/aws-auth', 'prod', ROLE, 'eks:kube-proxy-windows', 'mapRoles']],
    ],
    [
      'a role that aws-auth does not map, before the node group is created, in a cluster without access entries',
      sampleInput({
        cluster: ONLY_AWS_AUTH,
        managesAccessEntry: true,
        facts: { ...without('accessEntry'), roleMappings: known([]) },
      }),
      [['note', ROLE, 'kube-system/aws-auth', 'prod']],
    ],
    [
      'a role that aws-auth does not map, if the node group exists, in a cluster without access entries',
      sampleInput({
        cluster: ONLY_AWS_AUTH,
        groupStatus: 'ACTIVE',
        facts: { ...without('accessEntry'), roleMappings: known([]) },
      }),
      [
        [
          'NodeAccessInvalid',
          'kube-system/aws-auth',
          'prod',
          ROLE,
          'system:bootstrappers',
          'system:nodes',
          'eks:kube-proxy-windows',
        ],
      ],
    ],
    [
      'a role without access and a custom AMI, before the node group is created',
      sampleInput({ spec: CUSTOM_SPEC, facts: NO_ENTRY }),
      [['NodeAccessInvalid', ROLE, 'prod', 'aws eks create-access-entry', 'nodeGroup.accessEntryManagement: Operator']],
    ],
    [
      'such a role if the operator creates the entry',
      sampleInput({ spec: CUSTOM_SPEC, facts: NO_ENTRY, managesAccessEntry: true }),
      [],
    ],
    [
      'such a role that aws-auth maps, if EKS may create an entry that takes precedence',
      sampleInput({
        spec: CUSTOM_SPEC,
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]) }),
      }),
      [['NodeAccessInvalid', ROLE, 'prod', 'aws eks create-access-entry', 'nodeGroup.accessEntryManagement: Operator']],
    ],
    [
      'such a role that aws-auth maps, once the node group exists',
      sampleInput({
        spec: CUSTOM_SPEC,
        creating: false,
        groupStatus: 'ACTIVE',
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]) }),
      }),
      [],
    ],
    [
      'such a role that aws-auth does not map, in a cluster without access entries',
      sampleInput({
        spec: CUSTOM_SPEC,
        cluster: ONLY_AWS_AUTH,
        facts: { ...without('accessEntry'), roleMappings: known([]) },
      }),
      [
        [
          'NodeAccessInvalid',
          'kube-system/aws-auth',
          'prod',
          ROLE,
          'mapRoles',
          'system:node:{{EC2PrivateDNSName}}',
          'system:bootstrappers',
        ],
      ],
    ],
    [
      'such a role that aws-auth maps, in a cluster without access entries',
      sampleInput({
        spec: CUSTOM_SPEC,
        cluster: ONLY_AWS_AUTH,
        facts: { ...without('accessEntry'), roleMappings: known([windows]) },
      }),
      [],
    ],
    [
      'a role if aws-auth cannot be read',
      sampleInput({ facts: sampleFacts({ accessEntry: known(undefined), roleMappings: unasked() }) }),
      [['NodeAccessInvalid (unknown)', 'get configmaps kube-system/aws-auth']],
    ],
    [
      'a role if Linux nodes cannot be listed',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: { ok: false, error: sampleError('denied', { operation: 'list nodes' }) },
        }),
      }),
      [['NodeRoleShared (unknown)']],
    ],
    [
      'a role if the node group of Linux nodes cannot be described',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: { ok: false, error: sampleError('denied', { operation: 'DescribeNodegroup' }) },
        }),
      }),
      [['NodeRoleShared (unknown)', 'eks:DescribeNodegroup']],
    ],
    [
      'a role that a Linux node group also has',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: known([
            { group: 'linux', nodeRoleArn: ROLE },
            { group: 'system', nodeRoleArn: 'other' },
          ]),
        }),
      }),
      [['NodeRoleShared', ROLE, 'linux', 'prod', 'nodeGroup.nodeRole']],
    ],
    [
      'a role that a Linux node group also has, in a cluster that has only access entries',
      sampleInput({
        cluster: sampleCluster({ authenticationMode: 'API' }),
        facts: { ...sampleFacts({ accessEntry: unasked(), linuxRoles: SHARED }) },
      }),
      [
        ['NodeRoleShared', ROLE, 'linux', 'prod', 'nodeGroup.nodeRole'],
        ['NodeAccessInvalid (unknown)', 'eks:DescribeAccessEntry'],
      ],
    ],
    [
      'a role that a Linux node group also has, if aws-auth has the groups of both',
      sampleInput({
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]), linuxRoles: SHARED }),
      }),
      [
        [
          'NodeRoleShared (warning)',
          ROLE,
          'linux',
          'kube-system/aws-auth',
          'system:bootstrappers',
          'system:nodes',
          'eks:kube-proxy-windows',
        ],
      ],
    ],
    [
      'a role that a Linux node group also has, in a cluster that has only aws-auth',
      sampleInput({
        cluster: sampleCluster({ authenticationMode: 'CONFIG_MAP' }),
        facts: { ...without('accessEntry'), roleMappings: known([windows]), linuxRoles: SHARED },
      }),
      [
        [
          'NodeRoleShared (warning)',
          ROLE,
          'linux',
          'kube-system/aws-auth',
          'system:bootstrappers',
          'system:nodes',
          'eks:kube-proxy-windows',
        ],
      ],
    ],
    [
      'a role that a Linux node group also has, if its access entry cannot be read',
      sampleInput({ facts: sampleFacts({ accessEntry: unasked(), linuxRoles: SHARED }) }),
      [
        [
          'NodeRoleShared (warning)',
          ROLE,
          'linux',
          'kube-system/aws-auth',
          'system:bootstrappers',
          'system:nodes',
          'eks:kube-proxy-windows',
        ],
        ['NodeAccessInvalid (unknown)', 'eks:DescribeAccessEntry'],
      ],
    ],
  ]);
});

describe('the access entry that the operator creates', () => {
  const rows: readonly (readonly [string, Partial<CheckInput>, string | undefined])[] = [
    ['is that of the node role', { facts: sampleFacts({ accessEntry: known(undefined) }) }, ROLE],
    ['is not created if it exists', { facts: sampleFacts() }, undefined],
    [
      'is not created unless the spec says so',
      { managesAccessEntry: false, facts: sampleFacts({ accessEntry: known(undefined) }) },
      undefined,
    ],
    ['is not created if it cannot be read', { facts: sampleFacts({ accessEntry: unasked() }) }, undefined],
    [
      'is not created if aws-auth maps the role',
      { facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]) }) },
      undefined,
    ],
  ];
  for (const [what, change, want] of rows) {
    it(what, () => assert.equal(missingAccessEntry(sampleInput({ managesAccessEntry: true, ...change })), want));
  }
});
