/** The node role of a spec, which names it or gives its ARN. Pure. */
import type { Cluster } from '../ports/eks.ts';

/** The ARN of a role. A name has no path: its ARN is that of the partition and account of the cluster. */
export function roleArnOf(nodeRole: string, { arn }: Pick<Cluster, 'arn'>): string {
  if (nodeRole.startsWith('arn:')) return nodeRole;
  const [, partition = 'aws', , , account = ''] = arn.split(':');
  return `arn:${partition}:iam::${account}:role/${nodeRole}`;
}

/** The name of a role in IAM: the end of its ARN, without the path. */
export function roleName(arn: string): string {
  return arn.split('/').at(-1) ?? '';
}

/** Whether two role ARNs name the same role: aws-auth requires role ARNs without their path. */
export function sameRole(a: string, b: string): boolean {
  return withoutPath(a) === withoutPath(b);
}

/** The ARN of a role without its path. */
export function withoutPath(arn: string): string {
  return arn.replace(/:role\/.*\//, ':role/');
}

/** Whether the ARN is that of the role. */
export function isRole(arn: string, nodeRole: string): boolean {
  return nodeRole.startsWith('arn:') ? arn === nodeRole : arn.endsWith(`:role/${nodeRole}`);
}
