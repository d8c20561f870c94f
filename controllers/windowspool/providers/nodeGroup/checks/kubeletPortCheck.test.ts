import type { SecurityGroup, SecurityRule } from '../../../ports/prerequisites.ts';
import { adviceTable, planned, withLaunchSettings, withTemplate } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { derive } from '../../../testing/derived.ts';
import { sampleCluster } from '../../../testing/fixtures.ts';
import type { Brief } from '../../../testing/goldenTexts.ts';
import { BY_TAGS, DISK_100 } from '../../../testing/launchSettingsScenes.ts';
import { sampleSecurityGroup } from '../../../testing/prerequisites.ts';
import type { CheckInput } from '../model/checkFacts.ts';

const testAdvice = adviceTable('checks/kubeletPortCheck');

const CLUSTER = 'sg-0a000000';
const EXTRA = 'sg-0b000000';
const NODES = 'sg-0c000000';

const rule = (change: Partial<SecurityRule> = {}): SecurityRule => ({
  protocol: 'tcp',
  ports: { from: 10250, to: 10250 },
  groups: [CLUSTER],
  hasAddresses: false,
  ...change,
});
const group = (id: string, change: Partial<SecurityGroup> = {}): SecurityGroup => ({
  id,
  tags: {},
  inbound: [],
  outbound: [],
  ...change,
});

/** A pool whose nodes have the cluster security group, with these inbound rules. */
const inbound = (...rules: readonly SecurityRule[]) =>
  planned({ securityRules: known([sampleSecurityGroup({ inbound: rules })]) });
/** The same with these outbound rules. */
const outbound = (...rules: readonly SecurityRule[]) =>
  planned({ securityRules: known([sampleSecurityGroup({ outbound: rules })]) });
/** A pool whose launch template has a security group of its own. */
const ofTemplate = (
  groups: readonly SecurityGroup[],
  change: Partial<CheckInput['cluster']> = {},
  facts: Parameters<typeof withTemplate>[1] = {},
) =>
  derive({
    ...withTemplate(
      { rootVolume: { sizeGiB: 100 }, securityGroups: [NODES] },
      { securityRules: known(groups), ...facts },
    ),
    cluster: { kind: 'seen', cluster: sampleCluster(change) } as const,
  });

describe('advice about the port of the kubelet', () => {
  testAdvice([
    ['the rules of EKS', planned(), []],
    ['a rule for the port', inbound(rule()), []],
    ['a rule for a range of ports', inbound(rule({ ports: { from: 1025, to: 65535 } })), []],
    ['a rule for all ports of TCP', inbound({ protocol: 'tcp', groups: [CLUSTER], hasAddresses: false }), []],
    [
      'a rule for addresses, which may be those of the control plane',
      inbound(rule({ groups: [], hasAddresses: true })),
      [],
    ],
    ...(
      [
        ['no rule'],
        ['a rule for another port', rule({ ports: { from: 443, to: 443 } })],
        ['a rule for a range below the port', rule({ ports: { from: 0, to: 10249 } })],
        ['a rule for UDP', rule({ protocol: 'udp' })],
        ['a rule for another security group', rule({ groups: [EXTRA] })],
      ] as const
    ).map(
      ([what, ...rules]) =>
        [
          what,
          inbound(...rules),
          [['KubeletPortClosed', 'sg-0a000000', '10250', 'kubectl logs', 'aws ec2 authorize-security-group-ingress']],
        ] as const,
    ),
    [
      'outbound rules of the control plane without the port',
      outbound(rule({ ports: { from: 443, to: 443 }, hasAddresses: true })),
      [['KubeletPortClosed', 'sg-0a000000', '10250', 'kubectl logs', 'aws ec2 authorize-security-group-egress']],
    ],
    ['an outbound rule for the nodes', outbound(rule()), []],
    ['a security group that does not exist', planned({ securityRules: known([]) }), []],
  ]);
});

describe('advice about the port of the kubelet, with security groups in the launch template,', () => {
  const open = sampleSecurityGroup();
  testAdvice([
    ['a rule for the cluster security group', ofTemplate([open, group(NODES, { inbound: [rule()] })]), []],
    [
      'a rule for another security group of the control plane',
      ofTemplate([open, group(EXTRA), group(NODES, { inbound: [rule({ groups: [EXTRA] })] })], {
        additionalSecurityGroups: [EXTRA],
      }),
      [],
    ],
    [
      'no rule for the API server, which is required',
      ofTemplate([open, group(NODES)], {}, { controlPlaneRules: known([open]) }),
      [],
    ],
    [
      'no rule for the control plane',
      ofTemplate([open, group(EXTRA), group(NODES, { inbound: [rule({ groups: [NODES] })] })], {
        additionalSecurityGroups: [EXTRA],
      }),
      [
        [
          'KubeletPortClosed',
          'sg-0c000000',
          '10250',
          'sg-0a000000',
          'sg-0b000000',
          'kubectl logs',
          'aws ec2 authorize-security-group-ingress',
        ],
      ],
    ],
    ['a security group that was not found', ofTemplate([open]), []],
  ]);
});

describe('advice about the port of the kubelet, with security groups in the spec,', () => {
  const open = sampleSecurityGroup();
  const closed = sampleSecurityGroup({ inbound: [] });
  const byId = { ...DISK_100, securityGroups: [{ id: NODES }] };
  const byTags = { ...DISK_100, ...BY_TAGS };
  const tags = { tier: 'windows' };
  const none: readonly Brief[] = [
    [
      'KubeletPortClosed',
      `${CLUSTER} and ${NODES}`,
      '10250',
      'kubectl logs',
      'aws ec2 authorize-security-group-ingress',
    ],
  ];
  testAdvice([
    [
      'the rules of EKS, because the operator adds the cluster security group',
      withLaunchSettings(byId, { securityRules: known([open, group(NODES)]) }),
      [],
    ],
    [
      'a rule of the group that the spec names',
      withLaunchSettings(byId, { securityRules: known([closed, group(NODES, { inbound: [rule()] })]) }),
      [],
    ],
    ['no rule of either', withLaunchSettings(byId, { securityRules: known([closed, group(NODES)]) }), none],
    [
      'a rule of a group that the spec selects by tags',
      withLaunchSettings(
        byTags,
        { securityRules: known([closed]) },
        { securityGroups: known([group(NODES, { tags, inbound: [rule()] })]) },
      ),
      [],
    ],
    [
      'no rule of such a group',
      withLaunchSettings(
        byTags,
        { securityRules: known([closed]) },
        { securityGroups: known([group(NODES, { tags })]) },
      ),
      none,
    ],
    ['tags that select no group', withLaunchSettings(byTags, { securityRules: known([closed]) }), []],
  ]);
});
