import { fileURLToPath } from 'node:url';
import type { CreateNodegroupRequest } from '@aws-sdk/client-eks';
import { nodeRoleArn, subnetIds } from '../network.ts';
import type { ClusterOptions } from '../state.ts';

/** An IAM policy that allows everything. */
export const openPolicy = fileURLToPath(new URL('openPolicy.json', import.meta.url));

/** A cluster for tests without Kubernetes. */
export const sampleCluster: ClusterOptions = {
  name: 'demo',
  region: 'us-west-2',
  caData: 'Y2E=',
  endpoint: 'https://127.0.0.1:6443',
  kubernetesVersion: '1.36',
};

/** User data in base64 that makes an instance join the sample cluster, or another one. */
export function bootstrapData(kubelet = '', cluster: Partial<ClusterOptions> = {}): string {
  const { name, endpoint, caData } = { ...sampleCluster, ...cluster };
  const script = [
    '<powershell>',
    `& "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1" -EKSClusterName "${name}" -APIServerEndpoint "${endpoint}" -Base64ClusterCA "${caData}" -KubeletExtraArgs "${kubelet}"`,
    '</powershell>',
  ].join('\n');
  return Buffer.from(script).toString('base64');
}

/** A create request that is accepted, with changes. */
export const sampleGroup = (changes: Partial<CreateNodegroupRequest> = {}): CreateNodegroupRequest => ({
  clusterName: sampleCluster.name,
  nodegroupName: 'web',
  amiType: 'WINDOWS_CORE_2022_x86_64',
  instanceTypes: ['m5.large'],
  subnets: [...subnetIds],
  nodeRole: nodeRoleArn,
  scalingConfig: { minSize: 1, desiredSize: 2, maxSize: 5 },
  tags: { 'winpool.dev/pool': 'web', 'winpool.dev/created-from': 'a hash' },
  ...changes,
});
