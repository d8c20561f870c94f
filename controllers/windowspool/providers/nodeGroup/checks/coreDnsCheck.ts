import { advises, met, notMet } from '../../../checks/check.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/**
 * CoreDNS should run on several nodes: Windows pods have no other DNS server, and while its only node is drained or down, no name is resolved. EKS
 * installs it with two replicas (https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html).
 */
export const coreDns: NodeGroupCheck = {
  ...advises('DnsOnOneNode', 'coredns'),
  needs: ['dnsNodes'],
  evaluate: ({ facts }) =>
    given(facts, 'dnsNodes', (nodes) => {
      const [node, other] = new Set(nodes);
      // Without a pod, another DNS server has the name of the Service kube-dns.
      if (node === undefined || other !== undefined) return met;
      const down = 'While this node is drained or down, pods cannot resolve DNS names';
      if (nodes.length === 1)
        return notMet(
          `CoreDNS has one pod, on node ${node}. ${down}`,
          'Run at least 2: with the coredns add-on, set replicaCount in its configuration values. Otherwise, scale the Deployment: kubectl -n kube-system scale deployment coredns --replicas=2',
        );
      return notMet(
        `All pods of CoreDNS are on node ${node}. ${down}`,
        'If no other Linux node has room, add one. Otherwise, restart CoreDNS, which spreads the pods: kubectl -n kube-system rollout restart deployment coredns',
      );
    }),
};
