/** The node role of a spec, which names it or gives its ARN. Pure. */
import type { Cluster } from '../../../ports/eks.ts';

/** The ARN of a role. A name has no path: its ARN is that of the partition and account of the cluster. */
export function roleArnOf(nodeRole: string, { arn }: Pick<Cluster, 'arn'>): string {
  if (nodeRole.startsWith('arn:')) return nodeRole;
  const [, partition = 'aws', , , account = ''] = arn.split(':');
  return `arn:${partition}:iam::${account}:role/${nodeRole}`;
}

/** Whether the ARN is that of the role. */
export function isRole(arn: string, nodeRole: string): boolean {
  return nodeRole.startsWith('arn:') ? arn === nodeRole : arn.endsWith(`:role/${nodeRole}`);
}
