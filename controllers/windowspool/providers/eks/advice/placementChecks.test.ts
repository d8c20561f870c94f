import { planned, running, testAdvice } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { ONE_ZONE } from '../../../testing/prerequisites.ts';

const [first, second] = ONE_ZONE;

describe('advice about zones', () => {
  testAdvice([
    ['subnets in two zones', planned(), []],
    [
      'two subnets in one zone',
      planned({ subnets: known(ONE_ZONE) }),
      [
        'SubnetsInOneZone: Subnets subnet-0a000000 and subnet-0b000000 are all in one zone. If zone eu-west-1a fails, the pool has no nodes. Add a subnet of another zone to nodeGroup.subnets.',
      ],
    ],
    [
      'one subnet of a group that exists, although the tags match others now',
      running(
        { subnets: known([first, { ...second, zone: 'eu-west-1b' }] as never) },
        { nodeGroup: { subnets: [{ id: 'subnet-0a000000' }] } },
      ),
      [
        'SubnetsInOneZone: Subnet subnet-0a000000 is the only subnet of the pool. If zone eu-west-1a fails, the pool has no nodes. EKS cannot change the subnets of a node group: to use several zones, set nodeGroup.replacement: BlueGreen and other subnets.',
      ],
    ],
    ['subnets that do not exist', planned({ subnets: known([]) }), []],
  ]);
});

describe('advice about CoreDNS', () => {
  testAdvice([
    ['pods on two nodes', planned({ dnsNodes: known(['linux-1', 'linux-1', 'linux-2']) }), []],
    ['another DNS server', planned({ dnsNodes: known([]) }), []],
    [
      'one pod',
      planned({ dnsNodes: known(['linux-1']) }),
      [
        'DnsOnOneNode: CoreDNS has one pod, on node linux-1. While this node is drained or down, pods cannot resolve DNS names. Run at least 2: with the coredns add-on, set replicaCount in its configuration values, otherwise scale the Deployment (kubectl -n kube-system scale deployment coredns --replicas=2).',
      ],
    ],
    [
      'two pods on one node',
      running({ dnsNodes: known(['linux-1', 'linux-1']) }),
      [
        'DnsOnOneNode: All pods of CoreDNS are on node linux-1. While this node is drained or down, pods cannot resolve DNS names. If other Linux nodes have room, restart CoreDNS, which spreads the pods (kubectl -n kube-system rollout restart deployment coredns). Otherwise, add a Linux node.',
      ],
    ],
  ]);
});
