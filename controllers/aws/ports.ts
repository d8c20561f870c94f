/** The domain's ports to AWS. */
import { createCapacity } from './capacity.ts';
import type { AwsClients } from './clients.ts';
import { createAccessEntries, createAddons } from './clusterSettings.ts';
import { createClusters } from './clusters.ts';
import { createImages } from './images.ts';
import { createInstances } from './instances.ts';
import { createLaunchTemplates } from './launchTemplates.ts';
import { createNodeGroups } from './nodeGroups.ts';
import { createOwnTemplates } from './ownTemplates.ts';
import type { AwsRateLimiter } from './rateLimiter.ts';
import { createReleases } from './releases.ts';
import { createRoles } from './roles.ts';
import { createScalingGroups, membersOf } from './scalingGroups.ts';
import { createSecurityGroups } from './securityGroups.ts';

/**
 * The ports of one EKS cluster.
 * @param ourAuthorities returns the CA bundle for the operator's API server; called each time, because it can rotate
 */
export function createAwsPorts(
  clusterName: string,
  clients: Omit<AwsClients, 'close'>,
  limiter: Pick<AwsRateLimiter, 'calls'>,
  ourAuthorities: () => Promise<string>,
) {
  const eks = limiter.calls('eks', clients.eks);
  const ec2 = limiter.calls('ec2', clients.ec2);
  const autoScaling = limiter.calls('autoscaling', clients.autoScaling);
  const ssm = limiter.calls('ssm', clients.ssm);
  const images = createImages(ssm, ec2);
  return {
    nodeGroups: createNodeGroups(clusterName, eks),
    clusters: createClusters(clusterName, eks, ourAuthorities),
    addons: createAddons(clusterName, eks),
    accessEntries: createAccessEntries(clusterName, eks),
    releases: createReleases(ssm, images),
    images,
    instances: createInstances(ec2, membersOf(autoScaling)),
    capacity: createCapacity(ec2),
    launchTemplates: createLaunchTemplates(ec2),
    ownTemplates: createOwnTemplates(ec2),
    securityGroups: createSecurityGroups(ec2),
    scalingGroups: createScalingGroups(clusterName, autoScaling),
    roles: createRoles(limiter.calls('iam', clients.iam)),
  };
}

/** In place of a limiter for an operator without an EKS cluster: no call is sent. */
export const withoutCluster: Pick<AwsRateLimiter, 'calls'> = {
  calls: () => async (operation) => {
    const message = 'the operator is not configured for an EKS cluster';
    return { ok: false, error: { kind: 'refused', operation, code: 'ClusterNotConfigured', message } };
  },
};
