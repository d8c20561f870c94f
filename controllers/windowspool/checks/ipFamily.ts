/** The check of the IP family of the cluster. Pure. */
import type { Cluster } from '../ports/eks.ts';
import { type Answer, met, notMet, required } from './check.ts';

/** Its name in messages, status and metrics. */
export const IP_FAMILY = {
  ...required('UnsupportedIPFamily', 'ipv4', 'the IP family'),
  explains: ['NoPodAddresses'],
} as const;

/** Whether the cluster has the IP family of Windows nodes: https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html */
export function ipFamilyAnswer({ name, ipFamily }: Pick<Cluster, 'name' | 'ipFamily'>): Answer {
  if (ipFamily === 'ipv4') return met;
  return notMet(
    `EKS cluster ${name} has IP family ${ipFamily}. Windows nodes need ipv4, and EKS cannot change the IP family of a cluster. Use another cluster`,
  );
}
