/** Advice about where nodes and their DNS server run. */

import { joined } from '../../../util/words.ts';
import type { AdviceCheck, AdviceResult } from '../model/advice.ts';
import type { CheckInput } from '../model/prerequisiteFacts.ts';
import { advise, given, none } from './result.ts';

/**
 * The subnets should be in several zones: EC2 Auto Scaling distributes the nodes over the zones of the subnets, and launches them in the others if one
 * fails (https://docs.aws.amazon.com/autoscaling/ec2/userguide/auto-scaling-benefits.html#arch-AutoScalingMultiAZ).
 */
function severalZones({ facts, groupSubnets }: CheckInput): AdviceResult | undefined {
  return given(facts.advice?.subnets, (found) => {
    const subnets = groupSubnets ? found.filter(({ id }) => groupSubnets.includes(id)) : found;
    const [zone, ...others] = new Set(subnets.map((subnet) => subnet.zone));
    if (zone === undefined || others.length > 0) return none;
    const ids = joined(subnets.map(({ id }) => id));
    const are =
      subnets.length === 1 ? `Subnet ${ids} is the only subnet of the pool` : `Subnets ${ids} are all in one zone`;
    const remedy = groupSubnets
      ? 'EKS cannot change the subnets of a node group: to use several zones, set nodeGroup.immutableChangePolicy: Replace and other subnets'
      : 'Add a subnet of another zone to nodeGroup.subnets';
    return advise(`${are}. If zone ${zone} fails, the pool has no nodes. ${remedy}`);
  });
}

/**
 * CoreDNS should run on several nodes: Windows pods have no other DNS server, and while its only node is drained or down, no name is resolved. EKS
 * installs it with two replicas (https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html).
 */
function severalDnsNodes({ facts }: CheckInput): AdviceResult | undefined {
  return given(facts.advice?.dnsNodes, (nodes) => {
    const [node, other] = new Set(nodes);
    // Without a pod, another DNS server has the name of the Service kube-dns.
    if (node === undefined || other !== undefined) return none;
    const down = 'While this node is drained or down, pods cannot resolve DNS names';
    if (nodes.length === 1)
      return advise(
        `CoreDNS has one pod, on node ${node}. ${down}. Run at least 2: with the coredns add-on, set replicaCount in its configuration values, otherwise scale the Deployment (kubectl -n kube-system scale deployment coredns --replicas=2)`,
      );
    return advise(
      `All pods of CoreDNS are on node ${node}. ${down}. If other Linux nodes have room, restart CoreDNS, which spreads the pods (kubectl -n kube-system rollout restart deployment coredns). Otherwise, add a Linux node`,
    );
  });
}

/** By importance. */
export const placementChecks: readonly AdviceCheck[] = [
  { reason: 'SubnetsInOneZone', section: 'zones', needs: ['subnets'], look: severalZones },
  { reason: 'DnsOnOneNode', section: 'coredns', needs: ['dnsNodes'], look: severalDnsNodes },
];
