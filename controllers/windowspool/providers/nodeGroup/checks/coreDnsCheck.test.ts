import { adviceTable, planned, running } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';

const testAdvice = adviceTable('checks/coreDnsCheck');

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
