import { adviceTable, planned, running } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { ONE_ZONE } from '../../../testing/prerequisites.ts';

const testAdvice = adviceTable('advice/placement');

const [first, second] = ONE_ZONE;

describe('advice about zones', () => {
  testAdvice([
    ['subnets in two zones', planned(), []],
    [
      'two subnets in one zone',
      planned({ subnets: known(ONE_ZONE) }),
      [['SubnetsInOneZone', 'subnet-0a000000', 'subnet-0b000000', 'eu-west-1a', 'nodeGroup.subnets']],
    ],
    [
      'one subnet of a group that exists, although the tags match others now',
      running(
        { subnets: known([first, { ...second, zone: 'eu-west-1b' }] as never) },
        { nodeGroup: { subnets: [{ id: 'subnet-0a000000' }] } },
      ),
      [['SubnetsInOneZone', 'subnet-0a000000', 'eu-west-1a', 'nodeGroup.immutableChangePolicy: Replace']],
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
      [['DnsOnOneNode', 'linux-1', 'replicaCount', 'kubectl -n kube-system scale deployment coredns --replicas=2']],
    ],
    [
      'two pods on one node',
      running({ dnsNodes: known(['linux-1', 'linux-1']) }),
      [['DnsOnOneNode', 'linux-1', 'kubectl -n kube-system rollout restart deployment coredns']],
    ],
  ]);
});
