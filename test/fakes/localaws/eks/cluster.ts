import type { Cluster } from '@aws-sdk/client-eks';
import { invalidParameter, notFound } from '../awsFault.ts';
import { clusterRoleArn, clusterSecurityGroupId, vpcId } from '../network.ts';
import type { LocalAwsState } from '../state.ts';
import { type Page, pageOf } from '../wire/paging.ts';

/** DescribeCluster. */
export function describeCluster(cloud: LocalAwsState): { cluster: Cluster } {
  const { name, endpoint, createdAt } = cloud.cluster;
  const { status, version, caData, ipFamily, authenticationMode, autoMode } = cloud.clusterState;
  return {
    cluster: {
      name,
      arn: cloud.arn(`cluster/${name}`),
      createdAt,
      version,
      endpoint,
      roleArn: clusterRoleArn,
      resourcesVpcConfig: {
        subnetIds: cloud.subnets.map(({ id }) => id),
        vpcId,
        clusterSecurityGroupId,
        securityGroupIds: [],
        endpointPublicAccess: true,
        endpointPrivateAccess: true,
      },
      kubernetesNetworkConfig: {
        ...(ipFamily === 'ipv4' ? { serviceIpv4Cidr: '172.20.0.0/16' } : { serviceIpv6Cidr: 'fd30:1c53:5f8a::/108' }),
        ipFamily,
      },
      status,
      certificateAuthority: { data: caData },
      platformVersion: 'eks.1',
      tags: {},
      health: { issues: [] },
      accessConfig: { authenticationMode },
      computeConfig: { enabled: autoMode },
    },
  };
}

/** Rejects other names, or any name if the cluster is deleted. */
export function checkClusterName(cloud: LocalAwsState, name: string | undefined): void {
  if (name !== cloud.cluster.name || !cloud.clusterState.exists) throw notFound(`No cluster found for name: ${name}.`);
}

/** A page of an EKS list: maxResults is 1 to 100, and 100 when it is not given. */
export function eksPage<T>(
  all: readonly T[],
  request: { maxResults?: number | undefined; nextToken?: string | undefined },
): Page<T> {
  const { maxResults = 100, nextToken } = request;
  if (!Number.isInteger(maxResults) || maxResults < 1 || maxResults > 100) {
    throw invalidParameter(`maxResults is ${maxResults}; it must be from 1 to 100`);
  }
  return pageOf(all, nextToken, maxResults, 'InvalidParameterException');
}
