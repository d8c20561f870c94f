/** The port Clusters on EKS. */
import type { Cluster as EksCluster } from '@aws-sdk/client-eks';
import type { Cluster, Clusters } from '../windowspool/ports/eks.ts';
import type { EksCall } from './calls.ts';
import { malformed } from './errors.ts';
import { unlessGone } from './results.ts';

/**
 * The EKS cluster that the operator runs in.
 * @param ourAuthorities returns the CA bundle for the operator's API server; called each time, because it can rotate
 */
export function createClusters(name: string, eks: EksCall, ourAuthorities: () => Promise<string>): Clusters {
  return {
    describe: async (signal) => {
      const result = unlessGone(await eks('DescribeCluster', { name }, signal));
      if (!result.ok) return result;
      if (result.value === undefined) return { ok: true, value: undefined };
      const { cluster } = result.value;
      if (!cluster?.arn || !cluster.status) return { ok: false, error: malformed('DescribeCluster') };
      const authority = Buffer.from(cluster.certificateAuthority?.data ?? '', 'base64');
      const { serviceIpv4Cidr: serviceCidr } = cluster.kubernetesNetworkConfig ?? {};
      return {
        ok: true,
        value: {
          name: cluster.name ?? name,
          arn: cluster.arn,
          endpoint: cluster.endpoint ?? '',
          // Base64, whatever EKS returned.
          certificateAuthority: authority.toString('base64'),
          ...(serviceCidr && { serviceCidr }),
          roleArn: cluster.roleArn ?? '',
          vpcId: cluster.resourcesVpcConfig?.vpcId ?? '',
          ...securityGroupsOf(cluster),
          ...(cluster.resourcesVpcConfig?.endpointPrivateAccess === false && { isPublicOnly: true }),
          status: cluster.status,
          kubernetesVersion: cluster.version ?? '',
          ipFamily: cluster.kubernetesNetworkConfig?.ipFamily ?? 'ipv4',
          // Clusters older than access entries have aws-auth only.
          authenticationMode: cluster.accessConfig?.authenticationMode ?? 'CONFIG_MAP',
          autoMode: cluster.computeConfig?.enabled ?? false,
          isOurs: haveCommonCertificate(authority.toString(), await ourAuthorities()),
        },
      };
    },
  };
}

function securityGroupsOf({
  resourcesVpcConfig: { clusterSecurityGroupId: own, securityGroupIds: others = [] } = {},
}: EksCluster): Pick<Cluster, 'securityGroup' | 'additionalSecurityGroups'> {
  return { ...(own && { securityGroup: own }), ...(others.length > 0 && { additionalSecurityGroups: others }) };
}

/** A CA bundle can have several certificates; one in common is enough. */
function haveCommonCertificate(a: string, b: string): boolean {
  const ours = new Set(certificatesOf(b));
  return certificatesOf(a).some((certificate) => ours.has(certificate));
}

/** The base64 bodies of the certificates in a PEM bundle. */
function certificatesOf(pem: string): string[] {
  const bodies = pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g);
  return [...bodies].map((match) => (match[1] ?? '').replace(/\s+/g, ''));
}
